/** The table of transactions, as the catalog knows it: its indexes, and about how many rows it has. */
import type { TransactionsTable } from '../database/lookup-indexes.js'
import { storeError } from './errors.js'
import type { Values } from './rows.js'
import type { Tables } from './tables.js'

type Ask = (text: string, values: unknown[]) => Promise<readonly Values[]>

/** @throws {StoreError} `SCHEMA_MISSING` */
export async function transactionsTableOf(ask: Ask, { schemaName }: Tables): Promise<TransactionsTable> {
  const of = `TABLE_SCHEMA = ? AND TABLE_NAME = 'wallet_transactions'`
  const [table] = await ask(`SELECT TABLE_ROWS FROM information_schema.TABLES WHERE ${of}`, [schemaName])
  if (table === undefined) {
    throw storeError(
      'SCHEMA_MISSING',
      `The schema ${schemaName} has no tables of bet-wallet: this is another database or schema, it was not migrated, ` +
        'or this user may not see them',
    )
  }
  const parts = await ask(
    `SELECT INDEX_NAME, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS
      WHERE ${of} AND INDEX_TYPE = 'BTREE' ORDER BY INDEX_NAME, SEQ_IN_INDEX`,
    [schemaName],
  )
  const indexes = new Map<string, (string | null)[]>()
  for (const [index, column, prefix] of parts) {
    const columns = indexes.get(String(index)) ?? []
    indexes.set(String(index), [...columns, prefix === null ? String(column).toLowerCase() : null])
  }
  return { indexes: [...indexes.values()], rows: table[0] === null ? null : Number(table[0]) }
}
