/** `forgetPlayer`: replaces a player's id in bets and transactions, and keeps every guard and every sum. */

import { type ForgottenPlayer, pseudonymFor } from '../database/forget-player.js'
import { sql } from '../database/sql-text.js'
import type { PostgresClient } from './client.js'
import { check } from './errors.js'
import { type PostgresTables, tablesOf } from './tables.js'

/**
 * Replaces a player's id in bets and transactions by a pseudonym, in one database transaction. Afterwards no
 * call of the platform for these bets changes a balance: it names another player than the bet's (D4, D15).
 *
 * The players' table is not touched: close the account before, so that no call comes, and delete it
 * or give it the pseudonym after. It reads both tables as a whole, locks only the player's rows, and can be
 * run again.
 *
 * @param options only `schema` is used
 * @throws {StoreError} `INVALID_OPTIONS`; and the errors of the client
 */
export async function forgetPlayer(
  client: PostgresClient,
  { schema }: Pick<PostgresTables, 'schema'>,
  playerId: string,
): Promise<ForgottenPlayer> {
  const tables = tablesOf(schema === undefined ? {} : { schema })
  const pseudonym = pseudonymFor(check, playerId)
  const { rows } = await client.query(forgetSql(tables), [playerId, pseudonym])
  const [counts] = rows as { bets: number; transactions: number }[]
  const { rows: after } = await client.query(remainingSql(tables), [playerId])
  const [{ remaining } = { remaining: 0 }] = after as { remaining: number }[]
  return { pseudonym, bets: counts?.bets ?? 0, transactions: counts?.transactions ?? 0, remaining }
}

const remainingSql = ({ schema }: { schema: string }) => sql`
  SELECT (
    (SELECT count(*) FROM ${schema}.transactions WHERE player_id = $1::text)
    + (SELECT count(*) FROM ${schema}.bets WHERE player_id = $1::text)
  )::integer AS remaining`

const forgetSql = ({ schema }: { schema: string }) => sql`
  WITH forgotten_transactions AS (
    UPDATE ${schema}.transactions
    SET player_id = $2::text
    WHERE player_id = $1::text
    RETURNING 1
  ), forgotten_bets AS (
    -- The new revision: commits that have loaded the bet before must not write the id back.
    UPDATE ${schema}.bets
    SET player_id = $2::text, revision = revision + 1
    WHERE player_id = $1::text
    RETURNING 1
  )
  SELECT
    (SELECT count(*)::integer FROM forgotten_bets) AS bets,
    (SELECT count(*)::integer FROM forgotten_transactions) AS transactions`
