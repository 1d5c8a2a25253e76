/** The GRANT block of docs/mysql.md: with exactly these rights everything works, and without any one of them not. */
import { createMysqlLookups, createMysqlStore, type MysqlTables, migrateMysql } from 'bet-wallet/mysql'
import mysql, { type Pool } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noMariadb } from '../../mariadb/installation.js'
import { type MariadbServer, startMariadb } from '../../mariadb/server.js'
import { rightsOf, useStore } from '../grants.js'

const tables: MysqlTables = {
  players: {
    ...{ table: 'pam.accounts', id: 'account_no', idCollation: 'utf8mb4_general_ci', currency: 'currency' },
    ...{ balance: 'balance_cents', balanceType: 'minor-units', minorUnits: 2 },
  },
}
const rights = rightsOf('docs/mysql.md')
const users = [...new Set(rights.map(({ role }) => role))]

const reason = noMariadb === null ? '' : ` (skipped: ${noMariadb})`

describe.skipIf(noMariadb !== null)(`the rights of the page${reason}`, () => {
  let server: MariadbServer
  let admin: Pool
  beforeAll(async () => {
    server = await startMariadb()
    admin = mysql.createPool({ ...server.config, multipleStatements: true })
    await admin.query(`CREATE DATABASE pam CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
      CREATE TABLE pam.accounts (account_no varchar(64) PRIMARY KEY, currency char(3) NOT NULL,
        balance_cents bigint NOT NULL, secret text, CHECK (account_no <> 'bob' OR balance_cents >= 9000));
      INSERT INTO pam.accounts (account_no, currency, balance_cents) VALUES ('alice', 'EUR', 1000000), ('bob', 'EUR', 10000)`)
    await migrateMysql(admin, tables)
    await admin.query(`INSERT INTO bet_wallet.wallet_bets (id, bet_id, player_id, currency, stake, status, revision)
      VALUES (1, 'settled', 'alice', 'EUR', 1, 'PLACED', 1)`)
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
      const lookups = createMysqlLookups(own, { ...tables, allowScan: true })
      await lookups.bet('one-1')
      await lookups.transaction('one-1')
      await lookups.player('alice')
      for await (const _ of lookups.transactions({ from: '2020-01-01', to: '2020-01-02' }));
    },
    async settlements(own) {
      const connection = await own.getConnection()
      try {
        await connection.query(`BEGIN;
          UPDATE pam.accounts SET balance_cents = balance_cents + 100 WHERE account_no = 'alice';
          CALL bet_wallet.credit_bet_v1('settled', 'BET_PAID', 1);
          COMMIT`)
      } finally {
        connection.destroy()
      }
    },
  }

  test('the page has a user for each use', () => {
    expect([...users].sort()).toEqual(Object.keys(uses).sort())
  })

  describe.each(Object.entries(uses))('the user %s', (user, use) => {
    test('with exactly the rights of the page: works', () => asUser(user, use))

    test.each(rights.filter(({ role }) => role === user).map(({ text }) => text))(
      'not without %s',
      async text => {
        await admin.query(`REVOKE ${text} FROM ${user}`)
        await expect(asUser(user, use)).rejects.toThrow()
        await admin.query(`GRANT ${text} TO ${user}`)
        await asUser(user, use)
      },
    )
  })
})
