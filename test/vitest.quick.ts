import { longTests, releaseTests } from './long-tests.js'
import { quiet } from './quiet-reporter.js'
import everything from './vitest.config.js'

/** `npm test`. */
export default {
  ...everything,
  test: {
    ...everything.test,
    ...quiet,
    exclude: [...(everything.test?.exclude ?? []), ...longTests, ...releaseTests],
  },
}
