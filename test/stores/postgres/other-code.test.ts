/** Sessions, triggers, tables and functions that other code has changed: noticed at start, or where the commit ends. */
import type { EventEmitter } from 'node:events'
import {
  createPostgresStore,
  migratePostgres,
  type PostgresClient,
  type PostgresStoreOptions,
} from 'bet-wallet/postgres'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { noServerOfOurOwn, type PostgresServer, startPostgres } from '../../postgres/server.js'
import { until } from '../../until.js'
import { endOf, openWallet, placing } from './wallet.js'

const { pool: admin, url, drop } = await freshDatabase({ pool: { max: 20 } })
afterAll(drop)

const keys = { operation: 'placebet', transactionId: 'place-1', playerId: 'alice', betId: 'bet-1' } as const
const accounts = `CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text, balance numeric);
  INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', 100), ('bob', 'EUR', 100)`
const players = { table: 'SCHEMA.accounts', id: 'id', currency: 'currency', balance: 'balance' }

async function open(ddl: string, more: Partial<Parameters<typeof openWallet>[0]> = {}) {
  const wallet = await openWallet({ admin, url, ddl: `${accounts}; ${ddl}`, options: { players }, ...more })
  onTestFinished(() => wallet.close())
  return wallet
}

/** What a start says of a players' table. */
async function startError(ddl: string, options: PostgresStoreOptions = {}, where = admin) {
  const schema = `other_${Math.random().toString(36).slice(2)}`
  await admin.query(`CREATE SCHEMA ${schema}; ${ddl.replaceAll('SCHEMA', schema)}`)
  const all = { ...options, schema, players: { ...players, table: `${schema}.accounts` } }
  await migratePostgres(admin, all)
  return await endOf(createPostgresStore(where, all).ready())
}

test('a client that cannot tell, with an open database transaction of other code: nothing is answered ok', async () => {
  const wallet = await open('')
  const single = new pg.Client({ connectionString: url })
  await single.connect()
  onTestFinished(() => single.end())
  const client = { query: (text: string, values?: unknown[]) => single.query(text, values) }
  const store = createPostgresStore(client, {
    schema: wallet.schema,
    players: { ...players, table: `${wallet.schema}.accounts` },
  })
  await store.ready()
  expect(await store.commit(placing({ n: 1 }))).toMatchObject({ status: 'committed', balance: '70' })
  await single.query('BEGIN')
  expect(await store.commit(placing({ n: 2 }))).toEqual({ status: 'unavailable' })
  await single.query('ROLLBACK')
  await single.query('BEGIN')
  expect(await endOf(store.loadConfirmed(keys))).toMatchObject({ code: 'UNAVAILABLE' })
  await single.query('ROLLBACK')
  const both = await Promise.all([3, 4].map(n => store.commit(placing({ n, amount: '1' }))))
  expect(both).toMatchObject([{ status: 'committed' }, { status: 'committed' }])
  expect(await wallet.recorded()).toEqual([
    'placebet place-1 -30',
    'placebet place-3 -1',
    'placebet place-4 -1',
  ])
})

describe('synchronous_commit off when a commit ends', () => {
  const loosen = `CREATE FUNCTION SCHEMA.loosen() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM set_config('synchronous_commit', 'off', true); RETURN NULL; END $$;`
  const triggerOf = (kind: string) =>
    `CREATE ${kind} loosen AFTER UPDATE ON SCHEMA.accounts ${kind === 'TRIGGER' ? '' : 'DEFERRABLE INITIALLY DEFERRED'}
      FOR EACH ROW EXECUTE FUNCTION SCHEMA.loosen()`
  /** The setting at COMMIT, as the same database transaction sees it after the function. */
  async function settingAfter(ddl: string): Promise<string | undefined> {
    const wallet = await open(`${loosen} ${ddl}`)
    const client = await wallet.otherSession()
    const spy: string[] = []
    const store = createPostgresStore(
      {
        query: (text: string, values?: unknown[]) => client.query(text, values),
        async transaction(work) {
          await client.query('BEGIN')
          const result = await work({ query: (text, values) => client.query(text, values) })
          const { rows } = await client.query('SHOW synchronous_commit')
          spy.push(rows[0]?.synchronous_commit ?? '')
          await client.query('COMMIT')
          return result
        },
      },
      {
        schema: wallet.schema,
        players: { ...players, table: `${wallet.schema}.accounts` },
        async withinTransaction(run) {
          await run("SELECT set_config('synchronous_commit', 'off', true)")
        },
      },
    )
    expect(await store.commit(placing())).toMatchObject({ status: 'committed' })
    return spy.at(-1)
  }

  test.each([
    ['by the hook', ''],
    ['by a trigger', triggerOf('TRIGGER')],
    ['by a deferred trigger', triggerOf('CONSTRAINT TRIGGER')],
  ])('%s, with withinTransaction: it is on again', async (_, ddl) => {
    expect(await settingAfter(ddl)).toBe('on')
  })
})

describe('synchronous_commit off when a commit ends, without withinTransaction', () => {
  let server: PostgresServer
  let own: pg.Pool
  beforeAll(async () => {
    if (noServerOfOurOwn !== null) return
    // Nothing but a commit flushes.
    server = await startPostgres({ settings: { wal_writer_delay: '10s' } })
    own = new pg.Pool({ connectionString: server.url })
  })
  afterAll(async () => {
    await own?.end()
    await server?.stop()
  })
  beforeEach(({ skip }) => skip(noServerOfOurOwn !== null, noServerOfOurOwn ?? ''))

  const triggered = (kind: string) => `CREATE FUNCTION SCHEMA.loosen() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM set_config('synchronous_commit', 'off', true); RETURN NULL; END $$;
    CREATE ${kind} FOR EACH ROW EXECUTE FUNCTION SCHEMA.loosen()`
  const causes: [name: string, ddl: string, later: string][] = [
    ['the role', '', 'ALTER ROLE CURRENT_USER SET synchronous_commit = off'],
    ['the database', '', 'ALTER DATABASE postgres SET synchronous_commit = off'],
    ['other code on the connection', '', ''],
    ['a trigger', triggered('TRIGGER loosen AFTER UPDATE ON SCHEMA.accounts'), ''],
    [
      'a deferred trigger',
      triggered('CONSTRAINT TRIGGER loosen AFTER UPDATE ON SCHEMA.accounts DEFERRABLE INITIALLY DEFERRED'),
      '',
    ],
    ['a trigger that is new', '', triggered('TRIGGER loosen AFTER UPDATE ON SCHEMA.accounts')],
  ]
  const clients: [name: string, clientOf: (pool: pg.Pool) => PostgresClient][] = [
    ['a Pool', pool => pool],
    ['a client that cannot tell', pool => ({ query: (text, values) => pool.query(text, values) })],
  ]

  describe.each(clients)('over %s', (_, clientOf) => {
    test.each(causes)('by %s: the answer waits for the disk', async (name, ddl, later) => {
      const wallet = await open(ddl, { admin: own, url: server.url, pool: { max: 1 } })
      const { schema, pool } = wallet
      const options = { schema, players: { ...players, table: `${schema}.accounts` }, connectionsMax: 1 }
      const store = createPostgresStore(clientOf(pool), options)
      await store.ready()
      if (later !== '') await own.query(later.replaceAll('SCHEMA', schema))
      // A new connection, with the new settings of role and database.
      await own.query(
        'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = $1',
        [schema],
      )
      await until(() => pool.totalCount === 0)
      if (name === 'other code on the connection') await pool.query('SET synchronous_commit = off')

      /** Whether the log is on the disk beyond what was written before the call. */
      async function isFlushed(call: () => Promise<unknown>): Promise<boolean> {
        const before = await own.query('SELECT pg_current_wal_insert_lsn() AS lsn')
        await call()
        const { rows } = await own.query('SELECT pg_current_wal_flush_lsn() > $1 AS flushed', [
          before.rows[0].lsn,
        ])
        return rows[0].flushed
      }
      expect(await isFlushed(() => store.commit(placing({ n: 1, amount: '1' })))).toBe(true)
      const batch = ['alice', 'bob'].map((playerId, n) => placing({ playerId, n: n + 2, amount: '1' }))
      expect(await isFlushed(() => Promise.all(batch.map(each => store.commit(each))))).toBe(true)
      expect(await isFlushed(() => store.loadConfirmed(keys))).toBe(true)
      expect(await wallet.recorded()).toHaveLength(3)
      await own.query(`ALTER ROLE CURRENT_USER RESET synchronous_commit;
        ALTER DATABASE postgres RESET synchronous_commit`)
    })
  })
})

/** A client of a driver that does not wait for what the server says after its answer, as postgres.js before 3.4.8. */
async function impatient() {
  const single = new pg.Client({ connectionString: url })
  await single.connect()
  onTestFinished(() => single.end())
  const { connection } = single as unknown as { connection: EventEmitter }
  return {
    query: (text: string, values?: unknown[]) =>
      new Promise<{ rows: unknown[] }>((resolve, reject) => {
        const rows: unknown[] = []
        connection.once('commandComplete', () => resolve({ rows }))
        const query = new pg.Query(text, values)
        query.on('row', row => rows.push(row))
        query.on('error', reject)
        single.query(query)
      }),
  }
}

describe('a driver that takes the answer to a statement for the answer to its commit', () => {
  test('a constraint that fails at COMMIT: nothing is answered ok', async () => {
    const { schema } = await open('CREATE TABLE SCHEMA.known (id text PRIMARY KEY)')
    await admin.query(`ALTER TABLE ${schema}.transactions ADD CONSTRAINT known FOREIGN KEY (bet_id)
      REFERENCES ${schema}.known DEFERRABLE INITIALLY DEFERRED`)
    const store = createPostgresStore(await impatient(), {
      schema,
      players: { ...players, table: `${schema}.accounts` },
    })
    await store.ready()
    const batches = [[1], [2, 3]].map(batch => batch.map(n => endOf(store.commit(placing({ n })))))
    for (const end of (await Promise.all(batches.map(batch => Promise.all(batch)))).flat())
      expect(end).toMatchObject({ code: '23503' })
  })
})

/** The role sees what the policies of the tables show. */
async function asRole(schema: string, settings = ''): Promise<pg.Pool> {
  const role = `seeing_${schema}`
  await admin.query(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA ${schema} TO ${role};
    GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA ${schema} TO ${role};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`)
  const pool = new pg.Pool({ connectionString: url, options: `-c role=${role} ${settings}` })
  onTestFinished(async () => {
    await pool.end()
    await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
  })
  return pool
}

test.each(['accounts', 'bets', 'transactions'])(
  'row-level security of %s that is switched on while processes run: nothing is unknown',
  async table => {
    const { schema } = await open('')
    const pool = await asRole(schema)
    const store = createPostgresStore(pool, {
      schema,
      players: { ...players, table: `${schema}.accounts` },
    })
    await store.ready()
    expect(await store.commit(placing())).toMatchObject({ status: 'committed' })
    await admin.query(`ALTER TABLE ${schema}.${table} ENABLE ROW LEVEL SECURITY`)
    expect(String(await endOf(store.loadConfirmed(keys)))).toMatch(/affected by row-level security/)
  },
)

describe('a connection on which other code has changed a setting', () => {
  const ofAnna = { playerId: 'жанна', amount: '1' }
  const anna = `UPDATE SCHEMA.accounts SET id = 'жанна' WHERE id = 'alice'`
  const latin = "SET client_encoding TO 'LATIN1'"

  test.each([[[1]], [[1, 2, 3]]])(
    'client_encoding, commits %j: every id is recorded as it was sent',
    async numbers => {
      const wallet = await open(anna, { pool: { max: 1 } })
      await wallet.pool.query(latin)
      const commits = numbers.map(n =>
        wallet.store.commit(placing({ ...ofAnna, n, fields: { transactionId: `ü-${n}` } })),
      )
      expect(await Promise.all(commits)).toMatchObject(numbers.map(() => ({ status: 'committed' })))
      expect(await wallet.recorded()).toEqual(numbers.map(n => `placebet ü-${n} -1`))
    },
  )

  test('client_encoding: the player of a load is known', async () => {
    const wallet = await open(anna, { pool: { max: 1 } })
    const load = () => wallet.store.loadConfirmed({ ...keys, playerId: 'жанна' })
    await wallet.pool.query(latin)
    expect((await load()).accounts[0]?.balance).toBe('100')
  })

  test('with withinTransaction: every id is recorded as it was sent', async () => {
    const wallet = await open(anna, {
      pool: { max: 1 },
      options: { players, async withinTransaction() {} },
    })
    await wallet.pool.query(latin)
    expect(await wallet.store.commit(placing(ofAnna))).toMatchObject({ status: 'committed' })
  })

  test('a client of another encoding is refused at start', async () => {
    const single = new pg.Client({ connectionString: url })
    await single.connect()
    onTestFinished(() => single.end())
    await single.query(latin)
    expect(await startError(accounts, {}, single as unknown as pg.Pool)).toMatchObject({
      code: 'UNSUPPORTED_CLIENT',
      message: expect.stringContaining('client_encoding is LATIN1'),
    })
  })
})

test('a deferred trigger that changes the balance: a fault, and nothing is recorded', async () => {
  const wallet = await open(`CREATE FUNCTION SCHEMA.rounds() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE SCHEMA.accounts SET balance = round(balance) WHERE id = NEW.id AND balance <> round(balance);
      RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER rounds AFTER UPDATE ON SCHEMA.accounts DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION SCHEMA.rounds()`)
  const changes = ['alice', 'bob'].map((playerId, n) => placing({ playerId, n, amount: '1.4' }))
  for (const batch of [changes.slice(0, 1), changes]) {
    const ends = await Promise.all(batch.map(each => endOf(wallet.store.commit(each))))
    for (const end of ends) expect(String(end)).toMatch(/is not the one written: see its triggers/)
  }
  expect(await wallet.recorded()).toEqual([])
})

test('with withinTransaction: what waits for COMMIT is not read back, what does not wait is', async () => {
  const rounds = (
    kind: string,
  ) => `CREATE FUNCTION SCHEMA.rounds() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE SCHEMA.accounts SET balance = round(balance) WHERE id = NEW.id AND balance <> round(balance);
      RETURN NULL; END $$;
    CREATE ${kind} FOR EACH ROW EXECUTE FUNCTION SCHEMA.rounds()`
  const withHook = { options: { players, withinTransaction: async () => {} } }
  const immediate = await open(rounds('TRIGGER rounds AFTER UPDATE ON SCHEMA.accounts'), withHook)
  expect(String(await endOf(immediate.store.commit(placing({ amount: '1.4' }))))).toMatch(
    /is not the one written: see its triggers/,
  )
  expect(await immediate.recorded()).toEqual([])
  const deferred = await open(
    rounds('CONSTRAINT TRIGGER rounds AFTER UPDATE ON SCHEMA.accounts DEFERRABLE INITIALLY DEFERRED'),
    withHook,
  )
  expect(await deferred.store.commit(placing({ amount: '1.4' }))).toMatchObject({ balance: '98.6' })
  expect(await deferred.balanceOf('alice')).toBe('99')
})

test('a view that begins to return a player twice: a fault for this player, and no row is changed', async () => {
  const wallet = await open(
    'ALTER TABLE SCHEMA.accounts RENAME TO base; CREATE VIEW SCHEMA.accounts AS TABLE SCHEMA.base',
  )
  await wallet.rows('ALTER TABLE SCHEMA.base DROP CONSTRAINT accounts_pkey')
  await wallet.rows("INSERT INTO SCHEMA.base VALUES ('alice', 'USD', 100)")
  expect(await endOf(wallet.store.commit(placing()))).toBeInstanceOf(Error)
  const ends = ['alice', 'bob'].map((playerId, n) => endOf(wallet.store.commit(placing({ playerId, n }))))
  expect(await Promise.all(ends)).toMatchObject([expect.any(Error), { status: 'committed' }])
  expect(await wallet.rows('SELECT id, currency, balance::text FROM SCHEMA.base ORDER BY 1, 2')).toEqual([
    ['alice', 'EUR', '100'],
    ['alice', 'USD', '100'],
    ['bob', 'EUR', '70'],
  ])
})

test('a balance of more than 40 digits is not debited', async () => {
  const wallet = await open(`UPDATE SCHEMA.accounts SET balance = 265.${'3'.repeat(39)}5`)
  expect(await wallet.store.commit(placing())).toMatchObject({ status: 'conflict' })
  const both = ['alice', 'bob'].map((playerId, n) => wallet.store.commit(placing({ playerId, n })))
  expect(await Promise.all(both)).toEqual([
    expect.objectContaining({ status: 'conflict' }),
    expect.objectContaining({ status: 'conflict' }),
  ])
})

test('zeros at the end of a balance are no digits', async () => {
  const wallet = await open(`UPDATE SCHEMA.accounts SET balance = 265.5${'0'.repeat(45)}`)
  expect(await wallet.store.commit(placing())).toMatchObject({ status: 'committed', balance: '235.5' })
  expect((await wallet.store.loadConfirmed(keys)).accounts[0]?.balance).toBe('235.5')
})

test.each([
  ['numeric', 'ALTER TABLE SCHEMA.accounts ALTER balance TYPE bigint USING balance * 100'],
  [
    'a domain of numeric',
    'CREATE DOMAIN SCHEMA.cents AS bigint; ALTER TABLE SCHEMA.accounts ALTER balance TYPE SCHEMA.cents USING balance * 100',
  ],
])('%s that becomes an integer: no amount is misread', async (_, change) => {
  const wallet = await open('')
  await wallet.rows(change.replaceAll('SCHEMA', wallet.schema))
  const ends = await Promise.all([
    endOf(wallet.store.commit(placing({ amount: '5000' }))),
    endOf(wallet.store.loadConfirmed(keys)),
  ])
  expect(String(ends[0])).toMatch(/the balance column is .* now/)
  expect(String((ends[1] as Error).cause ?? ends[1])).toMatch(/the balance column is .* now/)
  expect(await wallet.recorded()).toEqual([])
})

test('minor units in a decimal that becomes whole units: no amount is misread', async () => {
  const wallet = await open(
    'ALTER TABLE SCHEMA.accounts ALTER balance TYPE numeric(64,0) USING balance * 100',
    { options: { players: { ...players, balanceType: 'minor-units', minorUnits: 2 } } },
  )
  await wallet.store.ready()
  expect(await wallet.store.commit(placing())).toMatchObject({ status: 'committed', balance: '70.00' })
  await wallet.rows(
    'ALTER TABLE SCHEMA.accounts ALTER balance TYPE numeric(64,2) USING balance / 100'.replace(
      'SCHEMA',
      wallet.schema,
    ),
  )
  const ends = await Promise.all([
    endOf(wallet.store.commit(placing({ n: 2, amount: '0.3' }))),
    endOf(wallet.store.loadConfirmed(keys)),
  ])
  expect(String(ends[0])).toMatch(/the balance column is numeric now/)
  expect(String((ends[1] as Error).cause ?? ends[1])).toMatch(/the balance column is numeric now/)
  expect(await wallet.recorded()).toEqual(['placebet place-1 -30'])
})

test('array_nulls = off makes no difference', async () => {
  const wallet = await open('', { pool: { options: '-c array_nulls=off' } })
  const results = ['alice', 'bob'].map((playerId, n) => wallet.store.commit(placing({ playerId, n })))
  expect(await Promise.all([...results, wallet.store.commit(placing({ n: 9 }))])).toMatchObject(
    Array.from({ length: 3 }, () => ({ status: 'committed' })),
  )
})

describe('at start', () => {
  const table =
    'CREATE TABLE SCHEMA.base (id text, currency text, balance numeric, PRIMARY KEY (id, currency))'
  const view = 'CREATE VIEW SCHEMA.accounts AS TABLE SCHEMA.base'
  const { hostname, port, username, password, pathname } = new URL(url)
  const one = 'CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text, balance numeric)'
  const log = 'CREATE TABLE SCHEMA.log (balance numeric)'
  const isRule = /has a rule for UPDATE/
  test.each([
    ['a view that may return a player twice', `${table}; ${view}`, /no unique index on .*id alone/],
    [
      'a view over partitions that may return a player twice',
      `${table} PARTITION BY LIST (currency); ${view};
        CREATE TABLE SCHEMA.base_eur PARTITION OF SCHEMA.base FOR VALUES IN ('EUR');
        CREATE TABLE SCHEMA.base_usd PARTITION OF SCHEMA.base FOR VALUES IN ('USD')`,
      /no unique index on id alone in \w+\.base\. /,
    ],
    [
      'a view with an INSTEAD OF trigger',
      `${table.replace('(id, currency)', '(id)')}; ${view}; CREATE FUNCTION SCHEMA.f() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN UPDATE SCHEMA.base SET balance = round(NEW.balance) WHERE id = NEW.id; RETURN NEW; END $$;
        CREATE TRIGGER t INSTEAD OF UPDATE ON SCHEMA.accounts FOR EACH ROW EXECUTE FUNCTION SCHEMA.f()`,
      /INSTEAD OF trigger/,
    ],
    [
      'a view over a foreign table',
      `CREATE EXTENSION IF NOT EXISTS postgres_fdw; ${table.replace('base', 'remote')};
        CREATE SERVER SCHEMA FOREIGN DATA WRAPPER postgres_fdw
          OPTIONS (host '${hostname}', port '${port}', dbname '${pathname.slice(1)}');
        CREATE USER MAPPING FOR CURRENT_USER SERVER SCHEMA OPTIONS (user '${username}', password '${password}');
        CREATE FOREIGN TABLE SCHEMA.base (id text, currency text, balance numeric) SERVER SCHEMA
          OPTIONS (schema_name 'SCHEMA', table_name 'remote');
        ${view}`,
      /base is a foreign table/,
    ],
    [
      'a rule that does something ALSO',
      `${one}; ${log}; CREATE RULE r AS ON UPDATE TO SCHEMA.accounts DO ALSO INSERT INTO SCHEMA.log VALUES (NEW.balance)`,
      isRule,
    ],
    [
      'a rule that does something INSTEAD',
      `${one}; CREATE TABLE SCHEMA.other (LIKE SCHEMA.accounts); CREATE RULE r AS ON UPDATE TO SCHEMA.accounts DO INSTEAD
        UPDATE SCHEMA.other SET balance = NEW.balance WHERE id = OLD.id RETURNING *`,
      isRule,
    ],
    [
      'a rule that does nothing INSTEAD',
      `${one}; CREATE RULE r AS ON UPDATE TO SCHEMA.accounts DO INSTEAD NOTHING`,
      isRule,
    ],
    [
      'a rule of the table below a view',
      `${one.replace('accounts', 'base')}; ${view}; ${log};
        CREATE RULE r AS ON UPDATE TO SCHEMA.base DO ALSO INSERT INTO SCHEMA.log VALUES (NEW.balance)`,
      isRule,
    ],
    [
      'a view of two currencies',
      `${table}; CREATE VIEW SCHEMA.accounts AS SELECT * FROM SCHEMA.base WHERE currency IN ('EUR', 'USD')`,
      /no unique index on .*id alone/,
    ],
    [
      'a currency whose collation is not exact',
      `CREATE COLLATION SCHEMA.ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text COLLATE SCHEMA.ci, balance numeric)`,
      /collation of currency is nondeterministic/,
    ],
  ])('%s is refused', async (_, ddl, problem) => {
    expect(await startError(ddl)).toMatchObject({
      code: 'INVALID_PLAYERS_TABLE',
      message: expect.stringMatching(problem),
    })
  })

  const ofEuro = `CREATE VIEW SCHEMA.accounts AS SELECT * FROM SCHEMA.base WHERE currency = 'EUR'`
  test.each([
    ['the currency, of a table with a key on both', `${table}; ${ofEuro}`],
    ['the currency, among other conditions', `${table}; ${ofEuro} AND (id <> '' OR currency <> 'USD')`],
    [
      'the currency, in a view of a view',
      `${table}; ${ofEuro.replace('accounts', 'middle')}; CREATE VIEW SCHEMA.accounts AS TABLE SCHEMA.middle`,
    ],
  ])('a view that fixes %s is valid', async (_, ddl) => {
    expect(await startError(ddl)).toBeUndefined()
  })

  test.each([
    ['bets', 'INSERT', 'NULL'],
    ['transactions', 'INSERT', 'NULL'],
    ['transactions', 'INSERT', 'NEW'],
    ['bets', 'UPDATE', 'NULL'],
  ])(
    'a BEFORE trigger of %s for %s that returns %s is refused: a record could be lost',
    async (table, event, row) => {
      const { schema, store } = await open('')
      await admin.query(`CREATE FUNCTION ${schema}.f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN ${row}; END $$;
      CREATE TRIGGER changes BEFORE ${event} ON ${schema}.${table} FOR EACH ROW EXECUTE FUNCTION ${schema}.f()`)
      expect(await endOf(store.ready())).toMatchObject({
        code: 'SCHEMA_VERSION',
        message: expect.stringContaining(`${schema}.${table} has the BEFORE trigger changes`),
      })
      await admin.query(`ALTER TABLE ${schema}.${table} DISABLE TRIGGER changes`)
      await store.ready()
    },
  )

  test.each(['STABLE', 'SECURITY DEFINER', 'STRICT', 'RESET ALL'])(
    'a function that became %s is noticed, and the migration repairs it',
    async change => {
      const { schema, store, rows } = await open('')
      const [found] = await rows(`SELECT oid::regprocedure::text FROM pg_proc
        WHERE pronamespace = 'SCHEMA'::regnamespace AND proname LIKE 'load\\_v1%'`)
      await rows(`ALTER FUNCTION ${found?.[0]} ${change}`)
      expect(await endOf(store.ready())).toMatchObject({ code: 'SCHEMA_VERSION' })
      await migratePostgres(admin, { schema, players: { ...players, table: `${schema}.accounts` } })
      await store.ready()
    },
  )
})
