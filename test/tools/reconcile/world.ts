/** A wallet with some days of transactions, the platform's report about it, and changes to both. */
import type {
  BetHistory,
  RecordedBet,
  RecordedTransaction,
  WalletLookups,
} from '../../../src/lookups/records.js'
import type { Operation } from '../../../src/store.js'
import { type ReconcileOptions, type Reconciliation, reconcile } from '../../../src/tools/reconcile/index.js'

/** The day that is reconciled. */
export const day = { from: '2026-11-21T00:00:00.000Z', to: '2026-11-22T00:00:00.000Z' }

export const columns = [
  ...(['operation', 'transactionId', 'betId', 'playerId', 'type', 'amount', 'currency', 'status'] as const),
  'transactionDate' as const,
]

/** A row of the platform's report. */
export type Row = Record<(typeof columns)[number], string>

export interface World {
  rows: Row[]
  records: RecordedTransaction[]
  /** What the PAM's own code has credited: per bet, an amount of BET_PAID that no transaction records. */
  credits?: Record<string, string>
}

const debits: readonly Operation[] = ['placebet', 'unsettlement']

/** A transaction of the wallet, accepted, as a store records it. */
export function record(
  operation: Operation,
  transactionId: string,
  betId: string,
  amount: string,
  changes: Partial<RecordedTransaction> & { currency?: string } = {},
): RecordedTransaction {
  const { currency = 'EUR', ...others } = changes
  const hasMoney = operation === 'placebet' || operation === 'settlement'
  const recordedAt = '2026-11-21T12:00:00.100Z'
  return {
    ...{ operation, transactionId, betId, playerId: `player-of-${betId}` },
    amount: hasMoney ? amount : null,
    currency: hasMoney ? currency : null,
    accountCurrency: currency,
    type: {
      placebet: null,
      settlement: 'BET_PAID',
      unsettlement: 'UNSCORED',
      rollbackbet: 'TECHNICAL_ERROR',
    }[operation],
    // As a database writes it.
    delta: amount === '0' ? '0' : `${debits.includes(operation) ? '-' : ''}${amount}`,
    refusal: null,
    reason: 'ACCEPTED',
    transactionDate: others.recordedAt ?? recordedAt,
    walletTransactionId: `W-${transactionId}`,
    recordedAt,
    balanceAfter: null,
    ...others,
  }
}

/** The row that the platform writes about it. */
export function rowOf(transaction: RecordedTransaction): Row {
  const { operation, transactionId, betId, playerId, type, delta, refusal, transactionDate } = transaction
  return {
    ...{ operation, transactionId, betId, playerId, transactionDate },
    type: operation === 'settlement' || operation === 'unsettlement' ? (type ?? '') : '',
    amount: delta.replace('-', ''),
    currency: transaction.currency ?? transaction.accountCurrency ?? '',
    status: refusal === null ? 'accepted' : 'refused',
  }
}

/** The seven kinds of transactions, as they are named in the cases. */
export const transactionKinds = [
  ...['placebet', 'BET_PAID', 'VOIDED', 'CASHOUT', 'UNSCORED', 'UNVOIDED', 'rollbackbet'],
] as const
export const currencies = ['EUR', 'JPY', 'BTC'] as const

const stakes: Record<string, string> = { EUR: '12.34', JPY: '1500', BTC: '0.00012345' }
const credits: Record<string, string> = { EUR: '45.6', JPY: '2800', BTC: '0.00300001' }

/** Bets of every course, in each currency; some refusals; all of them at noon. */
export function createWorld(betsPerCurrency = 4): World {
  const records = currencies.flatMap(currency => {
    const [stake = '', credit = ''] = [stakes[currency], credits[currency]]
    return Array.from({ length: betsPerCurrency }, (_, number) => {
      const id = `${currency}-${number}`
      const make = (operation: Operation, what: string, amount: string, type?: string) =>
        record(operation, `${what}-${id}`, `bet-${what}-${id}`, amount, { currency, ...(type && { type }) })
      return [
        make('placebet', 'placebet', stake),
        make('settlement', 'BET_PAID', credit, 'BET_PAID'),
        make('settlement', 'VOIDED', stake, 'VOIDED'),
        make('settlement', 'CASHOUT', credit, 'CASHOUT'),
        make('settlement', 'lost', '0', 'BET_PAID'),
        make('unsettlement', 'UNSCORED', credit, 'UNSCORED'),
        make('unsettlement', 'UNVOIDED', stake, 'UNVOIDED'),
        make('rollbackbet', 'rollbackbet', stake),
        {
          ...make('placebet', 'refused', '0'),
          amount: stake,
          refusal: { errorCode: 'INSUFFICIENT_FUNDS', description: 'no funds' },
        },
      ]
    }).flat()
  })
  return { records, rows: records.map(rowOf) }
}

/** CSV as a platform writes it. */
export function csvOf(rows: readonly Row[], names: readonly (keyof Row)[] = columns): string {
  const cell = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return [names.join(','), ...rows.map(row => names.map(name => cell(row[name])).join(','))].join('\n')
}

/** Lookups over records in memory. */
export function lookupsOf(records: readonly RecordedTransaction[]): WalletLookups {
  return {
    async *transactions({ from, to }) {
      yield* records
        .filter(({ recordedAt }) => recordedAt >= from && recordedAt < to)
        .sort((one, other) => (one.recordedAt < other.recordedAt ? -1 : 1))
    },
    transaction: async id => records.filter(({ transactionId }) => transactionId === id),
    bet: async betId => historyOf(betId, records),
    player: async () => null,
    owed: async () => [],
  }
}

function historyOf(betId: string, records: readonly RecordedTransaction[]): BetHistory | null {
  const transactions = records.filter(each => each.betId === betId)
  if (transactions.length === 0) return null
  const accepted = transactions.filter(({ refusal }) => refusal === null)
  const stake = accepted.find(({ operation }) => operation === 'placebet')
  const isRolledBack = accepted.some(({ operation }) => operation === 'rollbackbet')
  const bet: RecordedBet = {
    ...{
      betId,
      playerId: transactions[0]?.playerId ?? '',
      currency: transactions[0]?.accountCurrency ?? 'EUR',
    },
    stake: stake?.amount ?? '0',
    status: isRolledBack ? 'ROLLED_BACK' : 'PLACED',
    ...{ credits: creditsOf(accepted), revision: 1, recordedAt: null },
  }
  return { betId, bet: stake === undefined && !isRolledBack ? null : bet, transactions }
}

/** The lookups, with a bet whose credit the PAM's own code has raised: no transaction records it. */
export function withCredit(
  lookups: WalletLookups,
  betId: string,
  amount: string,
  {
    type = 'BET_PAID' as 'BET_PAID' | 'VOIDED' | 'CASHOUT',
    currency = 'EUR',
    playerId = `player-of-${betId}`,
  } = {},
): WalletLookups {
  return {
    ...lookups,
    async bet(id) {
      const history = await lookups.bet(id)
      if (id !== betId) return history
      const placed = { betId, playerId, currency, stake: '1', status: 'PLACED' as const }
      const bet = history?.bet ?? { ...placed, credits: {}, revision: 1, recordedAt: null }
      const { live = null, reversed = '0', owed = '0' } = bet.credits[type] ?? {}
      const credit = { live: String(Number(live ?? '0') + Number(amount)), reversed, owed }
      const credits = { ...bet.credits, [type]: credit }
      return { betId, transactions: history?.transactions ?? [], bet: { ...bet, credits } }
    },
  }
}

function creditsOf(accepted: readonly RecordedTransaction[]): RecordedBet['credits'] {
  const credits: RecordedBet['credits'] = {}
  for (const { operation, type, delta } of accepted) {
    if (operation === 'settlement') {
      const credit = type as 'BET_PAID' | 'VOIDED' | 'CASHOUT'
      const live = String(Number(credits[credit]?.live ?? '0') + Number(delta))
      credits[credit] = { live, reversed: '0', owed: '0' }
    }
    if (operation === 'unsettlement') {
      const credit = type === 'UNSCORED' ? 'BET_PAID' : 'VOIDED'
      credits[credit] = { live: null, reversed: delta.slice(1), owed: '0' }
    }
  }
  return credits
}

export async function* chunksOf(text: string, size = 50): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
}

/** Reconciles the day of the world. */
export function reconcileWorld(
  { rows, records, credits = {} }: World,
  options: Partial<ReconcileOptions> = {},
): Promise<Reconciliation> {
  let lookups = lookupsOf(records)
  for (const [betId, amount] of Object.entries(credits)) lookups = withCredit(lookups, betId, amount)
  return reconcile({ report: chunksOf(csvOf(rows)), lookups, ...day, ...options })
}

/** What was found: kind, operation and transactionId of each difference. */
export const foundIn = ({ differences }: Reconciliation) =>
  differences
    .map(
      ({ kind, report, wallet }) =>
        `${kind}: ${(report ?? wallet)?.operation} ${(report ?? wallet)?.transactionId}`,
    )
    .sort()
