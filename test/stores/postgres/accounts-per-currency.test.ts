/** Accounts per currency on PostgreSQL: what the kit does not see. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { handlePlaceBet, handleRollbackBet, recordSettlement } from '../../../src/index.js'
import {
  createPostgresLookups,
  createPostgresStore,
  migratePostgres,
  type PlayersTable,
} from '../../../src/stores/postgres/index.js'
import { rightsOf } from '../../../src/stores/postgres/sql/rights.js'
import { tablesOf } from '../../../src/stores/postgres/tables.js'
import { placeBet, rollbackBet, settlement } from '../../fixtures.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { expectFaultsOfAlice } from '../two-rows.js'

const { url, pool, drop } = await freshDatabase()
const pools = [1, 2].map(() => new pg.Pool({ connectionString: url, max: 4 }))
afterAll(async () => {
  await Promise.all(pools.map(each => each.end()))
  await drop()
})

const players = {
  ...{ table: 'pam.accounts', id: 'id', currency: 'currency', balance: 'balance' },
  accountPerCurrency: true,
} satisfies PlayersTable
const storeOptions = { schema: 'wallet', players }
const home = { defaultCurrency: 'JPY' }

beforeAll(async () => {
  await pool.query(`CREATE SCHEMA pam;
    CREATE TABLE pam.accounts (id text, currency text NOT NULL, balance numeric(20,2) NOT NULL, UNIQUE (id, currency));
    INSERT INTO pam.accounts VALUES ('alice', 'JPY', 5000), ('alice', 'EUR', 100), ('bob', 'EUR', 100)`)
  await migratePostgres(pool, storeOptions, { lookupIndexes: true })
})

const store = createPostgresStore(pool, storeOptions)

describe('the unique index', () => {
  test.each([
    ['on the id alone', 'UNIQUE (id)', '', /no unique index on exactly \(id, currency\)/],
    ['of another order', 'UNIQUE (currency, id)', '', /no unique index on exactly \(id, currency\)/],
    ['with a third column', 'UNIQUE (id, currency, balance)', '', /no unique index on exactly/],
    [
      'with a condition',
      'CHECK (true)',
      'CREATE UNIQUE INDEX ON pam.odd (id, currency) WHERE balance > 0',
      /no unique index on exactly/,
    ],
    [
      'of an expression',
      'CHECK (true)',
      'CREATE UNIQUE INDEX ON pam.odd (id, currency, lower(id))',
      /no unique index on exactly/,
    ],
    [
      'whose currency may be NULL',
      'UNIQUE (id, currency)',
      'ALTER TABLE pam.odd ALTER currency DROP NOT NULL',
      /currency may be NULL/,
    ],
  ])('%s is refused', async (_name, constraint, more, message) => {
    await pool.query(`DROP TABLE IF EXISTS pam.odd;
      CREATE TABLE pam.odd (id text, currency text NOT NULL, balance numeric NOT NULL, ${constraint}); ${more}`)
    const odd = { schema: 'odd', players: { ...players, table: 'pam.odd' } }
    await migratePostgres(pool, odd)
    await expect(createPostgresStore(pool, odd).ready()).rejects.toThrow(message)
  })

  test('below a view that hides it, a warning says what is not proven', async () => {
    await pool.query(`CREATE VIEW pam.view AS SELECT id, upper(currency) AS currency, balance FROM pam.accounts;
      CREATE VIEW pam.plain AS SELECT id, currency, balance FROM pam.accounts`)
    const warnings: string[] = []
    const note = ({ message }: Error) => {
      if (message.includes('nothing proves')) warnings.push(message)
    }
    process.on('warning', note)
    for (const table of ['pam.plain', 'pam.view']) {
      const schema = table.replace('pam.', 'of_')
      await migratePostgres(pool, { schema, players: { ...players, table } })
      await createPostgresStore(pool, { schema, players: { ...players, table } }).ready()
    }
    await new Promise(resolve => setImmediate(resolve))
    process.off('warning', note)
    expect(warnings).toEqual([expect.stringMatching(/pam\.view: nothing proves that an account has one row/)])
  })
})

describe('below a view of plain columns', () => {
  /** @param table of `w`, whose rows have a kind @param where of the view */
  async function readyWith(table: string, where: string, column = 'text') {
    await pool.query(`DROP SCHEMA IF EXISTS below CASCADE; DROP SCHEMA IF EXISTS of_below CASCADE; CREATE SCHEMA below;
      CREATE TYPE below.code AS ENUM ('EUR', 'JPY');
      CREATE TABLE below.w (no serial PRIMARY KEY, player_id text, currency ${column} NOT NULL, kind text, balance numeric${table};
      CREATE VIEW below.v AS SELECT player_id AS id, currency, balance FROM below.w ${where}`)
    const below = { schema: 'of_below', players: { ...players, table: 'below.v' } }
    await migratePostgres(pool, below)
    await createPostgresStore(pool, below).ready()
  }
  const advice = 'CREATE UNIQUE INDEX ON "below"."w" ("player_id", "currency")'

  test.each([
    ['no index', ')', ''],
    ['an index on the id alone', ', UNIQUE (player_id))', ''],
    ['another order', ', UNIQUE (currency, player_id))', ''],
    ['a third column', ', UNIQUE (player_id, currency, kind))', ''],
    [
      'a condition of the index, also that of the view',
      `); CREATE UNIQUE INDEX ON below.w (player_id, currency) WHERE kind = 'real'`,
      "WHERE kind = 'real'",
    ],
    ['a condition of the view about another column', ', UNIQUE (player_id, currency, kind))', 'WHERE no > 0'],
  ])('%s is refused, with the index to create', async (_name, table, where) => {
    const problem = await readyWith(table, where).catch(String)
    expect(problem).toContain('no unique index on exactly (player_id, currency) in below.w. Create it')
    expect(problem).toContain(advice)
    await pool.query(advice)
    await createPostgresStore(pool, { schema: 'of_below', players: { ...players, table: 'below.v' } }).ready()
  })

  test.each([
    ['the index', ', UNIQUE (player_id, currency))', '', 'text'],
    [
      'a third column, which the view fixes',
      ', UNIQUE (player_id, currency, kind))',
      "WHERE kind = 'real'",
      'below.code',
    ],
    ['characters', ', UNIQUE (kind, player_id, currency))', "WHERE kind = 'real'", 'char(3)'],
  ])('%s is ready', async (_name, table, where, column) => {
    await readyWith(table, where, column)
  })
})

test('without the option, two rows of a player are a fault, not the first of them', async () => {
  const { accountPerCurrency: _, ...one } = players
  await pool.query(`CREATE TABLE pam.single (id text PRIMARY KEY, currency text, balance numeric);
    INSERT INTO pam.single VALUES ('alice', 'EUR', 100)`)
  const single = { schema: 'single', players: { ...one, table: 'pam.single' } }
  await migratePostgres(pool, single)
  const old = createPostgresStore(pool, single)
  await old.ready()
  await pool.query(
    `ALTER TABLE pam.single DROP CONSTRAINT single_pkey; INSERT INTO pam.single VALUES ('alice', 'JPY', 5000)`,
  )
  const keys = { operation: 'placebet', transactionId: 't', playerId: 'alice', betId: 'b' } as const
  await expect(old.load(keys)).rejects.toThrow('has several rows for the player "alice"')
})

test('two rows of one account below a view that hides it: a fault of its calls, the others are committed', async () => {
  await pool.query(`CREATE TABLE pam.twice (id text, ccy text NOT NULL, balance numeric(20,2) NOT NULL);
    CREATE VIEW pam.hidden AS SELECT id, upper(ccy) AS currency, balance FROM pam.twice;
    INSERT INTO pam.twice SELECT unnest('{alice,alice,bob,carol}'::text[]), 'EUR', 100`)
  const hidden = { schema: 'hidden', players: { ...players, table: 'pam.hidden' } }
  await migratePostgres(pool, hidden)
  const over = createPostgresStore(pool, hidden)
  await over.ready()
  await expectFaultsOfAlice(over)
  const { rows } = await pool.query('SELECT id, balance FROM pam.twice ORDER BY id, balance')
  expect(rows.map(({ id, balance }) => `${id} ${balance}`)).toEqual([
    ...['alice 100.00', 'alice 100.00', 'bob 70.00', 'carol 70.00'],
  ])
})

test('two servers: a placebet and the rollback of its bet, which name two accounts, leave the stake', async () => {
  const [one, other] = pools.map(each => createPostgresStore(each, storeOptions))
  if (one === undefined || other === undefined) throw new Error('two stores')
  for (let round = 0; round < 20; round += 1) {
    const ids = { betId: `race-${round}`, transactionId: `race-${round}` }
    const [, rollback] = await Promise.all([
      handlePlaceBet(one, placeBet(ids), { ...home, authorizeBet() {} }),
      handleRollbackBet(other, rollbackBet(ids), home),
    ])
    expect(rollback.ok).toBe(true)
  }
  const { rows } = await pool.query(
    `SELECT currency, balance FROM pam.accounts WHERE id = 'alice' ORDER BY currency`,
  )
  expect(rows).toEqual([
    { currency: 'EUR', balance: '100.00' },
    { currency: 'JPY', balance: '5000.00' },
  ])
})

test('lookups find all accounts, each transaction once, and its account', async () => {
  await pool.query(`INSERT INTO pam.accounts VALUES ('carl', 'JPY', 5000), ('carl', 'EUR', 100)`)
  const of = (number: number, currency: string) =>
    placeBet({ playerId: 'carl', betId: `l-${number}`, transactionId: `l-${number}`, currency })
  for (const [number, currency] of ['EUR', 'JPY', 'SEK', 'EUR'].entries())
    await handlePlaceBet(store, of(number, currency), home)
  const lookups = createPostgresLookups(pool, storeOptions)
  const page = await lookups.player('carl', { limit: 3 })
  expect(page?.accounts).toEqual([
    { playerId: 'carl', currency: 'EUR', balance: '40' },
    { playerId: 'carl', currency: 'JPY', balance: '4970' },
  ])
  const short = (
    all: readonly { transactionId: string; accountCurrency: string | null; balanceAfter: string | null }[],
  ) => all.map(each => `${each.transactionId} ${each.accountCurrency} ${each.balanceAfter}`)
  expect(short(page?.transactions ?? [])).toEqual(['l-3 EUR 40', 'l-2 JPY 4970', 'l-1 JPY 4970'])
  expect(page?.bets.map(({ betId }) => betId)).toEqual(['l-3', 'l-1'])
  const rest = await lookups.player('carl', { limit: 3, cursor: page?.next ?? '' })
  expect(short(rest?.transactions ?? [])).toEqual(['l-0 EUR 70'])
  expect(rest?.next).toBeNull()
})

test('credit_bet_v1 locks the account of the bet alone, which must exist', async () => {
  await pool.query(`INSERT INTO pam.accounts VALUES ('dora', 'JPY', 5000), ('dora', 'EUR', 100)`)
  const ids = { playerId: 'dora', betId: 'c-1', transactionId: 'c-1' }
  await handlePlaceBet(store, placeBet(ids), home)
  const holder = await pool.connect()
  await holder.query('BEGIN')
  await holder.query(`SELECT FROM pam.accounts WHERE id = 'dora' AND currency = 'JPY' FOR UPDATE`)
  await pool.query(`SELECT wallet.credit_bet_v1('c-1', 'BET_PAID', 60)`)
  await holder.query('ROLLBACK')
  holder.release()
  const paid = settlement({ ...ids, transactionId: 'c-2', amount: '1' })
  expect(await recordSettlement(store, paid, home)).toMatchObject({
    ok: true,
    currency: 'EUR',
    balance: '71.00',
  })
  await pool.query(`DELETE FROM pam.accounts WHERE id = 'dora' AND currency = 'EUR'`)
  const credited = pool.query(`SELECT wallet.credit_bet_v1('c-1', 'BET_PAID', 60)`)
  await expect(credited).rejects.toThrow('the player of bet c-1 has no account in EUR')
})

test('a role for settlements may read the currency, with the option only', () => {
  const read = (given: PlayersTable) =>
    rightsOf(tablesOf({ players: given }), 'settlements').some(({ column }) => column === '"currency"')
  expect(read(players)).toBe(true)
  expect(read({ ...players, accountPerCurrency: false })).toBe(false)
})
