/** The GRANT block of docs/postgres.md: with exactly these rights everything works, and without any one of them not. */
import {
  createPostgresLookups,
  createPostgresStore,
  migratePostgres,
  type PlayersTable,
  type PostgresTables,
} from 'bet-wallet/postgres'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresGrants } from '../../../src/tools/command/postgres.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { rightsOf, useStore } from '../grants.js'
import { judge } from '../kit-on-stores.js'
import { ownTable, postgresHarness, reservingAccounts } from './harness.js'

const { pool, url, drop } = await freshDatabase()
const suffix = `_${process.pid}`
const tables: PostgresTables = {
  players: {
    ...{ table: 'pam.accounts', id: 'account_no', currency: 'currency', balance: 'balance_cents' },
    ...{ balanceType: 'minor-units', minorUnits: 2 },
  },
}
const rights = rightsOf('docs/postgres.md').map(({ role, text }) => ({ role: role + suffix, text }))
const roles = [...new Set(rights.map(({ role }) => role))]

beforeAll(async () => {
  await pool.query(`CREATE SCHEMA pam;
    CREATE TABLE pam.accounts (account_no text PRIMARY KEY, currency text NOT NULL, balance_cents bigint NOT NULL,
      secret text);
    INSERT INTO pam.accounts VALUES ('alice', 'EUR', 1000000)`)
  await migratePostgres(pool, tables)
  for (const role of roles) await pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
  for (const { role, text } of rights) await pool.query(`GRANT ${text} TO ${role}`)
})
afterAll(async () => {
  for (const role of roles) await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
  await drop()
})

/** Connections that have seen no privilege yet. */
async function asRole<T>(role: string, work: (own: pg.Pool) => Promise<T>, database = url): Promise<T> {
  const location = new URL(database)
  location.username = role
  location.password = 'secret'
  const own = new pg.Pool({ connectionString: location.href })
  try {
    return await work(own)
  } finally {
    await own.end()
  }
}

let runs = 0

/**
 * What the page says that each role is for.
 *
 * @param settled the bet that is settled
 */
const usesWith = (
  options: PostgresTables,
  settled: string,
): Record<string, (own: pg.Pool) => Promise<void>> => ({
  async wallet(own) {
    runs += 1
    await useStore(createPostgresStore(own, options), String(runs))
  },
  async wallet_reader(own) {
    const lookups = createPostgresLookups(own, { allowScan: true })
    await lookups.bet('one-1')
    await lookups.transaction('one-1')
    await lookups.player('alice')
    for await (const _ of lookups.transactions({ from: '2020-01-01', to: '2020-01-02' }));
  },
  async settlements(own) {
    const client = await own.connect()
    try {
      await client.query(`BEGIN;
        UPDATE pam.accounts SET balance_cents = balance_cents + 100 WHERE account_no = 'alice';
        SELECT bet_wallet.credit_bet_v1('${settled}', 'BET_PAID', 1);
        COMMIT`)
    } finally {
      client.release(true)
    }
  },
})

const uses = usesWith(tables, 'settled')

test('the page has a role for each use', () => {
  expect(roles.map(role => role.replace(suffix, '')).sort()).toEqual(Object.keys(uses).sort())
})

describe.each(Object.entries(uses))('the role %s', (name, use) => {
  const role = name + suffix
  beforeAll(async () => {
    await pool.query(`INSERT INTO bet_wallet.bets (bet_id, player_id, currency, stake, status, revision)
      VALUES ('settled', 'alice', 'EUR', 1, 'PLACED', 1) ON CONFLICT DO NOTHING`)
  })

  test('with exactly the rights of the page: works', () => asRole(role, use))

  test.each(rights.filter(right => right.role === role).map(({ text }) => text))(
    'not without %s',
    async text => {
      await pool.query(`REVOKE ${text} FROM ${role}`)
      await expect(asRole(role, use)).rejects.toThrow()
      await pool.query(`GRANT ${text} TO ${role}`)
      await asRole(role, use)
    },
  )
})

test('where EXECUTE is revoked from PUBLIC, it is granted on the routines of the schema', async () => {
  const { wallet = async () => {} } = uses
  await pool.query('REVOKE EXECUTE ON ALL ROUTINES IN SCHEMA bet_wallet FROM PUBLIC')
  await expect(asRole(`wallet${suffix}`, wallet)).rejects.toMatchObject({ code: 'INSUFFICIENT_PRIVILEGE' })
  await pool.query(`GRANT EXECUTE ON ALL ROUTINES IN SCHEMA bet_wallet TO wallet${suffix}`)
  await asRole(`wallet${suffix}`, wallet)
  // Only clients without a pool call it; the start does not depend on the client.
  const { rows } = await pool.query("SELECT proname FROM pg_proc WHERE proname LIKE 'commit_procedure_%'")
  await pool.query(`REVOKE EXECUTE ON PROCEDURE bet_wallet.${rows[0].proname} FROM wallet${suffix}`)
  await expect(asRole(`wallet${suffix}`, wallet)).rejects.toMatchObject({ code: 'INSUFFICIENT_PRIVILEGE' })
})

describe('with reserved funds, the kit as a role with exactly the rights that `grants` prints', () => {
  const role = `reserving${suffix}`
  beforeAll(() => pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`))
  afterAll(() => pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`))
  const [accounts = ownTable] = reservingAccounts
  const harness = postgresHarness({
    ...{ pool, url, accounts },
    async openStore(location, options) {
      const { timeoutMs: _, lockTimeoutMs: __, ...named } = options
      for (const statement of postgresGrants(named, 'store', role)) await pool.query(statement)
      const connectionString = Object.assign(new URL(location), { username: role, password: 'secret' }).href
      const own = new pg.Pool({ connectionString, max: 8 })
      const store = createPostgresStore(own, options)
      await store.ready()
      return { store, end: () => own.end() }
    },
  })
  judge(harness, 2)
})

test.each(['store', 'lookups'] as const)('for %s, `grants` prints SELECT on the reserved column', use => {
  const reserving = { players: { ...tables.players, reserved: 'locked' } as PlayersTable }
  const printed = postgresGrants(reserving, use, 'wallet').join().replaceAll(/["`]/g, '')
  expect(printed).toContain('SELECT (account_no, currency, balance_cents, locked)')
})

test('for the store, `grants` prints SELECT and UPDATE on the version column', () => {
  const counting = { players: { ...tables.players, version: 'lock_version' } as PlayersTable }
  const printed = postgresGrants(counting, 'store', 'wallet').join().replaceAll(/["`]/g, '')
  expect(printed).toContain(
    'SELECT (account_no, currency, balance_cents, lock_version), UPDATE (balance_cents, lock_version)',
  )
})
