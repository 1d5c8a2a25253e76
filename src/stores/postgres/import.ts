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
import { betContent, transactionContent, transactionKey } from '../database/record-columns.js'
import { lines, sql } from '../database/sql-text.js'
import { confirmCommits, isPool, onOneConnection, type PostgresClient } from './client.js'
import { errors } from './errors.js'
import { nextWalletTransactionId } from './sql/fragments.js'
import { literal } from './sql/quoting.js'
import { type PostgresTables, type Tables, tablesOf } from './tables.js'

/**
 * Imports bets of the legacy integration that can still be rolled back, settled or unsettled. It can be run
 * again, as long as no call is answered: then it replaces what an earlier import has written, unless the bet
 * was rolled back or the library has changed it since. All other bets that exist are not changed.
 *
 * @param options only `schema` is used
 * @param bets with revision 1, and `credits` as they are now
 * @returns how many were new or replaced
 * @throws {StoreError} `IMPORT_REJECTED`, naming the bet that the tables reject. The chunks of 1,000
 *   before it are imported. `COMMIT_UNKNOWN`: the wait for the synchronous standby was cancelled; import them
 *   again
 */
export function importBets(
  client: PostgresClient,
  { schema }: Pick<PostgresTables, 'schema'>,
  bets: Iterable<Bet> | AsyncIterable<Bet>,
): Promise<ImportReport> {
  return importRows(client, schema, bets, { ...importedBets, statementOf: importBetsSql })
}

/**
 * Imports transactions that the legacy integration answered, so that a retry across the cut-over is replayed
 * (D2): all that the platform may still retry, refusals included. A settlement that is retried and was not
 * imported would be credited twice, because the imported bet contains it already. It can be run again, as
 * {@link importBets}.
 *
 * @param options only `schema` is used
 * @param transactions with the references that the platform was answered with. A `walletTransactionId` is
 *   unique: where the legacy integration had one for several transactions, or none, pass `null`, and it gets
 *   a new one (`import-17`)
 * @returns how many were imported
 * @throws {StoreError} `IMPORT_REJECTED`, naming the transaction: also where its `walletTransactionId`
 *   belongs to another one. `COMMIT_UNKNOWN` as for {@link importBets}
 */
export function importTransactions(
  client: PostgresClient,
  { schema }: Pick<PostgresTables, 'schema'>,
  transactions: Iterable<ImportedTransaction> | AsyncIterable<ImportedTransaction>,
): Promise<ImportReport> {
  return importRows(client, schema, transactions, {
    ...importedTransactions,
    statementOf: importTransactionsSql,
  })
}

const betColumns = lines(['bet_id', ...betContent])
const contentOf = (row: string) => lines(betContent.map(name => `${row}${name}`))

const importBetsSql = ({ schema }: Tables) => sql`
  WITH imported AS (
    INSERT INTO ${schema}.bets AS bet (
      ${betColumns},
      is_imported
    )
    SELECT
      ${betColumns},
      true
    FROM json_populate_recordset(NULL::${schema}.bets, $1::text::json)
    ON CONFLICT (bet_id) DO UPDATE
    SET (
      ${contentOf('')}
    ) = (
      SELECT
        ${contentOf('excluded.')}
    )
    WHERE bet.is_imported
      AND bet.revision = 1
      AND bet.status = 'PLACED'
      AND (
        ${contentOf('bet.')}
      ) IS DISTINCT FROM (
        ${contentOf('excluded.')}
      )
    RETURNING 1
  )
  SELECT count(*)::integer AS imported
  FROM imported`

const transactionColumns = lines([...transactionKey, ...transactionContent, 'transaction_date'])

/**
 * References of the legacy integration that are numbers are skipped by the sequence. A new reference is no
 * number: a later chunk may contain any.
 */
const importTransactionsSql = ({ schema }: Tables) => sql`
  WITH imported AS (
    INSERT INTO ${schema}.transactions (
      ${transactionColumns},
      wallet_transaction_id
    )
    SELECT
      ${transactionColumns},
      coalesce(wallet_transaction_id, 'import-' || ${nextWalletTransactionId(schema)})
    FROM json_populate_recordset(NULL::${schema}.transactions, $1::text::json)
    ON CONFLICT (operation, transaction_id) DO NOTHING
    RETURNING *
  ), greatest_reference AS (
    SELECT max(wallet_transaction_id::bigint) AS value
    FROM imported
    WHERE wallet_transaction_id ~ '^[0-9]{1,18}$'
  ), advanced_sequence AS (
    SELECT setval(${literal(`${schema}.wallet_transaction_ids`)}, greatest_reference.value)
    FROM greatest_reference
    JOIN ${schema}.wallet_transaction_ids sequence ON greatest_reference.value > sequence.last_value
  )
  SELECT count(*)::integer AS imported, (SELECT count(*) FROM advanced_sequence)
  FROM imported`

async function importRows<Item>(
  client: PostgresClient,
  schema: string | undefined,
  items: Iterable<Item> | AsyncIterable<Item>,
  { statementOf, ...kind }: Imported<Item> & { statementOf(tables: Tables): string },
): Promise<ImportReport> {
  const statement = statementOf(tablesOf(schema === undefined ? {} : { schema }))
  const report = await importInChunks(items, {
    ...kind,
    makeError: errors.make,
    async insert(chunk) {
      const rows = (await insertInto(client, statement, chunk)) as { imported: number }[]
      return rows[0]?.imported ?? 0
    },
  })
  await confirmCommits(client)
  return report
}

/** In milliseconds: the session of a process that has gone would wait for ever. */
const lockTimeoutMs = 120_000

/** Without a limit for locks where the client has no database transactions. */
async function insertInto(client: PostgresClient, text: string, chunk: string): Promise<unknown> {
  const insert = async (connection: Pick<PostgresClient, 'query'>) => {
    await connection.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`)
    return (await connection.query(text, [chunk])).rows
  }
  if (client.transaction !== undefined) return await client.transaction(insert)
  if (!isPool(client)) return (await client.query(text, [chunk])).rows
  return await onOneConnection(client, async connection => {
    await connection.query('BEGIN')
    try {
      const rows = await insert(connection)
      await connection.query('COMMIT')
      return rows
    } catch (error) {
      await connection.query('ROLLBACK')
      throw error
    }
  })
}
