/** `npm run test:libraries -- stacks`: `examples/stacks` with their real libraries, on real servers. */
import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.js'

export default mergeConfig(
  { root: base.root, resolve: base.resolve },
  {
    test: {
      include: ['test/libraries/stacks/*.test.ts'],
      globalSetup: base.test?.globalSetup ?? [],
      testTimeout: 180_000,
      hookTimeout: 180_000,
    },
  },
)
