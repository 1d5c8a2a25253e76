/** A store for tests of failures: its own schema and pool, and a second pool to observe and interfere. */
import mysql, { type Pool, type PoolConnection, type PoolOptions } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import type { Bet, Transaction, WalletChanges } from '../../../src/store.js'
import {
  createMysqlStore,
  type MysqlStore,
  type MysqlStoreOptions,
  migrateMysql,
} from '../../../src/stores/mysql/index.js'
import { sharedMariadb } from '../../mariadb/fresh-database.js'
import { noServer, processList } from '../../mysql/engine.js'

export interface WalletSetup {
  /** For observing and interfering. */
  admin: Pool
  /** The server that the store connects to. */
  config: PoolOptions
  options?: Omit<MysqlStoreOptions, 'schema'>
  /** SQL before the migration, with SCHEMA for the schema: creates and fills the operator's players' table. */
  ddl?: readonly string[]
}

export interface Wallet {
  readonly schema: string
  readonly pool: Pool
  readonly store: MysqlStore
  /** A row is an array of columns. SCHEMA stands for the schema. */
  rows(text: string, values?: unknown[]): Promise<unknown[][]>
  /** Any statement of another session. */
  run(text: string): Promise<void>
  /** The recorded transactions: `placebet t-1 -30`. */
  recorded(): Promise<string[]>
  balanceOf(playerId: string): Promise<string>
  /** Another session, on its own connection. */
  otherSession(): Promise<PoolConnection>
  /**
   * The numbers of the store's connections that wait for `GET_LOCK` now. One that merely runs may still load the
   * trigger that takes the lock: MariaDB keeps a trigger whose loading was killed as one that cannot be parsed.
   */
  waiting(): Promise<number[]>
  close(): Promise<void>
}

let schemas = 0

/** With the library's own players' table: alice, bob and carol have 100 EUR each. */
export async function openWallet({ admin, config, options = {}, ddl = [] }: WalletSetup): Promise<Wallet> {
  schemas += 1
  const schema = `wallet_${process.pid}_${schemas}`
  const inSchema = (text: string) => text.replaceAll('SCHEMA', schema)
  await admin.query(`CREATE DATABASE ${schema}`)
  for (const statement of ddl) await admin.query(inSchema(statement))
  const { players, ...others } = options
  const settings: MysqlStoreOptions = {
    timeoutMs: 120_000,
    ...others,
    schema,
    ...(players && { players: { ...players, table: inSchema(players.table) } }),
  }
  await migrateMysql(admin, settings)
  if (players === undefined)
    await admin.query(
      inSchema(
        "INSERT INTO SCHEMA.wallet_players VALUES ('alice', 'EUR', 100), ('bob', 'EUR', 100), ('carol', 'EUR', 100)",
      ),
    )
  const pool = mysql.createPool({ connectionLimit: 8, connectTimeout: 120_000, ...config })
  const connections = new Set<number>()
  pool.pool.on('connection', connection => connections.add(connection.threadId))
  const store = createMysqlStore(pool, settings)
  const sessions: PoolConnection[] = []
  const rows = async (text: string, values: unknown[] = []) =>
    (await admin.query({ sql: inSchema(text), rowsAsArray: true }, values))[0] as unknown as unknown[][]
  const { table, id, balance } = settings.players ?? {
    table: `${schema}.wallet_players`,
    id: 'player_id',
    balance: 'balance',
  }
  return {
    schema,
    pool,
    store,
    rows,
    run: async text => void (await admin.query(inSchema(text))),
    recorded: async () =>
      (
        await rows(
          'SELECT operation, transaction_id, CAST(delta AS char) FROM SCHEMA.wallet_transactions ORDER BY transaction_id',
        )
      ).map(([operation, transactionId, delta]) => `${operation} ${transactionId} ${Number(delta)}`),
    balanceOf: async playerId =>
      String(
        (await rows(`SELECT CAST(${balance} AS char) FROM ${table} WHERE ${id} = ?`, [playerId]))[0]?.[0],
      ).replace(/[.]0+$/, ''),
    async otherSession() {
      const session = await admin.getConnection()
      sessions.push(session)
      return session
    },
    waiting: async () =>
      (
        (await rows(`SELECT ID FROM ${processList} WHERE STATE = 'User lock' AND ID IN (?)`, [
          [0, ...connections],
        ])) as [number][]
      ).map(([number]) => number),
    async close() {
      for (const session of sessions) session.destroy()
      await pool.end()
      await admin.query(`DROP DATABASE ${schema}`)
    },
  }
}

/** The server that all files share. Known once the first test runs. */
export interface SharedServer {
  admin: Pool
  config: PoolOptions
  /** Opens a wallet, which is closed after its test. */
  open(setup?: Omit<WalletSetup, 'admin' | 'config'>): Promise<Wallet>
}

/** Tests on the server that all files share: skipped with the reason where there is none. */
export function describeOnServer(name: string, tests: (server: SharedServer) => void): void {
  const reason = noServer === null ? '' : ` (skipped: ${noServer})`
  describe.skipIf(noServer !== null)(`${name}${reason}`, () => {
    const wallets: Wallet[] = []
    const server = {
      async open(setup = {}) {
        const wallet = await openWallet({ ...server, ...setup })
        wallets.push(wallet)
        return wallet
      },
    } as SharedServer
    beforeAll(async () => {
      server.config = (await sharedMariadb()).config
      server.admin = mysql.createPool({ ...server.config, connectionLimit: 20, connectTimeout: 120_000 })
    })
    afterEach(async () => {
      for (const wallet of wallets.splice(0)) await wallet.close()
    })
    afterAll(() => server.admin.end())
    tests(server)
  })
}

const date = '2026-11-21T10:00:00.000Z'

export const transaction = (fields: Partial<Transaction> = {}): Transaction => ({
  ...{ operation: 'placebet', transactionId: 't-1', playerId: 'alice', betId: 'b-1', amount: '30' },
  ...{
    currency: 'EUR',
    type: null,
    delta: '-30',
    accountCurrency: 'EUR',
    refusal: null,
    reason: 'ACCEPTED',
    transactionDate: date,
  },
  walletTransactionId: null,
  ...fields,
})

export const bet = (fields: Partial<Bet> = {}): Bet => ({
  ...{
    betId: 'b-1',
    playerId: 'alice',
    currency: 'EUR',
    stake: '30',
    status: 'PLACED',
    credits: {},
    revision: 1,
  },
  ...fields,
})

/** A placebet of 30 EUR. */
export function placeBet(number: string | number = 1, playerId = 'alice', amount = '30'): WalletChanges {
  const ids = { transactionId: `t-${number}`, betId: `b-${number}`, playerId }
  return {
    transaction: transaction({ ...ids, amount, delta: `-${amount}` }),
    bet: bet({ betId: ids.betId, playerId, stake: amount }),
    credit: null,
    account: { currency: 'EUR', delta: `-${amount}`, floor: '0' },
    request: {},
  }
}

/** A settlement of a bet that {@link placeBet} has placed. */
export function settle(number: string | number = 1, playerId = 'alice', amount = '60'): WalletChanges {
  const ids = { transactionId: `s-${number}`, betId: `b-${number}`, playerId }
  return {
    transaction: transaction({ ...ids, operation: 'settlement', type: 'BET_PAID', amount, delta: amount }),
    bet: bet({
      ...{ betId: ids.betId, playerId, revision: 2 },
      credits: { BET_PAID: { live: amount, reversed: '0', owed: '0' } },
    }),
    credit: null,
    account: { currency: 'EUR', delta: amount, floor: null },
    request: {},
  }
}

export const keysOf = ({ transaction: { operation, transactionId, playerId, betId } }: WalletChanges) => ({
  ...{ operation, transactionId, playerId, betId },
})
