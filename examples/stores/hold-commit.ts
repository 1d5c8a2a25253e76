/**
 * The hooks `holdCommit` and `holdPlayer` of the conformance kit, over PostgreSQL.
 *
 * A commit that is one call of the server has no moment between two statements at which a test could stop
 * it. So the database stops it: a trigger on the transactions table waits for an advisory lock that the
 * hook holds. It runs when all rows of the statement are written and nothing is durable. Only the first
 * commit stops: commits of other players must pass it.
 */
import type { HeldCommit, HeldPlayer } from 'bet-wallet/testing'
import type pg from 'pg'

/** Two advisory locks: the commit that gets the first waits for the second. */
const firstCommit = 1
const released = 2

/**
 * Installs the trigger.
 *
 * @param schema of the store under test; the locks are its own
 * @param table that every commit inserts into, with its schema
 */
export async function installHold(pool: pg.Pool, schema: string, table: string): Promise<void> {
  // No lock timeout of the store ends the wait. Without a holder both locks are free, and nothing waits.
  await pool.query(`
    CREATE FUNCTION ${schema}.hold() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$ BEGIN
      IF pg_try_advisory_xact_lock(hashtext('${schema}'), ${firstCommit}) THEN
        PERFORM pg_advisory_xact_lock_shared(hashtext('${schema}'), ${released});
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER hold AFTER INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION ${schema}.hold()`)
}

/** The hook `holdCommit`: the next commit stops until `release`. */
export async function holdCommit(pool: pg.Pool, schema: string): Promise<HeldCommit> {
  const holder = await pool.connect()
  await holder.query('SELECT pg_advisory_lock(hashtext($1), $2)', [schema, released])
  let isReleased = false
  const waits = async () => {
    const { rowCount } = await holder.query(
      `SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND NOT granted AND classid = hashtext($1)::oid AND objid = $2`,
      [schema, released],
    )
    return rowCount !== 0
  }
  const reached = (async () => {
    while (!isReleased && !(await waits())) await new Promise(resolve => setTimeout(resolve, 3))
  })()
  return {
    reached,
    release() {
      if (isReleased) return
      isReleased = true
      void reached.then(() => holder.query('SELECT pg_advisory_unlock_all()')).then(() => holder.release())
    },
  }
}

/**
 * The hook `holdPlayer`: another writer locks the player's row.
 *
 * @param row the row, as in `SELECT … FROM <row>`: `pam.accounts WHERE account_no = $1`
 */
export async function holdPlayer(pool: pg.Pool, row: string, playerId: string): Promise<HeldPlayer> {
  const holder = await pool.connect()
  await holder.query('BEGIN')
  await holder.query(`SELECT FROM ${row} FOR UPDATE`, [playerId])
  return {
    async release() {
      await holder.query('ROLLBACK')
      holder.release()
    },
  }
}
