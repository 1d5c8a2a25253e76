/** `npm run test:drivers`: the pages of drivers with the real libraries, on real servers. */
import { mergeConfig } from 'vitest/config'
import base from '../vitest.config.js'

export default mergeConfig(
  { root: base.root, resolve: base.resolve },
  {
    test: {
      include: ['test/drivers/*.test.ts'],
      globalSetup: base.test?.globalSetup,
      // Each file mostly waits for a server.
      maxWorkers: 4,
      testTimeout: 60_000,
      hookTimeout: 120_000,
    },
  },
)
