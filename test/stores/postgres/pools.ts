/** Connections with settings of their own. */
import pg from 'pg'

/**
 * A pool whose connections may be terminated while they close, when the database of the test is dropped: an
 * `error` without a listener would end the run.
 */
export function poolOf(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config)
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}
