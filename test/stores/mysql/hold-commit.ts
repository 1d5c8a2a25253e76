/**
 * The hooks `holdCommit` and `holdPlayer` of the conformance kit, over MySQL and MariaDB.
 *
 * A commit that is one call of the server has no moment between two statements at which a test could stop
 * it. So the database stops it: a trigger on the transactions table waits for a named lock that the hook holds. It runs
 * when rows are written and nothing is durable. Only the first commit stops: commits of other players must pass it.
 */
import type { HeldCommit, HeldPlayer } from 'bet-wallet/testing'
import type { Pool, RowDataPacket } from 'mysql2/promise'
import { until } from '../../until.js'
import { neighbourId } from '../kit-on-stores.js'

const holdOf = (schema: string) => `${schema} hold`
const firstOf = (schema: string) => `${schema} first`

/** Installs the trigger on the transactions table of the store under test. */
export async function installHold(pool: Pool, schema: string): Promise<void> {
  // A batch that fails is divided: the commit that shared it must not be the one that stops.
  await pool.query(`
    CREATE TRIGGER ${schema}.hold AFTER INSERT ON ${schema}.wallet_transactions FOR EACH ROW
    IF NEW.player_id <> '${neighbourId}' AND IS_USED_LOCK('${holdOf(schema)}') IS NOT NULL AND GET_LOCK('${firstOf(schema)}', 0) = 1 THEN
      DO GET_LOCK('${holdOf(schema)}', 600), RELEASE_LOCK('${holdOf(schema)}'), RELEASE_LOCK('${firstOf(schema)}');
    END IF`)
}

/** The hook `holdCommit`: the next commit stops until `release`. */
export async function holdCommit(pool: Pool, schema: string): Promise<HeldCommit> {
  const holder = await pool.getConnection()
  // The holder before it may not have released the lock yet.
  const [[row]] = await holder.query<RowDataPacket[]>('SELECT GET_LOCK(?, 60) AS taken', [holdOf(schema)])
  if (row?.taken !== 1) throw new Error(`The lock "${holdOf(schema)}" could not be taken`)
  let isReleased = false
  const waits = async () => {
    const [rows] = await holder.query({ sql: 'SELECT IS_USED_LOCK(?)', rowsAsArray: true }, [firstOf(schema)])
    return (rows as unknown as [unknown][])[0]?.[0] !== null
  }
  const reached = until(async () => isReleased || (await waits()))
  return {
    reached,
    release() {
      if (isReleased) return
      isReleased = true
      void reached
        .then(() => holder.query('DO RELEASE_LOCK(?)', [holdOf(schema)]))
        .then(() => holder.release())
    },
  }
}

/**
 * The hook `holdPlayer`: another writer locks the player's row.
 *
 * @param row the row, as in `SELECT … FROM <row>`: `pam.accounts WHERE account_no = ?`
 */
export async function holdPlayer(pool: Pool, row: string, playerId: string | Buffer): Promise<HeldPlayer> {
  const holder = await pool.getConnection()
  await holder.query('BEGIN')
  await holder.query(`SELECT 1 FROM ${row} FOR UPDATE`, [playerId])
  return {
    async release() {
      await holder.query('ROLLBACK')
      holder.release()
    },
  }
}
