/**
 * The GRANT block of docs/mysql.md: with exactly these rights everything works, and without any one of them not; what
 * the store lacks, `ready` reports. With a view as the players' table, the same with the rights of the page for it.
 */
import {
  createMysqlLookups,
  createMysqlStore,
  type MysqlPlayersTable,
  type MysqlTables,
  migrateMysql,
} from 'bet-wallet/mysql'
import mysql, { type Pool, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mysqlGrants } from '../../../src/tools/command/mysql.js'
import { readPage, sectionOf } from '../../docs/pages.js'
import { sharedMariadb } from '../../mariadb/fresh-database.js'
import type { MariadbServer } from '../../mariadb/server.js'
import { noServer, startServer } from '../../mysql/engine.js'
import { type Right, rightsOf, useStore } from '../grants.js'
import { judge } from '../kit-on-stores.js'
import { mysqlHarness, ownTable, reservingAccounts } from './harness.js'

const players: MysqlPlayersTable = {
  ...{ table: 'pam.accounts', id: 'account_no', idCollation: 'utf8mb4_general_ci', currency: 'currency' },
  ...{ balance: 'balance_cents', balanceType: 'minor-units', minorUnits: 2 },
}
const accounts: MysqlTables = { players }
const rightsOfPage = rightsOf('docs/mysql.md')
const users = [...new Set(rightsOfPage.map(({ role }) => role))]

/** What the page adds in a sentence: it reads pam.accounts. */
const sentenceOfPlayersView =
  'Where `players` names a view, `wallet` needs SELECT and SHOW VIEW on it and on each view below it, and SELECT on any column of its base tables'
const rightsOfPlayersView: Right[] = [
  ...rightsOfPage
    .filter(({ role, text }) => !(role === 'wallet' && /^SELECT .* ON pam[.]accounts/.test(text)))
    .map(right => ({ ...right, text: right.text.replace('pam.accounts', 'pam.players') })),
  ...['SELECT ON pam.players', 'SHOW VIEW ON pam.players', 'SELECT (secret) ON pam.accounts'].map(text => ({
    role: 'wallet',
    text,
  })),
]

const setups: { name: string; tables: MysqlTables; rights: Right[] }[] = [
  { name: 'the rights of the page', tables: accounts, rights: rightsOfPage },
  {
    name: 'the rights of the page, with a view as the players’ table',
    tables: { players: { ...players, table: 'pam.players' } },
    rights: rightsOfPlayersView,
  },
]

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

test('the page says what a view as the players’ table needs', () => {
  expect(sectionOf(readPage('docs/mysql.md'), 'Privileges').text).toContain(sentenceOfPlayersView)
})

describe.skipIf(noServer !== null).each(setups)(`$name${reason}`, ({ tables, rights }) => {
  let server: MariadbServer
  let admin: Pool
  beforeAll(async () => {
    server = await startServer()
    admin = mysql.createPool({ ...server.config, multipleStatements: true })
    await admin.query(`CREATE DATABASE pam CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
      CREATE TABLE pam.accounts (account_no varchar(64) PRIMARY KEY, currency char(3) NOT NULL,
        balance_cents bigint NOT NULL, secret text);
      INSERT INTO pam.accounts (account_no, currency, balance_cents) VALUES ('alice', 'EUR', 1000000);
      CREATE VIEW pam.players AS SELECT account_no, currency, balance_cents FROM pam.accounts`)
    await migrateMysql(admin, tables)
    await admin.query(`INSERT INTO bet_wallet.wallet_bets (id, bet_id, player_id, currency, stake, status, revision)
      VALUES (1, 'stored', 'alice', 'EUR', 1, 'PLACED', 1)`)
    for (const user of users) await admin.query(`CREATE USER ${user} IDENTIFIED BY 'x'`)
    for (const { role, text } of rights) await admin.query(`GRANT ${text} TO ${role}`)
  })
  afterAll(async () => {
    await admin.end()
    await server.stop()
  })

  async function asUser<T>(user: string, work: (own: Pool) => Promise<T>): Promise<T> {
    const own = mysql.createPool({ ...server.config, user, password: 'x', multipleStatements: true })
    try {
      return await work(own)
    } finally {
      await own.end()
    }
  }

  let runs = 0

  /** What the page says that each user is for. */
  const uses: Record<string, (own: Pool) => Promise<void>> = {
    async wallet(own) {
      runs += 1
      await useStore(createMysqlStore(own, tables), String(runs))
    },
    async wallet_reader(own) {
      // The players' table is known from the migration.
      const lookups = createMysqlLookups(own, { allowScan: true })
      await lookups.bet('one-1')
      await lookups.transaction('one-1')
      await lookups.player('alice')
      for await (const _ of lookups.transactions({ from: '2020-01-01', to: '2020-01-02' }));
    },
    async settlements(own) {
      const connection = await own.getConnection()
      try {
        await connection.query(`BEGIN;
          UPDATE ${tables.players?.table} SET balance_cents = balance_cents + 100 WHERE account_no = 'alice';
          CALL bet_wallet.credit_bet_v1('stored', 'BET_PAID', 1);
          COMMIT`)
      } finally {
        connection.destroy()
      }
    },
  }

  test('the page has a user for each use', () => {
    expect([...users].sort()).toEqual(Object.keys(uses).sort())
  })

  const without = async (user: string, text: string, work: () => Promise<void>) => {
    await admin.query(`REVOKE ${text} FROM ${user}`)
    try {
      await work()
    } finally {
      await admin.query(`GRANT ${text} TO ${user}`)
    }
  }

  describe.each(Object.entries(uses))('the user %s', (user, use) => {
    test('with exactly the rights of the page: works', () => asUser(user, use))

    test.each(rights.filter(({ role }) => role === user).map(({ text }) => text))(
      'not without %s',
      async text => {
        // MariaDB 10.11 lets add to a column of a view without SELECT on it; 11.8 and MySQL do not.
        const [[row]] = await admin.query<RowDataPacket[]>('SELECT VERSION() AS version')
        const isUnneeded =
          /^10[.].*MariaDB/.test(row?.version) &&
          user === 'settlements' &&
          text === 'SELECT (balance_cents) ON pam.players'
        if (!isUnneeded) await without(user, text, () => expect(asUser(user, use)).rejects.toThrow())
        await asUser(user, use)
      },
    )
  })

  test.each(rights.filter(({ role }) => role === 'wallet').map(({ text }) => text))(
    'ready reports that the store lacks %s',
    async text => {
      const ready = () => asUser('wallet', own => createMysqlStore(own, tables).ready())
      await without('wallet', text, () =>
        expect(ready()).rejects.toMatchObject({
          code: 'INSUFFICIENT_PRIVILEGE',
          message: expect.stringMatching(/It needs (EXECUTE|SELECT)/),
        }),
      )
      await ready()
    },
  )
})

describe.skipIf(noServer !== null)(
  `with reserved funds, the kit as a user with exactly the printed rights${reason}`,
  async () => {
    if (noServer !== null) return
    const { config } = await sharedMariadb()
    const pool = mysql.createPool({ ...config, connectionLimit: 20 })
    const user = `reserving_${process.pid}`
    beforeAll(() => pool.query(`CREATE USER ${user} IDENTIFIED BY 'x'`))
    afterAll(async () => {
      await pool.query(`DROP USER ${user}`)
      await pool.end()
    })
    const [accounts = ownTable] = reservingAccounts
    const harness = mysqlHarness({
      ...{ pool, configOf: () => config, accounts },
      async openStore(server, options) {
        const { timeoutMs: _, lockTimeoutMs: __, ...named } = options
        for (const statement of mysqlGrants(named, 'store', user)) await pool.query(statement)
        const own = mysql.createPool({ ...server, user, password: 'x', connectionLimit: 8 })
        const connections = new Set<number>()
        own.pool.on('connection', ({ threadId }) => connections.add(threadId))
        const store = createMysqlStore(own, options)
        await store.ready()
        return { store, connections: async () => [...connections], end: () => own.end().catch(() => {}) }
      },
    })
    judge(harness, 2)
  },
)

test.each(['store', 'lookups'] as const)('for %s, `grants` prints SELECT on the reserved column', use => {
  const reserving = { players: { ...players, reserved: 'locked' } }
  const printed = mysqlGrants(reserving, use, 'wallet').join().replaceAll(/["`]/g, '')
  expect(printed).toContain('SELECT (account_no, currency, balance_cents, locked)')
})

test('for the store, `grants` prints SELECT and UPDATE on the version column', () => {
  const counting = { players: { ...players, version: 'lock_version' } }
  const printed = mysqlGrants(counting, 'store', 'wallet').join().replaceAll(/["`]/g, '')
  expect(printed).toContain(
    'SELECT (account_no, currency, balance_cents, lock_version), UPDATE (balance_cents, lock_version)',
  )
})
