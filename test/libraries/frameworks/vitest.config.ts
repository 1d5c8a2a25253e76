/** `npm run test:libraries -- frameworks`: bet-wallet is the source. */
import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.js'

export default mergeConfig(
  { root: base.root, resolve: base.resolve },
  {
    test: {
      include: ['test/libraries/frameworks/*.test.ts'],
      globalSetup: base.test?.globalSetup ?? [],
      maxWorkers: 2,
      testTimeout: 60_000,
      hookTimeout: 60_000,
    },
  },
)
