/** Reads the records of many keys by `load_v1` or `load_confirmed_v1`. */
import type { WalletKeys } from '../../store.js'
import type { Columns } from '../database/columns.js'
import type { LoadRow } from '../database/rows.js'
import type { Connections } from './client.js'
import { functionCall } from './prepared-statements.js'
import type { Tables } from './tables.js'

/** A row of the function: `bet` and `transaction` are JSON. */
type Loaded = Omit<LoadRow, 'bet' | 'transaction'> & { bet: string | null; transaction: string | null }

/** @param confirmed whether the server proves after the read that it is the primary */
export function createReader(connections: Connections, tables: Tables, confirmed: boolean) {
  const call = functionCall(tables, {
    name: confirmed ? 'load_confirmed' : 'load',
    columns: 'key_index, currency, balance, bet::text AS bet, transaction::text AS transaction',
    values: 1,
  })
  return async (keys: readonly WalletKeys[], columns: Columns): Promise<LoadRow[]> => {
    const items = keys.map((each, index) => keysToJson(each, index, columns))
    const rows = (await connections.call(call, [JSON.stringify(items)])) as Loaded[]
    return rows.map(row => ({
      ...row,
      bet: row.bet === null ? null : JSON.parse(row.bet),
      transaction: row.transaction === null ? null : JSON.parse(row.transaction),
    }))
  }
}

function keysToJson(keys: WalletKeys, index: number, columns: Columns) {
  return {
    key_index: index,
    operation: keys.operation,
    transaction_id: keys.transactionId,
    player_id: columns.idOf(keys.playerId),
    bet_id: keys.betId,
  }
}
