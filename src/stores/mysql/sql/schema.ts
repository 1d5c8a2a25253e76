/** The migration: schema, tables and procedures. */
import { creditColumns, settlementTypes } from '../../database/record-columns.js'
import { lines, sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import { commitProcedure } from './commit.js'
import { commitOneProcedure } from './commit-one.js'
import { creditProcedure } from './credit.js'
import { amountDecimal, exactCollation, exactText, type Procedure, procedureName } from './fragments.js'
import { loadProcedure } from './load.js'
import { literal } from './quoting.js'
import { schemaVersion } from './version.js'

/** The procedures that the store and PAM code call. */
export function proceduresOf(tables: Tables): Procedure[] {
  return [loadProcedure(tables), commitProcedure(tables), commitOneProcedure(tables), creditProcedure(tables)]
}

/** How the store calls a procedure, with as many parameters. @param name `commit` */
export function callOf(tables: Tables, name: string, parameters: number): string {
  const beginning = `${procedureName(tables, name)}_`
  const found = proceduresOf(tables).find(each => each.name.startsWith(beginning))
  if (found === undefined) throw new Error(`There is no procedure ${name}`)
  return `CALL ${tables.schema}.${found.name}(${Array(parameters).fill('?').join(', ')})`
}

/** Migrations of one schema wait for each other. */
export const migrationLock = ({ schemaName }: Tables) => literal(`bet-wallet ${schemaName}`.slice(0, 64))

/**
 * Procedures keep the sql_mode that they are created in: amounts that do not fit must be errors, whatever the
 * mode of the session or of PAM code that calls them. Without NO_ENGINE_SUBSTITUTION: where the server allows
 * InnoDB alone (`enforce_storage_engine`, `disabled_storage_engines`), the temporary tables of a batch are of
 * InnoDB.
 */
export const procedureMode = 'STRICT_TRANS_TABLES,STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO'

/** The tables; each statement can be run again. None of them touches the players' table of a PAM. */
export function tableStatements(tables: Tables): string[] {
  const { schema, players } = tables
  return [
    ...(players.own ? [playersTable(schema)] : []),
    betsTable(schema),
    transactionsTable(schema),
    proofsTable(schema),
    ...(tables.outbox ? [outboxTable(schema)] : []),
  ]
}

export const createSchema = ({ schema }: Tables) =>
  `CREATE DATABASE IF NOT EXISTS ${schema} CHARACTER SET utf8mb4 COLLATE ${exactCollation}`

const tableOptions = `ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE ${exactCollation}`

/**
 * The primary key is short: for an UPDATE of two tables, MariaDB keeps the keys of the changed rows, and
 * writes keys of over 512 bytes to a file. It is invisible: `INSERT INTO wallet_players VALUES (…)` does
 * not name it.
 */
const playersTable = (schema: string) => sql`
  CREATE TABLE IF NOT EXISTS ${schema}.wallet_players (
    id bigint unsigned NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY,
    player_id ${exactText(255)} NOT NULL,
    currency varchar(16) NOT NULL,
    balance ${amountDecimal} NOT NULL,
    UNIQUE KEY wallet_players_player_id (player_id),
    CONSTRAINT wallet_players_balance CHECK (balance >= 0)
  ) ${tableOptions}`

/** The version is in the comment of the table: the procedures carry their own in their names. */
const betsTable = (schema: string) => sql`
  -- Bets with their credits. A row is stored with the first change of a bet.
  CREATE TABLE IF NOT EXISTS ${schema}.wallet_bets (
    id bigint unsigned NOT NULL PRIMARY KEY,
    bet_id ${exactText(255)} NOT NULL,
    player_id ${exactText(255)} NOT NULL,
    currency varchar(16) NOT NULL,
    stake ${amountDecimal} NOT NULL,
    status varchar(11) NOT NULL,
    ${lines(creditColumns.map(column => `${column} ${amountDecimal}`))},
    revision integer NOT NULL,
    -- UTC, whatever the time zone of the session.
    recorded_at datetime(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    UNIQUE KEY wallet_bets_bet_id (bet_id),
    CONSTRAINT wallet_bets_valid CHECK (
      revision >= 1
      AND stake >= 0
      AND (
        status = 'PLACED'
        OR status = 'ROLLED_BACK' AND COALESCE(bet_paid_live, voided_live, cashout_live) IS NULL
      )
      ${settlementTypes.map(creditCondition).join('\n')}
    )
  ) ${tableOptions} COMMENT 'bet-wallet ${schemaVersion}'`

function creditCondition(type: (typeof settlementTypes)[number]): string {
  return sql`
    AND (${type}_reversed IS NULL) = (${type}_owed IS NULL)
    AND (${type}_live IS NULL OR ${type}_owed IS NOT NULL AND ${type}_live >= 0)
    AND (${type}_owed IS NULL OR ${type}_reversed >= 0 AND ${type}_owed >= 0)`
}

const transactionsTable = (schema: string) => sql`
  -- Every decided transaction of the platform: the idempotency record, by operation and transactionId (D1).
  -- The reference that the platform is answered with is the id, or the text that was imported.
  CREATE TABLE IF NOT EXISTS ${schema}.wallet_transactions (
    id bigint unsigned NOT NULL PRIMARY KEY,
    operation ${exactText(12)} NOT NULL,
    transaction_id ${exactText(255)} NOT NULL,
    player_id ${exactText(255)} NOT NULL,
    bet_id ${exactText(255)} NOT NULL,
    amount ${amountDecimal},
    currency varchar(16),
    type varchar(255),
    delta ${amountDecimal} NOT NULL,
    -- Of the account that it changed, or that answered. NULL where it was imported.
    account_currency varchar(16),
    -- The balance of the account right after it, in whole units of the currency. NULL where it was imported.
    balance_after ${amountDecimal},
    -- A final refusal (D6, D7). Both are NULL: a success.
    error_code varchar(64),
    description varchar(500),
    -- Which rule decided.
    reason varchar(64) NOT NULL,
    transaction_date datetime(3) NOT NULL,
    reference ${exactText(255)},
    recorded_at datetime(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    UNIQUE KEY wallet_transactions_transaction_id (operation, transaction_id),
    UNIQUE KEY wallet_transactions_reference (reference),
    CONSTRAINT wallet_transactions_valid CHECK (
      (amount IS NULL) = (operation IN ('unsettlement', 'rollbackbet'))
      AND (type IS NULL) = (operation = 'placebet')
      AND operation IN ('placebet', 'settlement', 'unsettlement', 'rollbackbet')
      AND (amount IS NULL OR amount >= 0)
      AND (currency IS NULL) = (amount IS NULL)
      AND (error_code IS NULL) = (description IS NULL)
      AND (error_code IS NULL OR delta = 0)
    )
  ) ${tableOptions} COMMENT 'bet-wallet ${schemaVersion}'`

const outboxTable = (schema: string) => sql`
  -- An event for each recorded transaction that is not delivered yet. Its content is the transaction, by its
  -- id. The number is drawn while the player's row is locked: the events of a bet have the order of their
  -- commits.
  CREATE TABLE IF NOT EXISTS ${schema}.wallet_outbox (
    event_number bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    id bigint unsigned NOT NULL,
    bet_id ${exactText(255)} NOT NULL,
    -- Claims. A relay that was overtaken has a lower number, and changes nothing.
    attempts integer NOT NULL DEFAULT 0,
    -- Failed attempts.
    failures integer NOT NULL DEFAULT 0,
    recorded_at datetime(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    -- When a relay may claim it: at once, after the lease of another one, after a pause. NULL: a dead letter.
    due_at datetime(6),
    -- Why the last attempt failed.
    problem varchar(500),
    KEY wallet_outbox_bet_id (bet_id),
    KEY wallet_outbox_due_at (due_at)
  ) ${tableOptions} COMMENT 'bet-wallet ${schemaVersion}'`

/** A third table, always empty: for the commit of a confirmed load. */
const proofsTable = (schema: string) => sql`
  -- Always empty. A server proves that it can commit by a row that is inserted and deleted again.
  CREATE TABLE IF NOT EXISTS ${schema}.wallet_proofs (
    id bigint unsigned NOT NULL PRIMARY KEY
  ) ${tableOptions} COMMENT 'bet-wallet ${schemaVersion}'`
