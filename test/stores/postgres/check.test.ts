/** What is wrong with options, schema or players' table is said at start, by a code and with what to do. */
import {
  createPostgresStore,
  migratePostgres,
  type PlayersTable,
  type PostgresStoreOptions,
  postgresMigrationSql,
} from 'bet-wallet/postgres'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../../postgres/fresh-database.js'

const { pool, url, drop } = await freshDatabase()
afterAll(drop)

const flawOf = (work: () => unknown) =>
  Promise.resolve()
    .then(work)
    .then(
      () => null,
      (error: unknown) => error as Error & { code: string },
    )

const accounts: PlayersTable = { table: 'pam.accounts', id: 'id', currency: 'currency', balance: 'balance' }

describe('given options that are not what they must be', () => {
  test.each<[unknown, string]>([
    [null, 'the options must be an object'],
    [{ schemas: 'x' }, 'there is no option schemas'],
    [{ schema: '' }, 'schema must be a name'],
    [{ schema: 7 }, 'schema must be a name'],
    [{ schema: 'x'.repeat(64) }, 'schema is longer than 63 bytes'],
    [{ players: 'accounts' }, 'players must be an object'],
    [{ players: { ...accounts, table: 'accounts' } }, 'players.table must be a table with its schema'],
    [{ players: { ...accounts, table: 'a.b.c' } }, 'players.table must be a table with its schema'],
    [{ players: { ...accounts, id: undefined } }, 'players.id must be a name'],
    [{ players: { ...accounts, idType: 'int' } }, 'players.idType must be one of text, bigint, uuid'],
    [{ players: { ...accounts, balanceType: 'float' } }, 'players.balanceType must be one of numeric'],
    [{ players: { ...accounts, balanceType: 'minor-units' } }, 'players.minorUnits must be given'],
    [
      { players: { ...accounts, minorUnits: 2 } },
      'players.minorUnits must be given for a balance in minor units',
    ],
    [
      { players: { ...accounts, balanceType: 'minor-units', minorUnits: { EUR: 2.5 } } },
      'players.minorUnits.EUR must be a whole number',
    ],
    [{ players: { ...accounts, colour: 'red' } }, 'there is no option players.colour'],
    [{ legacyBets: 'bets' }, 'legacyBets must be a table with its schema'],
    [{ withinTransaction: true }, 'withinTransaction must be a function'],
    [{ batchMax: 0 }, 'batchMax must be a whole number from 1'],
    [{ queueMax: 1 }, 'queueMax must be a whole number from 2'],
    [{ timeoutMs: '5s' }, 'timeoutMs must be a whole number'],
  ])('%j: INVALID_OPTIONS, at once, naming it', async (options, flaw) => {
    const error = await flawOf(() => createPostgresStore(pool, options as PostgresStoreOptions))
    expect(error).toMatchObject({ name: 'PostgresStoreError', code: 'INVALID_OPTIONS' })
    expect(error?.message).toContain(flaw)
  })

  test.each<[string, unknown, PostgresStoreOptions]>([
    ['nothing', undefined, {}],
    ['no query', {}, {}],
    [
      'withinTransaction without connections to borrow',
      { query: () => {} },
      { withinTransaction: async () => {} },
    ],
  ])('a client with %s: UNSUPPORTED_CLIENT', async (_, client, options) => {
    const error = await flawOf(() => createPostgresStore(client as pg.Pool, options))
    expect(error).toMatchObject({ code: 'UNSUPPORTED_CLIENT' })
  })
})

const asked = { operation: 'placebet', transactionId: 't', playerId: 'p', betId: 'b' } as const

/** Both by `ready` and by the first request, which is not served. */
async function startFlaw(options: PostgresStoreOptions, client: pg.Pool = pool) {
  const store = createPostgresStore(client, options)
  const error = await flawOf(() => store.ready())
  const first = await flawOf(() => store.load(asked))
  expect({ code: first?.code, message: first?.message }).toEqual({
    code: error?.code,
    message: error?.message,
  })
  return error
}

describe('given a database without the migration', () => {
  test('SCHEMA_MISSING, and what to run', async () => {
    const error = await startFlaw({ schema: 'nowhere' })
    expect(error).toMatchObject({ code: 'SCHEMA_MISSING' })
    expect(error?.message).toMatch(/schema nowhere .* run migratePostgres\(client, options\)/)
  })

  test('once it is run, the same store works', async () => {
    const store = createPostgresStore(pool, { schema: 'soon' })
    expect(await flawOf(() => store.ready())).toMatchObject({ code: 'SCHEMA_MISSING' })
    await migratePostgres(pool, { schema: 'soon' })
    await store.ready()
    expect(await store.load(asked)).toEqual({ player: null, bet: null, transaction: null })
  })
})

describe('given a schema that is not the one of these options', () => {
  beforeAll(async () => {
    await pool.query(
      'CREATE SCHEMA pam; CREATE TABLE pam.accounts (id text PRIMARY KEY, currency text, balance numeric)',
    )
  })

  test('of another version: SCHEMA_VERSION, with both', async () => {
    await migratePostgres(pool, { schema: 'newer' })
    await pool.query('INSERT INTO newer.migrations (version) VALUES (99)')
    const error = await startFlaw({ schema: 'newer' })
    expect(error).toMatchObject({ code: 'SCHEMA_VERSION' })
    expect(error?.message).toMatch(/is of version 99, and this release needs 1: use the release/)
    await pool.query('DELETE FROM newer.migrations')
    expect((await startFlaw({ schema: 'newer' }))?.message).toMatch(/is of version 0, .* run migratePostgres/)
  })

  test("migrated for another players' table: SCHEMA_VERSION, naming the function", async () => {
    await migratePostgres(pool, { schema: 'other' })
    const error = await startFlaw({ schema: 'other', players: accounts })
    expect(error).toMatchObject({ code: 'SCHEMA_VERSION' })
    expect(error?.message).toMatch(/other\.load_v1 is not the one of these options/)
    await migratePostgres(pool, { schema: 'other', players: accounts })
    expect(await startFlaw({ schema: 'other', players: accounts })).toBeNull()
  })

  test('with a view of earlier bets that lacks a column: SCHEMA_VERSION, with what PostgreSQL says', async () => {
    await pool.query("CREATE VIEW pam.earlier AS SELECT 'b'::text AS bet_id, 'p'::text AS player_id")
    const options = { schema: 'viewed', legacyBets: 'pam.earlier' }
    await migratePostgres(pool, options)
    const error = await startFlaw(options)
    expect(error).toMatchObject({ code: 'SCHEMA_VERSION' })
    expect(error?.message).toMatch(/column "currency" not found in data type pam\.earlier/)
  })
})

describe("given a players' table that does not fit", () => {
  beforeAll(async () => {
    await pool.query(`CREATE SCHEMA odd;
      CREATE COLLATION odd.folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      CREATE DOMAIN odd.money AS numeric(12,1);
      CREATE TABLE odd.accounts (
        id text PRIMARY KEY, twin text, folded text COLLATE odd.folding UNIQUE, padded char(20) UNIQUE, number bigint UNIQUE,
        currency text, code integer,
        balance numeric, float double precision, cash money, coarse numeric(12,1), tenths odd.money, whole bigint,
        made numeric GENERATED ALWAYS AS (balance * 2) STORED
      )`)
  })

  const odd: PlayersTable = { ...accounts, table: 'odd.accounts' }

  test.each<[string, PlayersTable, RegExp]>([
    ['no such table', { ...odd, table: 'odd.Accounts' }, /odd\.Accounts: it is not there/],
    ['no such id', { ...odd, id: 'uid' }, /there is no column uid \(players\.id\); there are id, twin/],
    ['no such currency', { ...odd, currency: 'ccy' }, /there is no column ccy \(players\.currency\)/],
    ['no such balance', { ...odd, balance: 'funds' }, /there is no column funds \(players\.balance\)/],
    ['an id that is not unique', { ...odd, id: 'twin' }, /there is no unique index on twin alone/],
    [
      'an id that folds case',
      { ...odd, id: 'folded' },
      /collation of folded takes different ids for the same/,
    ],
    ['an id that is padded', { ...odd, id: 'padded' }, /the column padded is character; it must be text/],
    ['an id of another type', { ...odd, id: 'number' }, /idType is text, and the column number is bigint/],
    [
      'a currency that is no text',
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
      'integers that are taken for decimals',
      { ...odd, balance: 'whole' },
      /balanceType is numeric, .* whole is bigint/,
    ],
    [
      'decimals that are taken for integers',
      { ...odd, balanceType: 'minor-units', minorUnits: 2 },
      /balanceType is minor-units, .* balance is numeric; it must be smallint or integer or bigint/,
    ],
    [
      'a generated column',
      { ...odd, balance: 'made' },
      /the column made \(players\.balance\) cannot be updated/,
    ],
  ])('%s: INVALID_PLAYERS_TABLE, naming it', async (name, players, flaw) => {
    const schema = `odd_${name.replaceAll(/\W/g, '_')}`
    // Functions are not looked into when they are made, and so the migration cannot tell.
    await migratePostgres(pool, { schema, players })
    const error = await startFlaw({ schema, players })
    expect(error).toMatchObject({ code: 'INVALID_PLAYERS_TABLE' })
    expect(error?.message).toMatch(flaw)
  })

  test('a column of one decimal is fine where no currency has more', async () => {
    const players = { ...odd, balance: 'coarse', decimalsMin: 1 }
    await migratePostgres(pool, { schema: 'odd_fine', players })
    expect(await startFlaw({ schema: 'odd_fine', players })).toBeNull()
  })

  test('names are taken literally, whatever they are', async () => {
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
    expect((await store.load(asked)).player).toEqual({ playerId: 'p', currency: 'EUR', balance: '5' })
  })
})

describe('given a server that would lose what it has answered', () => {
  test('NOT_DURABLE, and what to set', async () => {
    await migratePostgres(pool, { schema: 'loose' })
    const loose = new pg.Pool({ connectionString: url, options: '-c synchronous_commit=off', max: 1 })
    const error = await startFlaw({ schema: 'loose' }, loose)
    await loose.end()
    expect(error).toMatchObject({ code: 'NOT_DURABLE' })
    expect(error?.message).toMatch(/ALTER ROLE … SET synchronous_commit = on/)
  })
})

describe('given a role with no more rights than it needs', () => {
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
    `GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`,
    `GRANT SELECT (id, currency, balance), UPDATE (balance) ON granted_pam.accounts TO ${role}`,
    `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`,
  ]

  test('each that is missing is named at start, and with all of them it works', async () => {
    for (const grant of grants) {
      const error = await startFlaw(options, asRole)
      expect(['INSUFFICIENT_PRIVILEGE', 'INVALID_PLAYERS_TABLE']).toContain(error?.code)
      await pool.query(grant)
    }
    expect(await startFlaw(options, asRole)).toBeNull()
  })
})
