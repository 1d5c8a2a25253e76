/**
 * Rolling up to the next release and back, under load: processes of both run together on one schema.
 *
 * The next release is this one with version 2: its functions have other names, and its migration adds a column
 * to each table.
 */
import type pg from 'pg'
import { afterAll, expect, test, vi } from 'vitest'
import type { PostgresStore, PostgresTables } from '../../../src/stores/postgres/index.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { playerIds, startLoad } from '../upgrade-load.js'
import { poolOf } from './pools.js'

const { pool, url, drop } = await freshDatabase({ pool: { max: 30 } })
afterAll(drop)

type Release = typeof import('../../../src/stores/postgres/index.js')

async function releaseOf(version: number): Promise<Release> {
  vi.resetModules()
  vi.doMock('../../../src/stores/postgres/sql/version.js', () => ({ schemaVersion: version }))
  return await import('../../../src/stores/postgres/index.js')
}

const schema = 'upgraded'
const options: PostgresTables = { schema }

/** A process: a store with its own connections. */
interface Process {
  store: PostgresStore
  pool: pg.Pool
}

async function start({ createPostgresStore }: Release): Promise<Process> {
  const own = poolOf({ connectionString: url, max: 6 })
  const store = createPostgresStore(own, options)
  try {
    await store.ready()
    return { store, pool: own }
  } catch (error) {
    // Its idle connections would be terminated with the database, and a pool without a listener ends the run.
    await own.end()
    throw error
  }
}

const stopped: Process[] = []

async function expectBooks(): Promise<void> {
  const { rows: wrong } = await pool.query(
    `SELECT p.player_id, p.balance, sum(t.delta)
      FROM ${schema}.players p JOIN ${schema}.transactions t USING (player_id)
      GROUP BY p.player_id HAVING p.balance <> 1000 + sum(t.delta)`,
  )
  expect(wrong).toEqual([])
  const { rows: bets } = await pool.query(
    `SELECT b.bet_id FROM ${schema}.bets b JOIN ${schema}.transactions t USING (bet_id)
      GROUP BY b.bet_id HAVING b.revision <> count(*) FILTER (WHERE t.error_code IS NULL) AND b.status = 'PLACED'`,
  )
  expect(bets).toEqual([])
}

test('release 1 and the next one run together, are restarted, and are rolled back', async () => {
  const first = await releaseOf(1)
  const next = await releaseOf(2)
  await first.migratePostgres(pool, options)
  await pool.query(`INSERT INTO ${schema}.players SELECT unnest($1::text[]), 'EUR', 1000`, [playerIds])

  let processes: Process[] = [await start(first), await start(first)]
  const { load, progress, end } = startLoad(() => processes.map(({ store }) => store))
  const stop = (...some: Process[]) => {
    processes = processes.filter(process => !some.includes(process))
    stopped.push(...some)
  }
  await progress()
  // The next release cannot start before its migration, and says so.
  await expect(start(next)).rejects.toMatchObject({ code: 'SCHEMA_VERSION' })

  // The migration of the next release, by the operator's tool.
  // One table per database transaction: of two, a commit may have locked the second, and wait for the first.
  for (const table of ['bets', 'transactions']) {
    await pool.query(`ALTER TABLE ${schema}.${table} ADD COLUMN IF NOT EXISTS added text`)
  }
  await pool.query(`BEGIN; ${next.postgresMigrationSql(options, { transaction: false })}; COMMIT`)
  await progress()

  // Both together; then every process is restarted, the old ones too.
  const [old] = processes as [Process]
  processes = [...processes, await start(next)]
  await progress()
  await first.migratePostgres(pool, options)
  processes = [...processes, await start(first), await start(next)]
  stop(old)
  await progress()

  // Back: the next release stops, and the migration of this one runs again in both forms.
  const { rows } = await pool.query(`SELECT version FROM ${schema}.migrations ORDER BY 1`)
  expect(rows).toEqual([{ version: 1 }, { version: 2 }])
  await first.migratePostgres(pool, options)
  await pool.query(first.postgresMigrationSql(options))
  processes = [...processes, await start(first)]
  stop(...processes.slice(1, 2), ...processes.slice(3, 4))
  await progress()
  // And forward again.
  await next.migratePostgres(pool, options)
  processes = [...processes, await start(next)]
  await progress()

  await end()
  expect(load.problems).toEqual([])
  await expectBooks()
  for (const process of [...processes, ...stopped]) await process.pool.end()
})
