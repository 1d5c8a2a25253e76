/** What `bet-wallet init` reads of PostgreSQL's catalogs, also as a role that owns no table. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { propose } from '../../../src/tools/init/propose.js'
import { readSchema, type Table } from '../../../src/tools/init/schema.js'
import { freshDatabase } from '../../postgres/fresh-database.js'

const { pool, drop } = await freshDatabase()
const role = `reader_${process.pid}`
afterAll(async () => {
  await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
  await drop()
})

let tables: readonly Table[] = []
const named = (name: string) => tables.find(each => each.name === name)

beforeAll(async () => {
  await pool.query(`CREATE SCHEMA pam;
    CREATE TABLE pam.users (id int PRIMARY KEY, email text);
    CREATE TABLE pam.wallets (id serial PRIMARY KEY, user_id int NOT NULL REFERENCES pam.users, currency text NOT NULL,
      balance numeric(18,2) NOT NULL, code text NOT NULL, deleted_at timestamptz);
    CREATE UNIQUE INDEX wallets_account ON pam.wallets (user_id, currency) INCLUDE (balance);
    CREATE UNIQUE INDEX wallets_live ON pam.wallets (user_id) WHERE deleted_at IS NULL;
    CREATE UNIQUE INDEX wallets_lower ON pam.wallets (user_id, lower(code));
    CREATE VIEW pam.live AS SELECT user_id, balance FROM pam.wallets WHERE deleted_at IS NULL;
    CREATE VIEW pam.named AS SELECT (SELECT email FROM pam.users WHERE id = user_id) AS name, balance FROM pam.live;
    CREATE ROLE ${role}; GRANT USAGE ON SCHEMA pam TO ${role}; GRANT SELECT ON ALL TABLES IN SCHEMA pam TO ${role}`)
  const client = await pool.connect()
  await client.query(`SET ROLE ${role}`)
  const ask = async (text: string) => (await client.query(text)).rows
  tables = (await readSchema({ engine: 'postgres', ask })).tables
  await client.query('RESET ROLE')
  client.release()
})

test('unique indexes without a constraint are keys; those with a condition or an expression are not', () => {
  expect(named('wallets')?.uniqueKeys).toEqual([['id'], ['user_id', 'currency']])
})

test('foreign keys are seen by a role that does not own the table', () => {
  const to = { schema: 'pam', table: 'users', column: 'id' }
  expect(named('wallets')?.foreignKeys).toEqual([{ column: 'user_id', to }])
})

test('what a view reads is seen by such a role too, of views and in subqueries', () => {
  expect(named('live')?.sources).toEqual([['pam', 'wallets']])
  expect(named('named')?.sources.toSorted()).toEqual([
    ['pam', 'live'],
    ['pam', 'users'],
  ])
  expect(named('wallets')?.sources).toEqual([])
})

test('so that the account of a player is found, and not the number of its row', () => {
  const schema = { engine: 'postgres', updatesSubqueries: true, exactCollation: null, tables } as const
  expect(propose(schema, { players: 'pam.wallets', 'may-bet': 'anyone' })).toMatchObject({
    status: 'ready',
    mapping: { id: { name: 'user_id' }, accountPerCurrency: true },
  })
})
