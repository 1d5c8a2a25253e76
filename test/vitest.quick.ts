import { longTests, releaseTests } from './long-tests.js'
import { quiet } from './quiet-reporter.js'
import everything from './vitest.config.js'

/** `npm test`. */
export default {
  ...everything,
  test: {
    ...everything.test,
    ...quiet,
    // The files of a worker share one process, since loading the library for each takes as long as all tests together.
    // So a helper of several files registers no hooks when it is imported. What stays in its process, or counts what it
    // has seen (a subscriber, a mock of a module, a warning that comes once), gets one of its own: a file with
    // @vitest-environment-options shares none. Each long file has one, since it may leave work behind.
    isolate: false,
    exclude: [...(everything.test?.exclude ?? []), ...longTests, ...releaseTests],
  },
}
