/** Players' tables of a PAM: kinds of ids and collations, text balances, views. */
// cspell:ignore ánna anná änna Änna LPAD
import { describe, expect, test } from 'vitest'
import { isMysql, withoutOnMysql } from '../../mysql/engine.js'
import { describeOnServer, keysOf, placeBet, settle, type Wallet, type WalletSetup } from './wallet.js'

/** 1 to 2000, on both servers. */
const numbers = `JSON_TABLE(CONCAT('[', REPEAT('0,', 1999), '0]'), '$[*]' COLUMNS (seq FOR ORDINALITY)) numbers`

const columns = { table: 'SCHEMA.accounts', id: 'id', currency: 'currency', balance: 'balance' }

describeOnServer("players' tables", server => {
  let wallet: Wallet
  const open = async (setup: Partial<WalletSetup>) => {
    wallet = await server.open({ ...setup })
    await wallet.store.ready()
  }
  const table = (id: string, balance = 'decimal(20,2)') =>
    `CREATE TABLE SCHEMA.accounts (id ${id} PRIMARY KEY, currency char(3) NOT NULL, balance ${balance} NOT NULL)
      ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`

  /** One commit alone, and one in a batch with an unknown player. */
  async function plays(playerId: string, unknown: string): Promise<void> {
    expect(await wallet.store.commit(placeBet(1, playerId))).toMatchObject({
      status: 'committed',
      balance: '70',
    })
    const results = await Promise.all([
      wallet.store.commit(placeBet(2, playerId)),
      wallet.store.commit(placeBet(3, unknown)),
    ])
    expect(results.map(({ status }) => status)).toEqual(['committed', 'conflict'])
    expect((await wallet.store.load(keysOf(placeBet(1, playerId)))).accounts[0]).toEqual({
      ...{ playerId, currency: 'EUR', balance: '40.00' },
    })
    expect((await wallet.store.load(keysOf(placeBet(1, unknown)))).accounts).toEqual([])
    expect((await wallet.store.loadConfirmed(keysOf(placeBet(1, unknown)))).accounts).toEqual([])
    expect(await wallet.store.commit(placeBet(4, unknown))).toMatchObject({ status: 'conflict' })
  }

  // The currency of the bet counts: the role that settles may not read that of the player.
  test('credit_bet_v1 refuses fractions of a minor unit: no unsettlement could debit them', async () => {
    await open({
      ddl: [
        table('varchar(64)', 'bigint'),
        `INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', 10000), ('ken', 'JPY', 10000)`,
      ],
      options: {
        players: {
          ...columns,
          ...{
            idCollation: 'utf8mb4_general_ci',
            balanceType: 'minor-units',
            minorUnits: { EUR: 2, JPY: 0 },
          },
        },
      },
    })
    await wallet.store.commit(placeBet(1, 'alice'))
    const yen = placeBet(2, 'ken', '100')
    yen.account = { currency: 'JPY', delta: '-100', floor: '0' }
    Object.assign(yen.bet ?? {}, { currency: 'JPY' })
    await wallet.store.commit(yen)
    const credit = (bet: string, amount: string) =>
      wallet.run(`CALL SCHEMA.credit_bet_v1('${bet}', 'BET_PAID', ${amount})`)
    const refusal = /amount must not have more decimals than the balance/
    await expect(credit('b-1', '1.005')).rejects.toThrow(refusal)
    await expect(credit('b-2', '0.5')).rejects.toThrow(refusal)
    await credit('b-1', '1.050')
    await credit('b-2', '7')
    const live = async (changes: typeof yen) =>
      (await wallet.store.load(keysOf(changes))).bet?.credits.BET_PAID?.live
    expect([Number(await live(placeBet(1, 'alice'))), Number(await live(yen))]).toEqual([1.05, 7])
  })

  test.each([
    ['bigint unsigned', '17', '18'],
    ['int', '17', '017'],
    ['bigint', '-9223372036854775808', '9223372036854775808'],
  ])('ids of type %s', async (type, playerId, unknown) => {
    await open({
      ddl: [table(type), `INSERT INTO SCHEMA.accounts VALUES (${playerId}, 'EUR', 100)`],
      options: { players: { ...columns, idType: 'bigint' } },
    })
    await plays(playerId, unknown)
  })

  test('ids of type binary(16)', async () => {
    const playerId = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'
    await open({
      ddl: [
        table('binary(16)'),
        `INSERT INTO SCHEMA.accounts VALUES (UNHEX('${playerId.replaceAll('-', '')}'), 'EUR', 100)`,
      ],
      options: { players: { ...columns, idType: 'uuid' } },
    })
    await plays(playerId, playerId.toUpperCase())
  })

  test.skipIf(isMysql)(`ids of MariaDB's type uuid${withoutOnMysql('type uuid')}`, async () => {
    const playerId = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'
    await open({
      ddl: [table('uuid'), `INSERT INTO SCHEMA.accounts VALUES ('${playerId.toUpperCase()}', 'EUR', 100)`],
      options: { players: { ...columns, idType: 'uuid' } },
    })
    await plays(playerId, playerId.toUpperCase())
  })

  // Its version and variant are none: the column cannot hold it.
  test.skipIf(isMysql)(
    `a UUID that MariaDB's type cannot hold is an unknown player${withoutOnMysql('type uuid')}`,
    async () => {
      const playerId = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'
      await open({
        ddl: [table('uuid'), `INSERT INTO SCHEMA.accounts VALUES ('${playerId}', 'EUR', 100)`],
        options: { players: { ...columns, idType: 'uuid' } },
      })
      await plays(playerId, 'a463bb56-4c82-fdd2-7cbc-7ffab7a920f2')
    },
  )

  test.each([
    ['utf8mb4_general_ci', 'ANNA'],
    ['utf8mb4_general_ci', 'ánna'],
    ['utf8mb4_unicode_ci', 'anna '],
    ['utf8mb4_bin', 'anna '],
    ['latin1_swedish_ci', 'Anna'],
    ['latin1_swedish_ci', 'anna🎲'],
    ['utf8mb3_general_ci', 'anná'],
  ])('text ids in %s: %j is not anna', async (collation, unknown) => {
    await open({
      ddl: [
        table(`varchar(64) CHARACTER SET ${collation.split('_')[0]} COLLATE ${collation}`),
        "INSERT INTO SCHEMA.accounts VALUES ('anna', 'EUR', 100)",
      ],
      options: { players: { ...columns, idCollation: collation } },
    })
    await plays('anna', unknown)
  })

  test('ids in varbinary', async () => {
    await open({
      ddl: [table('varbinary(255)'), "INSERT INTO SCHEMA.accounts VALUES ('änna', 'EUR', 100)"],
      options: { players: { ...columns, idCollation: 'binary' } },
    })
    await plays('änna', 'Änna')
  })

  test.each([
    ['varchar(64)', "CONCAT('p-', seq)", (number: number) => `p-${number}`] as const,
    ...(isMysql
      ? []
      : [
          [
            'uuid',
            "CONCAT('00000000-0000-0000-0000-', LPAD(seq, 12, '0'))",
            (number: number) => `00000000-0000-0000-0000-${String(number).padStart(12, '0')}`,
          ] as const,
        ]),
  ])('players are found by the index, not by reading the table: %s', async (type, ids, idOf) => {
    /** Rows that the session has read by scans, at the end of each batch. */
    const scanned: number[] = []
    await open({
      ddl: [table(type), `INSERT INTO SCHEMA.accounts SELECT ${ids}, 'EUR', 100 FROM ${numbers}`],
      options: {
        players: {
          ...columns,
          ...(type === 'uuid' ? { idType: 'uuid' } : { idCollation: 'utf8mb4_general_ci' }),
        },
        connectionsMax: 1,
        async withinTransaction(query) {
          const { rows } = await query("SHOW SESSION STATUS LIKE 'Handler_read_rnd_next'")
          scanned.push(Number((rows as { Value: string }[])[0]?.Value))
        },
      },
    })
    const players = Array.from({ length: 20 }, (_, index) => idOf(index + 100))
    for (const round of ['a', 'b'])
      await Promise.all(players.map(id => wallet.store.commit(placeBet(`${round}-${id}`, id))))
    // The items of the batch itself are scanned a few times.
    expect(scanned).toHaveLength(2)
    expect(Number(scanned[1]) - Number(scanned[0])).toBeLessThan(1_000)
  })

  test.each([
    ['100.5', '0.25', '100.25'],
    ['100.50', '0.5', '100.00'],
    ['100', '1', '99'],
    ['100', '0.001', '99.999'],
  ])('a text balance of %s minus %s is %s: no decimals are lost', async (before, stake, after) => {
    await open({
      ddl: [
        table('varchar(64)', 'varchar(60)'),
        `INSERT INTO SCHEMA.accounts VALUES ('a', 'EUR', '${before}'), ('b', 'EUR', '${before}'), ('c', 'EUR', '${before}')`,
      ],
      options: { players: { ...columns, idCollation: 'utf8mb4_general_ci', balanceType: 'text' } },
    })
    await wallet.store.commit(placeBet(1, 'a', stake))
    await Promise.all([
      wallet.store.commit(placeBet(2, 'b', stake)),
      wallet.store.commit(placeBet(3, 'c', stake)),
    ])
    expect(await wallet.rows('SELECT balance FROM SCHEMA.accounts')).toEqual([[after], [after], [after]])
  })

  test('a text balance that is no decimal is a conflict, and is not changed', async () => {
    await open({
      ddl: [table('varchar(64)', 'varchar(60)'), "INSERT INTO SCHEMA.accounts VALUES ('a', 'EUR', '1e3')"],
      options: { players: { ...columns, idCollation: 'utf8mb4_general_ci', balanceType: 'text' } },
    })
    expect(await wallet.store.commit(placeBet(1, 'a', '1'))).toMatchObject({ status: 'conflict' })
    expect(await wallet.rows('SELECT balance FROM SCHEMA.accounts')).toEqual([['1e3']])
  })

  describe.each<[string, string, string, 'numeric' | 'text']>([
    ['a decimal of 42 digits', 'decimal(65,20)', `1${'0'.repeat(21)}.5`, 'numeric'],
    ['a negative decimal of 42 digits', 'decimal(65,20)', `-1${'0'.repeat(21)}.5`, 'numeric'],
    ['a text of 41 digits', 'varchar(60)', `1${'0'.repeat(40)}`, 'text'],
    ['a text of 41 digits, with decimals', 'varchar(60)', `1${'0'.repeat(21)}.${'1'.repeat(19)}`, 'text'],
    ['a text with leading zeros', 'varchar(60)', '0100.50', 'text'],
    ['a text of minus zero', 'varchar(60)', '-0.00', 'text'],
  ])('a balance that a load cannot read is not changed: %s', (_, type, balance, balanceType) => {
    test.each(['alone', 'in a batch'])('%s', async how => {
      await open({
        ddl: [
          table('varchar(64)', type),
          `INSERT INTO SCHEMA.accounts VALUES ('a', 'EUR', '${balance}'), ('b', 'EUR', '100')`,
        ],
        options: { players: { ...columns, idCollation: 'utf8mb4_general_ci', balanceType } },
      })
      const [before] = await wallet.rows("SELECT balance FROM SCHEMA.accounts WHERE id = 'a'")
      const changes = placeBet(1, 'a', '1')
      // As for a debit without a minimum.
      changes.account = { currency: 'EUR', delta: '-1', floor: null }
      const others = how === 'alone' ? [] : [placeBet(2, 'b', '1')]
      const [result] = await Promise.all([changes, ...others].map(each => wallet.store.commit(each)))
      expect(result).toMatchObject({ status: 'conflict' })
      expect(await wallet.rows("SELECT balance FROM SCHEMA.accounts WHERE id = 'a'")).toEqual([before])
    })
  })

  test('a credit does not make a balance that a load cannot read', async () => {
    await open({
      ddl: [
        table('varchar(64)', 'decimal(65,20)'),
        `INSERT INTO SCHEMA.accounts VALUES ('a', 'EUR', '${'9'.repeat(20)}')`,
      ],
      options: { players: { ...columns, idCollation: 'utf8mb4_general_ci' } },
    })
    const after = { balance: `${'9'.repeat(19)}8` }
    expect(await wallet.store.commit(placeBet(1, 'a', '1'))).toMatchObject(after)
    await expect(wallet.store.commit(settle(1, 'a', '3'))).rejects.toMatchObject({
      code: 'AMOUNT_NOT_REPRESENTABLE',
    })
    expect((await wallet.store.load(keysOf(placeBet(1, 'a')))).accounts[0]?.balance).toBe(
      `${after.balance}.${'0'.repeat(20)}`,
    )
  })

  test.each([
    ["CASE brand WHEN 'old' THEN 'EUR' END", '100', 'currency is NULL, or empty,'],
    ["'EUR'", 'NULL', 'balance is NULL'],
  ])(
    'the currency %s, the balance %s: the load names the column and the player',
    async (currency, balance, problem) => {
      await open({
        ddl: [
          `CREATE TABLE SCHEMA.base (id varchar(64) PRIMARY KEY, brand varchar(9), balance decimal(20,2))
          ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`,
          `INSERT INTO SCHEMA.base VALUES ('alice', 'new', ${balance}), ('bob', 'old', 100)`,
          `CREATE VIEW SCHEMA.accounts AS SELECT id, ${currency} AS currency, balance FROM SCHEMA.base`,
        ],
        options: { players: { ...columns, idCollation: 'utf8mb4_general_ci' } },
      })
      const [alice, bob] = await Promise.allSettled(
        ['alice', 'bob'].map(playerId => wallet.store.load(keysOf(placeBet(1, playerId)))),
      )
      expect(alice).toMatchObject({
        reason: {
          code: 'INVALID_PLAYERS_TABLE',
          problem: `${wallet.schema}.accounts.${problem} for the player "alice"`,
        },
      })
      expect(bob).toMatchObject({ value: { accounts: [{ currency: 'EUR' }] } })
    },
  )

  test('an updatable view', async () => {
    await open({
      ddl: [
        table('varchar(64)').replace('SCHEMA.accounts', 'SCHEMA.base'),
        "INSERT INTO SCHEMA.base VALUES ('anna', 'EUR', 100)",
        'CREATE VIEW SCHEMA.accounts AS SELECT * FROM SCHEMA.base',
      ],
      options: { players: { ...columns, idCollation: 'utf8mb4_general_ci' } },
    })
    await plays('anna', 'ANNA')
    expect(await wallet.store.commit(settle(1, 'anna'))).toMatchObject({
      status: 'committed',
      balance: '100',
    })
  })
})
