/**
 * What a bet costs in bytes, and what the guards of archived bets would cost: for the decision in docs/retention.md.
 *
 * `npx tsx test/programs/bench/archive.ts --bets 300000`, after `npm run build`. The
 * prototypes are tables of this script alone.
 */
import { parseArgs } from 'node:util'
import { createPostgresStore, migratePostgres } from 'bet-wallet/postgres'
import type pg from 'pg'
import { createDatabase, openPostgres } from '../../postgres/server.js'
import { library } from './postgres/ground.js'
import { postgresTimeOf } from './processor.js'
import { anyPlayer, playersCount } from './requests.js'
import { tally } from './tally.js'

const { values } = parseArgs({ options: { bets: { type: 'string', default: '300000' } } })
const bets = Number(values.bets)

/** Counts the keys of a batch that are guarded: `$1` are their texts. */
const lookups = {
  'hashes, by one scan for all': `SELECT count(*) FROM guards_of_hashes
    WHERE hash = ANY (ARRAY(SELECT hashtextextended(key, 0) FROM unnest(keys) key))`,
  'hashes, one row each': `SELECT count(*) FROM unnest(keys) key
    JOIN LATERAL (SELECT 1 FROM guards_of_hashes g WHERE g.hash = hashtextextended(key, 0)) g ON true`,
  'hashes in pages': `SELECT count(*) FROM unnest(keys) key
    JOIN LATERAL (SELECT 1 FROM guards_in_pages g
      WHERE g.page = (hashtextextended(key, 0) & 65535) % pages
        AND position(int8send(hashtextextended(key, 0)) IN g.hashes) > 0) g ON true`,
}

const [batches, perBatch] = [5_000, 32]

const loopOf = (statement: string) => `
  CREATE OR REPLACE FUNCTION look_up() RETURNS void LANGUAGE plpgsql SET jit = off AS $$
  DECLARE
    found bigint;
    keys text[];
    pages integer := (SELECT max(page) + 1 FROM guards_in_pages);
  BEGIN
    FOR batch IN 1..${batches} LOOP
      keys := ARRAY(SELECT md5(batch::text || i) FROM generate_series(1, ${perBatch}) i);
      found := (${statement});
    END LOOP;
  END $$`

const server = await openPostgres({})
const { pool, url, drop } = await createDatabase(server, { pool: { max: 16 } })
try {
  await migratePostgres(pool)
  await pool.query(
    `INSERT INTO bet_wallet.players SELECT i::text, 'EUR', 1000000000 FROM generate_series(1, $1::integer) i`,
    [playersCount],
  )
  await loadBets(pool)
  console.log(`Bytes per bet with a placebet and a settlement, ids of 36 characters, ${bets} bets`)
  await printBytes(pool, 'bet_wallet.bets')
  await printBytes(pool, 'bet_wallet.transactions')

  await createGuards(pool)
  console.log('\nBytes per bet of the guard of an archived one')
  for (const table of ['guards_of_ids', 'guards_of_hashes', 'guards_in_pages']) await printBytes(pool, table)

  console.log('\nA look-up that finds nothing, in µs of the server per placebet, 32 placebets at a time')
  const placebetUs = await placebetTime(pool, url)
  console.log(`  a placebet, 64 callers                      ${placebetUs.toFixed(1)}`)
  for (const [name, lookup] of Object.entries(lookups)) {
    const us = await lookupTime(pool, lookup)
    const share = ((100 * us) / placebetUs).toFixed(1)
    console.log(`  ${name.padEnd(43)} ${us.toFixed(1)}  ${share} %`)
  }
} finally {
  await drop()
  await server.stop()
}

/** Distinct ids of 36 characters, in no order. */
function id(prefix: string): string {
  return `overlay(md5('${prefix}' || i) placing '-' from 9 for 0)::text || '-abc'`
}

async function loadBets(pool: pg.Pool): Promise<void> {
  const range = `FROM generate_series(1, ${bets}) i`
  await pool.query(`
    INSERT INTO bet_wallet.bets
      (bet_id, player_id, currency, stake, status, bet_paid_live, bet_paid_reversed, bet_paid_owed, revision)
    SELECT ${id('b')}, (1 + i % ${playersCount})::text, 'EUR', 2.5, 'PLACED', 4.75, 0, 0, 2 ${range};
    INSERT INTO bet_wallet.transactions
      (operation, transaction_id, player_id, bet_id, amount, currency, type, delta, balance_after, transaction_date)
    SELECT operation, ${id('t')} || left(operation, 1), (1 + i % ${playersCount})::text, ${id('b')}, amount, 'EUR',
      type, delta, 1000.25, '2026-01-01'
    ${range}, (VALUES ('placebet', 2.5, NULL, -2.5), ('settlement', 4.75, 'BET_PAID', 4.75)) v (operation, amount, type, delta)`)
  await pool.query('VACUUM (ANALYZE) bet_wallet.bets, bet_wallet.transactions')
}

/** One guard per bet: every call of an archived bet names it. */
async function createGuards(pool: pg.Pool): Promise<void> {
  await pool.query(`
    CREATE TABLE guards_of_ids (id text COLLATE "C" PRIMARY KEY);
    INSERT INTO guards_of_ids
      SELECT bet_id FROM bet_wallet.bets;
    CREATE TABLE guards_of_hashes (hash bigint PRIMARY KEY);
    INSERT INTO guards_of_hashes SELECT hashtextextended(id, 0) FROM guards_of_ids ORDER BY 1;
    CREATE TABLE guards_in_pages (page integer PRIMARY KEY, hashes bytea NOT NULL);
    ALTER TABLE guards_in_pages ALTER hashes SET STORAGE PLAIN;
    INSERT INTO guards_in_pages
      SELECT (hash & 65535) % pages.count, string_agg(int8send(hash), '' ORDER BY hash)
      FROM guards_of_hashes, (SELECT greatest(1, least(65536, count(*) / 128))::integer AS count FROM guards_of_hashes) pages
      GROUP BY 1`)
  await pool.query('VACUUM (ANALYZE) guards_of_ids, guards_of_hashes, guards_in_pages')
}

async function printBytes(pool: pg.Pool, table: string): Promise<void> {
  const { rows } = await pool.query<{ table: string; indexes: string }>(
    'SELECT pg_table_size($1::regclass)::text AS table, pg_indexes_size($1::regclass)::text AS indexes',
    [table],
  )
  const per = (bytes = '0') => String(Math.round(Number(bytes) / bets)).padStart(5)
  console.log(`  ${table.padEnd(24)} table ${per(rows[0]?.table)}  indexes ${per(rows[0]?.indexes)}`)
}

/** In µs of the server's processor per placebet. The loop and its keys are not counted. */
async function lookupTime(pool: pg.Pool, lookup: string): Promise<number> {
  const serverTime = await postgresTimeOf(pool)
  if (serverTime === null) return Number.NaN
  const time = async (statement: string) => {
    await pool.query(loopOf(statement))
    const before = serverTime()
    await pool.query('SELECT look_up()')
    return serverTime() - before
  }
  const empty = await time('SELECT count(*) FROM unnest(keys) key')
  return ((await time(lookup)) - empty) / (batches * perBatch)
}

async function placebetTime(pool: pg.Pool, url: string): Promise<number> {
  const store = createPostgresStore(pool, {})
  await store.ready()
  const database = {
    pool,
    url,
    store,
    options: { rounds: 1, seconds: 3 } as never,
    serverTime: await postgresTimeOf(pool),
  }
  const contestant = library(database, { callers: 64, player: anyPlayer }, tally(), 'bet-wallet')
  await contestant.run(1)
  return (await contestant.run(5)).serverUs ?? Number.NaN
}
