/**
 * Commits many changes by one function call, or in one database transaction with the rows of
 * `withinTransaction`.
 */

import { QueryFailed } from '../database/deadline.js'
import { OperatorHook } from '../database/operator-hook.js'
import type { CommitRow } from '../database/rows.js'
import type { Found } from '../database/store.js'
import type { CommitEntry, WithinTransaction } from '../database/within-transaction.js'
import type { Connections } from './client.js'
import { mayComeAfterCommit, storeError } from './errors.js'
import { functionCall, procedureCall, rowsOfProcedure } from './prepared-statements.js'
import { itemOf, itemsOf } from './rows.js'
import type { Tables } from './tables.js'
import type { Timelines } from './timeline.js'

/** A text or a number in a statement: not a name in double quotes, nor a parameter. */
const valueStart = /'|\$(?!\d)|(?<![\w$."])\d/

export interface CommitterSettings {
  connections: Connections
  tables: Tables
  timelines: Timelines
  timeoutMs: number
  lockTimeoutMs: number
  withinTransaction: WithinTransaction | undefined
  /** Whether the answer to a commit must wait for the disk and the standbys. */
  durable: boolean
  /** Whether triggers may run in a commit, as the check at start has found. */
  hasTriggers(): boolean
}

export function createCommitter({
  connections,
  tables,
  timelines,
  timeoutMs,
  lockTimeoutMs,
  withinTransaction,
  durable,
  hasTriggers,
}: CommitterSettings) {
  const columns = `item_index, verdict, currency, balance, wallet_transaction_id, ${tables.players.columns.reserved ? 'reserved, ' : ''}timeline`
  const callsOf = (name: string, values: number) => ({
    function: functionCall(tables, { name, columns, values }),
    procedure: procedureCall(tables, `${name}_alone`, values),
  })
  const commitMany = callsOf('commit', 8)
  const commitOne = callsOf('commit_one', 9)
  // Some clients close no connection after `timeoutMs`: it would keep the locks while the hook waits. The
  // COMMIT itself has no limit.
  const limits = `SELECT ${['statement_timeout', 'idle_in_transaction_session_timeout']
    .map(name => `set_config('${name}', '${timeoutMs}', true)`)
    .join(', ')}`
  const hook = withinTransaction && new OperatorHook(withinTransaction, storeError, valueStart)

  /** @throws {QueryFailed} */
  return async (entries: readonly CommitEntry[], found: Found): Promise<CommitRow[]> => {
    const items = entries.map(({ item }) => item)
    const { max, length } = found.column
    const commitFollows = hook === undefined
    const { values: timeline, accept } = timelines.next()
    const settings = [lockTimeoutMs, hasTriggers(), commitFollows, durable && commitFollows, ...timeline]
    const [first] = items
    const [calls, values] =
      first !== undefined && items.length === 1
        ? [commitOne, [itemOf(first, found.columns), max, length, ...settings]]
        : [commitMany, [itemsOf(items, found.columns), max, ...settings]]
    if (hook === undefined) {
      if (connections.tellsBlocks)
        return (await connections.call(calls.function, values, accept)) as CommitRow[]
      const answered = connections
        .call(calls.procedure, values, rows => accept(rowsOfProcedure(rows)))
        .catch((error: QueryFailed) => {
          mayComeAfterCommit(error.cause)
          throw error
        })
      return rowsOfProcedure(await answered) as CommitRow[]
    }
    const rows = await hook.during(callHook =>
      connections.transaction(
        async query => {
          const rows = (await query(calls.function.text, values)).rows as CommitRow[]
          await callHook(query, { entries, rows, columns: found.columns })
          return rows
        },
        [limits],
      ),
    )
    try {
      accept(rows)
    } catch (error) {
      throw new QueryFailed(error, true)
    }
    return rows
  }
}
