/** Problems of options, schema and players' table are reported at start, with a code and advice. */
import { handlePlaceBet, handleRollbackBet } from 'bet-wallet'
import {
  createPostgresStore,
  migratePostgres,
  type PlayersTable,
  type PostgresStoreOptions,
  postgresMigrationSql,
} from 'bet-wallet/postgres'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { functionName } from '../../../src/stores/postgres/sql/fragments.js'
import { tablesOf } from '../../../src/stores/postgres/tables.js'
import { freshDatabase } from '../../postgres/fresh-database.js'

const { pool, url, drop } = await freshDatabase()
afterAll(drop)

const errorOf = (work: () => unknown) =>
  Promise.resolve()
    .then(work)
    .then(
      () => null,
      (error: unknown) => error as Error & { code: string },
    )

const accounts: PlayersTable = { table: 'pam.accounts', id: 'id', currency: 'currency', balance: 'balance' }

describe('with invalid options', () => {
  test.each<[unknown, string]>([
    [null, 'the options must be an object'],
    [{ schemas: 'x' }, 'unknown option "schemas"'],
    [{ schema: '' }, 'schema must be a name'],
    [{ schema: 7 }, 'schema must be a name'],
    [{ schema: 'x*/y' }, 'schema must not have "*/" in it'],
    [{ schema: 'x'.repeat(64) }, 'schema is longer than 63 bytes'],
    [{ players: 'accounts' }, 'players must be an object'],
    [{ players: { ...accounts, table: 'accounts' } }, 'players.table must be a table with its schema'],
    [{ players: { ...accounts, table: 'a.b.c' } }, 'players.table must be a table with its schema'],
    [{ players: { ...accounts, id: undefined } }, 'players.id must be a name'],
    [{ players: { ...accounts, idType: 'int' } }, 'players.idType must be one of text, bigint, uuid'],
    [{ players: { ...accounts, balanceType: 'float' } }, 'players.balanceType must be one of numeric'],
    [
      { players: { ...accounts, balanceType: 'minor-units' } },
      "players.minorUnits is required with balanceType 'minor-units'",
    ],
    [
      { players: { ...accounts, minorUnits: 2 } },
      "players.minorUnits is required with balanceType 'minor-units', and allowed only with it",
    ],
    [
      { players: { ...accounts, balanceType: 'minor-units', minorUnits: { EUR: 2.5 } } },
      'players.minorUnits.EUR must be a whole number',
    ],
    [{ players: { ...accounts, colour: 'red' } }, 'unknown option "players.colour"'],
    [{ withinTransaction: true }, 'withinTransaction must be a function'],
    [{ batchMax: 0 }, 'batchMax must be a whole number from 1'],
    [{ queueMax: 1 }, 'queueMax must be a whole number from 2'],
    [{ timeoutMs: '5s' }, 'timeoutMs must be a whole number'],
  ])('%j: INVALID_OPTIONS at creation, naming the option', async (options, problem) => {
    const error = await errorOf(() => createPostgresStore(pool, options as PostgresStoreOptions))
    expect(error).toMatchObject({ name: 'StoreError', code: 'INVALID_OPTIONS' })
    expect(error?.message).toContain(problem)
  })

  test.each<[string, unknown, PostgresStoreOptions]>([
    ['undefined', undefined, {}],
    ['an object without query', {}, {}],
    [
      'one without connections to lend, and withinTransaction',
      { query: () => {} },
      { withinTransaction: async () => {} },
    ],
  ])('a client that is %s: UNSUPPORTED_CLIENT', async (_, client, options) => {
    const error = await errorOf(() => createPostgresStore(client as pg.Pool, options))
    expect(error).toMatchObject({ code: 'UNSUPPORTED_CLIENT' })
  })
})

const asked = { operation: 'placebet', transactionId: 't', playerId: 'p', betId: 'b' } as const

/** The error of `ready`. The first request of another store fails with the same error. */
async function startError(options: PostgresStoreOptions, client: pg.Pool = pool) {
  const store = createPostgresStore(client, options)
  const error = await errorOf(() => store.ready())
  const first = await errorOf(() => store.load(asked))
  expect({ code: first?.code, message: first?.message }).toEqual({
    code: error?.code,
    message: error?.message,
  })
  return error
}

describe('with a database that is not migrated', () => {
  test('SCHEMA_MISSING, with advice', async () => {
    const error = await startError({ schema: 'nowhere' })
    expect(error).toMatchObject({ code: 'SCHEMA_MISSING' })
    expect(error?.message).toMatch(/schema nowhere .* run migratePostgres\(client, options\)/)
  })

  test('after the migration, the same store works', async () => {
    const store = createPostgresStore(pool, { schema: 'soon' })
    expect(await errorOf(() => store.ready())).toMatchObject({ code: 'SCHEMA_MISSING' })
    await migratePostgres(pool, { schema: 'soon' })
    await store.ready()
    expect(await store.load(asked)).toEqual({ accounts: [], bet: null, transaction: null })
  })
})

describe('with a schema of another version or other options', () => {
  beforeAll(async () => {
    await pool.query(
      'CREATE SCHEMA pam; CREATE TABLE pam.accounts (id text PRIMARY KEY, currency text, balance numeric)',
    )
  })

  test('an older version: SCHEMA_VERSION, naming both versions', async () => {
    await migratePostgres(pool, { schema: 'older' })
    await pool.query('DELETE FROM older.migrations')
    const error = await startError({ schema: 'older' })
    expect(error).toMatchObject({ code: 'SCHEMA_VERSION' })
    expect(error?.message).toMatch(/has version 0; this release needs 1: run migratePostgres/)
  })

  test('a newer version is accepted as long as the functions of this one are there', async () => {
    const schema = 'newer'
    await migratePostgres(pool, { schema })
    await pool.query('INSERT INTO newer.migrations (version) VALUES (99)')
    expect(await startError({ schema })).toBeNull()
    const name = functionName(tablesOf({ schema }), 'load')
    await pool.query(`DROP FUNCTION newer.${name}`)
    const error = await startError({ schema })
    expect(error).toMatchObject({ code: 'SCHEMA_VERSION' })
    expect(error?.message).toMatch(
      /newer\.load_v1_[0-9a-f]{8} does not exist: run migratePostgres\(client, options\)/,
    )
  })

  test.each(['load', 'credit_bet'])('a changed function: SCHEMA_VERSION (%s)', async name => {
    const schema = `changed_${name}`
    await migratePostgres(pool, { schema })
    await pool.query(
      `UPDATE pg_proc SET prosrc = prosrc || ' ' WHERE pronamespace = $1::regnamespace AND proname LIKE $2`,
      [schema, `${name}\\_v1%`],
    )
    const error = await startError({ schema })
    expect(error).toMatchObject({ code: 'SCHEMA_VERSION' })
    expect(error?.message).toMatch(new RegExp(`${schema}\\.${name}_v1\\w* was changed: run migratePostgres`))
    await migratePostgres(pool, { schema })
    expect(await startError({ schema })).toBeNull()
  })
})

describe("with an unsupported players' table", () => {
  beforeAll(async () => {
    await pool.query(`CREATE SCHEMA odd;
      CREATE COLLATION odd.folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      CREATE DOMAIN odd.money AS numeric(12,1);
      CREATE TABLE odd.accounts (
        id text PRIMARY KEY, twin text, folded text COLLATE odd.folding UNIQUE, padded char(20) UNIQUE, number bigint UNIQUE,
        currency text, code integer,
        balance numeric, float double precision, cash money, coarse numeric(12,1), tenths odd.money, whole bigint,
        made numeric GENERATED ALWAYS AS (balance * 2) STORED
      );
      CREATE TABLE odd.currencies (id integer PRIMARY KEY, code char(3));
      CREATE VIEW odd.joined AS SELECT a.id, c.code AS currency, a.balance FROM odd.accounts a JOIN odd.currencies c ON c.id = a.code;
      CREATE VIEW odd.looked_up AS SELECT a.id, a.balance,
        (SELECT c.code FROM odd.currencies c WHERE c.id = a.code)::text AS currency FROM odd.accounts a`)
  })

  const odd: PlayersTable = { ...accounts, table: 'odd.accounts' }

  test('a column of whole hundreds would round amounts without decimals too', async ({ skip }) => {
    const { rows } = await pool.query("SELECT current_setting('server_version_num')::integer AS version")
    if (rows[0].version < 150_000) skip('before PostgreSQL 15, a scale is not negative')
    await pool.query('CREATE TABLE odd.hundreds (id text PRIMARY KEY, currency text, balance numeric(12,-2))')
    const options = { schema: 'odd_hundreds', players: { ...odd, table: 'odd.hundreds', decimalsMin: 0 } }
    await migratePostgres(pool, options)
    expect((await startError(options))?.message).toMatch(/numeric\(12,-2\) of balance would round amounts/)
  })

  test.each<[string, PlayersTable, RegExp]>([
    ['no such table', { ...odd, table: 'odd.Accounts' }, /odd\.Accounts: it does not exist/],
    ['no such id', { ...odd, id: 'uid' }, /there is no column uid \(players\.id\); its columns are id, twin/],
    ['no such currency', { ...odd, currency: 'ccy' }, /there is no column ccy \(players\.currency\)/],
    ['no such balance', { ...odd, balance: 'funds' }, /there is no column funds \(players\.balance\)/],
    ['an id that is not unique', { ...odd, id: 'twin' }, /there is no unique index on twin alone/],
    [
      'an id that folds case',
      { ...odd, id: 'folded' },
      /collation of folded is nondeterministic: distinct ids would compare equal/,
    ],
    ['an id that is padded', { ...odd, id: 'padded' }, /the column padded is character; it must be text/],
    ['an id of another type', { ...odd, id: 'number' }, /idType is text, but the column number is bigint/],
    [
      'a currency that is not text',
      { ...odd, currency: 'code' },
      /the column code \(players\.currency\) is integer/,
    ],
    ['a float', { ...odd, balance: 'float' }, /the column float is double precision, which rounds/],
    ['money', { ...odd, balance: 'cash' }, /the column cash is money, which rounds/],
    [
      'a column that would round',
      { ...odd, balance: 'coarse' },
      /numeric\(12,1\) of coarse would round amounts of 2/,
    ],
    [
      'a domain that would round',
      { ...odd, balance: 'tenths' },
      /numeric\(12,1\) of tenths would round amounts of 2/,
    ],
    [
      'an integer column with balanceType numeric',
      { ...odd, balance: 'whole' },
      /balanceType is numeric, .* whole is bigint/,
    ],
    [
      'a numeric column with balanceType minor-units',
      { ...odd, balanceType: 'minor-units', minorUnits: 2 },
      /balanceType is minor-units, .* balance is numeric; it must be smallint or integer or bigint or numeric\(p,0\)\./,
    ],
    [
      'a generated column',
      { ...odd, balance: 'made' },
      /the column made \(players\.balance\) cannot be updated\. See/,
    ],
    [
      'a view with a join',
      { ...odd, table: 'odd.joined' },
      /balance \(players\.balance\) cannot be updated\. A view that joins tables is not updatable: select the currency by a subquery in place of the join\. See/,
    ],
  ])('%s: INVALID_PLAYERS_TABLE, naming the column', async (name, players, problem) => {
    const schema = `odd_${name.replaceAll(/\W/g, '_')}`
    // PostgreSQL does not check the statements of a function when it is created, so the migration succeeds.
    await migratePostgres(pool, { schema, players })
    const error = await startError({ schema, players })
    expect(error).toMatchObject({ code: 'INVALID_PLAYERS_TABLE' })
    expect(error?.message).toMatch(problem)
  })

  test('a view that takes the currency by a subquery is accepted, as the message for a join says', async () => {
    const options = { schema: 'odd_subquery', players: { ...odd, table: 'odd.looked_up' } }
    await migratePostgres(pool, options)
    expect(await startError(options)).toBeNull()
  })

  test('a column of one decimal is accepted with decimalsMin 1', async () => {
    const players = { ...odd, balance: 'coarse', decimalsMin: 1 }
    await migratePostgres(pool, { schema: 'odd_fine', players })
    expect(await startError({ schema: 'odd_fine', players })).toBeNull()
  })

  test('names with any characters are quoted', async () => {
    const name = `o'dd "quoted"; DROP TABLE x --`
    const quoted = `"${name.replaceAll('"', '""')}"`
    await pool.query(
      `CREATE TABLE odd.${quoted} (${quoted} text PRIMARY KEY, "order" text, "select" numeric)`,
    )
    const options = {
      schema: name,
      players: { table: `odd.${name}`, id: name, currency: 'order', balance: 'select' },
    }
    await migratePostgres(pool, options)
    const store = createPostgresStore(pool, options)
    await store.ready()
    await pool.query(`INSERT INTO odd.${quoted} VALUES ('p', 'EUR', 5)`)
    expect((await store.load(asked)).accounts[0]).toEqual({ playerId: 'p', currency: 'EUR', balance: '5' })
  })
})

describe('with a server that answers before a commit is durable', () => {
  test('NOT_DURABLE, with the setting to change', async () => {
    await migratePostgres(pool, { schema: 'loose' })
    const loose = new pg.Pool({ connectionString: url, options: '-c synchronous_commit=off', max: 1 })
    const error = await startError({ schema: 'loose' }, loose)
    await loose.end()
    expect(error).toMatchObject({ code: 'NOT_DURABLE' })
    expect(error?.message).toMatch(/ALTER ROLE … SET synchronous_commit = on/)
  })
})

describe('with a role that has only the privileges it needs', () => {
  const schema = 'granted'
  const role = `wallet_${process.pid}`
  const options = { schema, players: { ...accounts, table: 'granted_pam.accounts' } }
  let asRole: pg.Pool

  beforeAll(async () => {
    await pool.query(`CREATE SCHEMA granted_pam;
      CREATE TABLE granted_pam.accounts (id text PRIMARY KEY, currency text, balance numeric, secret text)`)
    await pool.query(postgresMigrationSql(options))
    await pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
    const location = new URL(url)
    location.username = role
    location.password = 'secret'
    asRole = new pg.Pool({ connectionString: location.href, max: 4 })
  })
  afterAll(async () => {
    await asRole.end()
    await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
  })

  const grants = [
    `GRANT USAGE ON SCHEMA ${schema}, granted_pam TO ${role}`,
    `GRANT SELECT ON ${schema}.migrations, ${schema}.options TO ${role}`,
    `GRANT SELECT, INSERT ON ${schema}.transactions TO ${role}`,
    `GRANT SELECT, INSERT, UPDATE ON ${schema}.bets TO ${role}`,
    `GRANT SELECT (id, currency, balance), UPDATE (balance) ON granted_pam.accounts TO ${role}`,
    `GRANT USAGE ON SEQUENCE ${schema}.wallet_transaction_ids TO ${role}`,
  ]

  test('every missing privilege is an error at start; with all of them the store works', async () => {
    for (const grant of grants) {
      const error = await startError(options, asRole)
      expect(['INSUFFICIENT_PRIVILEGE', 'INVALID_PLAYERS_TABLE']).toContain(error?.code)
      await pool.query(grant)
    }
    expect(await startError(options, asRole)).toBeNull()

    await pool.query("INSERT INTO granted_pam.accounts VALUES ('anna', 'EUR', 100, 'hidden')")
    const store = createPostgresStore(asRole, options)
    const ids = { playerId: 'anna', betId: 'b-1', transactionDate: '2026-11-21T18:00:00Z' }
    const stake = { ...ids, sessionId: 's-1', amount: '30', currency: 'EUR', betType: 'SINGLE' }
    expect(await handlePlaceBet(store, { ...stake, transactionId: 't-1' })).toMatchObject({
      balance: '70.00',
    })
    const bets = Array.from({ length: 5 }, (_, index) =>
      handlePlaceBet(store, { ...stake, amount: '1', transactionId: `c-${index}`, betId: `c-${index}` }),
    )
    expect((await Promise.all(bets)).every(({ ok }) => ok)).toBe(true)
    const rollback = { ...ids, transactionId: 'r-1', type: 'TECHNICAL_ERROR' }
    expect(await handleRollbackBet(store, rollback)).toMatchObject({ ok: true, balance: '95.00' })
  })
})
