import { longTests } from './long-tests.js'
import everything from './vitest.config.js'

/** `npm test`. */
export default {
  ...everything,
  test: { ...everything.test, exclude: [...(everything.test?.exclude ?? []), ...longTests] },
}
