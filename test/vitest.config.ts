import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './long-tests.js'

const src = (path: string) => fileURLToPath(new URL(`../src/${path}`, import.meta.url))

/** Every test. For one file: `npx vitest run --config test/vitest.config.ts <file>`. */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: {
    // The examples import the package by its public name; here that is the source. The packed tarball has tests of its own.
    alias: [
      { find: /^bet-wallet$/, replacement: src('index.ts') },
      { find: 'bet-wallet/decide', replacement: src('decide/index.ts') },
      { find: 'bet-wallet/http', replacement: src('http/index.ts') },
      { find: 'bet-wallet/testing', replacement: src('testing/index.ts') },
      { find: 'bet-wallet/audit', replacement: src('tools/audit/index.ts') },
      { find: 'bet-wallet/reconcile', replacement: src('tools/reconcile/index.ts') },
      { find: 'bet-wallet/batches', replacement: src('batches/index.ts') },
      { find: 'bet-wallet/operations', replacement: src('operations/index.ts') },
      { find: 'bet-wallet/lookups', replacement: src('lookups/index.ts') },
      { find: 'bet-wallet/memory', replacement: src('stores/memory.ts') },
      { find: 'bet-wallet/postgres', replacement: src('stores/postgres/index.ts') },
      { find: 'bet-wallet/try', replacement: src('tools/try/index.ts') },
      { find: 'bet-wallet/mysql', replacement: src('stores/mysql/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    // Copies of the repository, by the mutation tests; and what has a script of its own.
    exclude: [...configDefaults.exclude, 'test/.tmp/**', 'test/libraries/**'],
    // The default on two cores is one worker. Workers mostly wait: for servers, locks and sockets.
    maxWorkers: Math.max(4, availableParallelism()),
    // For what hangs. A busy machine takes several times as long as an idle one, and some tests minutes there.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000 } },
    sequence: { sequencer: LongestFirst },
    globalSetup: ['test/postgres/global-setup.ts', 'test/mariadb/global-setup.ts'],
  },
})
