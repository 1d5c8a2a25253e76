/** Converts between the records of the contract and the rows and JSON of PostgreSQL. */
import type { Bet, Credit, SettlementType, Transaction, WalletChanges } from '../../store.js'
import type { Columns } from './columns.js'

const settlementTypes = ['BET_PAID', 'VOIDED', 'CASHOUT'] as const satisfies SettlementType[]

/** The columns of the credits. A type that was never credited has none. */
export function creditsToRow(credits: Bet['credits']): Record<string, string | null> {
  const row: Record<string, string | null> = {}
  for (const type of settlementTypes) {
    const credit = credits[type]
    if (credit === undefined) continue
    const column = type.toLowerCase()
    row[`${column}_live`] = credit.live
    row[`${column}_reversed`] = credit.reversed
    row[`${column}_owed`] = credit.owed
  }
  return row
}

/** One item of `commit_v1` and `commit_one_v1`. An absent key is NULL there. */
export function changesToJson({ transaction, bet, balance }: WalletChanges, index: number, columns: Columns) {
  return {
    item_index: index,
    operation: transaction.operation,
    transaction_id: transaction.transactionId,
    player_id: transaction.playerId,
    bet_id: transaction.betId,
    amount: transaction.amount ?? undefined,
    currency: transaction.currency ?? undefined,
    type: transaction.type ?? undefined,
    delta: transaction.delta,
    error_code: transaction.refusal?.errorCode,
    description: transaction.refusal?.description,
    transaction_date_ms: Date.parse(transaction.transactionDate),
    ...(balance !== null && {
      balance_delta: columns.toColumn(balance.delta, balance.currency),
      balance_currency: balance.currency,
      balance_floor:
        balance.floor === null ? undefined : columns.floorToColumn(balance.floor, balance.currency),
    }),
    ...(bet !== null && {
      bet_player_id: bet.playerId,
      bet_currency: bet.currency,
      bet_stake: bet.stake,
      bet_status: bet.status,
      bet_revision: bet.revision,
      ...creditsToRow(bet.credits),
    }),
  }
}

/** A row that `commit_v1` and `commit_one_v1` return. `busy`: another writer holds the row lock. */
export interface CommitRow {
  item_index: number
  verdict: 'committed' | 'conflict' | 'busy' | 'out-of-range'
  currency: string | null
  balance: string | null
  wallet_transaction_id: string | null
}

/** A row of a table as JSON: every value is text or `null`. */
export type Row = Readonly<Record<string, string | null | undefined>>

export function betFromRow(betId: string, row: Row): Bet {
  const credits: Bet['credits'] = {}
  for (const type of settlementTypes) {
    const column = type.toLowerCase()
    const reversed = row[`${column}_reversed`] ?? null
    if (reversed === null) continue
    credits[type] = {
      live: row[`${column}_live`] ?? null,
      reversed,
      owed: row[`${column}_owed`] ?? '0',
    } satisfies Credit
  }
  return {
    betId,
    playerId: text(row.player_id),
    currency: text(row.currency),
    stake: text(row.stake),
    status: text(row.status) as Bet['status'],
    credits,
    revision: Number(row.revision),
  }
}

export function transactionFromRow(
  { operation, transactionId }: Pick<Transaction, 'operation' | 'transactionId'>,
  row: Row,
): Transaction {
  const { error_code: errorCode = null, description = null } = row
  return {
    operation,
    transactionId,
    playerId: text(row.player_id),
    betId: text(row.bet_id),
    amount: row.amount ?? null,
    currency: row.currency ?? null,
    type: row.type ?? null,
    delta: text(row.delta),
    refusal: errorCode === null ? null : { errorCode, description: text(description) },
    transactionDate: new Date(Number(row.transaction_date_ms)).toISOString(),
    walletTransactionId: row.wallet_transaction_id ?? null,
  }
}

/** The value of a NOT NULL column. If it is missing nevertheless, the core reports a contract violation. */
function text(value: string | null | undefined): string {
  return value ?? ''
}
