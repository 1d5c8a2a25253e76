/**
 * Parts that several statements share. All SQL of this store is plain text made from names; values of a
 * request travel as parameters.
 */
import {
  betColumnLines,
  creditColumns,
  creditColumnsOf,
  settlementTypes,
} from '../../database/record-columns.js'
import { lines, sql } from '../../database/sql-text.js'
import { unitFactor } from '../../database/unit-factor.js'
import type { Tables } from '../tables.js'
import { dollarQuoted, literal } from './quoting.js'
import { schemaVersion } from './version.js'

/**
 * The name of a function of the store, in the library's schema: bound to the version and to the options, so
 * that a migration for others cannot change the functions that a running process calls.
 */
export const functionName = ({ optionSet }: Tables, name: string) =>
  `${name}_v${schemaVersion}_${optionSet.hash}`

/** The function that PAM code calls: without a hash, it stays the same when options change. */
export const creditFunctionName = `credit_bet_v${schemaVersion}`

/**
 * Settings of every function: look up rows by index, with one generic plan per connection; and NULL in the
 * text of an array is NULL, whatever the session says. There is no search_path, because all names have their
 * schema; and triggers on the operator's tables run under these settings too.
 */
const functionSettings = [
  'jit=off',
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'array_nulls=on',
]

/**
 * A commit that changes nothing. Standbys confirm commits in order: its answer confirms all before it, also
 * one whose wait for the standby was cancelled.
 */
export const emptyCommit = "pg_logical_emit_message(true, 'bet-wallet', '')"

/**
 * First in a database transaction that must see a table that was rewritten or filled while it waited for the
 * lock: in stricter isolation levels all statements read with one snapshot, older than the locks.
 */
export const readCommitted = 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED'

/** A function or procedure of the library's schema. */
export interface DatabaseFunction {
  name: string
  /** As the catalog keeps it, in `pg_proc.prosrc`. */
  body: string
  /** What else of it decides what a call does, as {@link attributesOf} reads it. */
  attributes: string
  definition: string
}

/**
 * Of a row of pg_proc: procedure or function, language, volatility, parallel safety, SECURITY DEFINER,
 * STRICT, and settings. A STABLE function would read with the snapshot of its caller, taken before it waited
 * for a table's lock.
 */
export const attributesOf = (row: string) => sql`
  concat_ws(
    ' ', ${row}.prokind,
    (SELECT language.lanname FROM pg_catalog.pg_language language WHERE language.oid = ${row}.prolang),
    ${row}.provolatile, ${row}.proparallel, ${row}.prosecdef, ${row}.proisstrict,
    array_to_string(${row}.proconfig, ' ')
  )`

/** The parts of CREATE FUNCTION or CREATE PROCEDURE. */
interface FunctionParts {
  name: string
  /** Lines of `--` above it. */
  comment: string
  parameters: string
  body: string
}

export function defineFunction(
  { schema }: Tables,
  { name, comment, parameters, returns, rows, body }: FunctionParts & { returns: string; rows?: number },
): DatabaseFunction {
  return {
    name,
    body: `\n${body}\n`,
    attributes: `f plpgsql v u f f ${functionSettings.join(' ')}`,
    definition: sql`
      ${comment}
      CREATE OR REPLACE FUNCTION ${schema}.${name}(
        ${parameters}
      )
      RETURNS ${returns}
      LANGUAGE plpgsql VOLATILE${rows === undefined ? '' : ` ROWS ${rows}`}
      ${functionSettings.map(setting => `SET ${setting.replace('=', ' = ')}`).join('\n')}
      AS ${dollarQuoted('function', body)}`,
  }
}

/**
 * A procedure that is a database transaction of its own: in one that other code left open, its COMMIT is an
 * error (2D000), and nothing is done. It ends with a COMMIT: the server commits a statement after it has
 * answered it, and some drivers do not wait for what follows the answer (postgres.js before 3.4.8). It has no
 * settings, with which COMMIT is not allowed.
 */
export function defineProcedure(
  { schema }: Tables,
  { name, comment, parameters, body }: FunctionParts,
): DatabaseFunction {
  const block = sql`
    BEGIN
      COMMIT;
      ${body}
      COMMIT;
    END`
  return {
    name,
    body: `\n${block}\n`,
    attributes: 'p plpgsql v u f f',
    definition: sql`
      ${comment}
      CREATE OR REPLACE PROCEDURE ${schema}.${name}(
        ${parameters},
        OUT result text
      )
      LANGUAGE plpgsql
      AS ${dollarQuoted('procedure', block)}`,
  }
}

/** The next walletTransactionId. */
export const nextWalletTransactionId = (schema: string) =>
  `nextval(${literal(`${schema}.wallet_transaction_ids`)})::text`

/**
 * At most one row per row on the left. OFFSET 0 keeps it an index lookup: the planner may not turn it into a
 * join.
 */
export const lookup = (query: string, alias: string) => sql`
  LEFT JOIN LATERAL (
    ${query}
    OFFSET 0
  ) ${alias} ON true`

/**
 * A playerId as text, in the type of the id column: a comparison with another type would not use its index.
 */
export const asPlayerId = ({ players }: Pick<Tables, 'players'>, text: string) =>
  players.idType === 'text' ? text : `${text}::${players.idType}`

/** With `players.accountPerCurrency`: lines of SQL about the currency of the row `player`, as text. */
export const whereAccounts = ({ players }: Pick<Tables, 'players'>, use: (currency: string) => string) =>
  players.accountPerCurrency ? use(`player.${players.columns.currency}::text`) : ''

/**
 * Whether the row `player` is the account that an item names, by index. The currency is compared as text: a
 * code that is none of its enum must not end the statement.
 */
export const isAccount = (
  tables: Pick<Tables, 'players'>,
  { id, currency }: { id: string; currency: string },
) =>
  `player.${tables.players.columns.id} = ${asPlayerId(tables, id)}${whereAccounts(tables, own => ` AND ${own} = ${currency}`)}`

/** The account of `item`. */
export const accountOfItem = { id: 'item.player_id', currency: 'item.account_currency' }

/** The fields of an item of a commit, in the order of `fieldsOf` in database/rows.ts. */
const itemFields = [
  'operation text',
  'transaction_id text',
  'player_id text',
  'bet_id text',
  'amount numeric',
  'currency text',
  'type text',
  'delta numeric',
  'error_code text',
  'description text',
  'reason text',
  'transaction_date_ms float8',
  'balance_delta numeric',
  'account_currency text',
  'balance_floor numeric',
  'bet_player_id text',
  'bet_currency text',
  'bet_stake numeric',
  'bet_status text',
  // 0: nothing but the credits, which are to be added to the stored bet.
  'bet_revision integer',
  // The columns of all credits; NULL where the bet has none.
  'credits numeric[]',
]

/** The fields of an item as columns. `fieldAt` is the SQL of the field at an index, from 1. */
export const itemColumns = (fieldAt: (index: number, type: string) => string) =>
  lines(
    itemFields.map((field, index) => {
      const [name = '', type = ''] = field.split(' ')
      return `${fieldAt(index + 1, type)} AS ${name}`
    }),
  )

/** The columns of `transactions` that a commit writes; `item` has their values. */
export const transactionColumns = sql`
  operation, transaction_id, player_id, bet_id,
  amount, currency, type, delta, account_currency,
  error_code, description, reason,
  transaction_date,
  wallet_transaction_id, balance_after, recorded_at`

/** The SQL of what the statement itself makes. */
interface Recorded {
  walletTransactionId: string
  /** In whole units of the currency. */
  balanceAfter: string
}

export const transactionValues = ({ walletTransactionId, balanceAfter }: Recorded) => sql`
  item.operation, item.transaction_id, item.player_id, item.bet_id,
  item.amount, item.currency, item.type, item.delta, item.account_currency,
  item.error_code, item.description, item.reason,
  timestamptz 'epoch' + item.transaction_date_ms * interval '1 millisecond',
  ${lines([walletTransactionId, balanceAfter, 'now()'])}`

/** The columns of `bets` that a commit writes; `item` has their values. */
export const betColumns = lines(betColumnLines())

const creditValue = (column: string) => `(item.credits)[${creditColumns.indexOf(column) + 1}]`

export const betValues = sql`
  item.bet_id, item.bet_player_id, item.bet_currency, item.bet_stake, item.bet_status,
  ${lines(settlementTypes.map(type => creditColumnsOf(type).map(creditValue).join(', ')))},
  item.bet_revision`

/**
 * The assignments of an UPDATE of `bet`. Its player and currency stay. A credit to add is live: what is
 * reversed and owed stays.
 *
 * @param stored the revision before
 */
export const betAssignments = (stored: string) =>
  lines([
    'stake = coalesce(item.bet_stake, bet.stake)',
    'status = item.bet_status',
    ...creditColumns.map(column => {
      const value = creditValue(column)
      const stays = column.endsWith('_live')
        ? `coalesce(bet.${column} + ${value}, bet.${column})`
        : `bet.${column}`
      return sql`
        ${column} = coalesce(
          CASE item.bet_revision WHEN 0 THEN ${stays} END,
          ${value}
        )`
    }),
    `revision = ${stored} + 1`,
  ])

/** The stored transaction of an item or key. Guard 1: there is none. */
export const fromStoredTransaction = ({ schema }: Pick<Tables, 'schema'>, item: string) => sql`
  FROM ${schema}.transactions stored
  WHERE stored.operation = ${item}.operation
    AND stored.transaction_id = ${item}.transaction_id`

/**
 * Guard 3, of an `item` that changes the balance. A balance that is NULL or not finite cannot be changed; one
 * that `load` could not read, before or after, must not be.
 */
export function balanceIsValid(balance: string, reserved = ''): string {
  const both = [balance, `${balance} + item.balance_delta`].map(amount => `AND ${isReadable(amount)}`)
  return sql`
    (
      ${[
        `abs(${balance}) < 'Infinity'`,
        ...(reserved === '' ? [] : [`AND abs(${reserved}) < 'Infinity'`]),
        ...both,
      ].join('\n')}
    ) IS TRUE`
}

/** Whether an amount has at most 40 digits, as a decimal of the contract. Nearly every amount is short. */
export const isReadable = (amount: string) => sql`
  CASE
    WHEN abs(${amount}) < 1e20
      AND scale(${amount}) <= 20
      THEN true
    ELSE ${hasAtMost40Digits(`trim_scale(${amount})`)}
  END`

const hasAtMost40Digits = (amount: string) => sql`
  length(translate(
    ${amount}::text, '-.', ''
  )) <= 40`

/** What is live of the type of the item's credit, with it. */
const liveAfter = sql`
  coalesce(
    ${lines(settlementTypes.map(type => `coalesce(bet.${type}_live, 0) + ${creditValue(`${type}_live`)}`))}
  )`

/** Guard 2 of a credit, on the stored `bet`; and `load` can read the sum with the zeros at its end. */
export const takesCredit = sql`
  bet.player_id = item.bet_player_id
    AND bet.currency = item.bet_currency
    AND bet.status = item.bet_status
    AND ${hasAtMost40Digits(liveAfter)}`

/** A readable amount as text: the zeros at its end may be too many. */
export const textOf = (amount: string) => sql`
  CASE
    WHEN abs(${amount}) < 1e20
      AND scale(${amount}) <= 20
      THEN ${amount}
    ELSE trim_scale(${amount})
  END::text`

/** The name of the function that reports a balance column of another type. */
export const refuseBalanceType = 'refuse_balance_type'

/**
 * The balance of the row `player` as a numeric. An amount is misread where the column has been changed to
 * another type: 90.00 to 9000 minor units. A domain has the type that is below it.
 */
export function balanceOf(tables: Tables): string {
  const { columns, balanceType } = tables.players
  const balance = `player.${columns.balance}`
  const isOfType = {
    numeric: `pg_typeof(${balance} - ${balance}) = 'numeric'::regtype`,
    text: `pg_typeof(${balance} || ${balance}) = 'text'::regtype`,
    // A decimal has none of its own: 90.00 is of another column.
    'minor-units': sql`
      pg_typeof(${balance} - ${balance})
        = ANY ('{smallint,integer,bigint}'::regtype[])
      OR pg_typeof(${balance} - ${balance}) = 'numeric'::regtype
      AND coalesce(scale(${balance}::numeric), 0) = 0`,
  }[balanceType]
  return sql`
    CASE
      WHEN ${isOfType}
        THEN ${balance}::numeric
      ELSE ${tables.schema}.${functionName(tables, refuseBalanceType)}(pg_typeof(${balance}))
    END`
}

/** With `players.reserved`: lines of SQL about the column of the row `player`. */
export const whereReserved = ({ players }: Pick<Tables, 'players'>, use: (reserved: string) => string) =>
  players.columns.reserved === null ? '' : use(`player.${players.columns.reserved}::numeric`)

/** Guard 3: the floor. */
export const isBelowFloor = (item: string, balanceAfter: string) => `${balanceAfter} < ${item}.balance_floor`

/** Whether the balance column cannot hold the new balance. */
export const exceedsColumn = (item: string, balanceAfter: string, balanceMax: string) =>
  `sign(${item}.balance_delta) * (${balanceAfter}) > ${balanceMax}`

/** The balance column's new value, where `delta` is a numeric in the column's unit. */
export const balancePlus = ({ players: { columns, balanceType } }: Tables, delta: string) =>
  balanceType === 'text'
    ? `(player.${columns.balance}::numeric + ${delta})::text`
    : `player.${columns.balance} + ${delta}`

/** A balance in the column's unit, in whole units of the currency. */
export function inWholeUnits(
  { players }: Pick<Tables, 'players'>,
  currency: string,
  balance: string,
): string {
  const factor = unitFactor(players, currency, literal)
  if (factor === null) return balance
  return sql`
    (
      ${balance}
    ) * ${factor}`
}

/**
 * Where COMMIT follows at once: the last statements of the database transaction.
 *
 * @param readBack compares the balances with those in the table
 */
export const beforeCommit = (tables: Tables, readBack: string) => sql`
  -- Triggers may wait for the COMMIT, change a balance once more, or switch off that a commit waits for the
  -- disk, or that the server warns where it did not wait for a standby.
  IF has_triggers THEN
    IF commit_follows THEN
      SET CONSTRAINTS ALL IMMEDIATE;
    END IF;
    ${readBack}
  END IF;
  ${loadKept(tables)}
  IF durable AND (
    current_setting('synchronous_commit') IN ('off', 'local')
    OR current_setting('client_min_messages') = 'error'
  ) THEN
    PERFORM ${waitForDisk};
  END IF;`

/**
 * The COMMIT of this database transaction waits for the disk and the standbys, and the server warns if that
 * wait is cancelled, also where other code switched that off.
 */
export const waitForDisk = sql`
  set_config(setting.name, setting.value, true)
  FROM (
    VALUES
      (
        'synchronous_commit', 'on',
        current_setting('synchronous_commit') = 'off'
          OR current_setting('synchronous_commit') = 'local' AND current_setting('synchronous_standby_names') <> ''
      ),
      ('client_min_messages', 'warning', current_setting('client_min_messages') = 'error')
  ) setting (name, value, is_off)
  WHERE setting.is_off`

/**
 * A writer that does not lock the player, such as SQL by hand, has changed the bet after its revision was
 * read.
 */
export const raiseBetChanged = sql`
  RAISE EXCEPTION 'bet-wallet: another writer changed the bet during this commit'
    USING ERRCODE = 'serialization_failure';`

/** Of a view that returns an account twice. */
export const raiseSeveralRows = sql`
  RAISE EXCEPTION 'bet-wallet: the players'' table has several rows for one account'
    USING ERRCODE = 'cardinality_violation';`

/** The player's balance after the update is not the one computed. */
export const raiseBalanceDiffers = sql`
  -- The row is locked: the difference comes from a trigger that rounds, replaces or suppresses the update.
  RAISE EXCEPTION 'bet-wallet: the balance in the players'' table is not the one written: see its triggers'
    USING ERRCODE = 'triggered_data_change_violation';`

/** Other code on the connection may have set another encoding: ids would be other ids. It is closed. */
export const refuseEncoding = sql`
  IF current_setting('client_encoding') <> 'UTF8' THEN
    RAISE EXCEPTION 'bet-wallet: other code has set client_encoding on this connection'
      USING ERRCODE = 'invalid_transaction_state';
  END IF;`

/**
 * The same error of one statement may come from a trigger of one player. This one is about the server: the
 * store does not look for the request that causes it.
 */
export const refuseReadOnly = sql`
  IF current_setting('transaction_read_only')::boolean THEN
    RAISE EXCEPTION 'bet-wallet: this server is read-only'
      USING ERRCODE = 'read_only_sql_transaction';
  END IF;`

/**
 * The timeline of a primary. A promotion raises it. It needs no privilege, unlike the control file it is
 * right from the first write after a promotion, and it is an error on a standby.
 */
export const timelineOfServer =
  "('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint"

export const systemIdentifier = '(pg_control_system()).system_identifier'

/** The name of the function that refuses a former primary. */
export const otherTimeline = 'other_timeline'

/** Of each function that a former primary must not execute. */
export const timelineParameters = sql`
  highest_timeline bigint,
  of_system bigint`

/** The last parameters of what commits. */
export const commitSettings = sql`
  lock_timeout_ms integer,
  has_triggers boolean,
  every_row boolean,
  commit_follows boolean,
  durable boolean,
  ${timelineParameters}`

/**
 * Keeps the key of an item whose records are returned too: of a conflict, for its next decision; and where a
 * hook follows, of a bet that a credit was added to. In a stricter isolation level, what is read would be
 * older than the conflict.
 *
 * @param item a record of its fields
 */
export const keepKey = (item: string) => sql`
  IF verdict = 'conflict' AND ${item}.operation IS NOT NULL -- NULL: the check at start, which must not wait
    AND current_setting('transaction_isolation') = 'read committed'
    OR verdict = 'committed' AND ${item}.bet_revision = 0 AND NOT commit_follows THEN
    loaded_keys := loaded_keys || CASE verdict
      WHEN 'committed' THEN json_build_object('key_index', item_index, 'bet_id', ${item}.bet_id)
      ELSE json_build_object(
        'key_index', item_index, 'operation', ${item}.operation, 'transaction_id', ${item}.transaction_id,
        'player_id', ${item}.player_id, 'bet_id', ${item}.bet_id
      )
    END;
  END IF;`

/**
 * Returns the records of the kept keys as `load` does, with the verdict `loaded`. Conflicts alone commit
 * nothing: an empty commit proves then that this server is the primary.
 */
const loadKept = (tables: Tables) => sql`
  IF loaded_keys IS NOT NULL THEN
    RETURN QUERY
      SELECT loaded.key_index, 'loaded', loaded.currency, loaded.balance, NULL,
        json_build_object('bet', loaded.bet, 'transaction', loaded.transaction)::text,
        ${whereReserved(tables, () => 'loaded.reserved, ')}NULL
      FROM ${tables.schema}.${functionName(tables, 'load')}(
        array_to_json(loaded_keys)::text, every_row, lock_timeout_ms, NULL, NULL
      ) loaded;
    PERFORM ${emptyCommit};
  END IF;`

/** The result of what commits: a row per item, and those of {@link loadKept}, with `records`. */
export const committedTable = (tables: Tables) => sql`
  TABLE (
    item_index integer, verdict text, currency text, balance text, wallet_transaction_id text,
    records text, ${whereReserved(tables, () => 'reserved text,')}timeline text
  )`

/**
 * Before anything is read or written: refuses where this server's timeline is lower than the highest one that
 * has answered the store. Nothing is compared where that is NULL: the server does not report its timeline.
 * The text of another timeline is assigned to the column `timeline`.
 */
export const refuseFormerPrimary = (tables: Tables) => sql`
  IF highest_timeline IS NOT NULL THEN
    IF ${timelineOfServer} <> highest_timeline THEN
      timeline := ${tables.schema}.${functionName(tables, otherTimeline)}(highest_timeline, of_system);
    END IF;
  END IF;`
