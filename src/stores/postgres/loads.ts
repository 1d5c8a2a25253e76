/** `load` and `loadConfirmed`: many keys in one statement. */

import {
  answerEach,
  type Batches,
  bisect,
  createBatches,
  type Entry,
  type QueueSettings,
} from '../../batches/index.js'
import type { WalletKeys, WalletSnapshot } from '../../store.js'
import { type Connections, classify } from './client.js'
import type { Columns } from './columns.js'
import { noRow, unavailable } from './errors.js'
import { functionCall } from './prepared-statements.js'
import { betFromRow, transactionFromRow } from './rows.js'
import type { Tables } from './tables.js'

export interface LoadSettings {
  connections: Connections
  tables: Tables
  queue: QueueSettings
  /** Known before the first key is submitted. */
  columns(): Columns
  /** Whether the server proves after the read that it is the primary. */
  confirmed: boolean
}

type LoadEntry = Entry<WalletKeys, WalletSnapshot>

/** A row of `load_v1` or `load_confirmed_v1`. */
interface LoadedRow {
  key_index: number
  currency: string | null
  balance: string | null
  bet: string | null
  transaction: string | null
}

export function createLoads({
  connections,
  tables,
  queue,
  columns,
  confirmed,
}: LoadSettings): Batches<WalletKeys, WalletSnapshot> {
  const call = functionCall(tables, {
    name: confirmed ? 'load_confirmed' : 'load',
    columns: 'key_index, currency, balance, bet::text AS bet, transaction::text AS transaction',
    values: 1,
  })

  async function perform(entries: readonly LoadEntry[], retry = true): Promise<void> {
    let rows: LoadedRow[]
    try {
      const keys = entries.map(({ item }, index) => keysToJson(item, index, columns()))
      rows = (await connections.call(call, [JSON.stringify(keys)])) as LoadedRow[]
    } catch (error) {
      const { kind, cause, timedOut } = classify(error)
      // A read can be repeated: once, on another connection.
      if (retry && !timedOut && kind !== 'rejected') return await perform(entries, false)
      if (kind === 'rejected' && entries.length > 1) return await bisect(entries, half => perform(half))
      for (const entry of entries) entry.reject(kind === 'rejected' ? cause : unavailable(cause))
      return
    }
    answerEach(entries, rows, {
      indexOf: row => row.key_index,
      answer: (entry, row) => entry.resolve(snapshotOf(entry.item, row, columns())),
      missing: noRow,
    })
  }

  return createBatches<WalletKeys, WalletSnapshot>({
    ...queue,
    sheddable: keys => keys.operation === 'placebet',
    perform: entries => perform(entries),
    onShed: entry => entry.reject(unavailable(null)),
  })
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

function snapshotOf(keys: WalletKeys, row: LoadedRow, columns: Columns): WalletSnapshot {
  const { currency, balance } = row
  return {
    player:
      currency === null
        ? null
        : { playerId: keys.playerId, currency, balance: columns.fromColumn(balance ?? '', currency) },
    bet: row.bet === null ? null : betFromRow(keys.betId, JSON.parse(row.bet)),
    transaction: row.transaction === null ? null : transactionFromRow(keys, JSON.parse(row.transaction)),
  }
}
