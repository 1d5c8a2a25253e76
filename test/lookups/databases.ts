/** The three databases that lookups are the same on: PostgreSQL, PGlite and MariaDB, each with a schema of its own. */
import { PGlite } from '@electric-sql/pglite'
import type { WalletStore } from '../../src/index.js'
import type { WalletLookups } from '../../src/lookups/index.js'
import type { Bet } from '../../src/store.js'
import type { ImportedTransaction } from '../../src/stores/database/import.js'
import {
  createMysqlLookups,
  createMysqlStore,
  importBets as importMysqlBets,
  importTransactions as importMysqlTransactions,
  migrateMysql,
} from '../../src/stores/mysql/index.js'
import {
  createPostgresLookups,
  createPostgresStore,
  importBets,
  importTransactions,
  migratePostgres,
  type PostgresClient,
} from '../../src/stores/postgres/index.js'
import { freshMariadb } from '../mariadb/fresh-database.js'
import { noServer } from '../mysql/engine.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { type Forgotten, forgetOnMysql, forgetOnPostgres } from '../stores/forget-player.js'

/** How the wallet's tables are set up. */
export interface Setup {
  /** @default true */
  lookupIndexes?: boolean
  /** The operator's own players' table, in minor units of EUR, JPY and BTC. @default false */
  ownPlayersTable?: boolean
}

/** A database with the wallet's tables, and the players anna (100 EUR), kenji (5000 JPY) and satoshi (2 BTC). */
export interface Opened {
  store: WalletStore
  lookups: WalletLookups
  /** Lookups with other options. */
  lookupsWith(options: { schema?: string; allowScan?: boolean }): WalletLookups
  forgetPlayer(playerId: string): Promise<Forgotten>
  /** The rows of a query, with the placeholders of `run`. */
  rows(text: string): Promise<readonly object[]>
  /** Runs the migration again. */
  migrate(settings: { lookupIndexes?: boolean }): Promise<unknown>
  /** Any statement; `TRANSACTIONS`, `BETS` and `PLAYERS` stand for the tables, `SCHEMA` for the schema. */
  run(text: string): Promise<void>
  /** Of the operator's own players' table. */
  setBalance(playerId: string, balance: number): Promise<void>
  importBets(bets: readonly Bet[]): Promise<unknown>
  importTransactions(transactions: readonly ImportedTransaction[]): Promise<unknown>
  /** For the command: a URL, where there is a server. */
  url: string | null
  schema: string
  close(): Promise<void>
}

export interface TestedDatabase {
  name: string
  /** Why its tests are skipped; `null`: they are not. */
  skipped: string | null
  open(setup?: Setup): Promise<Opened>
}

const minorUnits = { EUR: 2, JPY: 0, BTC: 8 }
const columns = { id: 'id', currency: 'currency', balance: 'balance', minorUnits }

async function openPostgres(
  client: PostgresClient,
  { lookupIndexes = true, ownPlayersTable = false }: Setup,
  { url, close }: { url: string | null; close(): Promise<void> },
): Promise<Opened> {
  const schema = 'bet_wallet'
  const named = (text: string) =>
    text
      .replaceAll('TRANSACTIONS', 'bet_wallet.transactions')
      .replaceAll('BETS', 'bet_wallet.bets')
      .replaceAll('PLAYERS', 'bet_wallet.players')
      .replaceAll('SCHEMA', schema)
  if (ownPlayersTable) {
    await client.query('CREATE SCHEMA pam')
    await client.query(
      'CREATE TABLE pam.accounts (id text PRIMARY KEY, currency text NOT NULL, balance bigint NOT NULL)',
    )
  }
  const players = { ...columns, table: 'pam.accounts', balanceType: 'minor-units' as const }
  const options = ownPlayersTable ? { players } : {}
  await migratePostgres(client, options, { lookupIndexes })
  await client.query(
    ownPlayersTable
      ? "INSERT INTO pam.accounts VALUES ('anna', 'EUR', 10000), ('kenji', 'JPY', 5000), ('satoshi', 'BTC', 200000000)"
      : "INSERT INTO bet_wallet.players VALUES ('anna', 'EUR', 100), ('kenji', 'JPY', 5000), ('satoshi', 'BTC', 2)",
  )
  return {
    store: createPostgresStore(client, { ...options, timeoutMs: 120_000, allowNotDurable: true }),
    // The players' table is known from the migration.
    lookups: createPostgresLookups(client),
    lookupsWith: other => createPostgresLookups(client, other),
    migrate: settings => migratePostgres(client, options, settings),
    run: async text => {
      await client.query(named(text))
    },
    setBalance: async (playerId, balance) => {
      await client.query('UPDATE pam.accounts SET balance = $2 WHERE id = $1', [playerId, balance])
    },
    forgetPlayer: playerId => forgetOnPostgres(client, { playerId }),
    rows: async text => (await client.query(named(text))).rows as object[],
    importBets: bets => importBets(client, {}, bets),
    importTransactions: transactions => importTransactions(client, {}, transactions),
    ...{ url, schema, close },
  }
}

async function openMariadb({ lookupIndexes = true, ownPlayersTable = false }: Setup): Promise<Opened> {
  const { config, pool, drop } = await freshMariadb()
  const schema = config.database
  const named = (text: string) =>
    text
      .replaceAll('TRANSACTIONS', 'wallet_transactions')
      .replaceAll('BETS', 'wallet_bets')
      .replaceAll('PLAYERS', 'wallet_players')
      .replaceAll('SCHEMA', schema)
  if (ownPlayersTable)
    await pool.query(
      'CREATE TABLE accounts (id varchar(64) COLLATE utf8mb4_general_ci PRIMARY KEY, currency char(3) NOT NULL, balance bigint NOT NULL)',
    )
  const players = {
    ...columns,
    ...{
      table: `${schema}.accounts`,
      idCollation: 'utf8mb4_general_ci',
      balanceType: 'minor-units' as const,
    },
  }
  const options = { schema, ...(ownPlayersTable ? { players } : {}) }
  await migrateMysql(pool, options, { lookupIndexes })
  await pool.query(
    ownPlayersTable
      ? "INSERT INTO accounts VALUES ('anna', 'EUR', 10000), ('kenji', 'JPY', 5000), ('satoshi', 'BTC', 200000000)"
      : "INSERT INTO wallet_players VALUES ('anna', 'EUR', 100), ('kenji', 'JPY', 5000), ('satoshi', 'BTC', 2)",
  )
  const { host, port, user, password } = config
  return {
    store: createMysqlStore(pool, { ...options, timeoutMs: 120_000, allowNotDurable: true }),
    lookups: createMysqlLookups(pool, { schema }),
    lookupsWith: other => createMysqlLookups(pool, { schema, ...other }),
    migrate: settings => migrateMysql(pool, options, settings),
    run: async text => {
      await pool.query(named(text))
    },
    setBalance: async (playerId, balance) => {
      await pool.query('UPDATE accounts SET balance = ? WHERE id = ?', [balance, playerId])
    },
    forgetPlayer: playerId => forgetOnMysql(pool, { schema, playerId }),
    rows: async text => (await pool.query(named(text)))[0] as object[],
    importBets: bets => importMysqlBets(pool, { schema }, bets),
    importTransactions: transactions => importMysqlTransactions(pool, { schema }, transactions),
    url: `mysql://${user}:${password}@${host}:${port}/${schema}`,
    schema,
    close: drop,
  }
}

export const testedDatabases: readonly TestedDatabase[] = [
  {
    name: 'PostgreSQL',
    skipped: null,
    async open(setup = {}) {
      const { url, pool, drop } = await freshDatabase()
      return await openPostgres(pool, setup, { url, close: drop })
    },
  },
  {
    name: 'PGlite',
    skipped: null,
    async open(setup = {}) {
      const client = await PGlite.create()
      return await openPostgres(client, setup, { url: null, close: () => client.close() })
    },
  },
  { name: 'MariaDB', skipped: noServer, open: (setup = {}) => openMariadb(setup) },
]
