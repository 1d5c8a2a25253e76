/** `ready` and `ping`: problems of server and client, in words, and whether they may pass. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { handlePlaceBet } from 'bet-wallet'
import {
  createPostgresStore,
  migratePostgres,
  type PostgresClient,
  type PostgresStore,
} from 'bet-wallet/postgres'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { placeBet } from '../../fixtures.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { createDatabase, noServerOfOurOwn, startPostgres } from '../../postgres/server.js'
import { until } from '../../until.js'
import { openProxy } from './proxy.js'
import { endOf, idle, longTimeouts, outOfTime, placing } from './wallet.js'

const { url, pool: admin, drop } = await freshDatabase()
await migratePostgres(admin)
await admin.query("INSERT INTO bet_wallet.players VALUES ('alice', 'EUR', 100)")
afterAll(drop)
const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close()
})

const keys = { operation: 'placebet', transactionId: 't', playerId: 'alice', betId: 'b' } as const
const committed = expect.objectContaining({ status: 'committed' })

/** @param changes of the URL: `{ password: 'wrong' }` */
function poolAt(
  changes: Partial<Pick<URL, 'username' | 'password' | 'port' | 'hostname' | 'pathname' | 'search'>> = {},
) {
  const location = Object.assign(new URL(url), changes)
  const pool = new pg.Pool({ connectionString: location.href, max: 1 })
  pool.on('error', () => {})
  opened.push({ close: () => pool.end() })
  return pool
}

/** The codes and messages of `ready`, of `ping`, and of the first request of another store. */
async function problemsOf(client: PostgresClient, options = {}) {
  const store = createPostgresStore(client, options)
  const errors = [
    await endOf(store.ready()),
    await endOf(store.ping()),
    await endOf(createPostgresStore(client, options).load(keys)),
  ] as unknown as { code?: string; message?: string }[]
  const [ready, ping, first] = errors
  expect({ code: first?.code, message: first?.message }).toEqual({
    code: ready?.code,
    message: ready?.message,
  })
  return { ready, ping }
}

describe('a problem that does not pass', () => {
  it('before `ready`: a placebet fails with the same error, and not with an unknown outcome', async () => {
    const store = createPostgresStore(poolAt({ password: 'wrong' }))
    await expect(handlePlaceBet(store, placeBet())).rejects.toMatchObject({
      code: 'LOAD_FAILED',
      cause: { code: 'DATABASE_REJECTED' },
    })
  })

  it('a wrong password: DATABASE_REJECTED, with the words of the server', async () => {
    const { ready, ping } = await problemsOf(poolAt({ password: 'wrong' }))
    expect(ready).toMatchObject({
      code: 'DATABASE_REJECTED',
      message: expect.stringMatching(/password authentication failed for user "postgres" \(SQLSTATE 28P01\)/),
    })
    expect(ping).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('28P01') })
  })

  it.each<[string, Parameters<typeof poolAt>[0], RegExp]>([
    ['no password', { password: '' }, /client password must be a.* string/],
    ['TLS, which the server does not have', { search: '?sslmode=verify-full' }, /does not support SSL/],
  ])('%s: DATABASE_REJECTED, with the words of the driver', async (_, changes, words) => {
    const { ready } = await problemsOf(poolAt(changes))
    expect(ready).toMatchObject({ code: 'DATABASE_REJECTED', message: expect.stringMatching(words) })
  })

  it('a certificate that is not trusted: DATABASE_REJECTED', async () => {
    const error = Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    const { ready } = await problemsOf({ query: () => Promise.reject(error) })
    expect(ready).toMatchObject({
      code: 'DATABASE_REJECTED',
      message: expect.stringContaining('self-signed'),
    })
  })

  it('an unknown database: DATABASE_REJECTED', async () => {
    const { ready } = await problemsOf(poolAt({ pathname: '/nowhere' }))
    expect(ready).toMatchObject({
      code: 'DATABASE_REJECTED',
      message: expect.stringContaining('database "nowhere" does not exist (SQLSTATE 3D000)'),
    })
  })

  it('a driver that encodes JSON twice: DATABASE_REJECTED', async () => {
    const pool = poolAt()
    const encoded = (value: unknown) => (/^[[{]/.test(String(value)) ? JSON.stringify(value) : value)
    const { ready } = await problemsOf({ query: (text, values) => pool.query(text, values?.map(encoded)) })
    expect(ready).toMatchObject({
      code: 'DATABASE_REJECTED',
      message: expect.stringMatching(/cannot call json_to_recordset on a scalar \(SQLSTATE 22023\)/),
    })
  })

  it('the store works once the problem is fixed, without a restart', async () => {
    await admin.query("CREATE ROLE locked LOGIN PASSWORD 'right' SUPERUSER")
    opened.push({ close: () => admin.query('DROP ROLE locked') })
    const pool = poolAt({ username: 'locked', password: 'wrong' })
    const store = createPostgresStore(pool)
    await expect(store.ready()).rejects.toMatchObject({ code: 'DATABASE_REJECTED' })
    await admin.query("ALTER ROLE locked PASSWORD 'wrong'")
    await store.ready()
    expect(await store.load(keys)).toMatchObject({ accounts: [{ playerId: 'alice' }] })
  })
})

describe('a problem that may pass: UNAVAILABLE, with its cause', () => {
  it('nothing listens', async () => {
    const { ready, ping } = await problemsOf(poolAt({ port: '1' }))
    const expected = {
      code: 'UNAVAILABLE',
      problem: 'The database is unavailable: connect ECONNREFUSED 127.0.0.1:1',
    }
    expect(ready).toMatchObject(expected)
    expect(ping).toMatchObject(expected)
  })

  it('too many connections', async () => {
    await admin.query("CREATE ROLE crowded LOGIN PASSWORD 'x' CONNECTION LIMIT 0")
    opened.push({ close: () => admin.query('DROP ROLE crowded') })
    const { ready } = await problemsOf(poolAt({ username: 'crowded', password: 'x' }))
    expect(ready).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('too many connections for role "crowded" (SQLSTATE 53300)'),
    })
  })
})

describe('a client that cannot be used: UNSUPPORTED_CLIENT', () => {
  const rows = async () => ({ rows: [] })
  /** With a parser of the application for a type. */
  const parsing = (type: number, parse: (text: string) => unknown) => (pool: pg.Pool) => ({
    query(text: string, values: unknown[]) {
      const getTypeParser = (oid: number) => (oid === type ? parse : pg.types.getTypeParser(oid))
      return pool.query({ text, values, types: { getTypeParser } as pg.CustomTypesConfig })
    },
  })
  it.each<[string, unknown, RegExp]>([
    ['the template tag of postgres.js', Object.assign(() => {}, { query: rows }), /it is function\. See /],
    [
      'a pool of Drizzle, whose query is an object',
      { query: {}, execute: rows },
      /must be an object with query/,
    ],
    ['null', null, /it is null\. See /],
    ['a string', 'postgres://127.0.0.1', /it is string\. See /],
  ])('%s: at creation', (_, client, words) => {
    const create = () => createPostgresStore(client as PostgresClient)
    expect(create).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_CLIENT' }))
    expect(create).toThrow(words)
  })

  it.each<[string, (pool: pg.Pool) => object, RegExp]>([
    [
      'a DataSource of TypeORM, which returns the rows',
      pool => ({
        connect: async () => {},
        query: async (text: string, values: unknown[]) => (await pool.query(text, values)).rows,
      }),
      /must resolve to \{ rows: \[…\] \}; it resolves to an array/,
    ],
    ['a client that returns nothing', () => ({ query: async () => {} }), /it resolves to undefined/],
    ['a client of callbacks', () => ({ query: () => undefined }), /it resolves to undefined/],
    [
      'rows as arrays',
      pool => ({
        query: (text: string, values: unknown[]) => pool.query({ text, values, rowMode: 'array' }),
      }),
      /each row as an object .* it returned \[false,/,
    ],
    [
      'names in camelCase',
      pool => ({
        async query(text: string, values: unknown[]) {
          const found = await pool.query(text, values)
          const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
          const rename = (row: object) =>
            Object.fromEntries(Object.entries(row).map(([name, value]) => [camel(name), value]))
          return { rows: found.rows.map(rename) }
        },
      }),
      /each row as an object .* it returned \{"inRecovery":false/,
    ],
    [
      'texts that look like numbers, as numbers',
      parsing(25, text => (/^[0-9.]+$/.test(text) ? Number(text) : text)),
      /"an_amount":1.5/,
    ],
    ['texts, trimmed', parsing(25, text => text.trim()), /"a_text":"A"/],
    ['integers as BigInt', parsing(23, BigInt), /"an_index":"1n"/],
    [
      'NULL as undefined',
      pool => ({
        async query(text: string, values: unknown[]) {
          const { rows } = await pool.query(text, values)
          const given = (row: object) =>
            Object.entries(row).map(([name, value]) => [name, value ?? undefined])
          return { rows: rows.map(row => Object.fromEntries(given(row))) }
        },
      }),
      /NULL unchanged/,
    ],
    [
      'a pool of Slonik, which takes only its own queries',
      () => ({
        async query() {
          throw new TypeError("Cannot read properties of undefined (reading 'type')")
        },
      }),
      /Cannot read properties/,
    ],
    [
      'a Client of pg that is not connected',
      () => new pg.Client(url),
      /is not connected: await client\.connect\(\)/,
    ],
  ])('%s: at start', async (_, clientOver, words) => {
    const { ready, ping } = await problemsOf(clientOver(poolAt()) as PostgresClient)
    expect(ready).toMatchObject({ code: 'UNSUPPORTED_CLIENT', message: expect.stringMatching(words) })
    expect(ping).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching(words) })
  })

  it('a transaction() that is none, with withinTransaction: at start', async () => {
    const pool = poolAt()
    const query = (text: string, values?: unknown[]) => pool.query(text, values)
    const client: PostgresClient = { query, transaction: work => work({ query }) }
    const { ready } = await problemsOf(client, { async withinTransaction() {} })
    expect(ready).toMatchObject({
      code: 'UNSUPPORTED_CLIENT',
      message: expect.stringMatching(
        /withinTransaction needs database transactions, .* SAVEPOINT can only be used/,
      ),
    })
  })

  it('a Client of pg is accepted once it is connected', async () => {
    const client = new pg.Client(url)
    const store = createPostgresStore(client)
    await expect(store.ready()).rejects.toMatchObject({ code: 'UNSUPPORTED_CLIENT' })
    await client.connect()
    opened.push({ close: () => client.end() })
    await store.ready()
    expect(await store.load(keys)).toMatchObject({ accounts: [{ playerId: 'alice' }] })
  })
})

describe('ready, asked again', () => {
  it('checks again, and requests continue with what the last successful check has found', async () => {
    const schema = 'again'
    const players = { table: 'again.accounts', id: 'id', currency: 'currency', balance: 'balance' }
    await admin.query(`CREATE SCHEMA again;
      CREATE TABLE again.accounts (id text PRIMARY KEY, currency text, balance numeric(6,2));
      INSERT INTO again.accounts VALUES ('alice', 'EUR', 100)`)
    await migratePostgres(admin, { schema, players })
    const store = createPostgresStore(poolAt(), { schema, players })
    await store.ready()
    await admin.query('ALTER TABLE again.accounts RENAME COLUMN currency TO iso')
    await expect(store.ready()).rejects.toMatchObject({ code: 'INVALID_PLAYERS_TABLE' })
    await admin.query('ALTER TABLE again.accounts RENAME COLUMN iso TO currency')
    expect(await store.commit(placing())).toEqual(committed)
    await store.ready()
  })

  it('calls at the same time share a check', async () => {
    const pool = poolAt()
    const store = createPostgresStore(pool)
    const lent = vi.fn()
    pool.on('acquire', lent)
    await store.ready()
    const once = lent.mock.calls.length
    await Promise.all([store.ready(), store.ready(), store.ready()])
    expect(lent.mock.calls.length).toBe(2 * once)
  })
})

describe('ping', () => {
  it('is one statement, needs no schema, and can be asked as often as wanted', async () => {
    const pool = poolAt()
    const store = createPostgresStore(pool, { schema: 'nowhere' })
    const query = vi.spyOn(pg.Client.prototype, 'query')
    await store.ping()
    await store.ping()
    expect(query.mock.calls.map(([text]) => String(text).trim().split(/\s/)[0])).toEqual(['SELECT', 'SELECT'])
    query.mockRestore()
  })

  it('rejects while database transactions are read-only', async () => {
    const location = new URL(url)
    location.searchParams.set('options', '-c default_transaction_read_only=on')
    const pool = new pg.Pool({ connectionString: location.href })
    opened.push({ close: () => pool.end() })
    await expect(createPostgresStore(pool).ping()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('read-only'),
    })
  })

  it('rejects within timeoutMs when the database is silent, and the connection is not used again', async () => {
    const proxy = await openProxy(url)
    opened.push(proxy)
    const pool = new pg.Pool({ connectionString: proxy.url, max: 1 })
    opened.push({ close: () => pool.end() })
    const store = createPostgresStore(pool, longTimeouts)
    await store.ping()
    proxy.goDark()
    const end = await outOfTime(
      () => store.ping(),
      () => pool.totalCount === 1 && pool.idleCount === 0,
    )
    expect(end).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('No answer within') })
    expect(pool.totalCount).toBe(0)
    await store.ping()
  })
})

describe.skipIf(noServerOfOurOwn !== null)('a standby', () => {
  it('is UNAVAILABLE for ready and ping; once promoted, the same store works', async () => {
    const server = await startPostgres()
    opened.push({ close: () => server.stop() })
    const database = await createDatabase(server)
    opened.push({ close: () => database.drop() })
    database.pool.on('error', () => {})
    await migratePostgres(database.pool)
    await database.pool.query("INSERT INTO bet_wallet.players VALUES ('alice', 'EUR', 100)")
    await server.shutDown()
    await until(() => database.pool.totalCount === 0)
    // It has no primary to follow, and answers queries all the same.
    writeFileSync(join(server.dataFolder, 'standby.signal'), '')
    await server.start()
    const store: PostgresStore = createPostgresStore(database.pool)
    const standby = { code: 'UNAVAILABLE', message: expect.stringContaining('this server is a standby') }
    await expect(store.ready()).rejects.toMatchObject(standby)
    await expect(store.ping()).rejects.toMatchObject(standby)
    expect(await store.commit(placing())).toEqual({ status: 'unavailable' })
    await database.pool.query('SELECT pg_promote()')
    await store.ping()
    await store.ready()
    expect(await store.commit(placing())).toEqual(committed)
    await idle(database.pool)
  })
})
