/** A PAM with the table `accounts` and the tables of an example, on PostgreSQL and on MariaDB or MySQL. */
import { readFileSync } from 'node:fs'
import type { WalletStore } from 'bet-wallet'
import { createMysqlStore, migrateMysql } from 'bet-wallet/mysql'
import { createPostgresStore, migratePostgres, type PendingCommit, type Query } from 'bet-wallet/postgres'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { numbered } from '../../examples/limits/limits.js'
import type { Account } from '../../src/store.js'
import { freshMariadb } from '../mariadb/fresh-database.js'
import { exactCollation, noServer } from '../mysql/engine.js'
import { freshDatabase } from '../postgres/fresh-database.js'

/** `withinTransaction`; its statements have `?` for their parameters on either engine. */
export type Rule = (query: Query, pending: readonly PendingCommit[]) => Promise<void>

export interface Accounts {
  /** A statement of the PAM. */
  query: Query
  /** Statements of the PAM in one database transaction. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>
  /** Empties all tables, and opens these accounts. */
  reset(players: readonly Account[]): Promise<void>
  /** A store with connections of its own. */
  connect(rule: Rule): { store: WalletStore; end(): Promise<unknown> }
  drop(): Promise<void>
}

/** Per engine, why it is skipped, and how it is started. `folder` has schema.sql and schema-mysql.sql. */
export const engines: readonly {
  name: string
  skipped: string | null
  /** @param collation of the ids on MariaDB and MySQL */
  start(folder: string, tables: readonly string[], collation?: string): Promise<Accounts>
}[] = [
  { name: 'PostgreSQL', skipped: null, start: startPostgres },
  { name: 'MariaDB', skipped: noServer, start: startMysql },
]

/** A busy machine takes seconds for a commit that another one waits for. */
const longTimeouts = { lockTimeoutMs: 60_000, timeoutMs: 60_000 }

const schemaOf = (folder: string, file: string) =>
  readFileSync(new URL(`../../examples/${folder}/${file}`, import.meta.url), 'utf8')

async function startPostgres(folder: string, tables: readonly string[]): Promise<Accounts> {
  const { url, pool, drop } = await freshDatabase()
  await pool.query(
    'CREATE TABLE accounts (player_id text COLLATE "C" PRIMARY KEY, currency text NOT NULL, balance numeric NOT NULL)',
  )
  await pool.query(schemaOf(folder, 'schema.sql'))
  const players = { table: 'public.accounts', id: 'player_id', currency: 'currency', balance: 'balance' }
  await migratePostgres(pool, { players })
  const query = numbered((text, values) => pool.query(text, values))
  const emptied = [...tables, 'accounts', 'bet_wallet.bets', 'bet_wallet.transactions']
  return {
    query,
    async transaction(work) {
      const connection = await pool.connect()
      try {
        await connection.query('BEGIN')
        const result = await work(numbered((text, values) => connection.query(text, values)))
        await connection.query('COMMIT')
        return result
      } finally {
        connection.release()
      }
    },
    async reset(opened) {
      await pool.query(`TRUNCATE ${emptied.join(', ')}`)
      await openAccounts(query, opened)
    },
    connect(rule) {
      const own = new pg.Pool({ connectionString: url })
      const store = createPostgresStore(own, {
        players,
        ...longTimeouts,
        withinTransaction: (each, pending) => rule(numbered(each), pending),
      })
      return { store, end: () => own.end() }
    },
    drop,
  }
}

async function startMysql(
  folder: string,
  tables: readonly string[],
  collation = exactCollation,
): Promise<Accounts> {
  const { config, pool, drop } = await freshMariadb()
  await pool.query(
    `CREATE TABLE accounts (player_id varchar(255) CHARACTER SET ${collation.split('_')[0]} COLLATE ${collation} PRIMARY KEY,
      currency varchar(16) NOT NULL, balance decimal(38, 18) NOT NULL)`,
  )
  for (const statement of schemaOf(folder, 'schema-mysql.sql').split(/;$/m))
    if (statement.trim() !== '') await pool.query(statement)
  const options = {
    schema: config.database,
    players: {
      table: `${config.database}.accounts`,
      id: 'player_id',
      idCollation: collation,
      currency: 'currency',
      balance: 'balance',
    },
  }
  await migrateMysql(pool, options)
  const queryOf =
    (client: Pick<mysql.Pool, 'query'>): Query =>
    async (text, values) => ({ rows: Object.values((await client.query(text, values))[0]) })
  const query = queryOf(pool)
  return {
    query,
    async transaction(work) {
      const connection = await pool.getConnection()
      try {
        await connection.query('START TRANSACTION')
        const result = await work(queryOf(connection))
        await connection.query('COMMIT')
        return result
      } finally {
        connection.release()
      }
    },
    async reset(opened) {
      for (const table of [...tables, 'accounts', 'wallet_bets', 'wallet_transactions'])
        await pool.query(`TRUNCATE ${table}`)
      await openAccounts(query, opened)
    },
    connect(rule) {
      const own = mysql.createPool(config)
      const store = createMysqlStore(own, { ...options, ...longTimeouts, withinTransaction: rule })
      return { store, end: () => own.end() }
    },
    drop,
  }
}

async function openAccounts(query: Query, players: readonly Account[]): Promise<void> {
  for (const { playerId, currency, balance } of players)
    await query('INSERT INTO accounts (player_id, currency, balance) VALUES (?, ?, ?)', [
      playerId,
      currency,
      balance,
    ])
}
