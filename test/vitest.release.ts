import { releaseTests } from './long-tests.js'
import { quiet } from './quiet-reporter.js'
import everything from './vitest.config.js'

/** Before a release: `npx vitest run --config test/vitest.release.ts`. */
export default { ...everything, test: { ...everything.test, ...quiet, include: releaseTests } }
