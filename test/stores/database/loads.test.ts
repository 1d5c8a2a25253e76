/** One read at a time: the statements of `load`, beside each other only if one hangs. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { WalletKeys } from '../../../src/store.js'
import { StoreError, storeErrors } from '../../../src/stores/database/errors.js'
import { createLoads } from '../../../src/stores/database/loads.js'
import type { LoadRow } from '../../../src/stores/database/rows.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** The queue sends in the turn after the one in which a statement ends. */
async function nextTurn(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise(resolve => setImmediate(resolve))
}
const keysOf = (playerId: string): WalletKeys => ({
  operation: 'rollbackbet',
  transactionId: `t-${playerId}`,
  betId: `b-${playerId}`,
  playerId,
})

/** Loads of a database whose answers the test sends. */
function stage() {
  const statements: { players: string[]; answer(): void }[] = []
  const loads = createLoads({
    kind: 'load',
    queue: { slotsMax: 3, batchMax: 100, queueMax: 100, queuedMsMax: 5_000 },
    columns: () => ({
      idOf: id => id,
      hasCurrency: () => true,
      toColumn: amount => amount,
      floorToColumn: floor => floor,
      fromColumn: balance => balance,
      available: ({ balance }) => balance ?? '',
    }),
    read: keys =>
      new Promise(resolve => {
        const rows = keys.map(
          (_, key_index): LoadRow => ({
            key_index,
            currency: 'EUR',
            balance: '5',
            bet: null,
            transaction: null,
          }),
        )
        statements.push({ players: keys.map(({ playerId }) => playerId), answer: () => resolve(rows) })
      }),
    classify: error => {
      throw error
    },
    errors: storeErrors((code, problem, options) => new StoreError('postgres', code, problem, options)),
    players: {
      accountPerCurrency: false,
      tableName: ['pam', 'accounts'],
      columnNames: { id: 'id', currency: 'currency', balance: 'balance', reserved: null, version: null },
    },
  })
  return { loads, statements, sent: () => statements.map(({ players }) => players.join(' ')) }
}

test('given a read that is running, when others arrive, then one statement after it reads all of them', async () => {
  const { loads, statements, sent } = stage()
  const first = loads.submit(keysOf('anna'))
  await nextTurn()
  const others = ['ben', 'carl'].map(id => loads.submit(keysOf(id)))
  await nextTurn()
  expect(sent()).toEqual(['anna'])
  statements[0]?.answer()
  await first
  await nextTurn()
  expect(sent()).toEqual(['anna', 'ben carl'])
  statements[1]?.answer()
  const [, carl] = await Promise.all(others)
  expect(carl?.accounts[0]).toEqual({ playerId: 'carl', currency: 'EUR', balance: '5' })
})

test('given a read that hangs, when 20 ms have passed, then another statement reads the others', async () => {
  const { loads, statements, sent } = stage()
  const hanging = loads.submit(keysOf('anna'))
  await nextTurn()
  const other = loads.submit(keysOf('ben'))
  await nextTurn()
  vi.advanceTimersByTime(20)
  await nextTurn()
  expect(sent()).toEqual(['anna', 'ben'])
  for (const { answer } of statements) answer()
  await Promise.all([hanging, other])
})
