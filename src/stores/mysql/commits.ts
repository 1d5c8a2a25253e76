/**
 * Commits many changes by one call of a procedure, or in one database transaction with the rows of
 * `withinTransaction`.
 */
import type { WalletChanges } from '../../store.js'
import type { CommitAnswer } from '../database/rows.js'
import type { Committer, Findings } from '../database/store.js'
import type { Connections } from './client.js'
import { commitRowOf, itemOf, itemsOf, loadRowOf } from './rows.js'
import type { Results } from './session.js'
import { itemFields } from './sql/fragments.js'
import { callOf } from './sql/schema.js'
import type { Tables } from './tables.js'

export function createCommitter(connections: Connections, tables: Tables): Committer<Findings> {
  const commitMany = callOf(tables, 'commit', 5)
  const commitOne = callOf(tables, 'commit_one', itemFields.length + 4)

  function statementFor(
    items: readonly WalletChanges[],
    found: Findings,
    commits: 0 | 1,
  ): [string, unknown[]] {
    const { columns, column } = found
    const { max, isUnsigned, length } = column
    const range = [isUnsigned ? '0' : max && `-${max}`, max]
    const [first] = items
    if (first !== undefined && items.length === 1)
      return [commitOne, [...itemOf(first, columns), ...range, length, commits]]
    const { items: fields, players } = itemsOf(items, columns, tables.players.accountPerCurrency)
    return [commitMany, [fields, players, ...range, commits]]
  }

  return {
    commit: (items, found) => connections.call(...statementFor(items, found, 1), answerOf),
    commitWith: (callHook, items, found) =>
      connections.transaction(async database => {
        const answer = answerOf(await database.call(...statementFor(items, found, 0)))
        await callHook(database.query, answer)
        return answer
      }),
  }
}

const answerOf = ([rows, loaded = []]: Results): CommitAnswer => ({
  rows: rows.map(commitRowOf),
  loaded: loaded.map(loadRowOf),
})
