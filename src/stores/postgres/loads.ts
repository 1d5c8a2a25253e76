/** Reads the records of many keys by `load_v1` or `load_confirmed_v1`. */
import type { WalletKeys } from '../../store.js'
import type { Columns } from '../database/columns.js'
import type { LoadRow, Row } from '../database/rows.js'
import type { DatabaseStoreSettings } from '../database/store-options.js'
import type { PostgresFindings } from './check.js'
import type { Connections } from './client.js'
import { functionCall, procedureCall } from './prepared-statements.js'
import type { Tables } from './tables.js'
import type { Timelines } from './timeline.js'

/** A row of the function: `bet` and `transaction` are JSON. */
type Loaded = Omit<LoadRow, 'bet' | 'transaction'> & { bet: string | null; transaction: string | null }

/** @param committing the connections for what commits */
export function createReaders(
  connections: Connections,
  committing: Connections,
  timelines: Timelines,
  tables: Tables,
  { timeoutMs, allowNotDurable }: DatabaseStoreSettings,
) {
  const reserved = tables.players.columns.reserved ? 'reserved, ' : ''
  const columns = `key_index, currency, balance, bet::text AS bet, transaction::text AS transaction, ${reserved}timeline`
  const load = functionCall(tables, 'load', columns, 5)
  const loadConfirmed = procedureCall(tables, 'load_confirmed', 6)
  return {
    /** For decisions whose commit its guards prove: it may read what was never committed, or is old. */
    async read(keys: readonly WalletKeys[], found: PostgresFindings): Promise<LoadRow[]> {
      const { values: timeline, accept } = timelines.next()
      const values = [jsonOf(keys, found.columns), found.everyRow, timeoutMs, ...timeline]
      return ((await connections.call(load, values, accept)) as Loaded[]).map(parsed)
    },

    /** For final answers: only what is committed, and the server proves after it that it is the primary. */
    async readConfirmed(keys: readonly WalletKeys[], found: PostgresFindings): Promise<LoadRow[]> {
      const { values: timeline, accept } = timelines.next()
      const settings = [found.everyRow, timeoutMs, !allowNotDurable, ...timeline]
      const values = [jsonOf(keys, found.columns), ...settings]
      return (await committing.call(loadConfirmed, values, accept)) as LoadRow[]
    },
  }
}

const parsed = (row: Loaded): LoadRow => ({
  ...row,
  bet: recordOf(row.bet),
  transaction: recordOf(row.transaction),
})

const recordOf = (json: string | null): Row | null => (json === null ? null : JSON.parse(json))

const jsonOf = (keys: readonly WalletKeys[], columns: Columns) =>
  JSON.stringify(keys.map((each, index) => keysToJson(each, index, columns)))

function keysToJson(keys: WalletKeys, index: number, columns: Columns) {
  return {
    key_index: index,
    operation: keys.operation,
    transaction_id: keys.transactionId,
    player_id: columns.idOf(keys.playerId),
    bet_id: keys.betId,
  }
}
