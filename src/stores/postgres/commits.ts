/**
 * Commits many changes by one function call, or in one database transaction with the rows of
 * `withinTransaction`.
 */

import type { CommitRow } from '../database/rows.js'
import type { Found } from '../database/store.js'
import {
  type CommitEntry,
  callWithinTransaction,
  type WithinTransaction,
} from '../database/within-transaction.js'
import type { Connections } from './client.js'
import { functionCall } from './prepared-statements.js'
import { itemOf, itemsOf } from './rows.js'
import type { Tables } from './tables.js'

export interface CommitterSettings {
  connections: Connections
  tables: Tables
  lockTimeoutMs: number
  withinTransaction: WithinTransaction | undefined
}

export function createCommitter({
  connections,
  tables,
  lockTimeoutMs,
  withinTransaction,
}: CommitterSettings) {
  const columns = 'item_index, verdict, currency, balance, wallet_transaction_id'
  const commitMany = functionCall(tables, { name: 'commit', columns, values: 3 })
  const commitOne = functionCall(tables, { name: 'commit_one', columns, values: 4 })

  /** @throws {QueryFailed} */
  return async (entries: readonly CommitEntry[], found: Found): Promise<CommitRow[]> => {
    const items = entries.map(({ item }) => item)
    const { max, length } = found.column
    const [first] = items
    const [call, values] =
      first !== undefined && items.length === 1
        ? [commitOne, [itemOf(first, found.columns), max, length, lockTimeoutMs]]
        : [commitMany, [itemsOf(items, found.columns), max, lockTimeoutMs]]
    if (withinTransaction === undefined) return (await connections.call(call, values)) as CommitRow[]
    return await connections.transaction(async query => {
      const rows = (await query(call.text, values)).rows as CommitRow[]
      await callWithinTransaction(withinTransaction, query, { entries, rows, columns: found.columns })
      return rows
    })
  }
}
