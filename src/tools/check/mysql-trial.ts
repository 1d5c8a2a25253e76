/** A credit and a debit of one player on MySQL and MariaDB, rolled back: the operator's triggers run. */

import { CallbackFailed, QueryFailed } from '../../stores/database/deadline.js'
import { countUp } from '../../stores/database/sql-text.js'
import { connectionsFrom } from '../../stores/mysql/client.js'
import { classify, serverErrorOf } from '../../stores/mysql/errors.js'
import type { MysqlPool } from '../../stores/mysql/index.js'
import { balancePlus, unitDecimal } from '../../stores/mysql/sql/fragments.js'
import type { Tables } from '../../stores/mysql/tables.js'
import { type Finding, finding, noPlayer, trialPassed } from './finding.js'

/** Thrown, it rolls back. */
class Tried extends CallbackFailed {
  override readonly name = 'Tried'
  readonly isPlayerFound: boolean
  constructor(isPlayerFound: boolean) {
    super('The updates are rolled back')
    this.isPlayerFound = isPlayerFound
  }
}

const limits = { timeoutMs: 10_000, lockTimeoutMs: 2_000 }

/** Rejects for an error that may pass by itself, such as a lock wait. */
export async function trialFinding(pool: MysqlPool, tables: Tables): Promise<Finding> {
  const error = await connectionsFrom(pool, limits)
    .transaction(async database => {
      // Both find the same player. The credit comes first: the debit then passes every rule of the balance.
      const credited = await database.run(changeBy(tables, '1'))
      await database.run(changeBy(tables, '-1'))
      throw new Tried(credited > 0)
    })
    .catch((reason: unknown) => reason)
  const cause = error instanceof QueryFailed ? error.cause : error
  if (cause instanceof Tried) return cause.isPlayerFound ? trialPassed : noPlayer
  const answer = serverErrorOf(cause)
  if (answer === null || classify(error).kind !== 'rejected') throw cause
  return finding('trial debit', 'problem', `answered 500: ${answer.message} (error ${answer.number})`)
}

/** By it the list of statements knows this one: digests have no comments. */
export const trialAlias = 'bet_wallet_check'

function changeBy(tables: Tables, delta: string): string {
  const { table, columns } = tables.players
  const balance = `${trialAlias}.${columns.balance}`
  return `UPDATE ${table} ${trialAlias}
    SET ${balance} = ${balancePlus(tables, trialAlias, `CAST(${delta} AS ${unitDecimal})`)}${countUp(columns.version, `${trialAlias}.`)}
    WHERE ${balance} IS NOT NULL ORDER BY ${trialAlias}.${columns.id} LIMIT 1`
}
