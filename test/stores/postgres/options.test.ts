/** The functions of a schema belong to the options that they were made for (M3). */
import { handlePlaceBet, handleRollbackBet } from 'bet-wallet'
import {
  createPostgresStore,
  migratePostgres,
  type PlayersTable,
  type PostgresTables,
  postgresMigrationSql,
} from 'bet-wallet/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tablesOf } from '../../../src/stores/postgres/tables.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { endOf } from './wallet.js'

const { pool, drop } = await freshDatabase()
afterAll(drop)

const cents: PlayersTable = {
  ...{ table: 'pam.accounts', id: 'id', currency: 'currency', balance: 'cents' },
  ...{ balanceType: 'minor-units', minorUnits: 2 },
}
const points: PlayersTable = { ...cents, table: 'pam.bonus_accounts', minorUnits: { EUR: 3, JPY: 0 } }

beforeAll(async () => {
  await pool.query(`CREATE SCHEMA pam;
    CREATE TABLE pam.accounts (id text PRIMARY KEY, currency text NOT NULL, cents bigint NOT NULL);
    CREATE TABLE pam.bonus_accounts (LIKE pam.accounts INCLUDING ALL)`)
})

async function freshPlayers() {
  await pool.query(`TRUNCATE pam.accounts, pam.bonus_accounts;
    INSERT INTO pam.accounts VALUES ('anna', 'EUR', 10000);
    INSERT INTO pam.bonus_accounts VALUES ('anna', 'EUR', 10000)`)
}
const balances = async () => {
  const { rows } = await pool.query(
    'SELECT a.cents AS accounts, b.cents AS bonus FROM pam.accounts a, pam.bonus_accounts b',
  )
  return rows[0]
}
const call = { playerId: 'anna', transactionDate: '2026-11-21T18:00:00Z' }
const bet = (n: number) => ({
  ...{ ...call, transactionId: `p-${n}`, betId: `b-${n}`, sessionId: 's', amount: '30', currency: 'EUR' },
  betType: 'SINGLE',
})
const rollback = (n: number) => ({
  ...{ ...call, transactionId: `r-${n}`, betId: `b-${n}`, type: 'TECHNICAL_ERROR' },
})

/** The bodies of all functions of a schema, by name. */
async function functionsIn(schema: string): Promise<Record<string, string>> {
  const { rows } = await pool.query(
    'SELECT proname, prosrc FROM pg_proc WHERE pronamespace = $1::regnamespace',
    [schema],
  )
  return Object.fromEntries(rows.map(({ proname, prosrc }) => [proname, prosrc]))
}

describe('a migration with other options under a running store', () => {
  const changed: [string, PostgresTables, string][] = [
    [
      'no players',
      {},
      'players.balance: registered "cents", given "balance"; ' +
        'players.balanceType: registered "minor-units", given "numeric"; ' +
        'players.id: registered "id", given "player_id"; ' +
        'players.minorUnits: registered 2, given null; ' +
        'players.table: registered "pam.accounts", given "SCHEMA.players"',
    ],
    [
      'another table',
      { players: { ...cents, table: 'pam.bonus_accounts' } },
      'players.table: registered "pam.accounts", given "pam.bonus_accounts"',
    ],
    [
      'other minor units',
      { players: { ...cents, minorUnits: 3 } },
      'players.minorUnits: registered 2, given 3',
    ],
    [
      'minor units per currency',
      { players: { ...cents, minorUnits: { JPY: 0, EUR: 2 } } },
      'players.minorUnits: registered 2, given {"EUR": 2, "JPY": 0}',
    ],
  ]

  test.each(changed)(
    '%s: refused, naming each difference; the store goes on',
    async (name, other, problem) => {
      const schema = name.replaceAll(' ', '_')
      await freshPlayers()
      await migratePostgres(pool, { schema, players: cents })
      const store = createPostgresStore(pool, { schema, players: cents })
      expect(await handlePlaceBet(store, bet(1))).toMatchObject({ ok: true, balance: '70.00' })
      const before = await functionsIn(schema)

      const sentence = `The schema ${schema} was migrated with other options: ${problem.replace('SCHEMA', schema)}`
      expect(await endOf(migratePostgres(pool, { schema, ...other }))).toMatchObject({
        name: 'StoreError',
        code: 'SCHEMA_OPTIONS',
        message: expect.stringContaining(
          `${sentence}. Use the same options, or migrate with allowOtherOptions`,
        ),
      })
      for (const transaction of [true, false]) {
        const client = await pool.connect()
        const sql = postgresMigrationSql({ schema, ...other }, { transaction })
        expect(await endOf(client.query(sql))).toMatchObject({ code: '55000', message: sentence })
        await client.query('ROLLBACK')
        client.release()
      }
      expect(await endOf(createPostgresStore(pool, { schema, ...other }).ready())).toMatchObject({
        code: 'SCHEMA_OPTIONS',
        message: expect.stringContaining(sentence),
      })

      expect(await functionsIn(schema)).toEqual(before)
      expect(await handlePlaceBet(store, bet(2))).toMatchObject({ ok: true, balance: '40.00' })
      expect(await handleRollbackBet(store, rollback(1))).toMatchObject({ ok: true, balance: '70.00' })
      expect(await balances()).toEqual({ accounts: '7000', bonus: '10000' })
      await createPostgresStore(pool, { schema, players: cents }).ready()
    },
  )

  test.each([
    [
      'migratePostgres',
      (options: PostgresTables) => migratePostgres(pool, options, { allowOtherOptions: true }),
    ],
    [
      'the SQL',
      (options: PostgresTables) => pool.query(postgresMigrationSql(options, { allowOtherOptions: true })),
    ],
  ])('stated on purpose: both work, each on its own table (%s)', async (name, migrate) => {
    const schema = name.replaceAll(' ', '_')
    await freshPlayers()
    await migratePostgres(pool, { schema, players: cents })
    const store = createPostgresStore(pool, { schema, players: cents })
    await handlePlaceBet(store, bet(1))
    await migrate({ schema, players: points })
    const other = createPostgresStore(pool, { schema, players: points })

    const small = { ...bet(2), amount: '3.12' }
    expect(await handlePlaceBet(other, small)).toMatchObject({ ok: true, balance: '6.88' })
    expect(await handlePlaceBet(store, bet(3))).toMatchObject({ ok: true, balance: '40.00' })
    expect(await balances()).toEqual({ accounts: '4000', bonus: '6880' })

    // Each process can be restarted, and migrates at its start.
    for (const players of [cents, points]) {
      await migratePostgres(pool, { schema, players })
      await createPostgresStore(pool, { schema, players }).ready()
    }
    const { rows } = await pool.query(`SELECT count(*)::integer AS sets FROM "${schema}".options`)
    expect(rows).toEqual([{ sets: 2 }])
  })

  test('credit_bet_v1 belongs to the options that were migrated last', async () => {
    const schema = 'crediting'
    await migratePostgres(pool, { schema, players: cents })
    await migratePostgres(pool, { schema, players: points }, { allowOtherOptions: true })
    const { credit_bet_v1: body } = await functionsIn(schema)
    expect(body).toContain('"pam"."bonus_accounts"')
    // A process with the first options that migrates at its start does not take it back.
    await migratePostgres(pool, { schema, players: cents })
    expect((await functionsIn(schema)).credit_bet_v1).toBe(body)
    await createPostgresStore(pool, { schema, players: cents }).ready()
  })
})

describe('credit_bet_v1 on a balance of minor units', () => {
  test('refuses fractions of a minor unit: no unsettlement could debit them', async () => {
    await freshPlayers()
    const schema = 'fractions'
    await migratePostgres(pool, { schema, players: points })
    const store = createPostgresStore(pool, { schema, players: points })
    expect(await handlePlaceBet(store, bet(1))).toMatchObject({ ok: false })
    await pool.query('UPDATE pam.bonus_accounts SET cents = 100000')
    expect(await handlePlaceBet(store, bet(2))).toMatchObject({ ok: true })
    const credit = (amount: string) =>
      pool.query(`SELECT ${schema}.credit_bet_v1($1, 'BET_PAID', $2)`, ['b-2', amount])
    await expect(credit('1.0005')).rejects.toMatchObject({
      ...{
        code: '22023',
        message: 'bet-wallet: amount must not have more decimals than the balance, not 1.0005',
      },
    })
    await credit('1.0050')
    const { rows } = await pool.query(`SELECT bet_paid_live::text AS live FROM ${schema}.bets`)
    expect(rows).toEqual([{ live: '1.0050' }])
  })
})

describe('an option set', () => {
  const hashOf = (options: PostgresTables) => tablesOf(options).optionSet.hash

  test('is the same however the options are written', () => {
    expect(hashOf({ players: { ...cents, idType: 'text', decimalsMin: 3 } })).toBe(hashOf({ players: cents }))
    const units = (minorUnits: Record<string, number>) => hashOf({ players: { ...cents, minorUnits } })
    expect(units({ EUR: 2, JPY: 0 })).toBe(units({ JPY: 0, EUR: 2 }))
    expect(hashOf({ schema: 'bet_wallet' })).toBe(hashOf({}))
  })

  test('never changes its hash: processes of several releases share the names', () => {
    expect(hashOf({})).toBe('6b97ef44')
    expect(hashOf({ players: cents })).toBe('a5935fe7')
  })

  test('is registered in a form that people can read', async () => {
    await migratePostgres(pool, { schema: 'readable', players: points })
    const { rows } = await pool.query('SELECT hash, options FROM readable.options')
    expect(rows).toEqual([
      {
        hash: hashOf({ players: points }),
        options: {
          'players.table': 'pam.bonus_accounts',
          'players.id': 'id',
          'players.idType': 'text',
          'players.currency': 'currency',
          'players.balance': 'cents',
          'players.balanceType': 'minor-units',
          'players.minorUnits': { EUR: 3, JPY: 0 },
        },
      },
    ])
  })
})
