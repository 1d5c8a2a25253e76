/** Items and keys as JSON, and the rows that the server returns. */
import type { WalletChanges, WalletKeys } from '../../store.js'
import type { Columns } from '../database/columns.js'
import type { LookupRow } from '../database/lookups.js'
import {
  type CommitRow,
  creditFields,
  type Fields,
  fieldsOf,
  type LoadRow,
  type Row,
} from '../database/rows.js'
import { loadedBetColumns, loadedTransactionColumns } from './sql/load.js'
import { lookedUpBetColumns, lookedUpTransactionColumns } from './sql/lookups.js'
import { nextTransactionId } from './transaction-ids.js'

/** A row as the driver returns it: an array of its columns. */
export type Values = readonly unknown[]

/** `2026-11-21T10:00:00.000Z` as a DATETIME: it has no time zone, and always means UTC. */
export const dateTimeOf = (transactionDate: string) => transactionDate.slice(0, 23).replace('T', ' ')

/** Beside the fields: the credits of the bet, and a new id. */
function completed(fields: Fields, changes: WalletChanges): (string | null)[] {
  const credits = creditFields(changes)
  return [
    ...fields,
    credits && JSON.stringify(credits.map(credit => credit ?? null)),
    nextTransactionId(),
  ].map(field => field ?? null)
}

/** The first parameters of `commit_one_v1`. */
export const itemOf = (changes: WalletChanges, columns: Columns) =>
  completed(fieldsOf(changes, columns, dateTimeOf), changes)

/**
 * The items of `commit_v1`, and the players or accounts to lock, in one order. One with two items, which no
 * batch has, is a duplicate key there: the UPDATE would make one change only.
 */
export const itemsOf = (all: readonly WalletChanges[], columns: Columns, accountPerCurrency: boolean) => ({
  items: JSON.stringify(all.map(changes => itemOf(changes, columns))),
  players: JSON.stringify(
    all
      .map(({ transaction: { playerId }, account }) =>
        accountPerCurrency ? [playerId, account.currency] : playerId,
      )
      .sort(),
  ),
})

export const keysOf = (all: readonly WalletKeys[], columns: Columns): string =>
  JSON.stringify(
    all.map(keys => [keys.operation, keys.transactionId, columns.idOf(keys.playerId), keys.betId]),
  )

export const text = (value: unknown) => (value == null ? null : String(value))

export function commitRowOf([index, verdict, currency, balance, id, reserved]: Values): CommitRow {
  return {
    item_index: Number(index),
    verdict: verdict as CommitRow['verdict'],
    currency: text(currency),
    balance: withoutZeros(text(balance)),
    wallet_transaction_id: text(id),
    reserved: withoutZeros(text(reserved)),
  }
}

/** Variables and sums have more decimals than the column: `10050.00000000000000000000`. */
const withoutZeros = (amount: string | null) =>
  amount?.includes('.') ? amount.replace(/(?:[.]|(?<![.0]))0+$/, '') : amount

/** @see loadQuery */
export function loadRowOf(values: Values): LoadRow {
  const [index, , currency, balance, ...records] = values
  const bet = rowOf(loadedBetColumns, records)
  const transaction = rowOf(loadedTransactionColumns, records.slice(loadedBetColumns.length))
  return {
    key_index: Number(index),
    currency: text(currency),
    balance: text(balance),
    reserved: text(records[loadedBetColumns.length + loadedTransactionColumns.length]),
    bet: bet.player_id === null ? null : bet,
    transaction: transaction.player_id == null ? null : withDate(transaction),
  }
}

/** The date of the platform, from a DATETIME in UTC. */
function withDate({ transaction_date: date, ...transaction }: Row): Row {
  return { ...transaction, transaction_date_ms: `${Date.parse(`${date?.replace(' ', 'T')}Z`)}` }
}

/** A row of a lookup: a transaction, and where they were asked for, a bet and an account. */
export function lookupRowOf(values: Values): LookupRow {
  const transactionEnd = lookedUpTransactionColumns.length
  const transaction = rowOf(lookedUpTransactionColumns, values)
  const bet = rowOf(lookedUpBetColumns, values.slice(transactionEnd))
  const [currency, balance, reserved] = values.slice(transactionEnd + lookedUpBetColumns.length)
  return {
    transaction: transaction.player_id == null ? null : withDate(withTime(transaction)),
    bet: bet.player_id == null ? null : withTime(bet),
    account:
      currency == null
        ? null
        : { currency: String(currency), balance: String(balance ?? ''), reserved: text(reserved) },
  }
}

const withTime = (row: Row): Row => ({ ...row, recorded_at: row.recorded_at?.replace(' ', 'T') ?? null })

/** Whether the server of a loaded row is read-only: a replica. */
export const isReadOnly = (values: Values) => String(values[1]) !== '0'

function rowOf(columns: readonly string[], values: readonly unknown[]): Row {
  return Object.fromEntries(columns.map((column, index) => [column, text(values[index])]))
}
