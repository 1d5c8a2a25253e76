/** `bet-wallet grants`: what the pages show, and what the role of the name needs on a real server. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createMysqlStore, migrateMysql } from '../../../src/stores/mysql/index.js'
import { createPostgresStore, migratePostgres } from '../../../src/stores/postgres/index.js'
import { codeBlocksOf, readPage, sectionOf } from '../../docs/pages.js'
import { freshMariadb } from '../../mariadb/fresh-database.js'
import { noServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { runCommand } from './running.js'

const mapping = [
  ...['--players', 'pam.accounts', '--id', 'account_no', '--currency', 'currency'],
  ...['--balance', 'balance_cents', '--balance-type', 'minor-units', '--minor-units', '2'],
]
/** No statement is sent: the arguments name the table. */
const servers = {
  'docs/postgres.md': ['--database-url', 'postgres://wallet@127.0.0.1:1/nothing'],
  'docs/mysql.md': [
    ...['--database-url', 'mysql://wallet@127.0.0.1:1/nothing', '--id-collation', 'utf8mb4_general_ci'],
  ],
}

const linesOf = (text: string) => text.trim().split('\n')
const withoutQuotes = (text: string) => text.replace(/["`]/g, '')

test('given a role with invisible characters, then they are printed as escapes', async () => {
  const { out } = await runCommand([
    'grants',
    'wal\u202elet\u200b',
    ...mapping,
    ...servers['docs/postgres.md'],
  ])
  expect(out).toContain('"wal\\u202elet\\u200b"')
  expect(out).not.toMatch(/[\u202e\u200b]/)
})

test.each(Object.entries(servers))('%s shows what the command prints', async (page, options) => {
  const block = codeBlocksOf(sectionOf(readPage(page), 'Privileges')).find(
    ({ language }) => language === 'sql',
  )
  const shown = linesOf(block?.code ?? '').filter(line => !line.startsWith('--'))
  const roles = [
    ['wallet', 'store'],
    ['wallet_reader', 'lookups'],
    ['settlements', 'settlements'],
  ] as const
  const printed = await Promise.all(
    roles.map(([role, use]) => runCommand(['grants', role, '--for', use, ...mapping, ...options])),
  )
  expect(printed.map(({ error }) => error)).toEqual(['', '', ''])
  const reminder =
    '-- And to this role what the statements of your withinTransaction need: INSERT on your ledger.'
  expect(printed.flatMap(({ out }) => linesOf(withoutQuotes(out)))).toEqual([reminder, ...shown])
  // Without --for, the role of the store.
  const [store] = printed
  expect((await runCommand(['grants', 'wallet', ...mapping, ...options])).out).toBe(store?.out)
})

test('quotes names, and takes a user of MySQL with its host', async () => {
  const run = (words: string[]) => runCommand(['grants', ...words, ...mapping.slice(2)])
  const players = ['--players', 'pam.my "accounts']
  const postgres = await run(['my role', ...players, ...servers['docs/postgres.md']])
  expect(postgres.out).toContain(
    'GRANT SELECT ("account_no", "currency", "balance_cents"), UPDATE ("balance_cents") ON "pam"."my ""accounts" TO "my role";',
  )
  const mysql = await run(["o'hara@10.0.%", ...players, ...servers['docs/mysql.md']])
  expect(mysql.out).toContain("ON `pam`.`my \"accounts` TO 'o''hara'@'10.0.%';")
})

test.each([
  [[], '<role> is missing: bet-wallet grants <role>'],
  [['one', 'two'], 'Only one <role> is allowed; unexpected: two'],
  [['wallet', '--for', 'everything'], '--for must be store, lookups, settlements, relay, not "everything"'],
  [['wallet', '--id', 'account_no'], "--id needs --players: the players' table"],
  [['wallet', '--players', 'pam.accounts'], '--players needs its columns: --id, --currency and --balance'],
  [['wallet', '--own-players', ...mapping], '--players and --own-players exclude each other'],
  [['wallet', ...mapping.slice(0, -1), 'EUR'], '--minor-units must be 2, or EUR=2,JPY=0, not "EUR"'],
  [['wallet', ...mapping.slice(0, -1), 'EUR=2,EUR=3'], '--minor-units must be 2, or EUR=2,JPY=0'],
  [['wallet', '--players', 'accounts', ...mapping.slice(2)], '--players must be a table with its schema'],
])('given %j, then exit code 2 and the problem', async (words, problem) => {
  const { code, error } = await runCommand(['grants', ...words, ...servers['docs/postgres.md']])
  expect(error).toContain(problem)
  expect(code).toBe(2)
})

const url = (base: string, user: string) => {
  const location = new URL(base)
  location.username = user
  location.password = 'secret'
  return location.href
}

test('on PostgreSQL, what it prints for the migrated table suffices the store', async () => {
  const { pool, url: admin, drop } = await freshDatabase()
  const role = `granted_${process.pid}`
  const tables = { players: { table: 'pam.accounts', id: 'id', currency: 'currency', balance: 'balance' } }
  await pool.query(`CREATE SCHEMA pam; CREATE ROLE ${role} LOGIN PASSWORD 'secret';
    CREATE TABLE pam.accounts (id text PRIMARY KEY, currency text NOT NULL, balance numeric NOT NULL)`)
  const missing = await runCommand(['grants', role, '--database-url', admin])
  expect([missing.code, missing.error]).toEqual([
    2,
    expect.stringContaining(
      "The schema bet_wallet was not migrated yet, or this user may not see it: name your players' table",
    ),
  ])
  await migratePostgres(pool, tables)
  const { out, error } = await runCommand(['grants', role, '--database-url', admin])
  expect(error).toBe('')
  await pool.query(out)
  const own = new pg.Pool({ connectionString: url(admin, role) })
  try {
    await createPostgresStore(own, tables).ready()
  } finally {
    await own.end()
    await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
    await drop()
  }
})

test('on PostgreSQL, a role without the right to see the registered options gets an error that says who prints the grants', async () => {
  const { pool, url: admin, drop } = await freshDatabase()
  const role = `blind_${process.pid}`
  await migratePostgres(pool, {})
  await pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
  try {
    for (const words of [['grants', 'wallet'], ['migrate']]) {
      const { code, error } = await runCommand([...words, '--database-url', url(admin, role)])
      expect(error).toContain(`an owner of the tables runs what this prints: npx bet-wallet grants ${role}`)
      expect(code).toBe(2)
    }
  } finally {
    await pool.query(`DROP ROLE ${role}`)
    await drop()
  }
})

describe.skipIf(noServer !== null)(
  `on MySQL and MariaDB${noServer === null ? '' : ` (skipped: ${noServer})`}`,
  () => {
    let database: Awaited<ReturnType<typeof freshMariadb>>
    beforeAll(async () => {
      database = await freshMariadb()
    })
    afterAll(() => database?.drop())

    test('what it prints for the migrated table suffices the store', async () => {
      const { pool, config } = database
      const { host, port, user, password, database: schema } = config
      const role = `granted_${process.pid}`
      const players = { table: `${schema}.accounts`, id: 'id', currency: 'currency', balance: 'balance' }
      const tables = { schema, players: { ...players, idType: 'bigint' as const } }
      await pool.query(
        'CREATE TABLE accounts (id bigint PRIMARY KEY, currency char(3), balance decimal(18, 2))',
      )
      await pool.query(`CREATE USER ${role}@'127.%' IDENTIFIED BY 'secret'`)
      const words = ['grants', `${role}@127.%`, '--schema', schema]
      const options = ['--database-url', `mysql://${user}:${password}@${host}:${port}/${schema}`]
      const missing = await runCommand([...words, ...options])
      expect([missing.code, missing.error]).toEqual([2, expect.stringContaining('was not migrated yet')])
      await migrateMysql(pool, tables)
      const { out, error } = await runCommand([...words, ...options])
      expect(error).toBe('')
      for (const statement of linesOf(out)) await pool.query(statement)
      const mysql = await import('mysql2/promise')
      const own = mysql.createPool({ ...config, user: role, password: 'secret' })
      try {
        await createMysqlStore(own, tables).ready()
      } finally {
        await own.end()
        await pool.query(`DROP USER ${role}@'127.%'`)
      }
    })

    test('for a view, also what shows the unique index below it: ready() does not warn', async () => {
      const { pool, config, drop } = await freshMariadb()
      const { host, port, user, password, database: schema } = config
      const role = `viewing_${process.pid}`
      const columns = {
        id: 'id',
        currency: 'currency',
        balance: 'balance',
        accountPerCurrency: true,
      } as const
      const [[row]] = (await pool.query('SELECT @@collation_database AS collation')) as never as [
        [{ collation: string }],
      ]
      const players = { table: `${schema}.players`, idCollation: row.collation, ...columns }
      await pool.query(`CREATE TABLE base (no integer AUTO_INCREMENT PRIMARY KEY, owner varchar(64) NOT NULL,
        code varchar(3) NOT NULL, money decimal(18, 2) NOT NULL, UNIQUE (owner, code))`)
      await pool.query('CREATE VIEW inner_view AS SELECT owner AS a, code AS b, money AS c FROM base')
      await pool.query('CREATE VIEW players AS SELECT a AS id, b AS currency, c AS balance FROM inner_view')
      await pool.query(`CREATE USER ${role} IDENTIFIED BY 'secret'`)
      await migrateMysql(pool, { schema, players })
      const { out, error } = await runCommand([
        ...['grants', role, '--schema', schema],
        ...['--database-url', `mysql://${user}:${password}@${host}:${port}/${schema}`],
      ])
      expect(error).toBe('')
      expect(linesOf(withoutQuotes(out)).filter(line => /SHOW VIEW|base/.test(line))).toEqual([
        `GRANT SELECT, SHOW VIEW ON ${schema}.players TO ${role};`,
        `GRANT SELECT, SHOW VIEW ON ${schema}.inner_view TO ${role};`,
        `GRANT SELECT (owner, code, no) ON ${schema}.base TO ${role};`,
      ])
      const warning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
      const mysql = await import('mysql2/promise')
      const own = mysql.createPool({ ...config, user: role, password: 'secret' })
      try {
        const statements = linesOf(out)
        // Without the columns of the index, one of the table shows the table only.
        for (const statement of statements)
          await pool.query(statement.replace('(`owner`, `code`, `no`)', '(`money`)'))
        await createMysqlStore(own, { schema, players }).ready()
        expect(String(warning.mock.calls)).toContain('no unique index on exactly (id, currency) is visible')
        warning.mockClear()
        for (const statement of statements) await pool.query(statement)
        await createMysqlStore(own, { schema, players }).ready()
        expect(String(warning.mock.calls)).not.toContain('one row only')
      } finally {
        warning.mockRestore()
        await own.end()
        await pool.query(`DROP USER ${role}`)
        await drop()
      }
    })

    test('a user without the right to see the registered options gets an error with the statement that grants it', async () => {
      const { pool, config, drop } = await freshMariadb()
      const { host, port, database: schema } = config
      const role = `blind_${process.pid}`
      await migrateMysql(pool, { schema })
      await pool.query(`CREATE USER ${role} IDENTIFIED BY 'secret'`)
      await pool.query(`GRANT SELECT ON wallet_transactions TO ${role}`)
      const options = [
        '--schema',
        schema,
        '--database-url',
        `mysql://${role}:secret@${host}:${port}/${schema}`,
      ]
      try {
        for (const words of [['grants', 'wallet'], ['migrate']]) {
          const { code, error } = await runCommand([...words, ...options])
          expect(withoutQuotes(error)).toContain(
            `An administrator runs: GRANT EXECUTE ON ${schema}.* TO '${role}'@'%';`,
          )
          expect(code).toBe(2)
        }
      } finally {
        await pool.query(`DROP USER ${role}`)
        await drop()
      }
    })
  },
)
