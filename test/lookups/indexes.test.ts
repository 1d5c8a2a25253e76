/** The indexes of lookups in the migration: as SQL text, repaired after an interruption, by several processes at once. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createMysqlLookups, migrateMysql, mysqlMigrationSql } from '../../src/stores/mysql/index.js'
import {
  createPostgresLookups,
  migratePostgres,
  postgresMigrationSql,
} from '../../src/stores/postgres/index.js'
import { freshMariadb } from '../mariadb/fresh-database.js'
import { noServer } from '../mysql/engine.js'
import { freshDatabase } from '../postgres/fresh-database.js'

let database: Awaited<ReturnType<typeof freshDatabase>>
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database?.drop())

const names = async (schema: string) =>
  (
    await database.pool.query<{ name: string }>(
      `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE c.relnamespace = $1::regnamespace AND i.indisvalid AND c.relname LIKE 'transactions\\_%\\_%' ORDER BY 1`,
      [schema],
    )
  ).rows
    .map(({ name }) => name)
    .filter(name => /_(?:of|by)_/.test(name))

const all = ['transactions_by_time', 'transactions_of_bet', 'transactions_of_player']

it('are in the SQL of PostgreSQL, only if they are asked for, and it can be run again', async () => {
  expect(postgresMigrationSql()).not.toMatch(/CREATE INDEX/)
  const sql = postgresMigrationSql({ schema: 'as_text' }, { lookupIndexes: true })
  await database.pool.query(sql)
  await database.pool.query(sql)
  expect(await names('as_text')).toEqual(all)
  expect(await createPostgresLookups(database.pool, { schema: 'as_text' }).bet('b-1')).toBeNull()
})

it('are created by several processes at once', async () => {
  const migrate = () => migratePostgres(database.pool, { schema: 'at_once' }, { lookupIndexes: true })
  await Promise.all([migrate(), migrate(), migrate()])
  expect(await names('at_once')).toEqual(all)
})

it('are created anew where CREATE INDEX CONCURRENTLY was interrupted', async () => {
  const options = { schema: 'interrupted' }
  await migratePostgres(database.pool, options, { lookupIndexes: true })
  await database.pool.query(
    `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'interrupted.transactions_of_bet'::regclass`,
  )
  await expect(createPostgresLookups(database.pool, options).bet('b-1')).rejects.toMatchObject({
    code: 'LOOKUP_INDEX_MISSING',
  })
  await migratePostgres(database.pool, options, { lookupIndexes: true })
  expect(await names('interrupted')).toEqual(all)
  expect(await createPostgresLookups(database.pool, options).bet('b-1')).toBeNull()
})

it('may be an index of the operator that begins with the same columns', async () => {
  const options = { schema: 'own_index' }
  await migratePostgres(database.pool, options)
  await database.pool.query('CREATE INDEX mine ON own_index.transactions (bet_id, recorded_at)')
  await database.pool.query('CREATE INDEX partial ON own_index.transactions (recorded_at) WHERE amount > 5')
  const lookups = createPostgresLookups(database.pool, options)
  expect(await lookups.bet('b-1')).toBeNull()
  await expect(lookups.player('anna')).rejects.toMatchObject({ code: 'LOOKUP_INDEX_MISSING' })
  await expect(
    lookups.transactions({ from: '2026-01-01', to: '2026-01-02' })[Symbol.asyncIterator]().next(),
  ).rejects.toMatchObject({ code: 'LOOKUP_INDEX_MISSING' })
})

it('are no option of the store: they belong into the next argument', async () => {
  const misplaced = { schema: 'misplaced', lookupIndexes: true }
  await expect(migratePostgres(database.pool, misplaced)).rejects.toThrow(/unknown option "lookupIndexes"/)
  await expect(migrateMysql({} as never, misplaced)).rejects.toThrow(/unknown option "lookupIndexes"/)
})

it('a misspelt option of a migration is an error: without players it would make a table of its own', async () => {
  const misspelt = { schema: 'misspelt', player: { table: 'pam.accounts' } }
  await expect(migratePostgres(database.pool, misspelt as never)).rejects.toThrow(/unknown option "player"/)
  await expect(migrateMysql({} as never, misspelt as never)).rejects.toThrow(/unknown option "player"/)
})

it('are rejected as an option that is no boolean', async () => {
  const wrong = { lookupIndexes: 'yes' } as never
  expect(() => postgresMigrationSql({}, wrong)).toThrow(/lookupIndexes must be true or false/)
  expect(() => mysqlMigrationSql({}, wrong)).toThrow(/lookupIndexes must be true or false/)
  await expect(migratePostgres(database.pool, {}, wrong)).rejects.toThrow(/lookupIndexes/)
})

it.skipIf(noServer !== null)(
  `are in the SQL of MySQL, and it can be run again${noServer === null ? '' : ` (skipped: ${noServer})`}`,
  async () => {
    const { config, pool, drop } = await freshMariadb({ pool: { multipleStatements: true } })
    try {
      const options = { schema: config.database }
      expect(mysqlMigrationSql(options)).not.toMatch(/CREATE INDEX/)
      // What stands before the procedures: the tables and the indexes.
      const [tables = ''] = mysqlMigrationSql(options, { lookupIndexes: true }).split('DELIMITER $$')
      await pool.query(tables)
      await pool.query(tables)
      await Promise.all([1, 2].map(() => migrateMysql(pool, options, { lookupIndexes: true })))
      const [rows] = await pool.query(
        "SELECT DISTINCT INDEX_NAME AS name FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND INDEX_NAME REGEXP '_(of|by)_' ORDER BY 1",
        [config.database],
      )
      expect((rows as { name: string }[]).map(({ name }) => name)).toEqual(all.map(name => `wallet_${name}`))
      expect(await createMysqlLookups(pool, options).bet('b-1')).toBeNull()
    } finally {
      await drop()
    }
  },
)
