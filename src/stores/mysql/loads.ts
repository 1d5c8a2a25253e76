/** Reads the records of many keys. */
import type { WalletKeys } from '../../store.js'
import type { LoadRow } from '../database/rows.js'
import type { Findings } from '../database/store.js'
import type { Connections } from './client.js'
import { storeError } from './errors.js'
import { isReadOnly, keysOf, loadRowOf, type Values } from './rows.js'
import { callOf } from './sql/schema.js'
import type { Tables } from './tables.js'

/** A replica lags, so that its records may be old. Another server of the list may answer. */
function mustBeWritable(rows: readonly Values[]): void {
  if (rows.some(isReadOnly))
    throw storeError('UNAVAILABLE', 'The database is unavailable: this server is read-only')
}

/**
 * @returns the readers of `load` and of `loadConfirmed`, which ends with a proof that the server can commit
 */
export function createReaders(connections: Connections, tables: Tables) {
  const text = callOf(tables, 'load', 2)
  const reader =
    (proof: () => string | null) =>
    async (keys: readonly WalletKeys[], { columns }: Findings): Promise<LoadRow[]> => {
      const rows = await connections.readByCall(text, [keysOf(keys, columns), proof()], mustBeWritable)
      return rows.map(loadRowOf)
    }
  return { read: reader(() => null), readConfirmed: reader(proofId) }
}

/** Two processes that prove something at the same time have different ids. */
export const proofId = () => String(Math.floor(Math.random() * Number.MAX_SAFE_INTEGER))
