/** Its packages are in this folder. bet-wallet is the source. */
import { mergeConfig } from 'vitest/config'
import base from '../vitest.config.js'

export default mergeConfig(
  { root: base.root, resolve: base.resolve },
  {
    test: { include: ['test/frameworks/*.test.ts'], maxWorkers: 2, testTimeout: 60_000, hookTimeout: 60_000 },
  },
)
