/** The kit's hooks on a real MariaDB, for every kind of players' table. */
import {
  createMysqlStore,
  type MysqlPlayersTable,
  type MysqlStore,
  type MysqlStoreOptions,
  migrateMysql,
} from 'bet-wallet/mysql'
import type { StoreHarness } from 'bet-wallet/testing'
import mysql, { type Pool, type PoolOptions } from 'mysql2/promise'
import { exactCollation, isMysql, processList } from '../../mysql/engine.js'
import * as kit from '../harness.js'
import { holdCommit, holdPlayer, installHold } from './hold-commit.js'

export type Accounts = kit.Accounts<MysqlPlayersTable>

export const ownTable: Accounts = {
  name: "the library's own table",
  ddl: null,
  columnOf: kit.unchanged,
  add: 'UPDATE SCHEMA.wallet_players SET balance = balance + CAST(? AS decimal(38,18)) WHERE player_id = ?',
}

export const decimalAccounts: Accounts = {
  name: 'decimal(20,4), keyed by a varchar that compares exactly',
  ddl: `CREATE TABLE SCHEMA.accounts (serial bigint AUTO_INCREMENT PRIMARY KEY,
    \`accountNo\` varchar(300) CHARACTER SET utf8mb4 COLLATE ${exactCollation} NOT NULL UNIQUE,
    iso char(3) NOT NULL, available decimal(20,4) NOT NULL) ENGINE = InnoDB`,
  players: schema => ({
    table: `${schema}.accounts`,
    id: 'accountNo',
    idCollation: exactCollation,
    currency: 'iso',
    balance: 'available',
  }),
  columnOf: kit.unchanged,
  add: 'UPDATE SCHEMA.accounts SET available = available + CAST(? AS decimal(20,4)) WHERE accountNo = ?',
  limits: { digits: 20, scale: 4 },
}

export const textAccounts: Accounts = {
  name: 'text, keyed by a varchar of latin1 that folds case',
  ddl: `CREATE TABLE SCHEMA.accounts (id varchar(100) PRIMARY KEY, currency varchar(16) NOT NULL,
    balance varchar(60) NOT NULL) ENGINE = InnoDB CHARACTER SET latin1`,
  players: schema => ({
    table: `${schema}.accounts`,
    id: 'id',
    idCollation: 'latin1_swedish_ci',
    currency: 'currency',
    balance: 'balance',
    balanceType: 'text',
  }),
  columnOf: kit.unchanged,
  add: `UPDATE SCHEMA.accounts SET balance = CAST(CAST(balance AS decimal(60,18)) + CAST(? AS decimal(60,18)) AS char)
    WHERE id = ?`,
  playerIds: 'plain',
}

export const minorUnitAccounts: Accounts = {
  name: 'bigint of minor units, keyed by the default collation',
  ddl: `CREATE TABLE SCHEMA.accounts (id varchar(255) PRIMARY KEY, currency varchar(16) NOT NULL, cents bigint NOT NULL)
    ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`,
  players: schema => ({
    table: `${schema}.accounts`,
    id: 'id',
    idCollation: 'utf8mb4_general_ci',
    currency: 'currency',
    balance: 'cents',
    balanceType: 'minor-units',
    minorUnits: 2,
  }),
  columnOf: kit.hundredths,
  add: 'UPDATE SCHEMA.accounts SET cents = cents + CAST(? AS signed) WHERE id = ?',
  limits: { digits: 18, scale: 2 },
  playerIds: 'plain',
}

const decimalsOf = (idType: 'uuid' | 'bigint', column: string, name: string): Accounts => ({
  name,
  ddl: `CREATE TABLE SCHEMA.accounts (id ${column} PRIMARY KEY, currency varchar(16) NOT NULL, balance decimal(18,2) NOT NULL)
    ENGINE = InnoDB`,
  players: schema => ({
    ...{ table: `${schema}.accounts`, id: 'id', idType, currency: 'currency', balance: 'balance' },
  }),
  columnOf: kit.unchanged,
  add: 'UPDATE SCHEMA.accounts SET balance = balance + CAST(? AS decimal(18,2)) WHERE id = ?',
  limits: { digits: 18, scale: 2 },
})

/** For {@link withIds}. */
export const uuidAccounts: Accounts = isMysql
  ? {
      ...decimalsOf('uuid', 'binary(16)', 'decimal(18,2), keyed by UUIDs in binary(16)'),
      idOf: uuid => Buffer.from(uuid.replaceAll('-', ''), 'hex'),
    }
  : decimalsOf('uuid', 'uuid', "decimal(18,2), keyed by MariaDB's type uuid")
export const bigintAccounts = decimalsOf('bigint', 'bigint', 'decimal(18,2), keyed by a bigint')

export const reservingAccounts = [
  kit.reserving(decimalAccounts, 'available'),
  kit.reserving(minorUnitAccounts, 'cents'),
]

export const minorUnitAccountsPerCurrency = kit.perCurrency(minorUnitAccounts, 'id, currency')

export const enumAccountsPerCurrency = kit.perCurrency(
  {
    ...decimalAccounts,
    name: 'an enum',
    ddl: `${decimalAccounts.ddl}`.replace('char(3)', "enum('JPY', 'EUR', 'SEK')"),
  },
  '`accountNo`, iso',
)

/** As bavix/laravel-wallet keeps them. */
const decimalMinorUnitAccounts: Accounts = {
  ...minorUnitAccounts,
  name: 'decimal(18,0) of minor units',
  ddl: minorUnitAccounts.ddl?.replace('bigint', 'decimal(18,0)') ?? null,
}

export const everyAccounts = [
  ...[ownTable, decimalAccounts, textAccounts],
  ...[minorUnitAccounts, decimalMinorUnitAccounts],
]

export interface StoreOnServer extends kit.StoreOnServer<MysqlStore> {
  /** The numbers of its connections. */
  connections(): Promise<readonly number[]>
}
export type Opened = kit.Opened<MysqlStore, StoreOnServer>

export interface HarnessOptions {
  /** For PAM code, and for preparing the database. */
  pool: Pool
  /** For the connections of the n-th store, on its server. Default: `pool`. */
  adminOf?: (number: number) => Pool
  /** Of the server that the n-th store of a database connects to. */
  configOf: (number: number) => PoolOptions
  accounts: Accounts
  /** Options of the store, beside schema and players. */
  options?: Omit<MysqlStoreOptions, 'schema' | 'players'>
  /** Opens a store. Default: over a pool of mysql2. */
  openStore?: (config: PoolOptions, options: MysqlStoreOptions) => StoreOnServer | Promise<StoreOnServer>
}

function openOverPool(config: PoolOptions, options: MysqlStoreOptions): StoreOnServer {
  const pool = mysql.createPool({ connectionLimit: 8, connectTimeout: 120_000, ...config })
  const connections = new Set<number>()
  pool.pool.on('connection', connection => connections.add(connection.threadId))
  return {
    store: createMysqlStore(pool, options),
    connections: async () => [...connections],
    end: () => pool.end().catch(() => {}),
  }
}

/** A harness with every hook. */
export function mysqlHarness({
  pool: admin,
  adminOf = () => admin,
  configOf,
  accounts,
  options = {},
  openStore = openOverPool,
}: HarnessOptions): StoreHarness<Opened> {
  const optionsOf = (schema: string): MysqlStoreOptions => ({
    schema,
    ...kit.timeouts,
    ...(accounts.players === undefined ? {} : { players: accounts.players(schema) }),
    ...options,
  })
  const query = async (text: string, values: readonly unknown[] = []) =>
    (await admin.query({ sql: text, rowsAsArray: true }, [...values]))[0] as unknown as unknown[][]

  const engine: kit.Engine<MysqlStore, StoreOnServer, MysqlPlayersTable> = {
    query,
    async transaction(...statements) {
      const connection = await admin.getConnection()
      try {
        await againAfterDeadlock(async () => {
          await connection.query('BEGIN')
          for (const [text, values] of statements) await connection.query(text, [...values])
          await connection.query('COMMIT')
        })
      } catch (error) {
        await connection.query('ROLLBACK')
        throw error
      } finally {
        connection.release()
      }
    },
    quoted: name => name,
    ownTable: schema => ({
      ...{ table: `${schema}.wallet_players`, id: 'player_id', currency: 'currency', balance: 'balance' },
    }),
    async createSchema(schema, ddl) {
      await admin.query(`CREATE DATABASE ${schema}`)
      if (ddl !== null) await admin.query(ddl)
      await migrateMysql(admin, optionsOf(schema))
      await installHold(admin, schema)
    },
    connect: async (schema, number) => openStore(configOf(number), optionsOf(schema)),
    async terminate({ onServer }) {
      for (const [number, { connections }] of onServer.entries()) {
        const server = adminOf(number)
        const isConnected = async () => {
          const [rows] = await server.query(
            { sql: `SELECT ID FROM ${processList} WHERE ID IN (?)`, rowsAsArray: true },
            [[0, ...(await connections())]],
          )
          return (rows as unknown as [number][]).map(([id]) => id)
        }
        // A commit that loses its connection may open another one.
        for (let ids = await isConnected(); ids.length > 0; ids = await isConnected())
          for (const id of ids) await server.query(`KILL ${id}`).catch(() => {})
      }
    },
    async empty(schema, players) {
      // Not DELETE: an INSERT of an id that was deleted and not purged yet locks the gap beside it until its COMMIT.
      for (const own of ['wallet_transactions', 'wallet_bets']) await admin.query(`TRUNCATE ${schema}.${own}`)
      await admin.query(`DELETE FROM ${players}`)
    },
    recordedBalance: schema => `SELECT balance_after FROM ${schema}.wallet_transactions WHERE id = ?`,
    creditBet: schema => `CALL ${schema}.credit_bet_v1(?, ?, ?)`,
    holdCommit: schema => holdCommit(admin, schema),
    holdPlayer: (row, id) => holdPlayer(admin, row, id),
  }
  // Of a single server.
  return { ...kit.databaseHarness(engine, accounts), stopReplication: null }
}

/**
 * As docs/mysql.md tells a PAM: MySQL takes it for a deadlock when a commit changes the row that it has locked, and another
 * writer waits for that row in REPEATABLE READ.
 */
async function againAfterDeadlock(write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if ((error as { errno?: unknown }).errno !== 1213) throw error
    await againAfterDeadlock(write)
  }
}
