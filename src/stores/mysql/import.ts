/** The cut-over from a legacy integration (D27): its bets, and the transactions of its last days. */
import type { Bet } from '../../store.js'
import {
  type Imported,
  type ImportedTransaction,
  type ImportReport,
  importedBets,
  importedTransactions,
  importInChunks,
} from '../database/import.js'
import { betContent, creditColumns, transactionContent, transactionKey } from '../database/record-columns.js'
import { lines, sql } from '../database/sql-text.js'
import { connectionsFrom } from './client.js'
import type { MysqlPool } from './driver.js'
import { errors } from './errors.js'
import { dateTimeOf } from './rows.js'
import { exactText } from './sql/fragments.js'
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
  return importRows(client, schema, bets, {
    describe: importedBets.describe,
    rowOf: bet => ({ id: nextTransactionId(), ...importedBets.rowOf(bet) }),
    statementsOf: tables => [removeReplacedSql(tables), insertSql(tables, betsTable)],
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
  return importRows(client, schema, transactions, {
    describe: importedTransactions.describe,
    rowOf: transaction => ({
      ...importedTransactions.rowOf(transaction),
      transaction_date: dateTimeOf(transaction.transactionDate),
      ...referenceOf(transaction),
    }),
    statementsOf: tables => [insertSql(tables, transactionsTable)],
  })
}

const amounts = ['stake', 'amount', 'delta', ...creditColumns]

/** Texts are longer than the columns: one that is too long must be an error, and not be cut. */
function typeOf(column: string): string {
  if (column === 'id') return 'bigint unsigned'
  if (column === 'revision') return 'integer'
  if (amounts.includes(column)) return 'decimal(65,30)'
  return exactText(column === 'description' ? 501 : 256)
}

interface ImportTable {
  name: string
  key: readonly string[]
  columns: readonly string[]
}

const betsTable: ImportTable = {
  name: 'wallet_bets',
  key: ['bet_id'],
  columns: ['id', 'bet_id', ...betContent],
}

const transactionsTable: ImportTable = {
  name: 'wallet_transactions',
  key: transactionKey,
  columns: ['id', ...transactionKey, ...transactionContent, 'transaction_date', 'reference'],
}

/** A reference that is a number is the id: so the primary key keeps all references apart. */
function referenceOf({ walletTransactionId: reference }: ImportedTransaction) {
  const isId = reference !== null && /^[1-9][0-9]{0,18}$/.test(reference) && BigInt(reference) < 2n ** 63n
  return isId ? { id: reference, reference: null } : { id: nextTransactionId(), reference }
}

const itemsOf = ({ columns }: ImportTable) => sql`
  JSON_TABLE(?, '$[*]' COLUMNS (
    ${lines(columns.map(name => `${name} ${typeOf(name)} PATH '$.${name}' ERROR ON ERROR`))}
  )) item`

/**
 * Before the import inserts them again. A bet of the library has the id of its first transaction. Without a
 * default schema, MySQL rejects an UPDATE beside JSON_TABLE, and an alias of the deleted table (1046).
 */
const removeReplacedSql = ({ schema }: Tables) => {
  const bets = `${schema}.wallet_bets`
  return sql`
  DELETE ${bets}
  FROM ${itemsOf(betsTable)}
  STRAIGHT_JOIN ${bets} ON ${bets}.bet_id = item.bet_id
  LEFT JOIN ${schema}.wallet_transactions recorded ON recorded.id = ${bets}.id
  WHERE recorded.id IS NULL
    AND ${bets}.revision = 1
    AND ${bets}.status = 'PLACED'
    AND NOT (
      ${betContent.map(name => `${bets}.${name} <=> item.${name}`).join('\nAND ')}
    )`
}

const insertSql = ({ schema }: Tables, table: ImportTable) => sql`
  INSERT INTO ${schema}.${table.name} (
    ${lines(table.columns)}
  )
  SELECT
    ${lines(table.columns.map(name => `item.${name}`))}
  FROM ${itemsOf(table)}
  LEFT JOIN ${schema}.${table.name} recorded
    ON ${table.key.map(name => `recorded.${name} = item.${name}`).join(' AND ')}
  WHERE recorded.id IS NULL`

/** @param kind `statementsOf`: called with the rows as JSON; the last one inserts those that are new */
async function importRows<Item>(
  client: MysqlPool,
  schema: string | undefined,
  items: Iterable<Item> | AsyncIterable<Item>,
  { statementsOf, ...kind }: Imported<Item> & { statementsOf(tables: Tables): string[] },
): Promise<ImportReport> {
  const statements = statementsOf(tablesOf(schema === undefined ? {} : { schema }))
  const connections = connectionsFrom(client, { timeoutMs: chunkMs, lockTimeoutMs: chunkMs })
  return await importInChunks(items, {
    ...kind,
    makeError: errors.make,
    insert: rows =>
      connections.onAny(async database => {
        // Values that do not fit must be errors, whatever the mode of the session.
        await database.run(`SET SESSION sql_mode = ${literal(procedureMode)}`)
        await database.run('START TRANSACTION')
        let imported = 0
        for (const statement of statements) imported = await database.run(statement, [rows])
        await database.run('COMMIT')
        return imported
      }),
  })
}

const chunkMs = 60_000
