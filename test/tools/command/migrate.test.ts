/** `bet-wallet migrate`: on PostgreSQL, MariaDB and MySQL. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { handlePlaceBet } from '../../../src/index.js'
import { createMysqlStore, type MysqlStore, mysqlMigrationSql } from '../../../src/stores/mysql/index.js'
import {
  createPostgresStore,
  type PostgresStore,
  postgresMigrationSql,
} from '../../../src/stores/postgres/index.js'
import { placeBet } from '../../fixtures.js'
import { freshMariadb } from '../../mariadb/fresh-database.js'
import { noServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { runCommand } from './running.js'

const columns = {
  ...{ id: 'account_no', idType: 'bigint' as const, currency: 'currency', balance: 'cents' },
  ...{ balanceType: 'minor-units' as const, minorUnits: { EUR: 2, JPY: 0 } },
}
const mapping = [
  ...['--id', 'account_no', '--id-type', 'bigint', '--currency', 'currency', '--balance', 'cents'],
  ...['--balance-type', 'minor-units', '--minor-units', 'EUR=2,JPY=0'],
]

interface Opened {
  /** The options of the store. */
  tables: { schema: string; players: typeof columns & { table: string } }
  url: string
  ready(): Promise<void>
  store(): PostgresStore | MysqlStore
  query(sql: string): Promise<unknown>
  /** Of the library's tables: how many there are, and the indexes of the transactions. */
  count(): Promise<{ tables: number; indexes: number }>
  migrationSql(lookupIndexes: boolean): string
  drop(): Promise<void>
}

async function openPostgres(): Promise<Opened> {
  const { pool, url, drop } = await freshDatabase()
  await pool.query(`CREATE SCHEMA pam;
    CREATE TABLE pam.accounts (account_no bigint PRIMARY KEY, currency text NOT NULL, cents bigint NOT NULL)`)
  const tables = { schema: 'bet_wallet', players: { ...columns, table: 'pam.accounts' } }
  return {
    ...{ tables, url, drop },
    ready: () => createPostgresStore(pool, { ...tables, allowNotDurable: true }).ready(),
    store: () => createPostgresStore(pool, { ...tables, allowNotDurable: true }),
    query: sql => pool.query(sql),
    migrationSql: lookupIndexes => postgresMigrationSql(tables, { lookupIndexes }),
    async count() {
      const { rows } = await pool.query(`SELECT
        (SELECT count(*)::integer FROM pg_tables WHERE schemaname = 'bet_wallet') AS tables,
        (SELECT count(*)::integer FROM pg_indexes WHERE schemaname = 'bet_wallet' AND tablename = 'transactions') AS indexes`)
      return rows[0]
    },
  }
}

async function openMysql(): Promise<Opened> {
  const { pool, config, drop } = await freshMariadb()
  const { host, port, user, password, database: schema } = config
  await pool.query(
    'CREATE TABLE accounts (account_no bigint PRIMARY KEY, currency char(3) NOT NULL, cents bigint NOT NULL)',
  )
  const tables = { schema, players: { ...columns, table: `${schema}.accounts` } }
  const countOf = async (sql: string) => {
    const [rows] = await pool.query(sql, [schema])
    return Number((rows as { number: number }[])[0]?.number)
  }
  return {
    ...{ tables, drop, url: `mysql://${user}:${password}@${host}:${port}/${schema}` },
    ready: () => createMysqlStore(pool, { ...tables, allowNotDurable: true }).ready(),
    store: () => createMysqlStore(pool, { ...tables, allowNotDurable: true }),
    // The client of the server takes several statements.
    query: async sql => {
      for (const statement of sql.split(';')) await pool.query(statement)
    },
    migrationSql: lookupIndexes => mysqlMigrationSql(tables, { lookupIndexes }),
    count: async () => ({
      tables: await countOf(
        "SELECT COUNT(*) AS number FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME LIKE 'wallet%'",
      ),
      indexes: await countOf(
        "SELECT COUNT(DISTINCT INDEX_NAME) AS number FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = 'wallet_transactions'",
      ),
    }),
  }
}

describe.each([
  { name: 'PostgreSQL', skipped: null, open: openPostgres },
  { name: 'MySQL and MariaDB', skipped: noServer, open: openMysql },
])('on $name', ({ name, skipped, open }) => {
  const collation = open === openMysql ? ['--id-collation', 'utf8mb4_general_ci'] : []
  describe.skipIf(skipped !== null)(skipped === null ? name : `${name} (skipped: ${skipped})`, () => {
    let wallet: Opened
    let players: string[]
    beforeAll(async () => {
      wallet = await open()
      players = ['--players', wallet.tables.players.table, ...mapping]
    })
    afterAll(() => wallet?.drop())

    const run = (words: string[]) =>
      runCommand(['migrate', '--schema', wallet.tables.schema, ...words], {
        environment: { BET_WALLET_DATABASE_URL: wallet.url },
      })

    test('without a table: asks for it, and changes nothing', async () => {
      const { code, error } = await run([])
      expect(error).toContain("name your players' table by --players, --id, --currency and --balance")
      expect(code).toBe(2)
      expect((await wallet.count()).tables).toBe(0)
    })

    test('for a table that ready() would refuse: the problem, and nothing is created', async () => {
      const { code, error } = await run([
        ...players.map(word => (word === 'bigint' ? 'text' : word)),
        ...collation,
      ])
      expect([code, error]).toEqual([
        2,
        expect.stringContaining('players.idType is text, but the column account_no is bigint'),
      ])
      expect((await wallet.count()).tables).toBe(0)
    })

    test('--print: the SQL of the migration, and no change', async () => {
      expect(await run([...players, '--print'])).toEqual({
        code: 0,
        out: wallet.migrationSql(false),
        error: '',
      })
      const { out } = await run([...players, '--print', '--lookup-indexes'])
      expect(out).toBe(wallet.migrationSql(true))
      expect((await wallet.count()).tables).toBe(0)
    })

    test('migrates for the table, and again from what is registered', async () => {
      const first = await run(players)
      expect([first.code, first.error]).toEqual([0, ''])
      expect(first.out).toBe(
        `Migration\n\nMIGRATED: the schema ${wallet.tables.schema}, for ${wallet.tables.players.table}.\n`,
      )
      await wallet.ready()
      const { indexes } = await wallet.count()
      expect(await run(['--lookup-indexes'])).toEqual(first)
      expect((await wallet.count()).indexes).toBe(indexes + 3)
      await wallet.ready()
      // Also as a user without the rights: nothing is changed, and it does not say so.
      for (const words of [[], ['--lookup-indexes']])
        expect((await run(words)).out).toBe(first.out.replace('MIGRATED', 'NOTHING TO DO'))
    })

    test('the outbox beside the options without it: both have one table', async () => {
      expect((await run([...players, '--outbox', '--allow-other-options'])).code).toBe(0)
      const again = await run([])
      expect([again.code, again.error]).toEqual([0, ''])
      expect(again.out).toMatch(/^NOTHING TO DO: /m)
    })

    test('a wrong first answer: what is printed, and then migrate, until a call is recorded', async () => {
      const second = await open()
      const runOn = (words: string[]) =>
        runCommand(['migrate', '--schema', second.tables.schema, ...words], {
          environment: { BET_WALLET_DATABASE_URL: second.url },
        })
      const right = ['--players', second.tables.players.table, ...mapping]
      const wrong = right.map(word => (word === 'EUR=2,JPY=0' ? 'EUR=3' : word))
      expect((await runOn(wrong)).code).toBe(0)
      const refused = await runOn(right)
      expect(refused.code).toBe(2)
      const printed = /migrate again: (.*?)\. See /s.exec(refused.error)?.[1] ?? ''
      expect(printed).toMatch(/^(?:DELETE FROM "bet_wallet"\.options|DROP PROCEDURE .*)$/)
      await second.query(printed)
      expect((await runOn(right)).code).toBe(0)
      await second.ready()
      expect((await runOn([])).out).toMatch(/^NOTHING TO DO: /m)
      await second.query(`INSERT INTO ${second.tables.players.table} VALUES (1, 'EUR', 0)`)
      // Recorded: the player lacks funds.
      expect(await handlePlaceBet(second.store(), placeBet({ playerId: '1' }))).toMatchObject({ ok: false })
      const late = await runOn(wrong)
      expect(late.code).toBe(2)
      expect(late.error).toContain('was migrated with other options')
      expect(late.error).not.toMatch(/DELETE|DROP|migrate again/)
      await second.drop()
    })

    test('other options: refused, unless on purpose', async () => {
      const other = players.map(word => (word === 'EUR=2,JPY=0' ? 'EUR=2,JPY=0,KWD=3' : word))
      const refused = await run(other)
      expect(refused.error).toMatch(/^The schema .* was migrated with other options: .*players\.minorUnits/)
      expect(refused.code).toBe(2)
      expect((await run([...other, '--allow-other-options'])).code).toBe(0)
      // What is registered is no longer one table.
      const { code, error } = await run([])
      expect(error).toContain('was migrated with several options')
      expect(code).toBe(2)
    })
  })
})

test.each([
  [['somewhere'], 'migrate has no arguments: somewhere'],
  [['--no-transaction'], '--no-transaction needs --print'],
  [['--balance', 'cents'], '--balance needs --players'],
])('given %j, then exit code 2 and the problem', async (words, problem) => {
  const { code, error } = await runCommand([
    'migrate',
    ...words,
    '--database-url',
    'postgres://a@127.0.0.1:1/b',
  ])
  expect(error).toContain(problem)
  expect(code).toBe(2)
})

test('given names with invisible characters, then they are printed as escapes', async () => {
  const { pool, url, drop } = await freshDatabase()
  const [schema, table] = ['wal\u202elet', 'accounts\u009b\n']
  await pool.query(
    `CREATE TABLE "${table}" (id text PRIMARY KEY, currency text NOT NULL, balance numeric NOT NULL)`,
  )
  const names = ['--schema', schema, '--players', `public.${table}`, '--id', 'id', '--currency', 'currency']
  const words = ['migrate', ...names, '--balance', 'balance', '--database-url', url]
  expect(await runCommand(words)).toEqual({
    ...{ code: 0, error: '' },
    out: 'Migration\n\nMIGRATED: the schema wal\\u202elet, for public.accounts\\u009b\\n.\n',
  })
  await drop()
})

test('on PostgreSQL without a database transaction of its own, for a tool that opens one', async () => {
  const words = ['migrate', '--own-players', '--database-url', 'postgres://a@127.0.0.1:1/b', '--print']
  const [alone, inside] = await Promise.all([runCommand(words), runCommand([...words, '--no-transaction'])])
  expect(alone?.out).toMatch(/^BEGIN;$/m)
  expect(inside?.out).toBe(postgresMigrationSql({}, { transaction: false }))
  expect(inside?.out).not.toMatch(/^BEGIN;$/m)
})

test('a server that is down, by a name with several addresses: says so', async () => {
  const { code, error } = await runCommand(['migrate', '--database-url', 'postgres://a@localhost:1/b'])
  expect(error).toContain('ECONNREFUSED')
  expect(code).toBe(2)
})
