/** Reads the records of many keys by `load_v1` or `load_confirmed_v1`. */
import type { WalletKeys } from '../../store.js'
import type { Columns } from '../database/columns.js'
import type { LoadRow } from '../database/rows.js'
import type { Connections } from './client.js'
import { functionCall, procedureCall, rowsOfProcedure } from './prepared-statements.js'
import type { Tables } from './tables.js'
import type { Timelines } from './timeline.js'

type Reader = (keys: readonly WalletKeys[], columns: Columns) => Promise<LoadRow[]>

/** A row of the function: `bet` and `transaction` are JSON. */
type Loaded = Omit<LoadRow, 'bet' | 'transaction'> & { bet: string | null; transaction: string | null }

interface ReaderSettings {
  connections: Connections
  tables: Tables
  timelines: Timelines
  timeoutMs: number
  /** Whether no policy hid rows from this role at start: if one does later, a load fails. */
  everyRow(): boolean
}

/** For decisions whose commit is proven by its guards: it may read what was never committed, or is old. */
export function createReader(settings: ReaderSettings): Reader {
  const { connections, tables, timelines, timeoutMs, everyRow } = settings
  const call = functionCall(tables, {
    name: 'load',
    columns: `key_index, currency, balance, bet::text AS bet, transaction::text AS transaction, ${tables.players.columns.reserved ? 'reserved, ' : ''}timeline`,
    values: 5,
  })
  return async (keys, columns) => {
    const { values, accept } = timelines.next()
    const rows = (await connections.call(
      call,
      [jsonOf(keys, columns), everyRow(), timeoutMs, ...values],
      accept,
    )) as Loaded[]
    return rows.map(row => ({
      ...row,
      bet: row.bet === null ? null : JSON.parse(row.bet),
      transaction: row.transaction === null ? null : JSON.parse(row.transaction),
    }))
  }
}

/**
 * For final answers: only what is committed, and the server proves after the read that it is the primary.
 *
 * @param durable whether the proof must wait for the disk and the standbys
 */
export function createConfirmedReader(
  { connections, tables, timelines, timeoutMs, everyRow }: ReaderSettings,
  durable: boolean,
): Reader {
  const call = procedureCall(tables, 'load_confirmed', 6)
  return async (keys, columns) => {
    const { values, accept } = timelines.next()
    const rows = await connections.call(
      call,
      [jsonOf(keys, columns), everyRow(), timeoutMs, durable, ...values],
      answer => accept(rowsOfProcedure(answer)),
    )
    return rowsOfProcedure(rows) as LoadRow[]
  }
}

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
