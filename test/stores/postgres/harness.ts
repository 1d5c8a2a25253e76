/** The kit's hooks on a real PostgreSQL, for every kind of players' table. */
import {
  createPostgresStore,
  migratePostgres,
  type PlayersTable,
  type PostgresStore,
  type PostgresStoreOptions,
} from 'bet-wallet/postgres'
import type { StoreHarness } from 'bet-wallet/testing'
import pg from 'pg'
import { holdCommit, holdPlayer, installHold } from '../../../examples/stores/hold-commit.js'
import * as kit from '../harness.js'
import { neighbourId } from '../kit-on-stores.js'

export type Accounts = kit.Accounts<PlayersTable>

export const ownTable: Accounts = {
  name: "the library's own table",
  ddl: null,
  columnOf: kit.unchanged,
  add: 'UPDATE SCHEMA.players SET balance = balance + ? WHERE player_id = ?',
}

export const numericAccounts: Accounts = {
  name: 'numeric(20,4), keyed by varchar',
  ddl: `CREATE TABLE SCHEMA.accounts (serial bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "accountNo" varchar(300) NOT NULL UNIQUE,
    iso char(3) NOT NULL, available numeric(20,4) NOT NULL)`,
  players: schema => ({
    table: `${schema}.accounts`,
    id: 'accountNo',
    currency: 'iso',
    balance: 'available',
  }),
  columnOf: kit.unchanged,
  add: 'UPDATE SCHEMA.accounts SET available = available + ? WHERE "accountNo" = ?',
  limits: { digits: 20, scale: 4 },
}

export const textAccounts: Accounts = {
  name: 'text',
  ddl: 'CREATE TABLE SCHEMA.accounts (id text PRIMARY KEY, currency text NOT NULL, balance text NOT NULL)',
  players: schema => ({
    table: `${schema}.accounts`,
    id: 'id',
    currency: 'currency',
    balance: 'balance',
    balanceType: 'text',
  }),
  columnOf: kit.unchanged,
  add: 'UPDATE SCHEMA.accounts SET balance = (balance::numeric + ?)::text WHERE id = ?',
}

export const minorUnitAccounts: Accounts = {
  name: 'bigint of minor units',
  ddl: 'CREATE TABLE SCHEMA.accounts (id text COLLATE "C" PRIMARY KEY, currency text NOT NULL, cents bigint NOT NULL)',
  players: schema => ({
    table: `${schema}.accounts`,
    id: 'id',
    currency: 'currency',
    balance: 'cents',
    balanceType: 'minor-units',
    minorUnits: 2,
  }),
  columnOf: kit.hundredths,
  add: 'UPDATE SCHEMA.accounts SET cents = cents + ? WHERE id = ?',
  limits: { digits: 18, scale: 2 },
}

/** As bavix/laravel-wallet keeps them. */
const decimalMinorUnitAccounts: Accounts = {
  ...minorUnitAccounts,
  name: 'numeric(18,0) of minor units',
  ddl: minorUnitAccounts.ddl?.replace('bigint', 'numeric(18,0)') ?? null,
}

export const reservingAccounts = [
  kit.reserving(numericAccounts, 'available'),
  kit.reserving(minorUnitAccounts, 'cents'),
]

export const minorUnitAccountsPerCurrency = kit.perCurrency(minorUnitAccounts, 'id, currency')

/** Its currency is an enum: a code that is none of it must not be cast. */
export const enumAccountsPerCurrency = kit.perCurrency(
  {
    ...numericAccounts,
    name: 'an enum',
    ddl: `CREATE TYPE SCHEMA.code AS ENUM ('JPY', 'EUR', 'SEK'); ${numericAccounts.ddl}`.replace(
      'char(3)',
      'SCHEMA.code',
    ),
  },
  '"accountNo", iso',
)

export const everyAccounts = [
  ...[ownTable, numericAccounts, textAccounts],
  ...[minorUnitAccounts, decimalMinorUnitAccounts],
]

export type StoreOnServer = kit.StoreOnServer<PostgresStore>
export type Opened = kit.Opened<PostgresStore, StoreOnServer>

export interface HarnessOptions {
  /** For PAM code, and for preparing the database. */
  pool: pg.Pool
  url: string
  accounts: Accounts
  /** Options of the store, beside schema and players. */
  options?: Omit<PostgresStoreOptions, 'schema' | 'players'>
  /** Of every connection: `-c default_transaction_isolation=serializable`. */
  settings?: string
  /** Opens a store. Default: over a `Pool` of pg. */
  openStore?: (url: string, options: PostgresStoreOptions) => StoreOnServer | Promise<StoreOnServer>
}

function openOverPool(connectionString: string, options: PostgresStoreOptions): StoreOnServer {
  const pool = new pg.Pool({ connectionString, max: 8 })
  return { store: createPostgresStore(pool, options), end: () => pool.end() }
}

/** `$1` and `$2` for `?` and `?`. */
function numbered(text: string): string {
  let number = 0
  return text.replaceAll('?', () => `$${++number}`)
}

/** A harness with every hook. */
export function postgresHarness({
  pool: admin,
  url,
  accounts,
  options = {},
  settings,
  openStore = openOverPool,
}: HarnessOptions): StoreHarness<Opened> {
  const optionsOf = (schema: string): PostgresStoreOptions => ({
    schema,
    ...kit.timeouts,
    ...(accounts.players === undefined ? {} : { players: accounts.players(schema) }),
    ...options,
  })

  const engine: kit.Engine<PostgresStore, StoreOnServer, PlayersTable> = {
    query: async (text, values = []) =>
      (await admin.query<unknown[]>({ text: numbered(text), values: [...values], rowMode: 'array' })).rows,
    async transaction(...statements) {
      const client = await admin.connect()
      try {
        await client.query('BEGIN')
        for (const [text, values] of statements) await client.query(numbered(text), [...values])
        await client.query('COMMIT')
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        client.release()
      }
    },
    quoted: name => `"${name}"`,
    ownTable: schema => ({
      ...{ table: `${schema}.players`, id: 'player_id', currency: 'currency', balance: 'balance' },
    }),
    async createSchema(schema, ddl) {
      await admin.query(`CREATE SCHEMA ${schema}`)
      if (ddl !== null) await admin.query(ddl)
      await migratePostgres(admin, optionsOf(schema))
      await installHold(admin, schema, `${schema}.transactions`)
      // A batch that fails is divided: the commit that shared it must not be the one that stops.
      await admin.query(`
        CREATE OR REPLACE TRIGGER hold AFTER INSERT ON ${schema}.transactions FOR EACH ROW
        WHEN (NEW.player_id <> '${neighbourId}') EXECUTE FUNCTION ${schema}.hold()`)
    },
    async connect(schema) {
      const location = new URL(url)
      location.searchParams.set('application_name', schema)
      if (settings !== undefined) location.searchParams.set('options', settings)
      return await openStore(location.href, optionsOf(schema))
    },
    async terminate({ schema }) {
      await admin.query(
        'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = $1',
        [schema],
      )
    },
    async empty(schema, players) {
      await admin.query(`TRUNCATE ${schema}.transactions, ${schema}.bets, ${players}`)
    },
    recordedBalance: schema =>
      `SELECT balance_after FROM ${schema}.transactions WHERE wallet_transaction_id = ?`,
    creditBet: schema => `SELECT ${schema}.credit_bet_v1(?, ?, ?)`,
    holdCommit: schema => holdCommit(admin, schema),
    holdPlayer: (row, id) => holdPlayer(admin, numbered(row), String(id)),
  }
  return kit.databaseHarness(engine, accounts)
}
