/** What a database has at the end of a phase, whichever database it is. All amounts in cents. */
import type { Books } from './books.js'
import type { SettlementType } from './platform.js'

export const settlementTypes = ['BET_PAID', 'VOIDED', 'CASHOUT'] as const satisfies readonly SettlementType[]

export interface Ledger {
  /** By player. */
  balances: ReadonlyMap<string, number>
  transactions: readonly LedgerTransaction[]
  /** By bet id. */
  bets: ReadonlyMap<string, LedgerBet>
}

export interface LedgerTransaction {
  operation: string
  transactionId: string
  playerId: string
  betId: string
  delta: number
  errorCode: string | null
  walletTransactionId: string
}

export interface LedgerBet {
  playerId: string
  currency: string
  status: string
  stake: number
  /** The live credits: credited and not reversed. */
  live: Readonly<Record<SettlementType, number | null>>
  /** The uncollected clawbacks. */
  owed: number
}

/** Exact: an amount that is absent or not a whole number of cents is NaN, which equals no other value. */
export function centsOfDecimal(text: string | null): number {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text ?? '') ?? []
  if (whole === undefined || !/^\d{0,2}0*$/.test(fraction)) return Number.NaN
  const cents = Number(`${whole}${fraction.slice(0, 2).padEnd(2, '0')}`)
  // No negative zero.
  return sign === '-' && cents !== 0 ? -cents : cents
}

/** The columns of a bet that are the same in every SQL store. */
export interface BetColumns {
  player_id: string
  currency: string
  status: string
  stake: string
  bet_paid_live: string | null
  voided_live: string | null
  cashout_live: string | null
  bet_paid_owed: string | null
  voided_owed: string | null
  cashout_owed: string | null
}

export function ledgerBetOf(row: BetColumns): LedgerBet {
  const cents = (text: string | null) => (text === null ? null : centsOfDecimal(text))
  return {
    playerId: row.player_id,
    currency: row.currency,
    status: row.status,
    stake: centsOfDecimal(row.stake),
    live: {
      BET_PAID: cents(row.bet_paid_live),
      VOIDED: cents(row.voided_live),
      CASHOUT: cents(row.cashout_live),
    },
    owed: [row.bet_paid_owed, row.voided_owed, row.cashout_owed].reduce(
      (sum, owed) => sum + (cents(owed) ?? 0),
      0,
    ),
  }
}

/** What the table of the soak counts. */
export function booksOf({ transactions, bets }: Ledger): Books {
  const all = [...bets.values()]
  const rolledBack = all.filter(({ status }) => status === 'ROLLED_BACK')
  return {
    bets: all.length,
    rolledBack: rolledBack.length,
    tombstones: rolledBack.filter(({ stake }) => stake === 0).length,
    settled: all.filter(({ live }) => settlementTypes.some(type => live[type] !== null)).length,
    transactions: transactions.length,
    recordedRefusals: transactions.filter(({ errorCode }) => errorCode !== null).length,
    imported: 0,
    movements: 0,
    balanceChanges: transactions.filter(({ delta }) => delta !== 0).length,
    owedCents: all.reduce((sum, { owed }) => sum + owed, 0),
  }
}

/**
 * Answered successes that are not recorded exactly so, and what is recorded twice.
 *
 * @param answered by operation and transaction id: the reference
 */
export function wrongRecords({ transactions }: Ledger, answered: ReadonlyMap<string, string>): string[] {
  const recorded = new Map(transactions.map(row => [`${row.operation} ${row.transactionId}`, row]))
  const references = new Set(transactions.map(row => row.walletTransactionId))
  return [
    ...(recorded.size === transactions.length ? [] : ['a transaction is recorded twice']),
    ...(references.size === transactions.length ? [] : ['a walletTransactionId was assigned twice']),
    ...[...answered].flatMap(([name, reference]) => {
      const row = recorded.get(name)
      if (row === undefined) return [`${name} was answered with success, but is not recorded`]
      return row.errorCode === null && row.walletTransactionId === reference
        ? []
        : [
            `${name} was answered as ${reference}, but is recorded as ${row.errorCode ?? row.walletTransactionId}`,
          ]
    }),
  ]
}

/** The differences between what two nodes have. */
export function differencesBetween(one: Ledger, other: Ledger): string[] {
  const entriesOf = ({ balances, transactions, bets }: Ledger) =>
    new Set([
      ...[...balances].map(entry => JSON.stringify(entry)),
      ...transactions.map(row => JSON.stringify(row)),
      ...[...bets].map(entry => JSON.stringify(entry)),
    ])
  const [left, right] = [entriesOf(one), entriesOf(other)]
  return [
    ...[...left].filter(entry => !right.has(entry)).map(entry => `only the first has ${entry}`),
    ...[...right].filter(entry => !left.has(entry)).map(entry => `only the second has ${entry}`),
  ]
}
