/** CHECKs of the players' table: a minimum balance is a refusal, another rule is a fault. */
import { expect, test } from 'vitest'
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

const refused = {
  status: 'refused',
  errorCode: 'INSUFFICIENT_FUNDS',
  description: 'amount: below the minimum balance',
}

describeOnServer("rules of the players' table", server => {
  let wallet: Wallet
  const open = async (ddl: readonly string[]) => {
    wallet = await server.open({ ddl, options: { players } })
  }

  test.each([
    ['of the column', tableWith('balance decimal(20,2) NOT NULL CHECK (balance >= 80)')],
    ['of the table', tableWith('balance decimal(20,2) NOT NULL', ', CONSTRAINT least CHECK (balance >= 80)')],
    [
      'with another column',
      tableWith(
        'balance decimal(20,2) NOT NULL',
        ", CONSTRAINT least CHECK (balance >= 80 OR email LIKE 'vip%')",
      ),
    ],
  ])('a minimum balance %s: a debit below it is refused', async (_, ddl) => {
    await open(ddl)
    expect(await wallet.store.commit(placeBet(1, 'alice', '30'))).toEqual(refused)
    expect(await wallet.store.commit(placeBet(2, 'alice', '20'))).toMatchObject({ balance: '80' })
    expect(await wallet.recorded()).toEqual(['placebet t-2 -20'])
  })

  test('a rule without a name, as another table has one: a debit below it is refused', async () => {
    // The server names both CONSTRAINT_1.
    const named = (table: string) =>
      `CREATE TABLE SCHEMA.${table} (email varchar(64), CHECK (email LIKE '%@%'))`
    await open([
      named('aaa'),
      ...tableWith('balance decimal(20,2) NOT NULL', ', CHECK (balance >= 80)'),
      named('zzz'),
    ])
    expect(await wallet.store.commit(placeBet(1, 'alice', '30'))).toEqual(refused)
  })

  test.each([
    'available decimal(20,2) CHECK (available >= 80)',
    'available decimal(20,2), CHECK (available >= 80)',
  ])('a minimum balance of the base table of a view (%s): a debit below it is refused', async column => {
    await open([
      `CREATE TABLE SCHEMA.base (id varchar(64) PRIMARY KEY, ccy char(3), ${column})
          ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`,
      'CREATE VIEW SCHEMA.accounts AS SELECT id, ccy AS currency, available AS balance FROM SCHEMA.base',
      "INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', 100)",
    ])
    expect(await wallet.store.commit(placeBet(1, 'alice', '30'))).toEqual(refused)
    expect(await wallet.store.commit(placeBet(2, 'alice', '20'))).toMatchObject({ balance: '80' })
  })

  test('a rule of a table that a trigger writes, with the name of the one about the balance: a fault', async () => {
    await open([
      ...tableWith('balance decimal(20,2) NOT NULL', ', CHECK (balance >= 0)'),
      'CREATE TABLE SCHEMA.movements (cents bigint, CHECK (cents > 0))',
      `CREATE TRIGGER SCHEMA.move AFTER UPDATE ON SCHEMA.accounts FOR EACH ROW
        INSERT INTO SCHEMA.movements VALUES (-1)`,
    ])
    await expect(wallet.store.commit(placeBet(1, 'alice', '30'))).rejects.toThrow(
      /CONSTRAINT_1.*movements|movements_chk_1/,
    )
    expect(await wallet.recorded()).toEqual([])
  })

  test('a column without a sign: a debit below 0 is not representable', async () => {
    await open(tableWith('balance decimal(20,2) unsigned NOT NULL'))
    const changes = placeBet(1, 'alice', '130')
    expect(
      await wallet.store.commit({ ...changes, balance: { currency: 'EUR', delta: '-130', floor: null } }),
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
      await expect(wallet.store.commit(placeBet(1, 'alice', '30'))).rejects.toThrow(/both_of/)
      expect(await wallet.recorded()).toEqual([])
    },
  )

  test.skipIf(isMysql)(`a rule about another column: a fault${unchecked}`, async () => {
    await open(tableWith('balance decimal(20,2) NOT NULL'))
    await wallet.run("UPDATE SCHEMA.accounts SET email = 'none'")
    const session = await wallet.otherSession()
    await session.query('SET SESSION check_constraint_checks = OFF')
    await session.query(`ALTER TABLE ${wallet.schema}.accounts ADD CONSTRAINT mail CHECK (email LIKE '%@%')`)
    await expect(wallet.store.commit(placeBet(1, 'alice', '30'))).rejects.toThrow(/mail/)
    expect(await wallet.recorded()).toEqual([])
  })
})
