/** The tests that judge the mutants: unit tests, properties, the kit on the memory store. No PostgreSQL. */
import { mergeConfig } from 'vitest/config'
import base from '../../vitest.config.js'
import { FastestFirst } from './order.js'

export default mergeConfig(
  { root: base.root, resolve: base.resolve },
  {
    test: {
      include: [
        'test/*.test.ts',
        'test/decide/*.test.ts',
        'test/http/*.test.ts',
        'test/properties/*.test.ts',
        'test/stores/memory.test.ts',
        'test/programs/mutation/kit.ts',
      ],
      // The first two read the source, which holds all mutants at once. The others take too long.
      exclude: [
        ...['test/structure.test.ts', 'test/regular-expressions.test.ts'],
        ...['test/http/fuzz.test.ts', 'test/http/json-large.test.ts'],
      ],
      sequence: { sequencer: FastestFirst },
      testTimeout: 60_000,
      hookTimeout: 60_000,
      env: { BET_WALLET_RUNS: '20' },
    },
  },
)
