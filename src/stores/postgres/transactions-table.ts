/** The table of transactions, as the catalog knows it: its indexes, and about how many rows it has. */
import type { TransactionsTable } from '../database/lookup-indexes.js'
import { storeError } from './errors.js'
import { transactionsTableStatement } from './sql/lookups.js'
import type { Tables } from './tables.js'

type Ask = (text: string, values: unknown[]) => Promise<unknown[]>

/** @throws {StoreError} `SCHEMA_MISSING` */
export async function transactionsTableOf(
  ask: Ask,
  { schema, schemaName }: Tables,
): Promise<TransactionsTable> {
  const [table] = (await ask(transactionsTableStatement, [`${schema}.transactions`])) as {
    row_count: string | null
    indexes: string | null
  }[]
  if (table == null || table.row_count === null) {
    throw storeError(
      'SCHEMA_MISSING',
      `The schema ${schemaName} has no tables of bet-wallet: this is another database or schema, or it was not migrated`,
    )
  }
  const rows = Number(table.row_count)
  // -1: never counted.
  return { indexes: JSON.parse(table.indexes ?? '[]'), rows: rows < 0 ? null : rows }
}
