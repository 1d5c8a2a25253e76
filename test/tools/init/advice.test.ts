/** What `ready()` and `init` advise runs as it is printed, and is the way out. */
import { createPostgresStore, migratePostgres } from 'bet-wallet/postgres'
import { afterAll, expect, test } from 'vitest'
import { propose } from '../../../src/tools/init/propose.js'
import { type CatalogDatabase, readSchema } from '../../../src/tools/init/schema.js'
import { freshMariadb } from '../../mariadb/fresh-database.js'
import { noServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'

const ends: (() => Promise<unknown>)[] = []
afterAll(() => Promise.all(ends.map(end => end())))

async function onPostgres(ddl: string) {
  const { pool, drop } = await freshDatabase()
  ends.push(drop)
  await pool.query(ddl)
  const ask = async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows
  const players = (name: string) => ({
    table: `public.${name}`,
    id: 'id',
    currency: 'currency',
    balance: 'balance',
  })
  const start = async (name: string) => {
    await migratePostgres(pool, { players: players(name) })
    return await createPostgresStore(pool, { players: players(name) })
      .ready()
      .then(
        () => 'ready',
        (error: Error) => error.message,
      )
  }
  return { pool, start, database: { engine: 'postgres', ask } as CatalogDatabase }
}

const wallets =
  'CREATE TABLE wallets (no serial PRIMARY KEY, "user Id" text NOT NULL, currency text NOT NULL, balance numeric(18,2) NOT NULL)'
const view = (id: string) =>
  `${wallets}; CREATE VIEW v AS SELECT ${id} AS id, currency, balance FROM wallets p`

test('a view without the unique index below it: the printed CREATE UNIQUE INDEX', async () => {
  const { pool, start } = await onPostgres(view('"user Id"'))
  const message = await start('v')
  const [, advice = ''] = /(CREATE UNIQUE INDEX ON \S+ \(.*?\))/.exec(message) ?? []
  await pool.query(advice)
  expect(await start('v')).toBe('ready')
})

test('an id that the view computes: what it must be, without the words of a planner', async () => {
  const { start } = await onPostgres(view('(SELECT u."user Id" FROM wallets u WHERE u.no = p.no)'))
  const message = await start('v')
  expect(message).toMatch(/the view computes the id, .*: it must be a column of the table/)
  expect(message).not.toContain('SubPlan')
})

test.each([
  ['wallets', 'currency', ''],
  ['Wallet', 'currencyId', ''],
  ['Order', 'currencyId', 'REFERENCES "Currency"'],
])('a currency that is a number, in %s.%s: the printed view', async (name, column, references) => {
  const { pool, start, database } = await onPostgres(
    `CREATE TABLE "Currency" (id int PRIMARY KEY, "isoCode" char(3) NOT NULL);
      INSERT INTO "Currency" VALUES (1, 'EUR');
      CREATE TABLE "${name}" (id text PRIMARY KEY, "${column}" integer NOT NULL ${references}, balance numeric(18,2) NOT NULL);
      INSERT INTO "${name}" VALUES ('anna', 1, 5)`,
  )
  const proposal = propose(await readSchema(database), {
    ...{ players: `public.${name}`, id: 'id', balance: 'balance', currency: 'EUR' },
  })
  const [advice = '', view = ''] =
    proposal.status === 'impossible'
      ? (/CREATE VIEW "public"\."(\w+)" AS SELECT .* p(?= \()/.exec(proposal.problem) ?? [])
      : []
  await pool.query(advice)
  expect((await pool.query(`SELECT id, currency FROM public."${view}"`)).rows).toEqual([
    { id: 'anna', currency: 'EUR' },
  ])
  expect(await start(view)).toBe('ready')
})

test.skipIf(noServer !== null)(
  `MySQL, MariaDB: a player without a key: the printed CREATE UNIQUE INDEX${noServer ?? ''}`,
  async () => {
    const { pool, config, drop } = await freshMariadb()
    ends.push(drop)
    await pool.query(
      'CREATE TABLE wallets (id int PRIMARY KEY, player_id varchar(64) NOT NULL, currency varchar(3) NOT NULL, balance decimal(18,2) NOT NULL)',
    )
    const ask = async (sql: string, values: unknown[] = []) =>
      (await pool.query({ sql, rowsAsArray: true }, values))[0] as never
    const proposed = async () =>
      propose(await readSchema({ engine: 'mysql', ask }), { players: `${config.database}.wallets` })
    const [, advice = ''] = /(CREATE UNIQUE INDEX [^)]*\))/.exec(JSON.stringify(await proposed())) ?? []
    await pool.query(advice)
    expect(JSON.stringify(await proposed())).toMatch(/"player_id"|accountPerCurrency/)
  },
)
