/** Which commits share a batch, and which answers of a batch are used. */
import { expect, test } from 'vitest'
import type { WalletChanges } from '../../../src/store.js'
import type { Columns } from '../../../src/stores/database/columns.js'
import { type CommitSettings, Commits } from '../../../src/stores/database/commits.js'
import { type Failure, StoreError, storeErrors } from '../../../src/stores/database/errors.js'
import type { CommitAnswer, CommitRow, LoadRow } from '../../../src/stores/database/rows.js'
import { bet, transaction } from '../../fixtures.js'

const errors = storeErrors((code, problem, options) => new StoreError('postgres', code, problem, options))
const lost: Failure = { kind: 'unknown', cause: new Error('lost'), timedOut: false, lost: true, answer: null }

/** @param execute answers the transactionIds of a batch */
function commitsOf(execute: (ids: string[]) => CommitAnswer | Promise<CommitAnswer>): Commits {
  const settings: CommitSettings = {
    columns: () => ({ available: () => '100' }) as unknown as Columns,
    players: { tableName: ['players'], columnNames: { reserved: null }, accountPerCurrency: false } as never,
    queue: { slotsMax: 4, batchMax: 10, queueMax: 100, queuedMsMax: 60_000 },
    lockTimeoutMs: 60_000,
    execute: async entries => execute(entries.map(({ item }) => item.transaction.transactionId)),
    classify: () => lost,
    ruleProblem: () => null,
    retryUnknown: true,
    outbox: false,
    errors,
  }
  return new Commits(settings)
}

function credit(transactionId: string, playerId: string): WalletChanges {
  const of = { playerId, betId: `bet-of-${playerId}`, currency: 'EUR', amount: '60' }
  return {
    transaction: transaction({
      ...of,
      ...{ operation: 'settlement', transactionId, type: 'BET_PAID', delta: '60', walletTransactionId: null },
    }),
    bet: null,
    credit: { playerId, currency: 'EUR', status: 'PLACED', type: 'BET_PAID', amount: '60' },
    account: { currency: 'EUR', delta: '60', floor: null },
    request: {},
  }
}

const rowsOf = (ids: readonly string[], verdict: CommitRow['verdict']): CommitRow[] =>
  ids.map((_, item_index) => ({
    ...{ item_index, verdict, currency: 'EUR', balance: '100', wallet_transaction_id: null },
  }))

test('two credits of one bet are never in one batch, nor in two at the same time', async () => {
  const steps: string[] = []
  const commits = commitsOf(async ids => {
    steps.push(`begin ${ids}`)
    for (let turn = 0; turn < 2; turn += 1) await new Promise(setImmediate)
    steps.push(`end ${ids}`)
    return { rows: rowsOf(ids, 'committed'), loaded: [] }
  })
  const all = [credit('s-1', 'anna'), credit('s-2', 'anna'), credit('s-3', 'ben')]
  await Promise.all(all.map(changes => commits.submit(changes)))
  expect(steps).toEqual(['begin s-1,s-3', 'end s-1,s-3', 'begin s-2', 'end s-2'])
})

const stored = bet({ playerId: 'anna', betId: 'bet-of-anna', status: 'ROLLED_BACK', revision: 2 })
const loaded: LoadRow = {
  ...{ key_index: 0, currency: 'EUR', balance: '100', transaction: null },
  bet: { player_id: 'anna', currency: 'EUR', stake: '30', status: 'ROLLED_BACK', revision: '2' },
}
const conflict = (ids: readonly string[]) => ({ rows: rowsOf(ids, 'conflict'), loaded: [loaded] })

test('a conflict has the records that were read after it', async () => {
  const result = await commitsOf(conflict).submit(credit('s-1', 'anna'))
  const accounts = [{ playerId: 'anna', currency: 'EUR', balance: '100' }]
  expect(result).toEqual({ status: 'conflict', snapshot: { accounts, bet: stored, transaction: null } })
})

test('after an attempt whose outcome is unknown a conflict with records is unknown too', async () => {
  let attempts = 0
  const commits = commitsOf(ids => {
    attempts += 1
    if (attempts === 1) throw lost.cause
    return conflict(ids)
  })
  const unknown = { code: 'COMMIT_UNKNOWN', cause: lost.cause }
  await expect(commits.submit(credit('s-1', 'anna'))).rejects.toMatchObject(unknown)
  expect(attempts).toBe(2)
})
