/** The simulated platform's report agrees with the wallet's records, and a planted difference is found. */
import { expect, test } from 'vitest'
import type { RecordedTransaction } from '../../../src/lookups/records.js'
import type { MemoryStore } from '../../../src/stores/memory.js'
import { platformReportHeader, platformReportLine } from '../../../src/tools/command/simulate.js'
import type { DecidedTransaction } from '../../../src/tools/random/index.js'
import { reconcile } from '../../../src/tools/reconcile/index.js'
import { simulate } from '../wallets/library.js'

async function simulated(seed: number) {
  const rows: DecidedTransaction[] = []
  const { report, memory } = await simulate(
    {},
    {
      ...{ seed, bets: 400, chaos: 0.7 },
      // So that few placebets are sent again at the end for another reason.
      rememberedBetsMax: 20,
      onTransaction: transaction => rows.push(transaction),
    },
  )
  expect(report.differences).toEqual([])
  return { rows, memory }
}

function compare(rows: readonly DecidedTransaction[], memory: MemoryStore) {
  async function* report() {
    yield platformReportHeader + rows.map(platformReportLine).join('')
  }
  const recordedAt = new Date().toISOString()
  async function* transactions(): AsyncGenerator<RecordedTransaction> {
    for (const transaction of memory.transactions()) {
      const betCurrency = memory.bet(transaction.betId)?.currency ?? null
      const { walletTransactionId } = transaction
      yield {
        ...{ ...transaction, recordedAt, balanceAfter: null, betCurrency },
        walletTransactionId: walletTransactionId ?? '',
      }
    }
  }
  const [from, to] = [-3_600_000, 3_600_000].map(ms => new Date(Date.now() + ms).toISOString())
  return reconcile({ report: report(), lookups: { transactions }, from: from ?? '', to: to ?? '' })
}

test.each([1, 2, 3])('seed %i: the report of a run over a bad network equals the records', async seed => {
  const { rows, memory } = await simulated(seed)
  const result = await compare(rows, memory)
  expect(result.differences).toEqual([])
  expect(result.verdict).toBe('equal')
  // Each operation is there, refused too, and no decision twice.
  const words = new Set(rows.map(({ operation, accepted }) => `${operation} ${accepted}`))
  expect([...words].sort()).toEqual([
    'placebet false',
    'placebet true',
    'rollbackbet true',
    'settlement true',
    'unsettlement false',
    'unsettlement true',
  ])
  expect(new Set(rows.map(({ transactionId }) => transactionId)).size).toBe(rows.length)
})

test('a planted difference is the one that is found', async () => {
  const { rows, memory } = await simulated(4)
  const index = rows.findIndex(({ operation, accepted }) => operation === 'settlement' && accepted)
  const missing = rows[index] as DecidedTransaction
  const { differences } = await compare(rows.toSpliced(index, 1), memory)
  expect(differences.map(({ kind, wallet }) => [kind, wallet?.transactionId])).toEqual([
    ['missing-in-report', missing.transactionId],
  ])
})
