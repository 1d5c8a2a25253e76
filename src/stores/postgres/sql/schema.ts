/** The migration: schema, tables and functions. */

import { creditColumns } from '../../database/record-columns.js'
import { lines, sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import { commitFunction, commitProcedure } from './commit.js'
import { commitOneFunction } from './commit-one.js'
import { creditFunction } from './credit.js'
import { type DatabaseFunction, nextWalletTransactionId } from './fragments.js'
import { loadConfirmedProcedure, loadFunction, refuseBalanceTypeFunction } from './load.js'
import { optionsTable, refuseOtherOptions, registerOptions } from './options.js'
import { claimFunction, outboxStatements } from './outbox.js'
import { dollarQuoted, literal } from './quoting.js'
import { betCheck, ruleFunctions, transactionCheck } from './rules.js'
import { otherTimelineFunction } from './timeline.js'
import { schemaVersion } from './version.js'

/**
 * The functions that the store and PAM code call. A statement of this size takes longer to plan than to run;
 * a function plans it once per connection. JSON is one parameter of any length, for any driver.
 */
export function functionsOf(tables: Tables): DatabaseFunction[] {
  return [
    otherTimelineFunction(tables),
    loadFunction(tables),
    loadConfirmedProcedure(tables),
    commitFunction(tables),
    commitOneFunction(tables),
    commitProcedure(tables, 'commit'),
    commitProcedure(tables, 'commit_one'),
    refuseBalanceTypeFunction(tables),
    creditFunction(tables),
    ...(tables.outbox ? [claimFunction(tables)] : []),
  ]
}

/**
 * An advisory lock for the rest of the database transaction: migrations of one schema wait for each other.
 */
export const migrationLock = ({ schemaName }: Tables) =>
  `pg_advisory_xact_lock(hashtextextended('bet-wallet ' || ${literal(schemaName)}, 0))`

/** An advisory lock of a session, for what cannot be part of a database transaction. */
export const indexLock = ({ schemaName }: Tables) =>
  `hashtextextended('bet-wallet indexes ' || ${literal(schemaName)}, 0)`

/**
 * Every statement of the migration, in order. Each can be run again: it keeps tables and rows, and replaces
 * functions. None of them touches the players' table of a PAM.
 *
 * @param allowOtherOptions whether functions of other options may exist
 */
export function migrationStatements(tables: Tables, allowOtherOptions: boolean): string[] {
  const { schema, players } = tables
  return [
    createSchema(tables),

    sql`
      -- The versions of this schema.
      CREATE TABLE IF NOT EXISTS ${schema}.migrations (
        version integer PRIMARY KEY,
        migrated_at timestamptz NOT NULL DEFAULT now()
      )`,

    optionsTable(schema),
    ...(allowOtherOptions ? [] : [refuseOtherOptions(tables)]),

    ...(players.own ? [playersTable(schema)] : []),
    ...domains(schema),
    ...ruleFunctions(schema),
    betsTable(schema),

    sql`
      CREATE SEQUENCE IF NOT EXISTS ${schema}.wallet_transaction_ids AS bigint`,

    transactionsTable(schema),
    ...(tables.outbox ? outboxStatements(schema) : []),

    ...functionsOf(tables).map(({ definition }) => definition),

    sql`
      INSERT INTO ${schema}.migrations (version)
      VALUES (${schemaVersion})
      ON CONFLICT DO NOTHING`,

    registerOptions(tables),
  ]
}

const createSchema = ({ schema, schemaName }: Tables) => sql`
  -- IF NOT EXISTS would require CREATE on the database although the schema exists.
  DO ${dollarQuoted(
    'schema',
    sql`
      BEGIN
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = ${literal(schemaName)}) THEN
          CREATE SCHEMA ${schema};
        END IF;
      END`,
  )}`

const playersTable = (schema: string) => sql`
  -- Half of every page stays free for HOT updates: a new balance needs no new index entry.
  CREATE TABLE IF NOT EXISTS ${schema}.players (
    player_id text COLLATE "C" PRIMARY KEY,
    currency text NOT NULL CHECK (currency <> ''),
    balance numeric NOT NULL CHECK (balance >= 0 AND balance < 'Infinity')
  )
  WITH (fillfactor = 50)`

/** Rules about one column. A domain is read once per connection, the CHECKs of a table by every statement. */
const domains = (schema: string) => [
  createDomain(
    '-- A finite amount of money, not negative. There is no CREATE DOMAIN IF NOT EXISTS.',
    sql`
      CREATE DOMAIN ${schema}.amount AS numeric
        CHECK (VALUE >= 0 AND VALUE < 'Infinity')`,
  ),
  createDomain(
    '-- An id or code, compared byte by byte.',
    sql`
      CREATE DOMAIN ${schema}.identifier AS text COLLATE "C"
        CHECK (VALUE <> '')`,
  ),
]

const createDomain = (comment: string, definition: string) => sql`
  ${comment}
  DO ${dollarQuoted(
    'domain',
    sql`
      BEGIN
        ${definition};
      EXCEPTION WHEN duplicate_object THEN
        NULL;
      END`,
  )}`

const betsTable = (schema: string) => sql`
  -- Every bet with its credits. A betId is unique across all players (D1).
  -- Per settlement type (D18): the live credit, or NULL; the sum of reversed credits; the sum of uncollected
  -- clawbacks, owed to the platform. All three are NULL where the bet was never credited with this type.
  CREATE TABLE IF NOT EXISTS ${schema}.bets (
    bet_id ${schema}.identifier PRIMARY KEY,
    player_id ${schema}.identifier NOT NULL,
    currency ${schema}.identifier NOT NULL,
    stake ${schema}.amount NOT NULL,
    status text NOT NULL,
    ${lines(creditColumns.map(column => `${column} ${schema}.amount`))},
    revision integer NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    -- By importBets, which replaces it until its first change.
    is_imported boolean NOT NULL DEFAULT false,
    CONSTRAINT bets_valid ${betCheck(schema)}
  )`

const transactionsTable = (schema: string) => sql`
  -- Every decided transaction of the platform: the idempotency record, by operation and transactionId (D1).
  CREATE TABLE IF NOT EXISTS ${schema}.transactions (
    operation text NOT NULL,
    transaction_id ${schema}.identifier NOT NULL,
    player_id ${schema}.identifier NOT NULL,
    bet_id ${schema}.identifier NOT NULL,
    amount ${schema}.amount,
    currency text,
    type text,
    delta numeric NOT NULL,
    -- Of the account that it changed, or that answered. NULL where it was imported.
    account_currency text,
    -- The balance of the account right after it, in whole units of the currency. NULL where it was imported.
    balance_after numeric,
    -- A final refusal (D6, D7). Both are NULL: a success.
    error_code text,
    description text,
    -- Which rule decided.
    reason ${schema}.identifier NOT NULL,
    transaction_date timestamptz NOT NULL,
    -- From the sequence, or imported from the legacy integration.
    wallet_transaction_id text COLLATE "C" NOT NULL UNIQUE DEFAULT ${nextWalletTransactionId(schema)},
    recorded_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (operation, transaction_id),
    CONSTRAINT transactions_valid ${transactionCheck(schema)}
  )`
