/** `onConfirmed`: called for commits that are certain, and for no other. */
import { afterEach, expect, test, vi } from 'vitest'
import type { Columns } from '../../../src/stores/database/columns.js'
import { StoreError, storeErrors } from '../../../src/stores/database/errors.js'
import { createDatabaseStore, type DatabaseParts } from '../../../src/stores/database/store.js'
import { placeBet } from '../mysql/wallet.js'

const errors = storeErrors((code, problem, options) => new StoreError('mysql', code, problem, options))
const columns = {
  hasCurrency: () => true,
  toColumn: () => '-30',
  available: () => '70',
  idOf: () => 'alice',
} as unknown as Columns

afterEach(() => void vi.restoreAllMocks())

test.each([
  ['synchronous', 'committed', 1],
  ['asynchronous', 'COMMIT_UNKNOWN', 0],
] as const)('a commit after which the server is %s: %s', async (level, expected, calls) => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  let now = 10_000
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  let durability = 'synchronous'
  const onConfirmed = vi.fn()
  const store = createDatabaseStore({
    check: async () => ({ columns, column: {} }),
    ping: async () => ({ level: durability, reason: '' }),
    async commit() {
      // The server falls back while the commit waits; the reading is too old when it is answered.
      durability = level
      now += 5_000
      const amounts = { currency: 'EUR', balance: '70' }
      const row = { item_index: 0, verdict: 'committed', ...amounts, wallet_transaction_id: '1' }
      return { rows: [row], loaded: [] }
    },
    onConfirmed,
    classify: (error: unknown) => ({
      kind: 'unknown',
      cause: error,
      timedOut: true,
      lost: true,
      answer: null,
    }),
    errors,
    settings: {
      requireDurability: true,
      lockTimeoutMs: 1_000,
      queue: { batchMax: 10, queueMax: 10, slotsMax: 1, queuedMsMax: 60_000 },
    },
    tables: { outbox: false },
    retryUnknown: false,
  } as unknown as DatabaseParts)
  const outcome = store.commit(placeBet()).then(
    ({ status }) => status,
    ({ code }) => code,
  )
  expect(await outcome).toBe(expected)
  expect(onConfirmed).toHaveBeenCalledTimes(calls)
})
