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
import type { Decimal, Player } from '../../../src/store.js'
import { neighbourId } from '../kit-on-stores.js'

/** A players' table: the library's own, or one of a PAM. */
export interface Accounts {
  name: string
  /** `null`: the library's own table. `SCHEMA` stands for the schema of the test. */
  ddl: string | null
  players?: (schema: string) => PlayersTable
  /** The amount in the unit of the column. */
  columnOf(amount: Decimal): string
  /** Adds `$2`, in the unit of the column, to the balance. */
  add: string
  limits?: { digits: number; scale: number }
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
  add: 'UPDATE SCHEMA.players SET balance = balance + $2 WHERE player_id = $1',
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
  columnOf: unchanged,
  add: 'UPDATE SCHEMA.accounts SET available = available + $2 WHERE "accountNo" = $1',
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
  columnOf: unchanged,
  add: 'UPDATE SCHEMA.accounts SET balance = (balance::numeric + $2)::text WHERE id = $1',
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
  columnOf: hundredths,
  add: 'UPDATE SCHEMA.accounts SET cents = cents + $2 WHERE id = $1',
  limits: { digits: 18, scale: 2 },
}

export const everyAccounts = [ownTable, numericAccounts, textAccounts, minorUnitAccounts]

/** A store with connections of its own. */
export interface StoreOnServer {
  store: PostgresStore
  /** Closes its connections. */
  end(): Promise<unknown>
}

export interface Opened {
  store: PostgresStore
  schema: string
  onServer: StoreOnServer[]
}

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

let schemas = 0

/** Puts the test's schema in place of SCHEMA. */
const inSchema = (text: string, schema: string) => text.replaceAll('SCHEMA', schema)

/** A harness with every hook. */
export function postgresHarness({
  pool: admin,
  url,
  accounts,
  options = {},
  settings,
  openStore = openOverPool,
}: HarnessOptions): StoreHarness<Opened> {
  async function connect(schema: string): Promise<StoreOnServer> {
    const location = new URL(url)
    location.searchParams.set('application_name', schema)
    if (settings !== undefined) location.searchParams.set('options', settings)
    return await openStore(location.href, optionsOf(schema))
  }

  const optionsOf = (schema: string): PostgresStoreOptions => ({
    schema,
    // A commit that the kit holds must not time out. One whose player the kit holds must.
    timeoutMs: 120_000,
    lockTimeoutMs: 2_000,
    ...(accounts.players === undefined ? {} : { players: accounts.players(schema) }),
    ...options,
  })

  /** Empty schemas for reuse: creating one takes longer than most cases. */
  const free: string[] = []

  const tableOf = (schema: string): PlayersTable =>
    optionsOf(schema).players ?? {
      table: `${schema}.players`,
      id: 'player_id',
      currency: 'currency',
      balance: 'balance',
    }

  async function createSchema(): Promise<string> {
    schemas += 1
    const schema = `kit_${process.pid}_${schemas}`
    await admin.query(`CREATE SCHEMA ${schema}`)
    if (accounts.ddl !== null) await admin.query(inSchema(accounts.ddl, schema))
    await migratePostgres(admin, optionsOf(schema))
    await installHold(admin, schema, `${schema}.transactions`)
    // A batch that fails is divided: the commit that shared it must not be the one that stops.
    await admin.query(`
      CREATE OR REPLACE TRIGGER hold AFTER INSERT ON ${schema}.transactions FOR EACH ROW
      WHEN (NEW.player_id <> '${neighbourId}') EXECUTE FUNCTION ${schema}.hold()`)
    return schema
  }

  async function open(players: readonly Player[]): Promise<Opened> {
    const schema = free.pop() ?? (await createSchema())
    const { table, id, currency, balance, balanceType } = tableOf(schema)
    await admin.query(
      `INSERT INTO ${table} ("${id}", "${currency}", "${balance}")
        SELECT id, currency, balance::${balanceType === 'text' ? 'text' : 'numeric'}
        FROM json_to_recordset($1) AS p(id text, currency text, balance text)`,
      [
        JSON.stringify(
          players.map(player => ({
            id: player.playerId,
            currency: player.currency,
            balance: accounts.columnOf(player.balance),
          })),
        ),
      ],
    )
    const opened = await connect(schema)
    return { store: opened.store, schema, onServer: [opened] }
  }

  async function reopen({ schema, onServer }: Opened): Promise<PostgresStore> {
    const opened = await connect(schema)
    onServer.push(opened)
    return opened.store
  }

  function columnOf(amount: Decimal): string {
    return amount.startsWith('-') ? `-${accounts.columnOf(amount.slice(1))}` : accounts.columnOf(amount)
  }

  return {
    open,
    reopen,

    async close({ schema, onServer }) {
      await terminate(schema)
      await Promise.all(onServer.map(({ end }) => end()))
      await admin.query(`ALTER TABLE ${tableOf(schema).table} DROP CONSTRAINT IF EXISTS kit`)
      await admin.query(`TRUNCATE ${schema}.transactions, ${schema}.bets, ${tableOf(schema).table}`)
      free.push(schema)
    },

    async crash(opened) {
      await terminate(opened.schema)
      return await reopen(opened)
    },

    async depositExternally(opened, playerId, amount) {
      await admin.query(inSchema(accounts.add, opened.schema), [playerId, columnOf(amount)])
    },

    async settleExternally(opened, { playerId, betId, type, amount }) {
      const client = await admin.connect()
      try {
        await client.query('BEGIN')
        await client.query(inSchema(accounts.add, opened.schema), [playerId, columnOf(amount)])
        await client.query(`SELECT ${opened.schema}.credit_bet_v1($1, $2, $3)`, [betId, type, amount])
        await client.query('COMMIT')
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        client.release()
      }
    },

    holdCommit: ({ schema }) => holdCommit(admin, schema),

    holdPlayer({ schema }, playerId) {
      const { table, id } = tableOf(schema)
      return holdPlayer(admin, `${table} WHERE "${id}" = $1`, playerId)
    },

    async changeCurrency({ schema }, playerId, code) {
      const { table, id, currency } = tableOf(schema)
      await admin.query(`UPDATE ${table} SET "${currency}" = $2 WHERE "${id}" = $1`, [playerId, code])
    },

    // A rule of the table about its balance: it must not fall.
    async refuseBets({ schema }, playerId) {
      const { table, id, balance } = tableOf(schema)
      const { rows } = await admin.query(`SELECT "${balance}" AS minimum FROM ${table} WHERE "${id}" = $1`, [
        playerId,
      ])
      const column = `"${balance}"::numeric`
      await admin.query(
        `ALTER TABLE ${table} ADD CONSTRAINT kit CHECK ("${id}" <> '${playerId}' OR ${column} >= ${rows[0].minimum})`,
      )
    },

    // A PAM may close an account in a column of its own: the store does not read it.
    closePlayer: null,
    // The store keeps everything.
    advanceClock: null,

    ...(accounts.limits === undefined ? {} : { limits: accounts.limits }),
  }

  /** Terminates every connection of the store, and waits until the server has rolled back. */
  async function terminate(schema: string): Promise<void> {
    await admin.query(
      'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = $1',
      [schema],
    )
  }
}
