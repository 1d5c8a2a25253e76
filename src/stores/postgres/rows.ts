/** Converts between the records of the contract and the rows and JSON of PostgreSQL. */
import { add, type Decimal, isNegative } from '../../money.js'
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

type Fields = readonly (string | null | undefined)[]

/**
 * The item of `commit_one_v1`: an array of its fields. PostgreSQL reads an array in half of the time that JSON
 * takes.
 */
export const itemOf = (changes: WalletChanges, columns: Columns): string =>
  arrayOf(fieldsOf(changes, columns))

/**
 * The items of `commit_v1`: per field, an array of its values; empty where it is `null` in all of them.
 *
 * @throws {RangeError} when the changes of one player have a sum of more than 40 digits
 */
export function itemsOf(all: readonly WalletChanges[], columns: Columns): string {
  const sums = new Map<string, Sums>()
  const items = all.map(changes => {
    const { playerId } = changes.transaction
    const before = sums.get(playerId)
    sums.set(playerId, sumsWith(before, changes.balance, columns))
    return fieldsOf(changes, columns, before)
  })
  return arrayOf(
    (items[0] ?? []).map((_, index) => {
      const values = items.map(fields => fields[index])
      return values.every(value => value == null) ? '{}' : arrayOf(values)
    }),
  )
}

/** Of the earlier items of a player in the batch, in the column's unit; `null`: none. */
interface Sums {
  debits: Decimal | null
  credits: Decimal | null
}

function sumsWith(
  { debits, credits }: Sums = { debits: null, credits: null },
  balance: WalletChanges['balance'],
  columns: Columns,
): Sums {
  const delta = balance && columns.toColumn(balance.delta, balance.currency)
  if (delta === null) return { debits, credits }
  return isNegative(delta)
    ? { debits: debits === null ? delta : add(debits, delta), credits }
    : { debits, credits: credits === null ? delta : add(credits, delta) }
}

/** The fields of an item, in the order of the SQL. */
function fieldsOf({ transaction, bet, balance }: WalletChanges, columns: Columns, before?: Sums): Fields {
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
    Date.parse(transaction.transactionDate).toString(),
    balance && columns.toColumn(balance.delta, balance.currency),
    balance?.currency,
    balance && balance.floor !== null ? columns.floorToColumn(balance.floor, balance.currency) : null,
    before?.debits,
    before?.credits,
    bet?.playerId,
    bet?.currency,
    bet?.stake,
    bet?.status,
    bet?.revision.toString(),
    bet && creditsToArray(bet.credits),
  ]
}

function creditsToArray(credits: Bet['credits']): string | null {
  const row = creditsToRow(credits)
  if (Object.keys(row).length === 0) return null
  return arrayOf(
    settlementTypes.flatMap(type =>
      ['live', 'reversed', 'owed'].map(part => row[`${type.toLowerCase()}_${part}`]),
    ),
  )
}

/** The text of a PostgreSQL array. */
const arrayOf = (values: Fields): string => `{${values.map(elementOf).join(',')}}`

function elementOf(value: Fields[number]): string {
  if (value == null) return 'NULL'
  if (/^[\w.:-]+$/.test(value) && !/^null$/i.test(value)) return value
  return `"${value.replace(/["\\]/g, '\\$&')}"`
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
