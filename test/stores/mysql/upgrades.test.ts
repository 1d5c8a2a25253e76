/**
 * Rolling up to the next release and back, under load: processes of both run together on one schema.
 *
 * The next release is this one with version 2: its procedures have other names, and its migration adds a column to each
 * table.
 */
import mysql, { type Pool } from 'mysql2/promise'
import { afterAll, describe, expect, test, vi } from 'vitest'
import type { MysqlStore, MysqlTables } from '../../../src/stores/mysql/index.js'
import { sharedMariadb } from '../../mariadb/fresh-database.js'
import { noServer } from '../../mysql/engine.js'
import { playerIds, startLoad } from '../upgrade-load.js'

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

type Release = typeof import('../../../src/stores/mysql/index.js')

async function releaseOf(version: number): Promise<Release> {
  vi.resetModules()
  vi.doMock('../../../src/stores/mysql/sql/version.js', () => ({ schemaVersion: version }))
  return await import('../../../src/stores/mysql/index.js')
}

describe.skipIf(noServer !== null)(`upgrades${reason}`, async () => {
  if (noServer !== null) return
  const { config } = await sharedMariadb()
  const schema = `upgraded_${process.pid}`
  const options: MysqlTables = { schema }
  const pools: Pool[] = []
  const poolOf = (own: mysql.PoolOptions = {}) => {
    const pool = mysql.createPool({ ...config, ...own })
    pools.push(pool)
    return pool
  }
  const admin = poolOf()
  afterAll(async () => {
    await admin.query(`DROP DATABASE IF EXISTS ${schema}`)
    await Promise.all(pools.map(pool => pool.end()))
  })

  /** A process: a store with its own connections. */
  async function start({ createMysqlStore }: Release): Promise<MysqlStore> {
    const store = createMysqlStore(poolOf({ connectionLimit: 6 }), options)
    await store.ready()
    return store
  }

  async function expectBooks(): Promise<void> {
    const [wrong] = await admin.query(
      `SELECT p.player_id FROM ${schema}.wallet_players p JOIN ${schema}.wallet_transactions t USING (player_id)
        GROUP BY p.player_id, p.balance HAVING p.balance <> 1000 + SUM(t.delta)`,
    )
    expect(wrong).toEqual([])
    const [bets] = await admin.query(
      `SELECT b.bet_id FROM ${schema}.wallet_bets b JOIN ${schema}.wallet_transactions t USING (bet_id)
        WHERE b.status = 'PLACED' GROUP BY b.bet_id, b.revision HAVING b.revision <> SUM(t.error_code IS NULL)`,
    )
    expect(bets).toEqual([])
  }

  test('release 1 and the next one run together, are restarted, and are rolled back', async () => {
    const first = await releaseOf(1)
    const next = await releaseOf(2)
    await first.migrateMysql(admin, options)
    await admin.query(`INSERT INTO ${schema}.wallet_players VALUES ?`, [
      playerIds.map(playerId => [playerId, 'EUR', 1000]),
    ])
    let stores = [await start(first), await start(first)]
    const { load, progress, end } = startLoad(() => stores)
    await progress()
    // The next release cannot start before its migration, and says so.
    await expect(start(next)).rejects.toMatchObject({ code: 'SCHEMA_VERSION' })

    // The migration of the next release.
    for (const table of ['wallet_bets', 'wallet_transactions', 'wallet_proofs'])
      await admin.query(`ALTER TABLE ${schema}.${table} ADD COLUMN added text, COMMENT 'bet-wallet 2'`)
    await next.migrateMysql(admin, options)
    await progress()

    // Both together; then every process is restarted, the old ones too.
    stores = [...stores, await start(next)]
    await progress()
    await first.migrateMysql(admin, options)
    stores = [await start(first), await start(next)]
    await progress()

    // Back: the next release stops, and the migration of this one runs again. And forward again.
    await first.migrateMysql(admin, options)
    stores = [await start(first)]
    await progress()
    await next.migrateMysql(admin, options)
    stores = [...stores, await start(next)]
    await progress()

    await end()
    expect(load.problems).toEqual([])
    await expectBooks()
  })
})
