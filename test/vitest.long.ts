import { longTests } from './long-tests.js'
import everything from './vitest.config.js'

/** `npm run test:long`. */
export default { ...everything, test: { ...everything.test, include: longTests } }
