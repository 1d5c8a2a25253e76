/** The hook that `init` writes for a table of entries, run: an entry for each change of a balance, in the same commit. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { handlePlaceBet, handleRollbackBet, type WalletStore } from 'bet-wallet'
import { createMysqlStore, migrateMysql } from 'bet-wallet/mysql'
import { createPostgresStore, migratePostgres } from 'bet-wallet/postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Answers, propose } from '../../../src/tools/init/propose.js'
import { readSchema } from '../../../src/tools/init/schema.js'
import { storeFile } from '../../../src/tools/init/store-file.js'
import { root } from '../../docs/pages.js'
import { faultOf, placeBet, rollbackBet } from '../../fixtures.js'
import { freshMariadb } from '../../mariadb/fresh-database.js'
import { isMysql, noServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'

const folder = join(root, 'test/.tmp/init/ledgers')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Server {
  /** The schema of the PAM. */
  schema: string
  url: string
  run(sql: string): Promise<unknown>
  /** The fields of each row, as text. */
  rows(sql: string): Promise<string[][]>
  propose(answers: Answers): Promise<ReturnType<typeof propose>>
  /** @param written what the written file exports */
  store(written: Written): Promise<WalletStore>
  drop(): Promise<void>
}

interface Written {
  players: never
  pool: { end(): Promise<void> }
  addEntries: never
}

async function onPostgres(): Promise<Server> {
  const { pool, url, drop } = await freshDatabase()
  await pool.query('CREATE SCHEMA pam')
  const ask = async (text: string) => (await pool.query(text)).rows
  return {
    ...{ schema: 'pam', url, drop, run: sql => pool.query(sql) },
    rows: async text =>
      (await pool.query<unknown[]>({ text, rowMode: 'array' })).rows.map(row => row.map(String)),
    propose: async answers => propose(await readSchema({ engine: 'postgres', ask }), answers),
    async store({ players, addEntries }) {
      await migratePostgres(pool, { players })
      return createPostgresStore(pool, { players, withinTransaction: addEntries })
    },
  }
}

async function onMysql(): Promise<Server> {
  const { pool, config, drop } = await freshMariadb()
  const { host, port, user, password, database } = config
  const ask = async (sql: string) => (await pool.query({ sql, rowsAsArray: true }))[0] as never
  const rows = async (sql: string) => (await ask(sql)) as unknown[][]
  return {
    ...{ schema: database, url: `mysql://${user}:${password}@${host}:${port}/${database}`, drop },
    run: sql => pool.query(sql),
    rows: async sql => (await rows(sql)).map(row => row.map(String)),
    propose: async answers => propose(await readSchema({ engine: 'mysql', ask }), answers),
    async store({ players, addEntries }) {
      await migrateMysql(pool, { schema: database, players })
      return createMysqlStore(pool, { schema: database, players, withinTransaction: addEntries })
    },
  }
}

const anna = '018f6b1e-0000-7000-8000-000000000001'

interface Case {
  name: string
  playerId: string
  answers: Answers
  /** `PAM` is the schema. */
  ddl(server: 'postgres' | 'mysql'): string[]
  /** The entries after a bet of 30 and one of 20, which is rolled back. */
  entries: string
  expected: string[][]
}

const serial = { postgres: 'bigint GENERATED ALWAYS AS IDENTITY', mysql: 'bigint AUTO_INCREMENT' }

const cases: Case[] = [
  {
    name: 'an account per currency, by the number of its row',
    playerId: '7',
    answers: { 'minor-units': '2' },
    ddl: engine => [
      'CREATE TABLE PAM.users (id int PRIMARY KEY)',
      `CREATE TABLE PAM.wallets (id ${serial[engine]} PRIMARY KEY, user_id bigint NOT NULL, currency char(3) NOT NULL, balance bigint NOT NULL, UNIQUE (user_id, currency))`,
      `CREATE TABLE PAM.wallet_entries (id ${serial[engine]} PRIMARY KEY, wallet_id bigint NOT NULL, amount decimal(20,2) NOT NULL)`,
      // The number of this wallet is that of another player.
      "INSERT INTO PAM.wallets (user_id, currency, balance) VALUES (8, 'EUR', 1), (7, 'USD', 1), (7, 'EUR', 10000)",
    ],
    entries: 'SELECT wallet_id, amount FROM PAM.wallet_entries ORDER BY id',
    expected: [
      ['3', '-30.00'],
      ['3', '-20.00'],
      ['3', '20.00'],
    ],
  },
  {
    name: 'a UUID, entries in minor units with the balance after them',
    playerId: anna,
    answers: { 'minor-units': 'EUR=2,JPY=0' },
    ddl: engine => {
      const [type, id] =
        engine === 'postgres' ? ['uuid', `'${anna}'`] : ['binary(16)', `UNHEX('${anna.replaceAll('-', '')}')`]
      return [
        `CREATE TABLE PAM.accounts (player_id ${type} PRIMARY KEY, currency char(3) NOT NULL, balance bigint NOT NULL)`,
        `CREATE TABLE PAM.ledger (id ${serial[engine]} PRIMARY KEY, player_id ${type} NOT NULL, amount bigint NOT NULL, balance_after bigint NOT NULL)`,
        `INSERT INTO PAM.accounts VALUES (${id}, 'EUR', 10000)`,
      ]
    },
    entries: 'SELECT amount, balance_after FROM PAM.ledger ORDER BY id',
    expected: [
      ['-3000', '7000'],
      ['-2000', '5000'],
      ['2000', '7000'],
    ],
  },
  {
    name: 'entries of an account in the ledger, which is of one wallet',
    playerId: '7',
    answers: { id: 'user_id' },
    ddl: engine => [
      'CREATE TABLE PAM.ledger_accounts (id int PRIMARY KEY)',
      `CREATE TABLE PAM.wallets (user_id bigint PRIMARY KEY, ledger_account_id int NOT NULL UNIQUE,
        currency char(3) NOT NULL, balance decimal(18,2) NOT NULL, CONSTRAINT of_wallet FOREIGN KEY (ledger_account_id) REFERENCES PAM.ledger_accounts (id))`,
      `CREATE TABLE PAM.ledger_entries (id ${serial[engine]} PRIMARY KEY, ledger_account_id int NOT NULL,
        amount decimal(20,2) NOT NULL, CONSTRAINT of_entry FOREIGN KEY (ledger_account_id) REFERENCES PAM.ledger_accounts (id))`,
      'INSERT INTO PAM.ledger_accounts VALUES (3), (4)',
      "INSERT INTO PAM.wallets VALUES (3, 4, 'EUR', 1), (7, 3, 'EUR', 100)",
    ],
    entries: 'SELECT ledger_account_id, amount FROM PAM.ledger_entries ORDER BY id',
    expected: [
      ['3', '-30.00'],
      ['3', '-20.00'],
      ['3', '20.00'],
    ],
  },
  {
    name: 'the rows of one currency, of several',
    playerId: '7',
    answers: { currency: 'EUR' },
    ddl: engine => [
      `CREATE TABLE PAM.wallets (player_id bigint NOT NULL, currency char(3) NOT NULL, balance decimal(18,2) NOT NULL, PRIMARY KEY (player_id, currency))`,
      `CREATE TABLE PAM.transactions (id ${serial[engine]} PRIMARY KEY, player_id bigint NOT NULL, amount decimal(20,2) NOT NULL, balance_after decimal(20,2) NOT NULL)`,
      "INSERT INTO PAM.wallets VALUES (7, 'USD', 5), (7, 'EUR', 100)",
      `CREATE VIEW PAM.bet_wallet_players AS SELECT player_id, currency, balance FROM PAM.wallets WHERE currency = 'EUR'`,
    ],
    entries: 'SELECT player_id, amount, balance_after FROM PAM.transactions ORDER BY id',
    expected: [
      ['7', '-30.00', '70.00'],
      ['7', '-20.00', '50.00'],
      ['7', '20.00', '70.00'],
    ],
  },
]

const mysqlName = isMysql ? 'MySQL' : 'MariaDB'
describe.each([
  { engine: 'postgres', name: 'PostgreSQL', skipped: null, open: onPostgres },
  { engine: 'mysql', name: mysqlName, skipped: noServer, open: onMysql },
] as const)('on $name', ({ engine, name, skipped, open }) => {
  describe.skipIf(skipped !== null)(skipped === null ? name : `${name} (skipped: ${skipped})`, () => {
    beforeAll(() => void mkdirSync(folder, { recursive: true }))

    test.each(cases)('$name', async ({ playerId, answers, ddl, entries, expected }) => {
      const server = await open()
      onTestFinished(server.drop)
      const inSchema = (sql: string) => sql.replaceAll('PAM', server.schema)
      for (const statement of ddl(engine)) await server.run(inSchema(statement))
      const proposal = await server.propose({ 'may-bet': 'anyone', ...answers })
      if (proposal.status !== 'ready') throw new Error(JSON.stringify(proposal))
      const file = join(folder, `${server.schema}-${engine}-${cases.findIndex(each => each.ddl === ddl)}.ts`)
      writeFileSync(file, storeFile(proposal.mapping, { isModule: true, hasPostgresJs: false }))
      vi.stubEnv('DATABASE_URL', server.url)
      const written = (await import(file)) as Written
      vi.unstubAllEnvs()
      await written.pool.end()
      const store = await server.store(written)
      const bet = (n: number, amount: string) =>
        handlePlaceBet(store, placeBet({ transactionId: `p-${n}`, betId: `b-${n}`, playerId, amount }))
      expect(await bet(1, '30')).toMatchObject({ ok: true })
      expect(await bet(2, '20')).toMatchObject({ ok: true })
      expect(await bet(3, '80')).toMatchObject({ ok: false, errorCode: 'INSUFFICIENT_FUNDS' })
      const undo = rollbackBet({ transactionId: 'r-2', betId: 'b-2', playerId })
      expect(await handleRollbackBet(store, undo)).toMatchObject({ ok: true })
      expect(await server.rows(inSchema(entries))).toEqual(expected)

      // In the same commit: where an entry is rejected, the bet is neither recorded nor debited.
      const [, table = ''] = / FROM (\S+)/.exec(entries) ?? []
      await server.run(
        inSchema(`ALTER TABLE ${table} ADD CONSTRAINT not_ten CHECK (amount NOT IN (-10, -1000))`),
      )
      await faultOf(bet(4, '10'))
      expect(await server.rows(inSchema(entries))).toEqual(expected)
      const { accounts, bet: recorded } = await store.load({
        ...{ operation: 'placebet', transactionId: 'p-4', playerId, betId: 'b-4' },
      })
      expect(recorded).toBeNull()
      expect(accounts.map(({ balance }) => Number(balance))).toContain(70)
    })
  })
})
