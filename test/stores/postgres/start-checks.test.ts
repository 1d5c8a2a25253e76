/** What a start refuses: answers that would not be durable, or rows that the store cannot see. */
import { handlePlaceBet } from 'bet-wallet'
import {
  createPostgresStore,
  migratePostgres,
  type PlayersTable,
  type PostgresTables,
  type StoreError,
} from 'bet-wallet/postgres'
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { checkDatabase } from '../../../src/stores/postgres/check.js'
import { tablesOf } from '../../../src/stores/postgres/tables.js'
import { placeBet } from '../../fixtures.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import {
  createDatabase,
  noServerOfOurOwn,
  type PostgresServer,
  startPostgres,
} from '../../postgres/server.js'
import { poolOf } from './pools.js'

const { pool, url, drop } = await freshDatabase()
afterAll(drop)

/** `null`: the store is ready. */
async function startError(client: pg.Pool, options: PostgresTables): Promise<StoreError | null> {
  return createPostgresStore(client, options)
    .ready()
    .then(
      () => null,
      error => error,
    )
}

/** The problem of a start with these settings of the session. */
async function startErrorWith(settings: string, options: PostgresTables, where = url) {
  const client = poolOf({ connectionString: where, options: settings, max: 1 })
  try {
    return await startError(client, options)
  } finally {
    await client.end()
  }
}

let schemas = 0
/** A migrated schema with a players' table of its own, after this SQL. */
async function prepare(ddl: string): Promise<{ schema: string; players: PlayersTable }> {
  schemas += 1
  const schema = `start_${schemas}`
  await pool.query(`CREATE SCHEMA ${schema}; ${ddl.replaceAll('SCHEMA', schema)}`)
  const players = { table: `${schema}.accounts`, id: 'id', currency: 'currency', balance: 'balance' }
  await migratePostgres(pool, { schema, players })
  return { schema, players }
}
const accounts = 'CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text, balance numeric)'

describe('durability', () => {
  const unlogged: [table: string, ddl: string, after: string][] = [
    ['bets', accounts, 'ALTER TABLE SCHEMA.bets SET UNLOGGED'],
    ['transactions', accounts, 'ALTER TABLE SCHEMA.transactions SET UNLOGGED'],
    ['accounts', accounts, 'ALTER TABLE SCHEMA.accounts SET UNLOGGED'],
    [
      'accounts_1',
      `${accounts} PARTITION BY HASH (id);
        CREATE UNLOGGED TABLE SCHEMA.accounts_1 PARTITION OF SCHEMA.accounts FOR VALUES WITH (MODULUS 1, REMAINDER 0)`,
      '',
    ],
    [
      'base',
      `CREATE UNLOGGED TABLE SCHEMA.base (id text PRIMARY KEY, currency text, available numeric);
        CREATE VIEW SCHEMA.accounts AS SELECT id, currency, available AS balance FROM SCHEMA.base`,
      '',
    ],
  ]

  test.each(unlogged)('%s UNLOGGED: NOT_DURABLE, naming the table', async (table, ddl, after) => {
    const options = await prepare(ddl)
    if (after !== '') {
      expect(await startError(pool, options)).toBeNull()
      await pool.query(after.replaceAll('SCHEMA', options.schema))
    }
    expect(await startError(pool, options)).toMatchObject({
      code: 'NOT_DURABLE',
      message: expect.stringContaining(`${options.schema}.${table} is UNLOGGED or temporary`),
    })
  })

  test('a table that a view only looks up may be UNLOGGED', async () => {
    const options = await prepare(`${accounts.replace('accounts', 'base')};
      CREATE UNLOGGED TABLE SCHEMA.sessions (id text);
      CREATE VIEW SCHEMA.accounts AS SELECT * FROM SCHEMA.base
        WHERE NOT EXISTS (SELECT FROM SCHEMA.sessions s WHERE s.id = base.id)`)
    expect(await startError(pool, options)).toBeNull()
  })

  test.each(['on', 'local', 'remote_write', 'remote_apply'])(
    'synchronous_commit %s is durable without synchronous standbys',
    async value => {
      const options = await prepare(accounts)
      expect(await startErrorWith(`-c synchronous_commit=${value}`, options)).toBeNull()
    },
  )

  describe('of a server', () => {
    let server: PostgresServer | undefined
    beforeEach(({ skip }) => skip(noServerOfOurOwn !== null, noServerOfOurOwn ?? ''))
    afterAll(() => server?.stop())

    test.each([
      ['fsync off', { fsync: 'off' }, '', /fsync is off: .* Set fsync = on/],
      [
        'synchronous standbys, and synchronous_commit local',
        { synchronous_standby_names: 'absent' },
        '-c synchronous_commit=local',
        /synchronous_commit is local, and synchronous_standby_names is set: .*SET synchronous_commit = on/,
      ],
    ])('%s: NOT_DURABLE, with the setting to change', async (_, settings, session, problem) => {
      server = await startPostgres({ settings })
      const location = new URL(server.url)
      location.searchParams.set('options', '-c synchronous_commit=local')
      const database = await createDatabase({ url: location.href })
      await migratePostgres(database.pool, {})
      const error = await startErrorWith(session, {}, database.url.replace(/\?.*/, ''))
      expect(error).toMatchObject({ code: 'NOT_DURABLE', message: expect.stringMatching(problem) })
      await createPostgresStore(database.pool, { allowNotDurable: true }).ready()
      await database.drop()
      await server.stop()
    })
  })
})

describe('the encoding of the database', () => {
  async function inDatabase<T>(encoding: string, work: (own: pg.Pool) => Promise<T>): Promise<T> {
    const name = `encoded_${process.pid}_${encoding.toLowerCase()}`
    await pool.query(`CREATE DATABASE ${name} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`)
    const location = new URL(url)
    location.pathname = `/${name}`
    const own = poolOf({ connectionString: location.href, max: 1 })
    own.on('error', () => {})
    try {
      return await work(own)
    } finally {
      await own.end()
      await pool.query(`DROP DATABASE ${name} WITH (FORCE)`)
    }
  }

  test('PostgreSQL 13: DATABASE_REJECTED, because no migration helps', async () => {
    const ask = async () => [{ version: 130_021, name: '13.21', encoding: 'UTF8' } as never]
    await expect(checkDatabase(ask, tablesOf({}), true)).rejects.toMatchObject({
      ...{ code: 'DATABASE_REJECTED', problem: 'PostgreSQL 14 or newer is required; this is 13.21' },
    })
  })

  test.each(['EUC_JP', 'EUC_CN', 'EUC_KR', 'EUC_TW', 'EUC_JIS_2004', 'MULE_INTERNAL'])(
    '%s may store two characters as one: DATABASE_REJECTED (D24)',
    async encoding => {
      expect(await inDatabase(encoding, own => startError(own, {}))).toMatchObject({
        code: 'DATABASE_REJECTED',
        // MULE_INTERNAL has no conversion from the UTF8 of the driver.
        message: expect.stringMatching(new RegExp(`${encoding}(?:, which stores| is not supported)`)),
      })
    },
  )

  test('EUC_JP does, and LATIN1 does not', async () => {
    const same = "SELECT '\u00a6' = '\uffe4' AS same"
    expect(await inDatabase('EUC_JP', own => own.query(same))).toMatchObject({ rows: [{ same: true }] })
    await inDatabase('LATIN1', async own => {
      await expect(own.query(same)).rejects.toMatchObject({ code: '22P05' })
      await migratePostgres(own, {})
      expect(await startError(own, {})).toBeNull()
    })
  })
})

describe('operators and functions', () => {
  let options: PostgresTables
  beforeAll(async () => {
    options = await prepare(`${accounts}; create schema app;
      CREATE FUNCTION app.plus(numeric, numeric) RETURNS numeric LANGUAGE sql AS 'SELECT 1000000::numeric';
      CREATE OPERATOR app.+ (LEFTARG = numeric, RIGHTARG = numeric, FUNCTION = app.plus)`)
  })

  test('pg_catalog in search_path and not first: SEARCH_PATH, with what to do', async () => {
    expect(await startErrorWith('-c search_path=app,pg_catalog', options)).toMatchObject({
      code: 'SEARCH_PATH',
      message: expect.stringMatching(/search_path is app,\s?pg_catalog: .* of app could replace/),
    })
  })

  test.each(['app', 'pg_catalog,app', 'nowhere', 'pg_temp,app', ''])(
    'search_path "%s" is valid',
    async path => {
      expect(await startErrorWith(`-c search_path=${path}`, options)).toBeNull()
    },
  )

  test('a temporary table is no schema before pg_catalog', async () => {
    const client = poolOf({ connectionString: url, max: 1 })
    await client.query('CREATE TEMP TABLE scratch (x integer)')
    expect(await startError(client, options)).toBeNull()
    await client.end()
  })
})

describe('row-level security', () => {
  const role = `secured_${process.pid}`
  let asRole: pg.Pool
  beforeAll(async () => {
    await pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
    const location = new URL(url)
    location.username = role
    location.password = 'secret'
    asRole = poolOf({ connectionString: location.href, max: 2 })
  })
  afterAll(async () => {
    await asRole.end()
    await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
  })

  async function granted(ddl = '') {
    const options = await prepare(`${accounts}; ${ddl}`)
    await pool.query(`GRANT USAGE ON SCHEMA ${options.schema} TO ${role};
      GRANT ALL ON ALL TABLES IN SCHEMA ${options.schema} TO ${role};
      GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${options.schema} TO ${role}`)
    expect(await startError(asRole, options)).toBeNull()
    return options
  }

  test.each(['bets', 'transactions'])('of %s: ROW_SECURITY, naming the table', async table => {
    const options = await granted()
    await pool.query(`ALTER TABLE ${options.schema}.${table} ENABLE ROW LEVEL SECURITY`)
    expect(await startError(asRole, options)).toMatchObject({
      code: 'ROW_SECURITY',
      message: expect.stringContaining(`${options.schema}.${table} applies to this role`),
    })
    // It does not apply to the owner of the table.
    expect(await startError(pool, options)).toBeNull()
  })

  test("of the players' table without a policy: INVALID_PLAYERS_TABLE", async () => {
    const options = await granted()
    await pool.query(`ALTER TABLE ${options.schema}.accounts ENABLE ROW LEVEL SECURITY`)
    expect(await startError(asRole, options)).toMatchObject({
      code: 'INVALID_PLAYERS_TABLE',
      message: expect.stringContaining('this role can see none of its rows: row-level security'),
    })
    // A policy that lets it read, and not update.
    await pool.query(`CREATE POLICY reading ON ${options.schema}.accounts FOR SELECT USING (true)`)
    expect(await startError(asRole, options)).toMatchObject({ code: 'INVALID_PLAYERS_TABLE' })
    await pool.query(`CREATE POLICY writing ON ${options.schema}.accounts FOR UPDATE USING (true)`)
    expect(await startError(asRole, options)).toBeNull()
  })

  test('of the players, with a policy for UPDATE that is narrower than the one for SELECT', async () => {
    const options = await granted()
    const { schema } = options
    await pool.query(`ALTER TABLE ${schema}.accounts ENABLE ROW LEVEL SECURITY;
      CREATE POLICY reading ON ${schema}.accounts FOR SELECT USING (currency <> 'XXX');
      CREATE POLICY writing ON ${schema}.accounts FOR UPDATE USING (currency = 'EUR')`)
    expect(await startError(asRole, options)).toMatchObject({
      code: 'INVALID_PLAYERS_TABLE',
      message: expect.stringMatching(/the role secured_\d+ can read players that it cannot update: .*EUR/),
    })
    await pool.query(`ALTER POLICY writing ON ${schema}.accounts USING (currency <> 'XXX')`)
    expect(await startError(asRole, options)).toBeNull()
  })

  test.each([
    ['by the balance', 'balance > 5', 'it hides players by their balance'],
    ['by another column', "currency = 'EUR'", null],
    ['by the session', "currency = current_setting('app.tenant', true)", 'a setting of the session'],
    [
      'by the session, in a subquery',
      "currency = (SELECT current_setting('app.tenant', true))",
      'a setting of the session',
    ],
  ])('of the players with a policy %s', async (_, condition, problem) => {
    const options = await granted()
    await pool.query(`ALTER TABLE ${options.schema}.accounts ENABLE ROW LEVEL SECURITY;
      CREATE POLICY visible ON ${options.schema}.accounts USING (${condition})`)
    const error = await startError(asRole, options)
    if (problem === null) expect(error).toBeNull()
    else
      expect(error).toMatchObject({
        code: 'INVALID_PLAYERS_TABLE',
        message: expect.stringContaining(problem),
      })
  })
})

describe("a view as the players' table", () => {
  const base = `CREATE TABLE SCHEMA.base (id text PRIMARY KEY, currency text, "avail, able" numeric, reserve numeric, status text);
    CREATE TABLE SCHEMA.limits (id text PRIMARY KEY, "avail, able" numeric);
    CREATE FUNCTION SCHEMA.rich(player SCHEMA.base) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT ($1)."avail, able" > 5'`
  const view = (condition: string, options = '') =>
    `${base}; CREATE VIEW SCHEMA.accounts ${options} AS SELECT id, currency, "avail, able" AS balance FROM SCHEMA.base b WHERE ${condition}`

  test.each([
    ['by the balance', view('"avail, able" >= 50')],
    ['by the balance, with a check option', `${view('"avail, able" >= 50')} WITH CHECK OPTION`],
    ['by the balance and another column', view(`status = 'active' AND "avail, able" + reserve > 0`)],
    ['by the balance, with a security barrier', view('"avail, able" >= 50', 'WITH (security_barrier)')],
    ['by the whole row', view('SCHEMA.rich(b)')],
    [
      'by a comparison with another table',
      view('EXISTS (SELECT FROM SCHEMA.limits l WHERE l.id = b.id AND l."avail, able" <= b."avail, able")'),
    ],
    [
      'by the balance, below another view',
      `${view('"avail, able" >= 50').replaceAll('accounts', 'middle')};
        CREATE VIEW SCHEMA.accounts AS SELECT id, currency, balance FROM SCHEMA.middle`,
    ],
    [
      'by the balance, in partitions',
      `CREATE TABLE SCHEMA.base (id text PRIMARY KEY, currency text, available numeric) PARTITION BY HASH (id);
        CREATE TABLE SCHEMA.base_0 PARTITION OF SCHEMA.base FOR VALUES WITH (MODULUS 2, REMAINDER 0);
        CREATE TABLE SCHEMA.base_1 PARTITION OF SCHEMA.base FOR VALUES WITH (MODULUS 2, REMAINDER 1);
        CREATE VIEW SCHEMA.accounts AS SELECT id, currency, available AS balance FROM SCHEMA.base WHERE available >= 50`,
    ],
  ])('that hides players %s: INVALID_PLAYERS_TABLE', async (_, ddl) => {
    const options = await prepare(ddl)
    expect(await startError(pool, options)).toMatchObject({
      code: 'INVALID_PLAYERS_TABLE',
      message: expect.stringMatching(
        /it hides players by their balance, .* minimum balance by players\.reserved/,
      ),
    })
  })

  test.each([
    ['by another column', view("status = 'active'")],
    [
      'by the same column of another table',
      view('EXISTS (SELECT FROM SCHEMA.limits l WHERE l.id = b.id AND l."avail, able" > 5)'),
    ],
    ['not at all', view('true')],
  ])('that hides players %s is valid', async (_, ddl) => {
    expect(await startError(pool, await prepare(ddl))).toBeNull()
  })
})

describe('the sequence of walletTransactionIds', () => {
  const behind = {
    code: 'SEQUENCE_BEHIND',
    message: expect.stringMatching(
      /wallet_transaction_ids is behind its table: \d+ is used already\. Run SELECT/,
    ),
  }

  test.each([
    ['at its start, as after logical replication', 'ALTER SEQUENCE SCHEMA.wallet_transaction_ids RESTART'],
    ['a little behind', `SELECT setval('SCHEMA.wallet_transaction_ids', 3)`],
  ])('%s: refused, with the statement that fixes it', async (_, break_) => {
    const options = await prepare(`${accounts}; INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', 1000)`)
    const store = createPostgresStore(pool, options)
    for (let n = 1; n <= 5; n += 1) {
      await handlePlaceBet(store, placeBet({ transactionId: `p-${n}`, betId: `b-${n}` }))
      expect(await startError(pool, options)).toBeNull()
    }
    await pool.query(break_.replaceAll('SCHEMA', options.schema))
    const error = await startError(pool, options)
    expect(error).toMatchObject(behind)
    await pool.query(error?.problem.replace(/^.* Run /, '') ?? '')
    expect(await startError(pool, options)).toBeNull()
    expect(await handlePlaceBet(store, placeBet({ transactionId: 'p-6', betId: 'b-6' }))).toMatchObject({
      ok: true,
      walletTransactionId: '6',
    })
  })

  test('that counts in steps, as with several primaries', async () => {
    const options = await prepare(accounts)
    await pool.query(`ALTER SEQUENCE ${options.schema}.wallet_transaction_ids INCREMENT 10 RESTART 7;
      INSERT INTO ${options.schema}.transactions (operation, transaction_id, player_id, bet_id, amount, currency, delta, reason, transaction_date)
        SELECT 'placebet', n, 'anna', n, 5, 'EUR', -5, 'ACCEPTED', now() FROM generate_series(1, 3) n`)
    expect(await startError(pool, options)).toBeNull()
    await pool.query(`SELECT setval('${options.schema}.wallet_transaction_ids', 7)`)
    expect(await startError(pool, options)).toMatchObject(behind)
  })
})
