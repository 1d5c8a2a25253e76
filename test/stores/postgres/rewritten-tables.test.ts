/**
 * Tables that are rewritten or replaced while a load waits for their lock. PostgreSQL does not keep their old rows for
 * older snapshots: to such a snapshot they are empty, and known players and bets would be unknown, finally.
 */
import { handlePlaceBet } from 'bet-wallet'
import { createPostgresStore, type PostgresStoreOptions } from 'bet-wallet/postgres'
import type pg from 'pg'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { bet, placeBet } from '../../fixtures.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { until } from '../../until.js'
import { longTimeouts, openWallet, placing } from './wallet.js'

const { pool: admin, url, drop } = await freshDatabase({ pool: { max: 20 } })
afterAll(drop)

const keys = { operation: 'placebet', transactionId: 'place-1', playerId: 'alice', betId: 'bet-1' } as const

const accounts = `CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text, balance numeric(20,2))`
const filled = `INSERT INTO SCHEMA.accounts VALUES ('alice', 'EUR', 100)`

/** The tables of the PAM, and what another session does to them in one database transaction. */
const cases: [name: string, ddl: string, rewrite: string][] = [
  ['ALTER COLUMN TYPE', '', 'ALTER TABLE SCHEMA.accounts ALTER balance TYPE numeric(20,2) USING balance + 0'],
  [
    'a new column with a volatile default',
    '',
    'ALTER TABLE SCHEMA.accounts ADD note text DEFAULT random()::text',
  ],
  ['SET UNLOGGED', '', 'ALTER TABLE SCHEMA.accounts SET UNLOGGED'],
  [
    'TRUNCATE and reload',
    '',
    `CREATE TEMP TABLE copied ON COMMIT DROP AS TABLE SCHEMA.accounts; TRUNCATE SCHEMA.accounts;
      INSERT INTO SCHEMA.accounts TABLE copied`,
  ],
  [
    'a new table under the name of the old one',
    '',
    `CREATE TABLE SCHEMA.new (LIKE SCHEMA.accounts INCLUDING ALL); INSERT INTO SCHEMA.new TABLE SCHEMA.accounts;
      ALTER TABLE SCHEMA.accounts RENAME TO old; ALTER TABLE SCHEMA.new RENAME TO accounts`,
  ],
  [
    'another table, filled now, under the name of the old one',
    'CREATE TABLE SCHEMA.new (LIKE SCHEMA.accounts INCLUDING ALL)',
    `INSERT INTO SCHEMA.new TABLE SCHEMA.accounts;
      ALTER TABLE SCHEMA.accounts RENAME TO old; ALTER TABLE SCHEMA.new RENAME TO accounts`,
  ],
  [
    'a partition in place of another',
    `ALTER TABLE SCHEMA.accounts RENAME TO first; CREATE TABLE SCHEMA.second (LIKE SCHEMA.first INCLUDING ALL);
      CREATE TABLE SCHEMA.accounts (LIKE SCHEMA.first INCLUDING ALL) PARTITION BY LIST (id);
      ALTER TABLE SCHEMA.accounts ATTACH PARTITION SCHEMA.first DEFAULT`,
    `ALTER TABLE SCHEMA.accounts DETACH PARTITION SCHEMA.first; INSERT INTO SCHEMA.second TABLE SCHEMA.first;
      ALTER TABLE SCHEMA.accounts ATTACH PARTITION SCHEMA.second DEFAULT`,
  ],
  [
    'a partition that is rewritten',
    `ALTER TABLE SCHEMA.accounts RENAME TO first;
      CREATE TABLE SCHEMA.accounts (LIKE SCHEMA.first INCLUDING ALL) PARTITION BY LIST (id);
      ALTER TABLE SCHEMA.accounts ATTACH PARTITION SCHEMA.first DEFAULT`,
    'ALTER TABLE SCHEMA.first SET UNLOGGED',
  ],
  [
    'the base table of a view',
    'ALTER TABLE SCHEMA.accounts RENAME TO base; CREATE VIEW SCHEMA.accounts AS TABLE SCHEMA.base',
    'ALTER TABLE SCHEMA.base SET UNLOGGED',
  ],
  [
    'a view over another table',
    `ALTER TABLE SCHEMA.accounts RENAME TO base; CREATE VIEW SCHEMA.accounts AS TABLE SCHEMA.base;
      CREATE TABLE SCHEMA.other (LIKE SCHEMA.base INCLUDING ALL)`,
    `LOCK TABLE SCHEMA.base; INSERT INTO SCHEMA.other TABLE SCHEMA.base; CREATE OR REPLACE VIEW SCHEMA.accounts AS TABLE SCHEMA.other`,
  ],
  // The tables that say which bets and transactions exist.
  ['bets', '', 'ALTER TABLE SCHEMA.bets SET UNLOGGED'],
  ['transactions', '', 'ALTER TABLE SCHEMA.transactions ADD note text DEFAULT random()::text'],
]

async function open(isolation: string, ddl: string) {
  const options: PostgresStoreOptions = {
    ...longTimeouts,
    players: { table: 'SCHEMA.accounts', id: 'id', currency: 'currency', balance: 'balance' },
  }
  const wallet = await openWallet({
    ...{ admin, url, options },
    ddl: `${accounts}; ${filled}; ${ddl}`,
    pool: { options: `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}` },
  })
  onTestFinished(() => wallet.close())
  await admin.query(`INSERT INTO ${wallet.schema}.bets (bet_id, player_id, currency, stake, status, revision)
    VALUES ('imported-1', 'alice', 'EUR', 5, 'PLACED', 1)`)
  /** Calls, which begin while another session rewrites a table. */
  async function during<T>(rewrite: string, calls: () => Promise<T>): Promise<T> {
    const other = await wallet.otherSession()
    await other.query('BEGIN')
    await other.query(rewrite.replaceAll('SCHEMA', wallet.schema))
    const ends = calls()
    await until(async () => (await wallet.waiting()).length > 0)
    await other.query('COMMIT')
    return await ends
  }
  const inSchema = JSON.parse(JSON.stringify(options).replaceAll('SCHEMA', wallet.schema)) as typeof options
  return { ...wallet, during, options: { ...inSchema, schema: wallet.schema } }
}

describe.each(['read committed', 'serializable'])('a confirmed load in %s', isolation => {
  test.each(cases)('that waits for %s finds all records', async (_, ddl, rewrite) => {
    const { store, during } = await open(isolation, ddl)
    expect(await store.commit(placing())).toMatchObject({ status: 'committed' })
    const load = () =>
      Promise.all([store.loadConfirmed(keys), store.loadConfirmed({ ...keys, betId: 'imported-1' })])
    const before = await load()
    expect(before).toMatchObject([
      { accounts: [{ playerId: 'alice' }], bet: { stake: '30' }, transaction: { delta: '-30' } },
      { accounts: [{ playerId: 'alice' }], bet: { stake: '5' } },
    ])

    expect(await during(rewrite, load)).toEqual(before)
  })
})

describe.each(['read committed', 'repeatable read', 'serializable'])('a commit in %s', isolation => {
  const ofImported = {
    ...placing({ n: 2, fields: { betId: 'imported-1' } }),
    bet: bet({ betId: 'imported-1', stake: '30' }),
  }
  const ofRecorded = placing({ n: 1, fields: { transactionId: 'place-3' } })

  test.each(cases.slice(-2))('that waits for %s sees all bets', async (_, ddl, rewrite) => {
    const { store, during, recorded } = await open(isolation, ddl)
    expect(await store.commit(placing())).toMatchObject({ status: 'committed' })
    const commits = () => Promise.all([ofImported, ofRecorded].map(changes => store.commit(changes)))
    expect(await during(rewrite, commits)).toEqual([
      expect.objectContaining({ status: 'conflict' }),
      expect.objectContaining({ status: 'conflict' }),
    ])
    expect(await recorded()).toEqual(['placebet place-1 -30'])
  })

  test.each(cases.slice(0, -2))('that waits for %s is not refused', async (_, ddl, rewrite) => {
    const { store, during, recorded } = await open(isolation, ddl)
    expect(await during(rewrite, () => handlePlaceBet(store, placeBet()))).toMatchObject({ ok: true })
    expect(await recorded()).toEqual(['placebet place-1 -30'])
  })

  const rewrite = 'ALTER TABLE SCHEMA.bets SET UNLOGGED'
  test.each(['Pool', 'client without a pool'])('with withinTransaction, over a %s', async kind => {
    const { options, pool, during, recorded } = await open(isolation, '')
    const client =
      kind === 'Pool'
        ? pool
        : {
            query: (text: string, values?: unknown[]) => pool.query(text, values),
            async transaction(work: (connection: pg.PoolClient) => Promise<unknown>) {
              const connection = await pool.connect()
              try {
                await connection.query('BEGIN')
                const result = await work(connection)
                await connection.query('COMMIT')
                return result
              } catch (error) {
                await connection.query('ROLLBACK')
                throw error
              } finally {
                connection.release()
              }
            },
          }
    const store = createPostgresStore(client, { ...options, withinTransaction: async () => {} })
    await store.ready()
    expect(await during(rewrite, () => store.commit(ofImported))).toMatchObject({ status: 'conflict' })
    expect(await recorded()).toEqual([])
  })
})
