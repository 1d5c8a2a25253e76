/** `npm run test:libraries -- drivers`: the pages of drivers with the real libraries, on real servers. */
import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.js'

export default mergeConfig(
  { root: base.root, resolve: base.resolve },
  {
    test: {
      include: ['test/libraries/drivers/*.test.ts'],
      globalSetup: [...(base.test?.globalSetup ?? []), 'test/libraries/drivers/global-setup.ts'],
      maxWorkers: 3,
      // More would need more connections than the server has.
      maxConcurrency: 4,
      testTimeout: 120_000,
      hookTimeout: 120_000,
      // A known fault of postgres.js (porsager/postgres#1208), which docs/postgres.md names. No other error is ignored.
      onUnhandledError: (error: { stack?: string }) =>
        !(error.stack ?? '').includes('/postgres/src/connection.js'),
    },
  },
)
