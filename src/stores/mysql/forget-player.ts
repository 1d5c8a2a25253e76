/** `forgetPlayer`: replaces a player's id in bets and transactions, and keeps every guard and every sum. */

import { QueryFailed } from '../database/deadline.js'
import { type ForgottenPlayer, forgettingMs, pseudonymFor } from '../database/forget-player.js'
import { connectionsFrom } from './client.js'
import type { MysqlPool } from './driver.js'
import { check } from './errors.js'
import type { Session } from './session.js'
import { asBytes } from './sql/fragments.js'
import { type MysqlTables, tablesOf } from './tables.js'

/**
 * Replaces a player's id in bets and transactions by a pseudonym, in one database transaction. Afterwards no
 * call of the platform for these bets changes a balance: it names another player than the bet's (D4, D15).
 *
 * The players' table is not touched: close the account before, so that no call comes, and delete it
 * or give it the pseudonym after. It reads both tables as a whole, locks only the player's rows, and can be
 * run again.
 *
 * @param options only `schema` is used
 * @throws {StoreError} `INVALID_OPTIONS` or `UNSUPPORTED_CLIENT`; and the errors of the client
 */
export async function forgetPlayer(
  pool: MysqlPool,
  { schema }: Pick<MysqlTables, 'schema'>,
  playerId: string,
): Promise<ForgottenPlayer> {
  const tables = tablesOf(schema === undefined ? {} : { schema })
  const pseudonym = pseudonymFor(check, playerId)
  const connections = connectionsFrom(pool, { timeoutMs: forgettingMs, lockTimeoutMs: forgettingMs })
  const [transactionsTable, betsTable] = ['wallet_transactions', 'wallet_bets'].map(
    name => `${tables.schema}.${name}`,
  ) as [string, string]
  try {
    const replaced = await connections.transaction(async database => ({
      pseudonym,
      transactions: await replace(database, transactionsTable, playerId, pseudonym),
      bets: await replace(database, betsTable, playerId, pseudonym),
    }))
    const count = (table: string) => `(SELECT COUNT(*) FROM ${table} WHERE player_id = ?)`
    const [rows] = await connections.read(`SELECT ${count(transactionsTable)} + ${count(betsTable)}`, [
      playerId,
      playerId,
    ])
    return { ...replaced, remaining: Number(rows?.[0]) }
  } catch (error) {
    throw error instanceof QueryFailed ? error.cause : error
  }
}

const chunkSize = 1_000

/** Finds the rows without a lock, since an UPDATE would lock every row that it reads. */
async function replace(
  database: Session,
  table: string,
  playerId: string,
  pseudonym: string,
): Promise<number> {
  const ids = (
    await database.rows(`SELECT ${asBytes('id')} FROM ${table} WHERE player_id = ?`, [playerId])
  ).map(([id]) => String(id))
  for (let start = 0; start < ids.length; start += chunkSize) {
    const chunk = ids.slice(start, start + chunkSize)
    await database.run(`UPDATE ${table} SET player_id = ? WHERE id IN (${chunk.map(() => '?').join(', ')})`, [
      pseudonym,
      ...chunk,
    ])
  }
  return ids.length
}
