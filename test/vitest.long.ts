import { longTests } from './long-tests.js'
import { quiet } from './quiet-reporter.js'
import everything from './vitest.config.js'

/** `npm run test:long`. */
export default { ...everything, test: { ...everything.test, ...quiet, include: longTests } }
