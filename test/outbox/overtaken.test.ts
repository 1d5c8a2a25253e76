/** No event waits for a lease with nothing before it: a claim and the removal of an earlier event at the same time. */
import { expect, it } from 'vitest'
import { createPostgresStore, migratePostgres } from '../../src/stores/postgres/index.js'
import { postgresOutbox } from '../../src/stores/postgres/relay.js'
import { freshMariadb } from '../mariadb/fresh-database.js'
import { noServer } from '../mysql/engine.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { overtake, overtakeOnMysql } from './overtaken.js'

const title = 'given a claim that has seen an event which is removed meanwhile, then the next one is due'

it(`${title}, on PostgreSQL`, async () => {
  const { pool, drop } = await freshDatabase()
  await migratePostgres(pool, { outbox: true })
  await pool.query(`INSERT INTO bet_wallet.players VALUES ('alice', 'EUR', 100);
    CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NEW; END';
    CREATE TRIGGER held BEFORE UPDATE ON bet_wallet.outbox FOR EACH ROW EXECUTE FUNCTION held()`)
  const holder = await pool.connect()
  const waits = async (event: string) => {
    const { rows } = await pool.query(
      `SELECT count(*)::integer AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event ${event}`,
    )
    return rows[0].count > 0
  }
  await overtake({
    store: createPostgresStore(pool, { outbox: true, allowNotDurable: true }),
    claiming: postgresOutbox(pool, undefined),
    removing: postgresOutbox(pool, undefined),
    hold: async () => void (await holder.query('SELECT pg_advisory_lock(7)')),
    isHeld: () => waits("= 'advisory'"),
    isAwaited: () => waits("<> 'advisory'"),
    letGo: async () => void (await holder.query('SELECT pg_advisory_unlock(7)')),
  })
  holder.release()
  await drop()
})

it.skipIf(noServer !== null)(
  `${title}, on MySQL and MariaDB${noServer === null ? '' : ` (skipped: ${noServer})`}`,
  async () => {
    const { config, drop } = await freshMariadb()
    await overtakeOnMysql([{ config }, { config }])
    await drop()
    expect.hasAssertions()
  },
)
