/** A wallet for tests of what goes wrong: a schema, a pool and a store of its own, and a second connection that looks. */
import pg from 'pg'
import { expect, vi } from 'vitest'
import type { Bet, Transaction, WalletChanges } from '../../../src/store.js'
import {
  createPostgresStore,
  migratePostgres,
  type PostgresStore,
  type PostgresStoreOptions,
} from '../../../src/stores/postgres/index.js'
import { bet, live, transaction } from '../../fixtures.js'

export interface WalletSetup {
  /** Of whoever looks and interferes. It does not go through a proxy. */
  admin: pg.Pool
  /** Where the store connects to. */
  url: string
  /** Each has 100 EUR. Default: alice, bob and carol. */
  players?: readonly string[]
  options?: Omit<PostgresStoreOptions, 'schema'>
  /** SQL before the migration, with SCHEMA for the schema: a players' table of the operator's. It is to be filled by it. */
  ddl?: string
  pool?: pg.PoolConfig
}

export interface Wallet {
  readonly schema: string
  readonly admin: pg.Pool
  readonly pool: pg.Pool
  readonly store: PostgresStore
  /** A row is an array of columns. */
  rows(text: string, values?: unknown[]): Promise<unknown[][]>
  balanceOf(playerId: string): Promise<string>
  /** What is recorded, as another connection sees it: `placebet place-1 -30`. */
  recorded(): Promise<string[]>
  /** Another session: a connection of its own, in a transaction block of its own. */
  otherSession(): Promise<pg.PoolClient>
  /** From now on commits for this player stop when all is written and nothing is durable yet. */
  stopCommitsOf(playerId: string): Promise<Stop>
  /** Of the store's connections, those that wait for a lock now: their process ids. */
  waiting(): Promise<number[]>
  close(): Promise<void>
}

export interface Stop {
  /** Resolves with the process id of the server once a commit stands there. */
  reached(): Promise<number>
  /** Lets go, for good. */
  release(): Promise<void>
}

let schemas = 0

/** Polls without pausing for a time that somebody guessed. The test's own time limit ends it. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise(setImmediate)
}

/** Once nothing is borrowed and nobody waits for a connection. */
export async function idle(pool: pg.Pool): Promise<void> {
  await until(() => pool.waitingCount === 0 && pool.idleCount === pool.totalCount)
}

export async function openWallet({
  admin,
  url,
  players = ['alice', 'bob', 'carol'],
  options = {},
  ddl,
  pool: poolConfig,
}: WalletSetup): Promise<Wallet> {
  schemas += 1
  const schema = `wallet_${process.pid}_${schemas}`
  const inSchema = (text: string) => text.replaceAll('SCHEMA', schema)
  await admin.query(`CREATE SCHEMA ${schema}`)
  if (ddl !== undefined) await admin.query(inSchema(ddl))
  const { players: table } = options
  const own = table && { ...table, table: inSchema(table.table) }
  const settings = { ...options, schema, ...(own && { players: own }) }
  await migratePostgres(admin, settings)
  if (own === undefined) {
    await admin.query(`INSERT INTO ${schema}.players SELECT unnest($1::text[]), 'EUR', 100`, [players])
  }
  const name = own ? own.table : `${schema}.players`
  const id = own ? own.id : 'player_id'
  const balance = own ? own.balance : 'balance'

  const pool = new pg.Pool({
    max: 8,
    idleTimeoutMillis: 0,
    ...poolConfig,
    connectionString: url,
    application_name: schema,
  })
  // The connections that these tests break.
  pool.on('error', () => {})
  const store = createPostgresStore(pool, settings)
  await store.ready()
  const sessions = new Set<pg.PoolClient>()

  const rows = async (text: string, values: unknown[] = []) =>
    (await admin.query<unknown[]>({ text: inSchema(text), values, rowMode: 'array' })).rows

  async function otherSession(): Promise<pg.PoolClient> {
    const session = await admin.connect()
    sessions.add(session)
    return session
  }

  return {
    schema,
    admin,
    pool,
    store,
    rows,
    otherSession,

    async balanceOf(playerId) {
      const [row] = await rows(`SELECT ${balance}::text FROM ${name} WHERE ${id} = $1`, [playerId])
      return String(row?.[0])
    },

    async recorded() {
      const found = await rows(
        'SELECT operation, transaction_id, delta::text FROM SCHEMA.transactions ORDER BY 1, 2',
      )
      return found.map(row => row.join(' '))
    },

    async stopCommitsOf(playerId) {
      const holder = await otherSession()
      await holder.query('SELECT pg_advisory_lock(hashtext($1), 7)', [schema])
      await admin.query(`CREATE FUNCTION ${schema}.stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_advisory_xact_lock_shared(hashtext('${schema}'), 7);
        RETURN NULL;
      END $$`)
      await admin.query(`CREATE TRIGGER stop AFTER INSERT ON ${schema}.transactions FOR EACH ROW
        WHEN (NEW.player_id = '${playerId}') EXECUTE FUNCTION ${schema}.stop()`)
      return {
        async reached() {
          for (;;) {
            const [row] = await rows(
              `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 7
                AND classid = hashtext($1)::oid`,
              [schema],
            )
            if (row !== undefined) return Number(row[0])
          }
        },
        async release() {
          await holder.query('SELECT pg_advisory_unlock_all()')
        },
      }
    },

    async waiting() {
      const found = await rows(
        `SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`,
        [schema],
      )
      return found.map(([pid]) => Number(pid))
    },

    async close() {
      for (const session of sessions) session.release(true)
      await admin.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
        [schema],
      )
      await pool.end()
      await admin.query(`DROP SCHEMA ${schema} CASCADE`)
    },
  }
}

/** Every player has what was there at first and what the recorded transactions moved; no bet without its transaction. */
export async function expectBooksToBalance({ rows }: Wallet, opening = '100'): Promise<void> {
  const wrong = await rows(
    `SELECT p.player_id, p.balance::text, coalesce(sum(t.delta), 0)::text FROM SCHEMA.players p
      LEFT JOIN SCHEMA.transactions t USING (player_id) GROUP BY p.player_id, p.balance
      HAVING p.balance <> $1::numeric + coalesce(sum(t.delta), 0)`,
    [opening],
  )
  expect(wrong).toEqual([])
  const lonely = await rows(
    `SELECT b.bet_id FROM SCHEMA.bets b
      WHERE NOT EXISTS (SELECT FROM SCHEMA.transactions t WHERE t.bet_id = b.bet_id)`,
  )
  expect(lonely).toEqual([])
}

interface Movement {
  playerId?: string
  /** Makes the ids: `place-7`, `bet-7`. */
  n?: number
  amount?: string
  fields?: Partial<Transaction>
  bet?: Partial<Bet>
}

/** What the core commits for an accepted placebet. */
export function placing({
  playerId = 'alice',
  n = 1,
  amount = '30',
  fields = {},
}: Movement = {}): WalletChanges {
  const ids = { playerId, betId: `bet-${n}` }
  return {
    transaction: transaction({
      ...ids,
      transactionId: `place-${n}`,
      amount,
      delta: `-${amount}`,
      walletTransactionId: null,
      ...fields,
    }),
    bet: bet({ ...ids, stake: amount }),
    balance: { currency: 'EUR', delta: `-${amount}`, floor: '0' },
    request: {},
  }
}

/** What the core commits for a settlement of the bet that `placing` placed. */
export function settling({
  playerId = 'alice',
  n = 1,
  amount = '60',
  bet: betFields = {},
}: Movement = {}): WalletChanges {
  const ids = { playerId, betId: `bet-${n}` }
  return {
    transaction: transaction({
      ...ids,
      operation: 'settlement',
      transactionId: `settle-${n}`,
      amount,
      type: 'BET_PAID',
      delta: amount,
      walletTransactionId: null,
    }),
    bet: bet({ ...ids, credits: { BET_PAID: live(amount) }, revision: 2, ...betFields }),
    balance: { currency: 'EUR', delta: amount, floor: null },
    request: {},
  }
}

/** Time limits of the store in these tests: far beyond what a test takes, so that none is met by accident. */
export const patience = { timeoutMs: 120_000, lockTimeoutMs: 120_000 }

/**
 * Makes a call, and once it stands lets the store believe that `timeoutMs` is over. So no test depends on how fast this
 * machine is.
 *
 * @param stands whether the call has come to where it will not come any further
 */
export async function outOfTime<T>(
  call: () => Promise<T>,
  stands: () => boolean | Promise<boolean>,
): Promise<T | Error> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const end = endOf(call())
    await until(stands)
    // What the driver has begun to send in this turn is sent.
    await new Promise(setImmediate)
    vi.advanceTimersByTime(patience.timeoutMs)
    return await end
  } finally {
    vi.useRealTimers()
  }
}

/** How a call ended: its result, or what it threw. */
export async function endOf<T>(promise: Promise<T>): Promise<T | Error> {
  return promise.catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
}
