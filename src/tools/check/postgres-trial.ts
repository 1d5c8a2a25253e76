/** A credit and a debit of one player on PostgreSQL, rolled back: what triggers need shows only so. */
import { countUp, sql } from '../../stores/database/sql-text.js'
import type { Ask } from '../../stores/postgres/client.js'
import { serverErrorOf } from '../../stores/postgres/driver-errors.js'
import { classifyError } from '../../stores/postgres/errors.js'
import { balancePlus } from '../../stores/postgres/sql/fragments.js'
import { dollarQuoted, quoted } from '../../stores/postgres/sql/quoting.js'
import type { Tables } from '../../stores/postgres/tables.js'
import { type Finding, finding, noPlayer, trialPassed } from './finding.js'

/** How the block ends: its errors roll back what it did. */
const done = 'BW001'
const notFound = 'BW002'

/**
 * Credits the player first: the debit then passes every rule about the balance. A row that other code has
 * locked is left to it, and deferred triggers run too.
 */
function trialOf(tables: Tables): string {
  const { table, columns } = tables.players
  const changeBy = (delta: string) => sql`
    UPDATE ${table} player SET ${columns.balance} = ${balancePlus(tables, delta)}${countUp(columns.version, 'player.', '')}
    WHERE player.${columns.id} = tried;`
  const block = sql`
    DECLARE
      tried ${table}.${columns.id}%TYPE;
    BEGIN
      SELECT player.${columns.id} INTO tried FROM ${table} player
      WHERE player.${columns.balance} IS NOT NULL
      LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
      IF NOT found THEN
        RAISE EXCEPTION 'bet-wallet: no player' USING ERRCODE = '${notFound}';
      END IF;
      ${changeBy('1')}
      ${changeBy('(-1)')}
      SET CONSTRAINTS ALL IMMEDIATE;
      RAISE EXCEPTION 'bet-wallet: undo the updates' USING ERRCODE = '${done}';
    END`
  return `DO ${dollarQuoted('trial', block)}`
}

/** Rejects for an error that may pass by itself. */
export async function trialFinding(ask: Ask, tables: Tables, user: string): Promise<Finding> {
  const error = await ask(trialOf(tables)).then(
    () => new Error('The trial was not rolled back'),
    (reason: unknown) => reason,
  )
  const answer = serverErrorOf(error)
  if (answer?.code === done) return trialPassed
  if (answer?.code === notFound) return noPlayer
  if (answer === null || classifyError(error, true) !== 'rejected') throw error
  return finding(
    'trial debit',
    'problem',
    `answered 500: ${answer.code}: ${answer.message}${placeOf(error)}`,
    answer.code === '42501'
      ? [
          `An owner of the tables runs GRANT to ${quoted(user)} what the trigger writes, or ALTER FUNCTION … SECURITY DEFINER.`,
        ]
      : [],
  )
}

/** The statement and the function of a trigger in which the error was raised. */
function placeOf(error: unknown): string {
  const { where } = error as { where?: unknown }
  const lines = typeof where === 'string' ? where.split('\n').slice(0, 2) : []
  return lines.length === 0 ? '' : ` (${lines.join('; ')})`
}
