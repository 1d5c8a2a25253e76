/**
 * Commits many changes by one function call, or in one database transaction with the rows of
 * `withinTransaction`.
 */
import type { WalletChanges } from '../../store.js'
import type { Columns } from '../database/columns.js'
import { QueryFailed } from '../database/deadline.js'
import {
  type CommitAnswer,
  type CommitRow,
  creditFields,
  type Fields,
  fieldsOf,
  type LoadRow,
} from '../database/rows.js'
import type { Committer } from '../database/store.js'
import type { DatabaseStoreSettings } from '../database/store-options.js'
import type { PostgresFindings } from './check.js'
import type { Connections } from './client.js'
import { functionCall, procedureCall } from './prepared-statements.js'
import type { Tables } from './tables.js'
import type { Timelines } from './timeline.js'

export function createCommitter(
  connections: Connections,
  timelines: Timelines,
  tables: Tables,
  { timeoutMs, lockTimeoutMs, allowNotDurable }: DatabaseStoreSettings,
): Committer<PostgresFindings> {
  const reserved = tables.players.columns.reserved ? 'reserved, ' : ''
  const columns = `item_index, verdict, currency, balance, wallet_transaction_id, records, ${reserved}timeline`
  const callsOf = (name: string, values: number) => ({
    function: functionCall(tables, name, columns, values),
    procedure: procedureCall(tables, `${name}_procedure`, values),
  })
  const commitMany = callsOf('commit', 9)
  const commitOne = callsOf('commit_one', 10)
  // Some clients close no connection after `timeoutMs`: it would keep the locks while the hook waits. The
  // COMMIT itself has no limit.
  const limits = `SELECT ${['statement_timeout', 'idle_in_transaction_session_timeout']
    .map(name => `set_config('${name}', '${timeoutMs}', true)`)
    .join(', ')}`

  function statementFor(items: readonly WalletChanges[], found: PostgresFindings, commitFollows: boolean) {
    const { columns, column, hasTriggers, everyRow } = found
    const { values: timeline, accept } = timelines.next()
    const durable = commitFollows && !allowNotDurable
    const settings = [lockTimeoutMs, hasTriggers, everyRow, commitFollows, durable, ...timeline]
    const [first] = items
    return first !== undefined && items.length === 1
      ? { calls: commitOne, values: [itemOf(first, columns), column.max, column.length, ...settings], accept }
      : { calls: commitMany, values: [itemsOf(items, columns), column.max, ...settings], accept }
  }

  return {
    async commit(items, found) {
      const { calls, values, accept } = statementFor(items, found, true)
      return answerOf(await connections.commit(calls, values, accept))
    },
    async commitWith(callHook, items, found) {
      const { calls, values, accept } = statementFor(items, found, false)
      const rows = await connections.transaction(
        async query => {
          const { rows } = await query(calls.function.text, values)
          await callHook(query, answerOf(rows))
          return rows
        },
        [limits],
      )
      try {
        accept(rows)
      } catch (error) {
        throw new QueryFailed(error, true)
      }
      return answerOf(rows)
    },
  }
}

/** A row of the function: of an item, or what was loaded for it, with `bet` and `transaction` as JSON. */
type Answered =
  | CommitRow
  | (Omit<LoadRow, 'key_index' | 'bet' | 'transaction'> & {
      item_index: number
      verdict: 'loaded'
      records: string
    })

function answerOf(answered: readonly unknown[]): CommitAnswer {
  const rows: CommitRow[] = []
  const loaded: LoadRow[] = []
  for (const row of answered as readonly Answered[])
    if (row.verdict === 'loaded')
      loaded.push({ ...row, ...JSON.parse(row.records), key_index: row.item_index })
    else rows.push(row)
  return { rows, loaded }
}

const epochMsOf = (transactionDate: string) => Date.parse(transactionDate).toString()

/** The last field: an array of all credit columns. */
function creditsOf(changes: WalletChanges): string | null {
  const fields = creditFields(changes)
  return fields && arrayOf(fields)
}

/**
 * The item of `commit_one_v1`: an array of its fields. PostgreSQL reads an array in half of the time that
 * JSON takes.
 */
const itemOf = (changes: WalletChanges, columns: Columns): string =>
  arrayOf([...fieldsOf(changes, columns, epochMsOf), creditsOf(changes)])

/** The items of `commit_v1`: per field, an array of its values; empty where it is `null` in all of them. */
function itemsOf(all: readonly WalletChanges[], columns: Columns): string {
  const items = all.map(changes => fieldsOf(changes, columns, epochMsOf))
  const fields = (items[0] ?? []).map((_, index) => items.map(item => item[index]))
  return arrayOf([...fields, all.map(creditsOf)].map(arrayOfField))
}

const arrayOfField = (values: Fields) => (values.every(value => value == null) ? '{}' : arrayOf(values))

/** The text of a PostgreSQL array. */
const arrayOf = (values: Fields): string => `{${values.map(elementOf).join(',')}}`

function elementOf(value: Fields[number]): string {
  if (value == null) return 'NULL'
  if (/^[\w.:-]+$/.test(value) && !/^null$/i.test(value)) return value
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}
