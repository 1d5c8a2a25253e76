/**
 * Rules of the operator: reserved funds that are declared refuse a bet, any other CHECK or trigger that fails is a
 * fault, and nothing is recorded (D29).
 */
import { handlePlaceBet } from 'bet-wallet'
import { expect, test } from 'vitest'
import { placeBet as placeBetRequest } from '../../fixtures.js'
import { isMysql, withoutOnMysql } from '../../mysql/engine.js'
import { describeOnServer, placeBet, type Wallet } from './wallet.js'

/** On MySQL every row meets an enforced rule. */
const unchecked = withoutOnMysql('check_constraint_checks')

const players = {
  table: 'SCHEMA.accounts',
  ...{ id: 'id', idCollation: 'utf8mb4_general_ci', currency: 'currency', balance: 'balance' },
}

const tableWith = (balance: string, rules = '') => [
  `CREATE TABLE SCHEMA.accounts (id varchar(64) PRIMARY KEY, currency char(3) NOT NULL, ${balance},
    email varchar(64) ${rules}) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`,
  "INSERT INTO SCHEMA.accounts (id, currency, balance, email) VALUES ('alice', 'EUR', 100, 'a@b')",
]

const base = (column: string) => [
  `CREATE TABLE SCHEMA.base (id varchar(64) PRIMARY KEY, ccy char(3), ${column})
    ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`,
  'CREATE VIEW SCHEMA.accounts AS SELECT id, ccy AS currency, available AS balance FROM SCHEMA.base',
  "INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', 100)",
]
const balance = 'balance decimal(20,2) NOT NULL'
const inTable = (held = '80') =>
  `ALTER TABLE SCHEMA.accounts ADD held decimal(20,2) GENERATED ALWAYS AS (${held}) STORED`
const inView = `CREATE OR REPLACE VIEW SCHEMA.accounts AS
  SELECT id, ccy AS currency, available AS balance, CAST(80 AS decimal(20,2)) AS held FROM SCHEMA.base`

const minimums: [where: string, rule: RegExp, ddl: string[], declared: string][] = [
  [
    'of the column',
    /accounts[._](?:balance|chk_1)/,
    tableWith(`${balance} CHECK (balance >= 80)`),
    inTable(),
  ],
  ['of the table', /least/, tableWith(balance, ', CONSTRAINT least CHECK (balance >= 80)'), inTable()],
  [
    'with another column',
    /least/,
    tableWith(balance, ", CONSTRAINT least CHECK (balance >= 80 OR email LIKE 'vip%')"),
    inTable("CASE WHEN email LIKE 'vip%' THEN -1000000 ELSE 80 END"),
  ],
  ['without a name', /CONSTRAINT_1|accounts_chk_1/, tableWith(balance, ', CHECK (balance >= 80)'), inTable()],
  [
    'of a column of the base table of a view',
    /base[._](?:available|chk_1)/,
    base('available decimal(20,2) CHECK (available >= 80)'),
    inView,
  ],
  [
    'of the base table of a view',
    /CONSTRAINT_1|base_chk_1/,
    base('available decimal(20,2), CHECK (available >= 80)'),
    inView,
  ],
]

/** The store's error of a debit, with the rule that the server names. */
const fault = (rule: RegExp) => ({
  ...{ name: 'StoreError', code: 'DATABASE_REJECTED' },
  message: expect.stringMatching(new RegExp(`(?:${rule.source}).*players[.]reserved`)),
})

describeOnServer("rules of the players' table", server => {
  let wallet: Wallet
  const open = async (ddl: readonly string[], reserved?: string) => {
    wallet = await server.open({ ddl, options: { players: { ...players, ...(reserved && { reserved }) } } })
  }

  test.each(minimums)(
    'a minimum %s, declared: INSUFFICIENT_FUNDS, recorded',
    async (_, _rule, ddl, declared) => {
      await open([...ddl, declared], 'held')
      const refused = placeBetRequest({ transactionId: 't-1', betId: 'b-1', amount: '30' })
      expect(await handlePlaceBet(wallet.store, refused)).toMatchObject({
        ...{ ok: false, errorCode: 'INSUFFICIENT_FUNDS' },
      })
      expect(await wallet.store.commit(placeBet(2, 'alice', '20'))).toMatchObject({ balance: '0' })
      expect(await wallet.recorded()).toEqual(['placebet t-1 0', 'placebet t-2 -20'])
    },
  )

  test.each(minimums)('a minimum %s, not declared: a fault that names it', async (_, rule, ddl) => {
    await open(ddl)
    await expect(wallet.store.commit(placeBet(1, 'alice', '30'))).rejects.toMatchObject(fault(rule))
    expect(await wallet.store.commit(placeBet(2, 'alice', '20'))).toMatchObject({ balance: '80' })
    expect(await wallet.recorded()).toEqual(['placebet t-2 -20'])
  })

  test('a SIGNAL of a trigger: a fault that names it', async () => {
    await open([
      ...tableWith(balance),
      `CREATE TRIGGER SCHEMA.least BEFORE UPDATE ON SCHEMA.accounts FOR EACH ROW
        IF NEW.balance < 80 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too low'; END IF`,
    ])
    await expect(wallet.store.commit(placeBet(1, 'alice', '30'))).rejects.toMatchObject(fault(/too low/))
    expect(await wallet.recorded()).toEqual([])
  })

  test('a rule of a table that a trigger writes, with the name of the one about the balance: a fault', async () => {
    await open([
      ...tableWith('balance decimal(20,2) NOT NULL', ', CHECK (balance >= 0)'),
      'CREATE TABLE SCHEMA.movements (cents bigint, CHECK (cents > 0))',
      `CREATE TRIGGER SCHEMA.move AFTER UPDATE ON SCHEMA.accounts FOR EACH ROW
        INSERT INTO SCHEMA.movements VALUES (-1)`,
    ])
    await expect(wallet.store.commit(placeBet(1, 'alice', '30'))).rejects.toMatchObject(
      fault(/CONSTRAINT_1.*movements|movements_chk_1/),
    )
    expect(await wallet.recorded()).toEqual([])
  })

  test('a column without a sign: a debit below 0 is not representable', async () => {
    await open(tableWith('balance decimal(20,2) unsigned NOT NULL'))
    const changes = placeBet(1, 'alice', '130')
    expect(
      await wallet.store.commit({ ...changes, account: { currency: 'EUR', delta: '-130', floor: null } }),
    ).toEqual({
      ...{ status: 'refused', errorCode: 'INVALID_AMOUNT' },
      description: 'amount: not representable in the balance column',
    })
  })

  test.skipIf(isMysql)(
    `a rule about the balance and an old row that does not meet it: a fault${unchecked}`,
    async () => {
      await open(tableWith('balance decimal(20,2) NOT NULL'))
      await wallet.run("UPDATE SCHEMA.accounts SET email = 'none'")
      const session = await wallet.otherSession()
      await session.query('SET SESSION check_constraint_checks = OFF')
      await session.query(
        `ALTER TABLE ${wallet.schema}.accounts ADD CONSTRAINT both_of CHECK (balance >= 0 AND email LIKE '%@%')`,
      )
      await expect(wallet.store.commit(placeBet(1, 'alice', '30'))).rejects.toMatchObject(fault(/both_of/))
      expect(await wallet.recorded()).toEqual([])
    },
  )

  test.skipIf(isMysql)(`a rule about another column: a fault${unchecked}`, async () => {
    await open(tableWith('balance decimal(20,2) NOT NULL'))
    await wallet.run("UPDATE SCHEMA.accounts SET email = 'none'")
    const session = await wallet.otherSession()
    await session.query('SET SESSION check_constraint_checks = OFF')
    await session.query(`ALTER TABLE ${wallet.schema}.accounts ADD CONSTRAINT mail CHECK (email LIKE '%@%')`)
    await expect(wallet.store.commit(placeBet(1, 'alice', '30'))).rejects.toMatchObject(fault(/mail/))
    expect(await wallet.recorded()).toEqual([])
  })
})
