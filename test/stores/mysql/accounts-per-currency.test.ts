/** Accounts per currency on MySQL and MariaDB: what the kit does not see. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { expectFaultsOfAlice } from '../two-rows.js'
import { describeOnServer } from './wallet.js'

const charset = 'ALTER DATABASE SCHEMA CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci'
const players = {
  ...{ table: 'SCHEMA.accounts', id: 'id', currency: 'currency', balance: 'balance' },
  ...{ idCollation: 'utf8mb4_general_ci', accountPerCurrency: true },
}

describeOnServer('accounts per currency', server => {
  afterEach(() => vi.restoreAllMocks())
  /** @returns the warnings of `ready()` */
  async function readyWith(...ddl: string[]): Promise<string> {
    const { store } = await server.open({ ddl: [charset, ...ddl], options: { players } })
    const warning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    await store.ready()
    return warning.mock.calls.map(([text]) => String(text)).join('\n')
  }

  describe('the unique index', () => {
    const exactly = /no unique index on exactly \(id, currency\)/
    test.each([
      ['on the id alone', 'UNIQUE (id)', exactly],
      ['of another order', 'UNIQUE (currency, id)', exactly],
      ['with a third column', 'UNIQUE (id, currency, balance)', exactly],
      ['of the beginning of the id', 'UNIQUE (id(3), currency)', exactly],
      ['that is not unique', 'INDEX (id, currency)', exactly],
      [
        'whose currency may be NULL',
        'UNIQUE (id, currency), CHECK (balance >= 0)',
        /currency may be NULL/,
        'NULL',
      ],
    ])('%s is refused', async (_name, key, message, nullable = 'NOT NULL') => {
      await expect(
        readyWith(`CREATE TABLE SCHEMA.accounts (no integer AUTO_INCREMENT PRIMARY KEY, id varchar(64) NOT NULL,
          currency varchar(3) ${nullable}, balance decimal(20,2) NOT NULL, ${key})`),
      ).rejects.toThrow(message)
    })
  })

  describe('below a view', () => {
    const base = (key: string) => `CREATE TABLE SCHEMA.w (no integer AUTO_INCREMENT PRIMARY KEY,
      Player_id varchar(64) NOT NULL, ccy varchar(3) NOT NULL, kind integer NOT NULL, balance decimal(20,2) NOT NULL${key})`
    const view = (where = '', currency = 'ccy') =>
      `CREATE VIEW SCHEMA.accounts AS SELECT player_id AS id, ${currency} AS currency, balance FROM SCHEMA.w ${where}`

    test.each([
      ['no index', ''],
      ['an index on the id alone', ', UNIQUE (player_id)'],
      ['another order', ', UNIQUE (ccy, player_id)'],
      ['a third column', ', UNIQUE (player_id, ccy, kind)'],
    ])('of plain columns, %s is refused', async (_name, key) => {
      await expect(readyWith(base(key), view())).rejects.toThrow(
        /may return an account twice: the table below it has no unique index on exactly \(id, currency\)/,
      )
    })

    test.each([
      ['the index', ', UNIQUE (player_id, ccy)', ''],
      ['a third column, which the view fixes', ', UNIQUE (player_id, ccy, kind)', 'WHERE kind = 1'],
      ['the index, of a view of one currency', ', UNIQUE (player_id, ccy)', "WHERE ccy = 'EUR'"],
    ])('of plain columns, %s is ready', async (_name, key, where) => {
      expect(await readyWith(base(key), view(where))).not.toMatch(/one row only/)
    })

    test('whose currency is computed, a warning says what is not proven', async () => {
      expect(await readyWith(base(', UNIQUE (player_id, ccy)'), view('', 'upper(ccy)'))).toMatch(
        /nothing proves that an account has one row only: below the view no unique index on exactly \(id, currency\)/,
      )
    })
  })
  test('two rows of one account below a view that hides it: a fault of its calls, the others are committed', async () => {
    const { store, rows } = await server.open({
      ddl: [
        charset,
        `CREATE TABLE SCHEMA.twice (no integer AUTO_INCREMENT PRIMARY KEY, id varchar(64) NOT NULL, ccy varchar(3) NOT NULL,
          balance decimal(20,2) NOT NULL)`,
        'CREATE VIEW SCHEMA.accounts AS SELECT id, upper(ccy) AS currency, balance FROM SCHEMA.twice',
        `INSERT INTO SCHEMA.twice (id, ccy, balance)
          VALUES ('alice', 'EUR', 100), ('alice', 'EUR', 100), ('bob', 'EUR', 100), ('carol', 'EUR', 100)`,
      ],
      options: { players },
    })
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    await store.ready()
    await expectFaultsOfAlice(store)
    const found = await rows('SELECT id, CAST(balance AS char) FROM SCHEMA.twice ORDER BY id, balance')
    expect(found.map(row => row.join(' '))).toEqual([
      ...['alice 100.00', 'alice 100.00', 'bob 70.00', 'carol 70.00'],
    ])
  })
})
