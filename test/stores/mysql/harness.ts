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
import type { Decimal, Player } from '../../../src/store.js'
import { exactCollation, isMysql, processList } from '../../mysql/engine.js'
import { holdCommit, holdPlayer, installHold } from './hold-commit.js'

/** A players' table: the library's own, or one of a PAM. */
export interface Accounts {
  name: string
  /** `null`: the library's own table. `SCHEMA` stands for the schema of the test. */
  ddl: string | null
  players?: (schema: string) => MysqlPlayersTable
  /** The amount in the unit of the column. */
  columnOf(amount: Decimal): string
  /** The value of the id column. Default: the playerId. */
  idOf?(playerId: string): string | Buffer
  /** Adds an amount, in the unit of the column, to the balance of a player. */
  add: string
  limits?: { digits: number; scale: number }
  playerIds?: 'plain'
}

const unchanged = (amount: Decimal) => amount
/** In hundredths, for every currency: the PAM of this test stores them for the yen too. */
function hundredths(amount: Decimal): string {
  const [whole = '0', fraction = ''] = amount.split('.')
  if (/[1-9]/.test(fraction.slice(2))) throw new Error(`${amount} is not a whole number of hundredths`)
  return BigInt(`${whole}${fraction.slice(0, 2).padEnd(2, '0')}`).toString()
}

export const ownTable: Accounts = {
  name: "the library's own table",
  ddl: null,
  columnOf: unchanged,
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
  columnOf: unchanged,
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
  columnOf: unchanged,
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
  columnOf: hundredths,
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
  columnOf: unchanged,
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

export const everyAccounts = [ownTable, decimalAccounts, textAccounts, minorUnitAccounts]

/** A store with connections of its own. */
export interface StoreOnServer {
  store: MysqlStore
  /** The numbers of its connections. */
  connections(): Promise<readonly number[]>
  /** Closes them. */
  end(): Promise<unknown>
}

export interface Opened {
  store: MysqlStore
  schema: string
  onServer: StoreOnServer[]
}

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
  const pool = mysql.createPool({ connectionLimit: 8, ...config })
  const connections = new Set<number>()
  pool.pool.on('connection', connection => connections.add(connection.threadId))
  return {
    store: createMysqlStore(pool, options),
    connections: async () => [...connections],
    end: () => pool.end().catch(() => {}),
  }
}

let schemas = 0

/** Puts the test's schema in place of SCHEMA. */
const inSchema = (text: string, schema: string) => text.replaceAll('SCHEMA', schema)

/** A harness with every hook. */
export function mysqlHarness({
  pool: admin,
  adminOf = () => admin,
  configOf,
  accounts,
  options = {},
  openStore = openOverPool,
}: HarnessOptions): StoreHarness<Opened> {
  async function connect({ schema, onServer }: Pick<Opened, 'schema' | 'onServer'>): Promise<MysqlStore> {
    const opened = await openStore(configOf(onServer.length), optionsOf(schema))
    onServer.push(opened)
    return opened.store
  }

  const idOf = (playerId: string) => accounts.idOf?.(playerId) ?? playerId

  const optionsOf = (schema: string): MysqlStoreOptions => ({
    schema,
    // A commit that the kit holds must not time out. One whose player the kit holds must.
    timeoutMs: 120_000,
    lockTimeoutMs: 2_000,
    ...(accounts.players === undefined ? {} : { players: accounts.players(schema) }),
    ...options,
  })

  /** Empty schemas for reuse: creating one takes longer than most cases. */
  const free: string[] = []
  /** Those with the rule of `refuseBets`. */
  const refusing = new Set<string>()

  const tableOf = (schema: string): MysqlPlayersTable =>
    optionsOf(schema).players ?? {
      table: `${schema}.wallet_players`,
      id: 'player_id',
      currency: 'currency',
      balance: 'balance',
    }

  async function createSchema(): Promise<string> {
    schemas += 1
    const schema = `kit_${process.pid}_${schemas}`
    await admin.query(`CREATE DATABASE ${schema}`)
    if (accounts.ddl !== null) await admin.query(inSchema(accounts.ddl, schema))
    await migrateMysql(admin, optionsOf(schema))
    await installHold(admin, schema)
    return schema
  }

  async function open(players: readonly Player[]): Promise<Opened> {
    const schema = free.pop() ?? (await createSchema())
    const { table, id, currency, balance } = tableOf(schema)
    const rows = players.map(player => [
      ...[idOf(player.playerId), player.currency, accounts.columnOf(player.balance)],
    ])
    if (rows.length > 0)
      await admin.query(`INSERT INTO ${table} (${id}, ${currency}, ${balance}) VALUES ?`, [rows])
    const opened = { schema, onServer: [] }
    return { ...opened, store: await connect(opened) }
  }

  function columnOf(amount: Decimal): string {
    return amount.startsWith('-') ? `-${accounts.columnOf(amount.slice(1))}` : accounts.columnOf(amount)
  }

  return {
    open,
    reopen: connect,

    async close(opened) {
      const { schema, onServer } = opened
      await terminate(opened)
      await Promise.all(onServer.map(({ end }) => end()))
      const { table } = tableOf(schema)
      if (refusing.delete(schema)) await admin.query(`ALTER TABLE ${table} DROP CONSTRAINT kit`)
      // Not DELETE: an INSERT of an id that was deleted and not purged yet locks the gap beside it until its COMMIT.
      for (const own of ['wallet_transactions', 'wallet_bets']) await admin.query(`TRUNCATE ${schema}.${own}`)
      await admin.query(`DELETE FROM ${table}`)
      free.push(schema)
    },

    async crash(opened) {
      await terminate(opened)
      return await connect(opened)
    },

    async depositExternally(opened, playerId, amount) {
      await againAfterDeadlock(() =>
        admin.query(inSchema(accounts.add, opened.schema), [columnOf(amount), idOf(playerId)]),
      )
    },

    async settleExternally(opened, { playerId, betId, type, amount }) {
      const connection = await admin.getConnection()
      try {
        await againAfterDeadlock(async () => {
          await connection.query('BEGIN')
          await connection.query(inSchema(accounts.add, opened.schema), [columnOf(amount), idOf(playerId)])
          await connection.query(`CALL ${opened.schema}.credit_bet_v1(?, ?, ?)`, [betId, type, amount])
          await connection.query('COMMIT')
        })
      } catch (error) {
        await connection.query('ROLLBACK')
        throw error
      } finally {
        connection.release()
      }
    },

    holdCommit: ({ schema }) => holdCommit(admin, schema),

    holdPlayer({ schema }, playerId) {
      const { table, id } = tableOf(schema)
      return holdPlayer(admin, `${table} WHERE ${id} = ?`, idOf(playerId))
    },

    async changeCurrency({ schema }, playerId, code) {
      const { table, id, currency } = tableOf(schema)
      await admin.query(`UPDATE ${table} SET ${currency} = ? WHERE ${id} = ?`, [code, idOf(playerId)])
    },

    // A rule of the table about its balance: it must not fall.
    async refuseBets({ schema }, playerId) {
      const { table, id, balance } = tableOf(schema)
      const [rows] = await admin.query(
        { sql: `SELECT ${balance} FROM ${table} WHERE ${id} = ?`, rowsAsArray: true },
        [idOf(playerId)],
      )
      const minimum = (rows as unknown as [string][])[0]?.[0]
      refusing.add(schema)
      await admin.query(
        `ALTER TABLE ${table} ADD CONSTRAINT kit CHECK (${id} <> ${mysql.escape(idOf(playerId))} OR ${balance} + 0 >= ${minimum})`,
      )
    },

    // A PAM may close an account in a column of its own: the store does not read it.
    closePlayer: null,
    // The store keeps everything.
    advanceClock: null,
    // Of a single server.
    stopReplication: null,

    ...(accounts.limits === undefined ? {} : { limits: accounts.limits }),
    ...(accounts.playerIds === undefined ? {} : { playerIds: accounts.playerIds }),
  }

  /** Terminates every connection of the store, and waits until the server has rolled back. */
  async function terminate({ onServer }: Opened): Promise<void> {
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
  }
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
