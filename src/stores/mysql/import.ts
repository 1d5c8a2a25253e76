/** The cut-over from a legacy integration (D27): its bets, and the transactions of its last days. */
import type { Bet } from '../../store.js'
import { QueryFailed } from '../database/deadline.js'
import {
  betToRow,
  type ImportedTransaction,
  type ImportReport,
  importInChunks,
  transactionToRow,
} from '../database/import.js'
import { creditColumns } from '../database/record-columns.js'
import { lines, sql } from '../database/sql-text.js'
import { connectionsFrom } from './client.js'
import type { MysqlPool } from './driver.js'
import { errors } from './errors.js'
import { amountDecimal, exactText } from './sql/fragments.js'
import { literal } from './sql/quoting.js'
import { procedureMode } from './sql/schema.js'
import { type MysqlTables, type Tables, tablesOf } from './tables.js'
import { nextTransactionId } from './transaction-ids.js'

/**
 * Imports bets of the legacy integration that can still be rolled back, settled or unsettled. It can be run
 * again, as long as no call is answered: then it replaces what an earlier import has written, unless the bet
 * was rolled back or the library has changed it since. All other bets that exist are not changed.
 *
 * @param client a pool; on a cluster that of any one server
 * @param options only `schema` is used
 * @param bets with revision 1, and `credits` as they are now
 * @returns how many were new or replaced
 * @throws {StoreError} `IMPORT_REJECTED`, naming the bet that the tables reject. The chunks of 1,000
 *   before it are imported
 */
export function importBets(
  client: MysqlPool,
  { schema }: Pick<MysqlTables, 'schema'>,
  bets: Iterable<Bet> | AsyncIterable<Bet>,
): Promise<ImportReport> {
  return importRows(client, bets, {
    schema,
    table: 'wallet_bets',
    columns: betColumns,
    isPresent: 'recorded.bet_id = item.bet_id',
    describe: bet => `bets, ${bet.betId}`,
    rowOf: bet => ({ id: nextTransactionId(), ...betToRow(bet) }),
    remove: removeReplacedSql,
  })
}

/**
 * Imports transactions that the legacy integration answered, so that a retry across the cut-over is replayed
 * (D2): all that the platform may still retry, refusals included. A settlement that is retried and was not
 * imported would be credited twice, because the imported bet contains it already. It can be run again, as
 * {@link importBets}.
 *
 * @param client a pool; on a cluster that of any one server
 * @param options only `schema` is used
 * @param transactions with the references that the platform was answered with. A `walletTransactionId` is
 *   unique: where the legacy integration had one for several transactions, or none, pass `null`, and it gets
 *   a new one
 * @returns how many were imported
 * @throws {StoreError} `IMPORT_REJECTED`, naming the transaction: also where its `walletTransactionId`
 *   belongs to another one
 */
export function importTransactions(
  client: MysqlPool,
  { schema }: Pick<MysqlTables, 'schema'>,
  transactions: Iterable<ImportedTransaction> | AsyncIterable<ImportedTransaction>,
): Promise<ImportReport> {
  return importRows(client, transactions, {
    schema,
    table: 'wallet_transactions',
    columns: transactionColumns,
    isPresent: 'recorded.operation = item.operation AND recorded.transaction_id = item.transaction_id',
    describe: ({ transactionId }) => `transactions, ${transactionId}`,
    rowOf: transaction => ({
      ...transactionToRow(transaction),
      // A DATETIME has no zone: it is UTC.
      transaction_date: transaction.transactionDate.slice(0, 23).replace('T', ' '),
      ...referenceOf(transaction),
    }),
  })
}

type ImportedColumns = readonly (readonly [name: string, type: string])[]

const betColumns: ImportedColumns = [
  ['id', 'bigint unsigned'],
  ['bet_id', exactText(256)],
  ['player_id', exactText(256)],
  ['currency', exactText(17)],
  ['stake', 'decimal(65,30)'],
  ['status', exactText(12)],
  ['revision', 'integer'],
  ...creditColumns.map(column => [column, amountDecimal] as const),
]

const transactionColumns: ImportedColumns = [
  ['id', 'bigint unsigned'],
  ['operation', exactText(13)],
  ['transaction_id', exactText(256)],
  ['player_id', exactText(256)],
  ['bet_id', exactText(256)],
  ['amount', amountDecimal],
  ['currency', exactText(17)],
  ['type', exactText(256)],
  ['delta', amountDecimal],
  ['error_code', exactText(65)],
  ['description', exactText(501)],
  ['reason', exactText(65)],
  ['transaction_date', exactText(23)],
  ['reference', exactText(256)],
]

/** A reference that is a number is the id: so the primary key keeps all references apart. */
function referenceOf({ walletTransactionId: reference }: ImportedTransaction) {
  const isId = reference !== null && /^[1-9][0-9]{0,18}$/.test(reference) && BigInt(reference) < 2n ** 63n
  return isId ? { id: reference, reference: null } : { id: nextTransactionId(), reference }
}

const itemsOf = (columns: ImportedColumns) => sql`
  JSON_TABLE(?, '$[*]' COLUMNS (
    ${lines(columns.map(([name, type]) => `${name} ${type} PATH '$.${name}' ERROR ON ERROR`))}
  )) item`

/**
 * Before the import inserts them again. A bet of the library has the id of its first transaction. Without a
 * default schema, MySQL rejects an UPDATE beside JSON_TABLE, and an alias of the deleted table (1046).
 */
const removeReplacedSql = ({ schema }: Tables) => {
  const bets = `${schema}.wallet_bets`
  const content = betColumns.map(([name]) => name).filter(name => name !== 'id' && name !== 'bet_id')
  return sql`
  DELETE ${bets}
  FROM ${itemsOf(betColumns)}
  STRAIGHT_JOIN ${bets} ON ${bets}.bet_id = item.bet_id
  LEFT JOIN ${schema}.wallet_transactions recorded ON recorded.id = ${bets}.id
  WHERE recorded.id IS NULL
    AND ${bets}.revision = 1
    AND ${bets}.status = 'PLACED'
    AND NOT (
      ${content.map(name => `${bets}.${name} <=> item.${name}`).join('\nAND ')}
    )`
}

const importSql = (
  { schema }: Tables,
  { table, columns, isPresent }: Pick<RowsOf<unknown>, 'table' | 'columns' | 'isPresent'>,
) => sql`
  INSERT INTO ${schema}.${table} (
    ${lines(columns.map(([name]) => name))}
  )
  SELECT
    ${lines(columns.map(([name]) => `item.${name}`))}
  FROM ${itemsOf(columns)}
  LEFT JOIN ${schema}.${table} recorded ON ${isPresent}
  WHERE recorded.id IS NULL`

interface RowsOf<Item> {
  schema: string | undefined
  table: string
  columns: ImportedColumns
  isPresent: string
  /** Names the record in an error. */
  describe(item: Item): string
  rowOf(item: Item): object
  /** A statement before the import, with the same rows: removes what they replace. */
  remove?(tables: Tables): string
}

async function importRows<Item>(
  client: MysqlPool,
  items: Iterable<Item> | AsyncIterable<Item>,
  rows: RowsOf<Item>,
): Promise<ImportReport> {
  const tables = tablesOf(rows.schema === undefined ? {} : { schema: rows.schema })
  const connections = connectionsFrom(client, { timeoutMs: chunkMs, lockTimeoutMs: chunkMs })
  return await importInChunks(items, {
    describe: rows.describe,
    makeError: errors.make,
    async insert(chunk) {
      let imported = 0
      try {
        await connections.onAny(async database => {
          // Values that do not fit must be errors, whatever the mode of the session.
          await database.run(`SET SESSION sql_mode = ${literal(procedureMode)}`)
          await database.run('START TRANSACTION')
          const values = [JSON.stringify(chunk.map(rows.rowOf))]
          if (rows.remove !== undefined) await database.run(rows.remove(tables), values)
          imported = await database.run(importSql(tables, rows), values)
          await database.run('COMMIT')
        })
      } catch (error) {
        throw error instanceof QueryFailed ? error.cause : error
      }
      return imported
    },
  })
}

const chunkMs = 60_000
