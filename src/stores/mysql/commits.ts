/**
 * Commits many changes by one call of a procedure, or in one database transaction with the rows of
 * `withinTransaction`.
 */
import { OperatorHook } from '../database/operator-hook.js'
import type { CommitRow } from '../database/rows.js'
import type { Found } from '../database/store.js'
import type { CommitEntry, WithinTransaction } from '../database/within-transaction.js'
import type { Connections } from './client.js'
import { storeError } from './errors.js'
import { commitRowOf, itemOf, itemsOf } from './rows.js'
import { itemFields } from './sql/fragments.js'
import { calledProcedure } from './sql/schema.js'
import type { Tables } from './tables.js'

/** A text or a number in a statement: not a name in backticks. */
const valueStart = /['"]|(?<![\w$.`])\d/

export interface CommitterSettings {
  connections: Connections
  tables: Tables
  withinTransaction: WithinTransaction | undefined
}

export function createCommitter({ connections, tables, withinTransaction }: CommitterSettings) {
  const call = (name: string, parameters: number) =>
    `CALL ${calledProcedure(tables, name)}(${Array.from({ length: parameters }, () => '?').join(', ')})`
  const commitMany = call('commit', 5)
  const commitOne = call('commit_one', itemFields.length + 4)
  const hook = withinTransaction && new OperatorHook(withinTransaction, storeError, valueStart)

  /** @throws {QueryFailed} */
  return async (entries: readonly CommitEntry[], { columns, column }: Found): Promise<CommitRow[]> => {
    const items = entries.map(({ item }) => item)
    const commits = hook === undefined
    const [text, values] = callOf()
    if (hook === undefined) return await connections.call(text, values, rows => rows.map(commitRowOf))
    return await hook.during(callHook =>
      connections.transaction(async database => {
        const rows = (await database.call(text, values)).map(commitRowOf)
        await callHook(database.query, { entries, rows, columns })
        return rows
      }),
    )

    function callOf(): [string, unknown[]] {
      const { max, isUnsigned, length } = column
      const range = [isUnsigned ? '0' : max && `-${max}`, max]
      const commitsItself = commits ? 1 : 0
      const [first] = items
      if (first !== undefined && items.length === 1)
        return [commitOne, [...itemOf(first, columns), ...range, length, commitsItself]]
      const { items: fields, players } = itemsOf(items, columns)
      return [commitMany, [fields, players, ...range, commitsItself]]
    }
  }
}
