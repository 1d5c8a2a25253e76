/** What the migration needs and what it leaves alone: privileges, locks, settings, names, transactions. */
import { handlePlaceBet } from 'bet-wallet'
import {
  createPostgresStore,
  migratePostgres,
  type PostgresTables,
  postgresMigrationSql,
} from 'bet-wallet/postgres'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { placeBet } from '../../fixtures.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { poolOf } from './pools.js'

const { pool, url, drop } = await freshDatabase()
afterAll(drop)

const players = { table: 'pam.accounts', id: 'id', currency: 'currency', balance: 'balance' }

beforeAll(async () => {
  await pool.query(`CREATE SCHEMA pam;
    CREATE TABLE pam.accounts (id text PRIMARY KEY, currency text NOT NULL, balance numeric NOT NULL);
    INSERT INTO pam.accounts VALUES ('alice', 'EUR', 100)`)
})

/** Both forms of the migration. */
const forms: [form: string, migrate: (client: pg.Pool, options: PostgresTables) => Promise<unknown>][] = [
  ['migratePostgres', (client, options) => migratePostgres(client, options)],
  ['the SQL', (client, options) => client.query(postgresMigrationSql(options))],
]

describe('the role', () => {
  const role = `migrator_${process.pid}`
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

  test('needs no privilege to migrate where there is nothing to do', async () => {
    const options = { schema: 'done', players }
    await migratePostgres(pool, options)
    await expect(migratePostgres(asRole, options)).rejects.toMatchObject({ code: '42501' })
    await pool.query(
      `GRANT USAGE ON SCHEMA done TO ${role}; GRANT SELECT ON done.migrations, done.options TO ${role}`,
    )
    await migratePostgres(asRole, options)
    await expect(
      migratePostgres(asRole, { ...options, players: { ...players, table: 'pam.others' } }),
    ).rejects.toMatchObject({ code: 'SCHEMA_OPTIONS' })
  })

  test.each(forms)('needs no CREATE on the database where the schema exists (%s)', async (form, migrate) => {
    const schema = form.replace(' ', '_')
    await expect(migrate(asRole, { schema, players })).rejects.toMatchObject({ code: '42501' })
    await pool.query(`CREATE SCHEMA "${schema}" AUTHORIZATION ${role}`)
    await migrate(asRole, { schema, players })
    await migrate(asRole, { schema, players })
    await createPostgresStore(pool, { schema, players }).ready()
  })
})

describe.each(forms)("the players' table: %s", (form, migrate) => {
  const suffix = form.replace(' ', '_')

  test.each<[string, PostgresTables, string]>([
    ['of the PAM', { schema: `locking_${suffix}`, players }, 'pam.accounts'],
    ['of the library', { schema: `own_${suffix}` }, `"own_${suffix}".players`],
  ])('%s is not locked by it', async (_, options, table) => {
    // The own table is created by the first migration, and is there at the second.
    if (options.players === undefined) await migrate(pool, options)
    await pool.query(`UPDATE pg_proc SET prosrc = prosrc || ' ' WHERE pronamespace = to_regnamespace($1)`, [
      `"${options.schema}"`,
    ])
    const holder = await pool.connect()
    // No other session can hold any lock on it, not even that of a SELECT: the migration would never end.
    await holder.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
    await migrate(pool, options)
    await holder.query('ROLLBACK')
    holder.release()
    await createPostgresStore(pool, options).ready()
  })
})

describe('in a database transaction of a migration tool', () => {
  const options = { schema: 'tool', players }
  const sql = postgresMigrationSql(options, { transaction: false })

  test('the text has no BEGIN and COMMIT, and is the same otherwise', () => {
    const whole = postgresMigrationSql(options)
    expect(whole.replace('\nBEGIN;\n', '').replace('\nCOMMIT;\n', '')).toBe(sql)
    expect(sql).not.toMatch(/^(?:BEGIN|COMMIT);$/m)
  })

  test('it is committed and rolled back with the tool', async () => {
    const client = await pool.connect()
    await client.query('BEGIN')
    await client.query(sql)
    await client.query('ROLLBACK')
    expect((await client.query("SELECT to_regnamespace('tool') AS schema")).rows).toEqual([{ schema: null }])
    await client.query('BEGIN')
    await client.query(sql)
    await client.query('COMMIT')
    // migratePostgres too, which reads first: what it reads must not fail, and so abort the database transaction.
    await client.query('BEGIN')
    await migratePostgres(client, { schema: 'tool_2', players })
    await client.query('COMMIT')
    client.release()
    await createPostgresStore(pool, options).ready()
    await createPostgresStore(pool, { ...options, schema: 'tool_2' }).ready()
  })
})

describe.each(forms)('with any settings and names: %s', (form, migrate) => {
  const suffix = form.replace(' ', '_')

  test.each(['quote_all_identifiers=on', 'standard_conforming_strings=off', 'search_path='])(
    '%s',
    async setting => {
      const client = poolOf({ connectionString: url, options: `-c ${setting}`, max: 1 })
      const options = { schema: `${suffix} ${setting}`, players }
      await migrate(client, options)
      await createPostgresStore(client, options).ready()
      await createPostgresStore(pool, options).ready()
      await migrate(pool, options)
      await client.end()
    },
  )

  test.each([
    '$function$',
    '$migration$',
    '$check$ $domain$ $schema$',
    '$function$ $function2$',
    "it's \\ a 'name'",
    'per%s %I',
    'two\nlines',
    'dotted " quote',
  ])('a schema, table and columns named %j', async name => {
    const quoted = `"${name.replaceAll('"', '""')}"`
    const schema = `${suffix}_${name}`
    const options = {
      schema,
      players: { table: `${schema}.${name}`, id: name, currency: `${name} c`, balance: `${name} b` },
    }
    const inQuotes = `"${schema.replaceAll('"', '""')}"`
    await pool.query(`CREATE SCHEMA ${inQuotes};
      CREATE TABLE ${inQuotes}.${quoted} (${quoted} text PRIMARY KEY, ${quoted.slice(0, -1)} c" text, ${quoted.slice(0, -1)} b" numeric);
      INSERT INTO ${inQuotes}.${quoted} VALUES ('alice', 'EUR', 100)`)
    for (const setting of ['on', 'off']) {
      const client = poolOf({
        connectionString: url,
        options: `-c standard_conforming_strings=${setting}`,
        max: 1,
      })
      await migrate(client, options)
      const store = createPostgresStore(client, options)
      expect(await handlePlaceBet(store, placeBet())).toMatchObject({ ok: true, balance: '70.00' })
      await client.end()
    }
    const other = { ...options, players: { ...options.players, currency: 'other' } }
    await expect(migratePostgres(pool, other)).rejects.toMatchObject({ code: 'SCHEMA_OPTIONS' })
  })
})
