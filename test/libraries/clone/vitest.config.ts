/** `npm run test:libraries -- clone`: installs from a clone and by git, which takes long and needs the registry. */
import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.js'

export default mergeConfig(
  { root: base.root, resolve: base.resolve },
  { test: { include: ['test/libraries/clone/*.test.ts'], testTimeout: 300_000, hookTimeout: 60_000 } },
)
