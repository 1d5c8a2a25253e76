/**
 * A wallet for tests of failures: its own schema, pool and store, and a second pool to observe and interfere.
 */
import pg from 'pg'
import { afterAll, afterEach, expect, vi } from 'vitest'
import type { Bet, Transaction, WalletChanges } from '../../../src/store.js'
import {
  createPostgresStore,
  migratePostgres,
  type PostgresStore,
  type PostgresStoreOptions,
} from '../../../src/stores/postgres/index.js'
import { bet, live, transaction } from '../../fixtures.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { until } from '../../until.js'

export interface WalletSetup {
  /** For observing and interfering. It does not go through a proxy. */
  admin: pg.Pool
  /** The server that the store connects to. */
  url: string
  /** Each has 100 EUR. Default: alice, bob and carol. */
  players?: readonly string[]
  options?: Omit<PostgresStoreOptions, 'schema'>
  /**
   * SQL before the migration, with SCHEMA for the schema: creates and fills the operator's players' table.
   */
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
  /** The recorded transactions, seen by another connection: `placebet place-1 -30`. */
  recorded(): Promise<string[]>
  /** Another session, on its own connection. */
  otherSession(): Promise<pg.PoolClient>
  /** From now on commits of this player stop when all rows are written and nothing is durable. */
  stopCommitsOf(playerId: string): Promise<Stop>
  /** The process ids of the store's connections that wait for a lock now. */
  waiting(): Promise<number[]>
  close(): Promise<void>
}

export interface Stop {
  /** Resolves with the process id of the backend once a commit has stopped. */
  reached(): Promise<number>
  /** Lets all commits continue. */
  release(): Promise<void>
}

let schemas = 0

/** Resolves once no connection is borrowed or waited for. */
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
  const settings = {
    timeoutMs: 120_000,
    ...options,
    schema,
    ...(own && { players: own }),
  }
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
  // Of the connections that these tests break.
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

/** A database for a test file. What a test opens is closed after it, the last first. */
export async function databaseOfFile(options?: Parameters<typeof freshDatabase>[0]) {
  const { pool: admin, url, drop } = await freshDatabase(options)
  const opened: { close(): Promise<unknown> }[] = []
  afterEach(async () => {
    for (const each of opened.splice(0).reverse()) await each.close()
  })
  afterAll(drop)
  async function open(setup: Partial<WalletSetup> = {}): Promise<Wallet> {
    const wallet = await openWallet({ admin, url, ...setup })
    opened.push(wallet)
    return wallet
  }
  return { admin, url, opened, open }
}

/** Every balance is the initial one plus the recorded deltas, and every bet has a transaction. */
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
  /** The number in the ids: `place-7`, `bet-7`. */
  n?: number
  amount?: string
  fields?: Partial<Transaction>
  bet?: Partial<Bet>
}

/** The changes of an accepted placebet. */
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
    credit: null,
    account: { currency: 'EUR', delta: `-${amount}`, floor: '0' },
    request: {},
  }
}

/** The changes of a settlement of the bet of `placing`. */
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
    credit: null,
    account: { currency: 'EUR', delta: amount, floor: null },
    request: {},
  }
}

/** Time limits of the store that no test reaches by accident. */
export const longTimeouts = { timeoutMs: 120_000, lockTimeoutMs: 120_000 }

/**
 * Makes a call, and once it is stuck lets the clock of the store pass `timeoutMs`: no test depends on the
 * speed of the machine.
 *
 * @param isStuck whether the call has reached the point that it cannot pass
 */
export async function outOfTime<T>(
  call: () => Promise<T>,
  isStuck: () => boolean | Promise<boolean>,
): Promise<T | Error> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const end = endOf(call())
    await until(isStuck)
    // Lets the driver send what it has queued in this turn.
    await new Promise(setImmediate)
    vi.advanceTimersByTime(longTimeouts.timeoutMs)
    return await end
  } finally {
    vi.useRealTimers()
  }
}

/** How a call ended: its result, or its error. */
export async function endOf<T>(promise: Promise<T>): Promise<T | Error> {
  return promise.catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
}
