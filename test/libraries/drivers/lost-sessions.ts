/** The drivers of docs/postgres.md in one shape, and a wallet over each whose sessions the tests end. */
import { join } from 'node:path'
import {
  createPostgresStore,
  fromKnex,
  fromPostgresJs,
  fromSlonik,
  fromTypeOrm,
  migratePostgres,
  type PendingCommit,
  type PostgresClient,
  type PostgresStore,
  type Query,
} from 'bet-wallet/postgres'
import pg from 'pg'
import { handlePlaceBet } from '../../../src/handlers.js'
import { root } from '../../docs/pages.js'
import { placeBet } from '../../fixtures.js'
import type { Database } from '../../postgres/server.js'

/** What a driver opens. */
export interface Opened {
  client: PostgresClient
  /** A database transaction of the PAM's own on the same pool. */
  own(work: (query: (text: string) => Promise<unknown>) => Promise<unknown>): Promise<unknown>
  /** A statement of the PAM's own. */
  ask(text: string): PromiseLike<unknown>
  end(): Promise<unknown>
  /** How many connections the driver has seen closed, where it tells. */
  closes?: () => number
}

const library = (path: string) => import(join(root, 'test/libraries/node_modules', path))

interface PostgresJsOptions {
  max: number
  max_pipeline?: number
  idle_timeout?: number
  max_lifetime?: number
}

function settingsOf(options: PostgresJsOptions) {
  let closed = 0
  const onclose = () => {
    closed += 1
  }
  return {
    // With its own query for types after each login, postgres.js 3.4.9 ends the process when a session ends in it.
    settings: { onnotice() {}, onclose, fetch_types: false, connect_timeout: 2, ...options },
    closes: () => closed,
  }
}

async function openPostgresJs(url: string, options: PostgresJsOptions): Promise<Opened> {
  const { default: postgres } = await library('postgres/src/index.js')
  const { settings, closes } = settingsOf(options)
  const sql = postgres(url, settings)
  return {
    closes,
    client: fromPostgresJs(sql),
    own: work => sql.begin((tx: typeof sql) => work(text => tx.unsafe(text))),
    ask: text => sql.unsafe(text),
    end: () => sql.end({ timeout: 1 }),
  }
}

export type Open = (url: string, options: PostgresJsOptions) => Promise<Opened>

export const drivers: Readonly<Record<string, Open>> = {
  async pg(url, { max }) {
    const pool = new pg.Pool({ connectionString: url, max })
    pool.on('connect', connection => connection.on('error', () => {}))
    return {
      client: pool,
      async own(work) {
        const connection = await pool.connect()
        try {
          await connection.query('BEGIN')
          await work(text => connection.query(text))
          await connection.query('COMMIT')
        } catch (error) {
          await connection.query('ROLLBACK').catch(() => {})
          throw error
        } finally {
          connection.release()
        }
      },
      ask: text => pool.query(text),
      end: () => pool.end(),
    }
  },
  'postgres.js': openPostgresJs,
  async 'Drizzle over postgres.js'(url, options) {
    const [{ drizzle }, { sql }, { default: postgres }] = await Promise.all([
      library('drizzle-orm/postgres-js/index.js'),
      library('drizzle-orm/index.js'),
      library('postgres/src/index.js'),
    ])
    const { settings, closes } = settingsOf(options)
    const db = drizzle(postgres(url, settings))
    return {
      closes,
      client: fromPostgresJs(db.$client),
      own: work => db.transaction((tx: typeof db) => work(text => tx.execute(sql.raw(text)))),
      ask: text => db.execute(sql.raw(text)),
      end: () => db.$client.end({ timeout: 1 }),
    }
  },
  async Knex(url, { max }) {
    const { default: createKnex } = await library('knex/knex.mjs')
    const knex = createKnex({ client: 'pg', connection: url, pool: { min: 0, max } })
    return {
      client: fromKnex(knex),
      own: work => knex.transaction((tx: typeof knex) => work(text => tx.raw(text))),
      ask: text => knex.raw(text),
      end: () => knex.destroy(),
    }
  },
  async TypeORM(url, { max }) {
    const { DataSource } = await library('typeorm/index.mjs')
    const source = await new DataSource({ type: 'postgres', url, extra: { max } }).initialize()
    return {
      client: fromTypeOrm(source),
      own: work => source.transaction((manager: typeof source) => work(text => manager.query(text))),
      ask: text => source.query(text),
      end: () => source.destroy(),
    }
  },
  async Slonik(url, { max }) {
    const { createPool, sql } = await library('slonik/dist/index.js')
    const pool = await createPool(url, { maximumPoolSize: max })
    const of = (text: string) => ({ ...sql.unsafe``, sql: text })
    return {
      client: fromSlonik(pool, sql),
      own: work => pool.transaction((tx: typeof pool) => work(text => tx.query(of(text)))),
      ask: text => pool.query(of(text)),
      end: () => pool.end(),
    }
  },
}

/** An error with its causes. */
function wordsOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause === undefined ? message : `${message}: ${wordsOf(cause)}`
}

let wallets = 0

export interface SessionsWallet extends Opened {
  store: PostgresStore
  schema: string
  /** Places bet `n` of a player of its own: whether it was answered ok, or the fault in words. */
  place(n: number): Promise<boolean | string>
  /** Waits until the server has ended the session. */
  kill(pid: unknown): Promise<void>
  /** Sessions of this wallet. */
  pids(): Promise<unknown[]>
  problems(): Promise<Problems>
  /** What no handler caught. */
  crashes: string[]
  close(): Promise<void>
}

export interface Problems {
  /** Answered ok and not recorded. */
  lost: string[]
  /** Rows of the hook without their transaction. */
  orphans: string[]
  /** Transactions without both of their rows. */
  incomplete: string[]
  wrongBalances: string[]
  crashes: string[]
}

export const none: Problems = { lost: [], orphans: [], incomplete: [], wrongBalances: [], crashes: [] }

/** A hook that writes two rows per request, and calls `between` before, between and after them. */
export type Moments = (
  moment: 'before' | 'between' | 'after',
  query: Query,
  pending: readonly PendingCommit[],
) => Promise<unknown> | undefined

export const pidOf = async (query: Query): Promise<unknown> => {
  const { rows } = await query('SELECT pg_backend_pid() AS pid')
  return (rows[0] as { pid: unknown }).pid
}

export async function openSessionsWallet(
  database: Database,
  open: Open,
  {
    moments = () => undefined,
    url = database.url,
    ...options
  }: PostgresJsOptions & { moments?: Moments; url?: string },
): Promise<SessionsWallet> {
  wallets += 1
  const { pool: admin } = database
  const timeoutMs = 20_000
  const schema = `sessions_${wallets}`
  await migratePostgres(admin, { schema })
  await admin.query(`CREATE TABLE ${schema}.ledger (reference text, half int);
    INSERT INTO ${schema}.players SELECT 'player-' || n, 'EUR', 100 FROM generate_series(0, 2000) n`)
  const location = new URL(url)
  location.searchParams.set('application_name', schema)
  const opened = await open(location.href, options)
  const write = async (query: Query, pending: readonly PendingCommit[], half: number) => {
    for (const { walletTransactionId } of pending)
      await query(`INSERT INTO ${schema}.ledger VALUES ($1, $2)`, [walletTransactionId, half])
  }
  const store = createPostgresStore(opened.client, {
    ...{ schema, timeoutMs, lockTimeoutMs: timeoutMs },
    async withinTransaction(query, pending) {
      await moments('before', query, pending)
      await write(query, pending, 1)
      await moments('between', query, pending)
      await write(query, pending, 2)
      await moments('after', query, pending)
    },
  })
  await store.ready()
  const crashes: string[] = []
  const onCrash = (error: unknown) => void crashes.push(String((error as Error)?.stack ?? error))
  process.on('uncaughtException', onCrash)
  process.on('unhandledRejection', onCrash)
  const answered: string[] = []
  const texts = async (text: string) => {
    const { rows } = await admin.query<{ found: string }>(text)
    return rows.map(({ found }) => found)
  }
  return {
    ...opened,
    ...{ store, schema, crashes },
    async place(n) {
      const ids = { playerId: `player-${n}`, transactionId: `place-${n}`, betId: `bet-${n}` }
      try {
        const { ok } = await handlePlaceBet(store, placeBet(ids))
        if (ok) answered.push(ids.transactionId)
        return ok
      } catch (error) {
        return wordsOf(error)
      }
    },
    async kill(pid) {
      await admin.query('SELECT pg_terminate_backend($1, 10000)', [pid])
    },
    async pids() {
      return texts(`SELECT pid AS found FROM pg_stat_activity WHERE application_name = '${schema}'`)
    },
    async problems() {
      const recorded = new Set(await texts(`SELECT transaction_id AS found FROM ${schema}.transactions`))
      return {
        lost: answered.filter(id => !recorded.has(id)),
        orphans: await texts(`SELECT reference AS found FROM ${schema}.ledger
          WHERE reference NOT IN (SELECT wallet_transaction_id FROM ${schema}.transactions)`),
        incomplete: await texts(`SELECT transaction_id AS found FROM ${schema}.transactions t
          WHERE (SELECT array_agg(half ORDER BY half) FROM ${schema}.ledger
            WHERE reference = t.wallet_transaction_id) IS DISTINCT FROM '{1,2}'::int[]`),
        wrongBalances: await texts(`SELECT player_id AS found FROM ${schema}.players p
          WHERE balance <> 100 + (SELECT coalesce(sum(delta), 0) FROM ${schema}.transactions t
            WHERE t.player_id = p.player_id)`),
        crashes,
      }
    },
    async close() {
      process.off('uncaughtException', onCrash)
      process.off('unhandledRejection', onCrash)
      await opened.end().catch(() => {})
    },
  }
}
