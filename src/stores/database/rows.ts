/** Converts between the records of the contract and rows: every value is text or `null`. */
import { isZero } from '../../money.js'
import type { Bet, Credit, SettlementType, Transaction, WalletChanges } from '../../store.js'
import type { Amounts, Columns } from './columns.js'
import { creditColumns } from './record-columns.js'

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

/**
 * The values of all credit columns that the changes write or add, in the order of {@link creditsToRow};
 * `null`: none.
 */
export function creditFields({ bet, credit }: WalletChanges): Fields | null {
  const added = credit && { [credit.type]: { live: credit.amount, reversed: '0', owed: '0' } }
  const row = creditsToRow(added ?? bet?.credits ?? {})
  return Object.keys(row).length === 0 ? null : creditColumns.map(column => row[column])
}

export type Fields = readonly (string | null | undefined)[]

/**
 * The fields of an item, in the order of the SQL: all but the credits of the bet.
 *
 * @param dateOf the transaction's date in the form of the database
 */
export function fieldsOf(
  { transaction, bet, credit, account: { currency, delta, floor } }: WalletChanges,
  columns: Columns,
  dateOf: (transactionDate: string) => string,
): Fields {
  return [
    transaction.operation,
    transaction.transactionId,
    transaction.playerId,
    transaction.betId,
    transaction.amount,
    transaction.currency,
    transaction.type,
    transaction.delta,
    transaction.refusal?.errorCode,
    transaction.refusal?.description,
    transaction.reason,
    dateOf(transaction.transactionDate),
    isZero(delta) ? null : columns.toColumn(delta, currency),
    currency,
    floor === null ? null : columns.floorToColumn(floor, currency),
    (bet ?? credit)?.playerId,
    (bet ?? credit)?.currency,
    bet?.stake,
    (bet ?? credit)?.status,
    bet?.revision.toString() ?? (credit && '0'),
  ]
}

/** What a commit returns for an item. `busy`: another writer holds the row lock. */
export interface CommitRow extends Amounts {
  item_index: number
  verdict: 'committed' | 'conflict' | 'busy' | 'out-of-range'
  currency: string | null
  wallet_transaction_id: string | null
}

/** What a commit returns: a row for each item, and records of some of them, as they are after its writes. */
export interface CommitAnswer {
  rows: readonly CommitRow[]
  /** By the index of the item. Of conflicts, and where a hook follows, of bets that a credit was added to. */
  loaded: readonly LoadRow[]
}

/** What a load returns for a key: a row for each account of the player, or one without an account. */
export interface LoadRow extends Amounts {
  key_index: number
  /** Of an account of the player; `null`: there is none. */
  currency: string | null
  bet: Row | null
  transaction: Row | null
}

/** A row of a table by its columns: every value is text or `null`. */
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
    accountCurrency: row.account_currency ?? null,
    refusal: errorCode === null ? null : { errorCode, description: text(description) },
    reason: text(row.reason),
    transactionDate: new Date(Number(row.transaction_date_ms)).toISOString(),
    walletTransactionId: row.wallet_transaction_id ?? null,
  }
}

/** The value of a NOT NULL column. If it is missing, the core reports a contract violation. */
function text(value: string | null | undefined): string {
  return value ?? ''
}
