/** The cut-over from an earlier integration (D27): its bets, and the transactions of its last days. */
import type { Bet, Transaction } from '../../store.js'
import type { PostgresClient } from './client.js'
import { PostgresStoreError } from './errors.js'
import { creditsToRow } from './rows.js'
import { creditColumns, nextReference } from './sql.js'
import { literal, type PostgresTables, tablesOf } from './tables.js'

export interface ImportReport {
  /** How many were new. */
  imported: number
  /** How many were there already, and were left as they are. */
  alreadyPresent: number
}

/** How many rows go in one statement. */
const rowsMax = 1_000

/**
 * Brings in bets that were taken before this library came and can still be rolled back, settled or unsettled. Can be run
 * again: what is there already is left alone, however far it has come since.
 *
 * @param schema of the library's tables: `bet_wallet`, unless the options name another
 * @param bets with revision 1, and `credits` as they are now
 * @throws {PostgresStoreError} `IMPORT_REJECTED`, naming the bet that the tables do not accept. What went before it, in
 *   thousands, is imported
 */
export function importBets(
  client: PostgresClient,
  { schema }: Pick<PostgresTables, 'schema'>,
  bets: Iterable<Bet> | AsyncIterable<Bet>,
): Promise<ImportReport> {
  const columns = ['bet_id', 'player_id', 'currency', 'stake', 'status', 'revision', ...creditColumns]
  return importRows(
    client,
    schema,
    'bets',
    columns,
    bets,
    bet => bet.betId,
    bet => ({
      bet_id: bet.betId,
      player_id: bet.playerId,
      currency: bet.currency,
      stake: bet.stake,
      status: bet.status,
      revision: bet.revision,
      ...creditsToRow(bet.credits),
    }),
  )
}

/**
 * Brings in transactions that the earlier integration answered, so that a repeat that spans the cut-over is a repeat
 * (D2): all that the platform may still retry, refusals among them. A settlement that is retried and was not imported would
 * be credited twice, since the imported bet holds it already. Can be run again, as {@link importBets}.
 *
 * @param transactions with the references that the platform was given; `walletTransactionId: null` gets a new one
 * @throws {PostgresStoreError} `IMPORT_REJECTED`, naming the transaction
 */
export function importTransactions(
  client: PostgresClient,
  { schema }: Pick<PostgresTables, 'schema'>,
  transactions: Iterable<Transaction> | AsyncIterable<Transaction>,
): Promise<ImportReport> {
  const columns = [
    ...['operation', 'transaction_id', 'player_id', 'bet_id', 'amount', 'currency', 'type', 'delta'],
    ...['error_code', 'description', 'transaction_date', 'wallet_transaction_id'],
  ]
  return importRows(
    client,
    schema,
    'transactions',
    columns,
    transactions,
    ({ transactionId }) => transactionId,
    given => ({
      operation: given.operation,
      transaction_id: given.transactionId,
      player_id: given.playerId,
      bet_id: given.betId,
      amount: given.amount,
      currency: given.currency,
      type: given.type,
      delta: given.delta,
      error_code: given.refusal?.errorCode ?? null,
      description: given.refusal?.description ?? null,
      transaction_date: given.transactionDate,
      wallet_transaction_id: given.walletTransactionId,
    }),
  )
}

async function importRows<Record_>(
  client: PostgresClient,
  schemaOption: string | undefined,
  table: 'bets' | 'transactions',
  columns: readonly string[],
  records: Iterable<Record_> | AsyncIterable<Record_>,
  idOf: (record: Record_) => string,
  rowOf: (record: Record_) => object,
): Promise<ImportReport> {
  const { schema } = tablesOf(schemaOption === undefined ? {} : { schema: schemaOption })
  const value = (column: string) =>
    column === 'wallet_transaction_id' ? `coalesce(wallet_transaction_id, ${nextReference(schema)})` : column
  // Numbers that the earlier integration gave are not given again.
  const ahead =
    table === 'transactions'
      ? `SELECT setval(${literal(`${schema}.wallet_transaction_ids`)}, given.last) FROM (
          SELECT max(CASE WHEN wallet_transaction_id ~ '^[0-9]{1,18}$' THEN wallet_transaction_id::bigint END) AS last FROM added
        ) given JOIN ${schema}.wallet_transaction_ids ours ON given.last > ours.last_value`
      : 'SELECT'
  const text = `WITH added AS (
      INSERT INTO ${schema}.${table} (${columns.join(', ')})
      SELECT ${columns.map(value).join(', ')} FROM json_populate_recordset(NULL::${schema}.${table}, $1)
      ON CONFLICT DO NOTHING RETURNING *
    ), ahead AS (${ahead})
    SELECT count(*)::integer AS imported, (SELECT count(*) FROM ahead) FROM added`
  const add = async (chunk: readonly Record_[]): Promise<number> => {
    const { rows } = await client.query(text, [JSON.stringify(chunk.map(rowOf))])
    return (rows as { imported: number }[])[0]?.imported ?? 0
  }
  /** Where a thousand fail, one of them is to blame: it is named. */
  const addOneByOne = async (chunk: readonly Record_[]): Promise<number> => {
    let imported = 0
    for (const record of chunk) {
      try {
        imported += await add([record])
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause)
        throw new PostgresStoreError('IMPORT_REJECTED', `${table}, ${idOf(record)}: ${why}`, { cause })
      }
    }
    return imported
  }

  const report: ImportReport = { imported: 0, alreadyPresent: 0 }
  const flush = async (chunk: readonly Record_[]): Promise<void> => {
    if (chunk.length === 0) return
    const imported = await add(chunk).catch(() => addOneByOne(chunk))
    report.imported += imported
    report.alreadyPresent += chunk.length - imported
  }
  let chunk: Record_[] = []
  for await (const record of records) {
    chunk.push(record)
    if (chunk.length === rowsMax) {
      await flush(chunk)
      chunk = []
    }
  }
  await flush(chunk)
  return report
}
