/**
 * The migration, its constraints, the cut-over from a legacy integration, and the plans of its statements.
 */

import { handlePlaceBet, handleRollbackBet, handleUnsettlement } from 'bet-wallet'
import {
  createPostgresStore,
  importBets,
  importTransactions,
  migratePostgres,
  type PostgresTables,
  postgresMigrationSql,
} from 'bet-wallet/postgres'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commitQuery } from '../../../src/stores/postgres/sql/commit.js'
import { functionName } from '../../../src/stores/postgres/sql/fragments.js'
import { loadQuery } from '../../../src/stores/postgres/sql/load.js'
import { tablesOf } from '../../../src/stores/postgres/tables.js'
import { placeBet } from '../../fixtures.js'
import { freshDatabase } from '../../postgres/fresh-database.js'

const { pool, url, drop } = await freshDatabase()
afterAll(drop)

describe('the migration', () => {
  test('can be run by several processes at once, and again', async () => {
    const pools = Array.from({ length: 6 }, () => new pg.Pool({ connectionString: url, max: 1 }))
    await Promise.all(pools.map(own => migratePostgres(own, { schema: 'at_once' })))
    await pool.query("INSERT INTO at_once.players VALUES ('anna', 'EUR', 5)")
    await Promise.all(pools.map(own => migratePostgres(own, { schema: 'at_once' })))
    await Promise.all(pools.map(own => own.end()))
    const { rows } = await pool.query('SELECT version FROM at_once.migrations')
    expect(rows).toEqual([{ version: 1 }])
    expect((await pool.query('SELECT balance FROM at_once.players')).rows).toEqual([{ balance: '5' }])
  })

  test('can be run as text, and again', async () => {
    const sql = postgresMigrationSql({ schema: 'by_text' })
    await pool.query(sql)
    await pool.query(sql)
    await createPostgresStore(pool, { schema: 'by_text' }).ready()
  })

  test("reserves space for HOT updates in its players' table", async () => {
    await migratePostgres(pool, { schema: 'roomy' })
    const { rows } = await pool.query("SELECT reloptions FROM pg_class WHERE oid = 'roomy.players'::regclass")
    expect(rows).toEqual([{ reloptions: ['fillfactor=50'] }])
  })

  test("creates no players' table where the options name one", async () => {
    await pool.query('CREATE TABLE public.accounts (id text PRIMARY KEY, currency text, balance numeric)')
    const players = { table: 'public.accounts', id: 'id', currency: 'currency', balance: 'balance' }
    await migratePostgres(pool, { schema: 'own_table', players })
    const { rows } = await pool.query(
      "SELECT table_name::text AS name FROM information_schema.tables WHERE table_schema = 'own_table' ORDER BY 1",
    )
    expect(rows.map(({ name }) => name)).toEqual(['bets', 'migrations', 'options', 'transactions'])
  })

  test.each<[string, PostgresTables]>([
    ["the library's own players' table", {}],
    ...(['numeric', 'text', 'minor-units'] as const).flatMap(balanceType =>
      (['text', 'bigint', 'uuid'] as const).map((idType): [string, PostgresTables] => [
        `${idType} ids and ${balanceType} balances`,
        {
          players: {
            ...{ table: 'pam.accounts', id: 'account_no', currency: 'currency', balance: 'balance_cents' },
            ...{ idType, balanceType, ...(balanceType === 'minor-units' && { minorUnits: 2 }) },
          },
        },
      ]),
    ),
  ])('fits a page, with %s: no line over 120 characters, no trailing space, no tab', (_, options) => {
    const lines = postgresMigrationSql(options).split('\n')
    expect(lines.filter(line => line.length > 120 || /\s$|\t/.test(line))).toEqual([])
  })

  test('keeps a line break inside a name', async () => {
    const players = { table: 'pam.two\nlines', id: 'an\nid', currency: 'currency', balance: 'balance' }
    const sql = postgresMigrationSql({ players })
    expect(sql).toContain('FROM "pam"."two\nlines" player\n')
    expect(sql).not.toMatch(/"two\n +lines"|"an\n +id"/)
  })

  test('has no question mark, which Knex takes for a parameter', () => {
    expect(postgresMigrationSql()).not.toContain('?')
  })

  test('makes no changes when it fails', async () => {
    await pool.query('CREATE SCHEMA half; CREATE TABLE half.bets (bet_id text)')
    await pool.query("CREATE VIEW half.transactions AS SELECT 'x' AS x")
    await pool.query(
      `CREATE FUNCTION half.${functionName(tablesOf({ schema: 'half' }), 'load')}(x text, y boolean, z integer, t bigint, s bigint) RETURNS text LANGUAGE sql AS $$ SELECT 1::text $$`,
    )
    await expect(migratePostgres(pool, { schema: 'half' })).rejects.toThrow()
    const { rows } = await pool.query("SELECT to_regclass('half.migrations') AS migrations")
    expect(rows).toEqual([{ migrations: null }])
  })
})

describe('the constraints', () => {
  beforeAll(async () => {
    await migratePostgres(pool, { schema: 'constrained' })
    await pool.query("INSERT INTO constrained.players VALUES ('anna', 'EUR', 5)")
    await pool.query(
      "INSERT INTO constrained.bets (bet_id, player_id, currency, stake, status, revision) VALUES ('b', 'anna', 'EUR', 5, 'PLACED', 1)",
    )
    await pool.query(
      "INSERT INTO constrained.transactions (operation, transaction_id, player_id, bet_id, amount, currency, delta, reason, transaction_date) VALUES ('placebet', 't', 'anna', 'b', 5, 'EUR', -5, 'ACCEPTED', now())",
    )
  })

  const bet = (columns: string, values: string) =>
    `INSERT INTO constrained.bets (bet_id, player_id, currency, stake, status, revision${columns}) VALUES ('b2', 'anna', 'EUR', ${values})`
  const transaction = (values: string) =>
    `INSERT INTO constrained.transactions (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, error_code, description, reason, transaction_date) VALUES (${values}, 'ACCEPTED', now())`

  test.each([
    ['a negative balance', "UPDATE constrained.players SET balance = -0.01 WHERE player_id = 'anna'"],
    [
      'a balance that is not a number',
      "UPDATE constrained.players SET balance = 'NaN' WHERE player_id = 'anna'",
    ],
    ['a second player of the same id', "INSERT INTO constrained.players VALUES ('anna', 'EUR', 0)"],
    [
      'a second bet of the same id',
      "INSERT INTO constrained.bets (bet_id, player_id, currency, stake, status, revision) VALUES ('b', 'ben', 'EUR', 5, 'PLACED', 1)",
    ],
    [
      'a second transaction of the same id',
      transaction("'placebet', 't', 'ben', 'b9', 5, 'EUR', NULL, -5, NULL, NULL"),
    ],
    [
      'a second use of a walletTransactionId',
      "INSERT INTO constrained.transactions (operation, transaction_id, player_id, bet_id, amount, currency, delta, reason, transaction_date, wallet_transaction_id) VALUES ('placebet', 't2', 'anna', 'b', 5, 'EUR', -5, 'ACCEPTED', now(), '1')",
    ],
    [
      'a transaction without a reason',
      "INSERT INTO constrained.transactions (operation, transaction_id, player_id, bet_id, amount, currency, delta, transaction_date) VALUES ('placebet', 't3', 'anna', 'b', 5, 'EUR', -5, now())",
    ],
    ['a negative stake', bet('', "-1, 'PLACED', 1")],
    ['an unknown status', bet('', "1, 'LOST', 1")],
    ['a revision of 0', bet('', "1, 'PLACED', 0")],
    ['a live credit without its other parts', bet(', bet_paid_live', "1, 'PLACED', 1, 5")],
    ['a negative amount owed', bet(', bet_paid_reversed, bet_paid_owed', "1, 'PLACED', 1, 0, -1")],
    [
      'a bet that is rolled back and paid',
      bet(', voided_live, voided_reversed, voided_owed', "1, 'ROLLED_BACK', 1, 5, 0, 0"),
    ],
    ['an unknown operation', transaction("'deposit', 't2', 'anna', 'b', 5, 'EUR', NULL, 5, NULL, NULL")],
    [
      'a refusal that changes the balance',
      transaction("'placebet', 't2', 'anna', 'b', 5, 'EUR', NULL, -5, 'INVALID_BET', 'x'"),
    ],
    [
      'a refusal without description',
      transaction("'placebet', 't2', 'anna', 'b', 5, 'EUR', NULL, 0, 'INVALID_BET', NULL"),
    ],
    [
      'a rollback with an amount',
      transaction("'rollbackbet', 't2', 'anna', 'b', 5, 'EUR', 'TECHNICAL_ERROR', 5, NULL, NULL"),
    ],
    [
      'a placebet without an amount',
      transaction("'placebet', 't2', 'anna', 'b', NULL, NULL, NULL, 0, NULL, NULL"),
    ],
    [
      'a settlement without a type',
      transaction("'settlement', 't2', 'anna', 'b', 5, 'EUR', NULL, 5, NULL, NULL"),
    ],
  ])('reject %s', async (_, sql) => {
    await expect(pool.query(sql)).rejects.toMatchObject({
      code: expect.stringMatching(/^23(?:502|505|514)$/),
    })
  })

  test.each([
    ["SELECT constrained.credit_bet_v1('nowhere', 'BET_PAID', 5)", /unknown bet nowhere/],
    ["SELECT constrained.credit_bet_v1('b', 'PAID', 5)", /BET_PAID, VOIDED or CASHOUT, not PAID/],
    ["SELECT constrained.credit_bet_v1('b', 'BET_PAID', -5)", /at least 0, not -5/],
    ["SELECT constrained.credit_bet_v1('b', 'BET_PAID', NULL)", /at least 0/],
    ["SELECT constrained.credit_bet_v1('b', 'BET_PAID', 'NaN')", /at least 0, not NaN/],
    ["SELECT constrained.credit_bet_v1('b', 'BET_PAID', 1e45)", /at most 40 digits/],
    ["SELECT constrained.credit_bet_v1('b', 'VOIDED', 1e-45)", /at most 40 digits/],
    [
      "SELECT constrained.credit_bet_v1('b', 'CASHOUT', amount) FROM unnest(ARRAY[1e30, 1e-10]) amount",
      /at most 40 digits/,
    ],
  ])('%s reports the problem', async (sql, problem) => {
    await expect(pool.query(sql)).rejects.toThrow(problem)
  })
})

const request = { transactionDate: '2026-11-21T18:00:00Z', playerId: 'anna' }

describe('at a cut-over (D27)', () => {
  const placed = {
    playerId: 'anna',
    currency: 'EUR',
    stake: '30',
    status: 'PLACED' as const,
    credits: {},
    revision: 1,
  }
  const paid = { BET_PAID: { live: '60.50', reversed: '0', owed: '0' } }

  async function fresh(schema: string) {
    await migratePostgres(pool, { schema })
    await pool.query(`INSERT INTO ${schema}.players VALUES ('anna', 'EUR', 100)`)
    return createPostgresStore(pool, { schema })
  }
  const balanceIn = async (schema: string) =>
    (await pool.query(`SELECT balance FROM ${schema}.players`)).rows[0].balance

  test('imported bets are rolled back, settled and unsettled; an import can be run again', async () => {
    const store = await fresh('imported')
    const bets = [
      { ...placed, betId: 'open' },
      { ...placed, betId: 'paid', credits: paid },
      { ...placed, betId: 'gone', status: 'ROLLED_BACK' as const },
    ]
    expect(await importBets(pool, { schema: 'imported' }, bets)).toEqual({ imported: 3, alreadyPresent: 0 })
    const rollback = { ...request, type: 'TECHNICAL_ERROR', transactionId: 'r-1', betId: 'open' }
    expect(await handleRollbackBet(store, rollback)).toMatchObject({ ok: true, balance: '130.00' })
    const unsettlement = { ...request, type: 'UNSCORED', transactionId: 'u-1', betId: 'paid' }
    expect(await handleUnsettlement(store, unsettlement)).toMatchObject({ ok: true, balance: '69.50' })
    expect(
      await handleRollbackBet(store, { ...rollback, transactionId: 'r-2', betId: 'gone' }),
    ).toMatchObject({
      ok: true,
      balance: '69.50',
    })
    // Again, after they have changed: the import does not change them back.
    expect(await importBets(pool, { schema: 'imported' }, bets)).toEqual({ imported: 0, alreadyPresent: 3 })
    expect(await handleRollbackBet(store, rollback)).toMatchObject({
      ok: true,
      replayed: true,
      balance: '69.50',
    })
    expect(await balanceIn('imported')).toBe('69.5')
  })

  test('a second import replaces a bet that the library has not changed, and no other', async () => {
    const schema = 'twice'
    const store = await fresh(schema)
    const names = ['same', 'paid', 'rolled-back', 'credited']
    const dayBefore = names.map(betId => ({ ...placed, betId }))
    const gone = { ...placed, betId: 'gone', status: 'ROLLED_BACK' as const }
    await importBets(pool, { schema }, [...dayBefore, gone])
    const rollback = { ...request, type: 'TECHNICAL_ERROR', transactionId: 'r-1', betId: 'rolled-back' }
    expect(await handleRollbackBet(store, rollback)).toMatchObject({ ok: true, balance: '130.00' })
    // Answered with success, and no change of the bet: it must stay rolled back.
    const again = { ...rollback, transactionId: 'r-2', betId: 'gone' }
    expect(await handleRollbackBet(store, again)).toMatchObject({ ok: true, balance: '130.00' })
    await pool.query(`SELECT ${schema}.credit_bet_v1('credited', 'VOIDED', 5)`)
    const bet = placeBet({ playerId: 'anna', betId: 'new', amount: '10' })
    expect(await handlePlaceBet(store, bet)).toMatchObject({ ok: true })

    const changed = { ...placed, playerId: 'berta', currency: 'JPY', stake: '31', credits: paid }
    const others = ['paid', 'rolled-back', 'credited', 'gone', 'new'].map(betId => ({ ...changed, betId }))
    const now = [{ ...placed, betId: 'same' }, ...others]
    expect(await importBets(pool, { schema }, now)).toEqual({ imported: 1, alreadyPresent: 5 })
    const { rows } = await pool.query(
      `SELECT concat_ws(' ', bet_id, player_id, currency, stake, status, bet_paid_live, voided_live, revision) AS bet
        FROM ${schema}.bets ORDER BY bet_id`,
    )
    expect(rows.map(row => row.bet)).toEqual([
      'credited anna EUR 30 PLACED 5 2',
      'gone anna EUR 30 ROLLED_BACK 1',
      'new anna EUR 10 PLACED 1',
      'paid berta JPY 31 PLACED 60.50 1',
      'rolled-back anna EUR 30 ROLLED_BACK 2',
      'same anna EUR 30 PLACED 1',
    ])
  })

  test('imported transactions are replayed', async () => {
    const store = await fresh('replays')
    await importBets(pool, { schema: 'replays' }, [{ ...placed, betId: 'b-1', status: 'ROLLED_BACK' }])
    const report = await importTransactions(pool, { schema: 'replays' }, [
      {
        ...{ operation: 'rollbackbet', transactionId: 'r-1', playerId: 'anna', betId: 'b-1' },
        ...{ amount: null, currency: null, type: 'TECHNICAL_ERROR', delta: '30', refusal: null },
        ...{ transactionDate: '2026-11-20T18:00:00.123Z', walletTransactionId: null },
      },
    ])
    expect(report).toEqual({ imported: 1, alreadyPresent: 0 })
    const rollback = { ...request, type: 'TECHNICAL_ERROR', transactionId: 'r-1', betId: 'b-1' }
    expect(await handleRollbackBet(store, rollback)).toMatchObject({ ok: true, replayed: true })
    const keys = { operation: 'rollbackbet', transactionId: 'r-1', playerId: 'anna', betId: 'b-1' } as const
    expect((await store.load(keys)).transaction?.transactionDate).toBe('2026-11-20T18:00:00.123Z')
  })

  test('references of imported transactions are kept, and never assigned again', async () => {
    const store = await fresh('referring')
    const legacy = (n: number, walletTransactionId: string | null) => ({
      ...({ operation: 'rollbackbet', transactionId: `r-${n}`, playerId: 'anna', betId: `b-${n}` } as const),
      ...{ amount: null, currency: null, type: 'TECHNICAL_ERROR', delta: '0', refusal: null },
      ...{ transactionDate: '2026-11-20T18:00:00.000Z', walletTransactionId },
    })
    const all = [legacy(1, '4711'), legacy(2, 'W-17'), legacy(3, '12'), legacy(4, null)]
    await importTransactions(pool, { schema: 'referring' }, all)
    await importTransactions(pool, { schema: 'referring' }, all)
    const retry = async (n: number) => {
      const body = { ...request, type: 'TECHNICAL_ERROR', transactionId: `r-${n}`, betId: `b-${n}` }
      const outcome = await handleRollbackBet(store, body)
      return outcome.ok && [outcome.replayed, outcome.walletTransactionId]
    }
    expect(await retry(1)).toEqual([true, '4711'])
    expect(await retry(2)).toEqual([true, 'W-17'])
    expect(await retry(3)).toEqual([true, '12'])
    expect(await retry(4)).toEqual([true, 'import-1'])
    // The second import used up one number.
    expect(await retry(5)).toEqual([false, '4713'])
  })

  test('a reference that is used already is rejected by name, never skipped; null gets one that never collides', async () => {
    await fresh('colliding')
    const legacy = (transactionId: string, walletTransactionId: string | null) => ({
      ...({
        operation: 'rollbackbet',
        transactionId,
        playerId: 'anna',
        betId: `b-${transactionId}`,
      } as const),
      ...{ amount: null, currency: null, type: 'TECHNICAL_ERROR', delta: '0', refusal: null },
      ...{ transactionDate: '2026-11-20T18:00:00.000Z', walletTransactionId },
    })
    const load = (...all: ReturnType<typeof legacy>[]) =>
      importTransactions(pool, { schema: 'colliding' }, all)
    // The numbers that follow are those which the sequence would assign.
    await load(legacy('r-0', null), legacy('r-1', null))
    await load(legacy('r-2', '1'), legacy('r-3', '2'), legacy('r-4', null))
    await load(legacy('r-5', '3'), legacy('r-6', '4'))
    await expect(load(legacy('r-7', '5'), legacy('r-8', '2'))).rejects.toMatchObject({
      code: 'IMPORT_REJECTED',
      message: expect.stringMatching(/^transactions, r-8: .*wallet_transaction_id/),
    })
    const { rows } = await pool.query(
      'SELECT transaction_id AS t, wallet_transaction_id AS w FROM colliding.transactions ORDER BY 1',
    )
    expect(rows.map(({ t, w }) => `${t} ${w}`)).toEqual([
      'r-0 import-1',
      'r-1 import-2',
      'r-2 1',
      'r-3 2',
      'r-4 import-3',
      'r-5 3',
      'r-6 4',
      'r-7 5',
    ])
  })

  test('a rejected record is named; records are imported in chunks', async () => {
    await fresh('many')
    const bets = Array.from({ length: 2500 }, (_, n) => ({ ...placed, betId: `b-${n}` }))
    expect(await importBets(pool, { schema: 'many' }, bets)).toEqual({ imported: 2500, alreadyPresent: 0 })
    const wrong = [
      { ...placed, betId: 'valid' },
      { ...placed, betId: 'wrong', stake: '-1' },
    ]
    await expect(importBets(pool, { schema: 'many' }, wrong)).rejects.toMatchObject({
      code: 'IMPORT_REJECTED',
      message: expect.stringMatching(/^bets, wrong: .*amount/),
    })
  })

  test.each([
    ['bigint', { stake: 10n as never }],
    ['no_credits', { credits: undefined as never }],
  ])('a record that is no record is named, those before it are imported: %s', async (name, fields) => {
    const schema = `no_record_${name}`
    await fresh(schema)
    const bets = [
      { ...placed, betId: 'valid' },
      { ...placed, betId: 'wrong', ...fields },
    ]
    await expect(importBets(pool, { schema }, bets)).rejects.toMatchObject({
      code: 'IMPORT_REJECTED',
      message: expect.stringMatching(/^bets, wrong: /),
    })
    const { rows } = await pool.query(`SELECT bet_id FROM ${schema}.bets`)
    expect(rows).toEqual([{ bet_id: 'valid' }])
  })
})

describe('the plans', () => {
  const options = {
    schema: 'planned',
    players: { table: 'planned_pam.accounts', id: 'id', currency: 'currency', balance: 'balance' },
  }
  const settings = ['plan_cache_mode = force_generic_plan', 'jit = off', 'enable_seqscan = off']

  beforeAll(async () => {
    await pool.query(`CREATE SCHEMA planned_pam;
      CREATE TABLE planned_pam.accounts (id text PRIMARY KEY, currency text, balance numeric)`)
    await migratePostgres(pool, options)
  })

  /** The generic plan of a statement of the functions. */
  async function planOf(name: string, types: string, sql: string, values: string): Promise<string> {
    const client = await pool.connect()
    try {
      for (const setting of settings) await client.query(`SET ${setting}`)
      await client.query(`PREPARE ${name} (${types}) AS ${sql}`)
      const { rows } = await client.query(`EXPLAIN (COSTS off) EXECUTE ${name} (${values})`)
      return rows.map(row => row['QUERY PLAN']).join('\n')
    } finally {
      client.release(true)
    }
  }

  const tables = tablesOf(options)
  const statements: [string, string, string, string][] = [
    ['load', 'json', loadQuery(tables, '$1'), "'[]'"],
    ['commit', 'text[], numeric', commitQuery(tables, { fields: '$1', balanceMax: '$2' }), "'{}', NULL"],
  ]

  test.each([
    ['empty tables', async () => {}],
    [
      'tables of 20,000 rows, analyzed',
      async () => {
        await pool.query(`INSERT INTO planned_pam.accounts SELECT 'p' || n, 'EUR', 5 FROM generate_series(1, 20000) n;
          INSERT INTO planned.bets (bet_id, player_id, currency, stake, status, revision)
            SELECT 'b' || n, 'p1', 'EUR', 5, 'PLACED', 1 FROM generate_series(1, 20000) n;
          INSERT INTO planned.transactions (operation, transaction_id, player_id, bet_id, amount, currency, delta, reason, transaction_date)
            SELECT 'placebet', 't' || n, 'p1', 'b' || n, 5, 'EUR', -5, 'ACCEPTED', now() FROM generate_series(1, 20000) n`)
        await pool.query('VACUUM ANALYZE planned_pam.accounts, planned.bets, planned.transactions')
      },
    ],
  ])('look up every row by index, in %s', async (_, fill) => {
    await fill()
    for (const [name, types, sql, values] of statements) {
      const plan = await planOf(name, types, sql, values)
      expect(plan).toMatch(/Index (?:Only )?Scan/)
      expect(plan).not.toMatch(/Seq Scan/)
      // Every index scan has a condition: none reads the whole index.
      const scans = plan.match(/(?:Index (?:Only )?Scan|Bitmap Index Scan)/g)?.length
      expect(plan.match(/Index Cond/g)?.length).toBe(scans)
      // The steps of a batch are joined by hash or merge, not by a nested loop over all rows.
      expect(plan).not.toMatch(/Join Filter: \(\w+\.(item_index|player_id) = \w+\.(item_index|player_id)\)/)
    }
  })

  test('the settings of this test are those of the functions', async () => {
    const { rows } = await pool.query(
      "SELECT proconfig FROM pg_proc WHERE pronamespace = 'planned'::regnamespace AND proname LIKE '%\\_v1\\_%' AND prokind = 'f'",
    )
    for (const { proconfig } of rows) {
      for (const setting of settings) expect(proconfig).toContain(setting.replace(' = ', '='))
    }
  })
})
