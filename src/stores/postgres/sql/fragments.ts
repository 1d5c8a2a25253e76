/**
 * Parts that several statements share. All SQL of this store is plain text made from names; values of a
 * request travel as parameters.
 */
import {
  betColumnLines,
  creditColumns,
  creditColumnsOf,
  settlementTypes,
} from '../../database/bet-columns.js'
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
 * Settings of every function: look up rows by index, with one generic plan per connection. There is no
 * search_path, because all names have their schema; and triggers on the operator's tables run under these
 * settings too.
 */
const functionSettings = sql`
  SET jit = off
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off`

/**
 * A commit that changes nothing. Standbys confirm commits in order: its answer confirms all before it, also one whose
 * wait for the standby was cancelled.
 */
export const emptyCommit = "pg_logical_emit_message(true, 'bet-wallet', '')"

/** A function of the library's schema. */
export interface DatabaseFunction {
  name: string
  /** As the catalog keeps it, in `pg_proc.prosrc`. */
  body: string
  definition: string
}

/** The parts of CREATE FUNCTION. */
interface FunctionParts {
  name: string
  /** Lines of `--` above it. */
  comment: string
  parameters: string
  /** With language, volatility and rows. */
  returns: string
  body: string
}

export function defineFunction(
  { schema }: Tables,
  { name, comment, parameters, returns, body }: FunctionParts,
): DatabaseFunction {
  return {
    name,
    body: `\n${body}\n`,
    definition: sql`
      ${comment}
      CREATE OR REPLACE FUNCTION ${schema}.${name}(
        ${parameters}
      )
      RETURNS ${returns}
      ${functionSettings}
      AS ${dollarQuoted('function', body)}`,
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

/**
 * The row of a bet, and whether it is in `bets`; otherwise the bet from the view of legacy bets, at revision
 * 1.
 */
export function betQuery(tables: Tables, betId: string): string {
  const { schema, legacyBets } = tables
  const stored = sql`
    SELECT
      ${lines(betColumnLines('bet.'))},
      true AS is_stored
    FROM ${schema}.bets bet
    WHERE bet.bet_id = ${betId}`
  if (legacyBets === null) return stored
  return withLegacyBet(
    tables,
    betId,
    stored,
    sql`
    ${lines(['bet_id', 'player_id', 'currency', 'stake', 'status', ...creditColumns].map(legacyColumn))},
    1,
    false`,
  )
}

/** As `betQuery`, but with the revision only, for the guards. */
export function betRevisionQuery(tables: Tables, betId: string): string {
  const { schema, legacyBets } = tables
  const stored = sql`
    SELECT bet.revision, true AS is_stored
    FROM ${schema}.bets bet
    WHERE bet.bet_id = ${betId}`
  if (legacyBets === null) return stored
  return withLegacyBet(tables, betId, stored, '1 AS revision,\nfalse AS is_stored')
}

const withLegacyBet = ({ schema, legacyBets }: Tables, betId: string, stored: string, columns: string) => sql`
  ${stored}
  UNION ALL
  SELECT
    ${columns}
  FROM (
    -- A scalar subquery: a view that returns two rows for one bet is an error (21000).
    SELECT (
      SELECT legacy_bet
      FROM ${legacyBets ?? ''} legacy_bet
      WHERE legacy_bet.bet_id = ${betId}
        AND NOT EXISTS (SELECT FROM ${schema}.bets bet WHERE bet.bet_id = ${betId})
    ) AS bet
    OFFSET 0
  ) legacy
  WHERE (legacy.bet).bet_id IS NOT NULL`

/** A view that fills only `_live` of a credit means that none of it was reversed or is owed. */
function legacyColumn(column: string): string {
  const value = `(legacy.bet).${column}`
  const [, type, part] = /^(.*)_(live|reversed|owed)$/.exec(column) ?? []
  if (type === undefined) return column === 'stake' ? `${value}::numeric` : `${value}::text`
  if (part === 'live') return `${value}::numeric`
  const others = [`${type}_live`, `${type}_${part === 'owed' ? 'reversed' : 'owed'}`]
  return sql`
    coalesce(
      ${value}::numeric,
      CASE WHEN num_nonnulls(${others.map(other => `(legacy.bet).${other}`).join(', ')}) > 0 THEN 0 END
    )`
}

/** The fields of an item of a commit, in the order of `fieldsOf` in rows.ts. */
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
  'transaction_date_ms float8',
  'balance_delta numeric',
  'balance_currency text',
  'balance_floor numeric',
  'debits_before numeric',
  'credits_before numeric',
  'bet_player_id text',
  'bet_currency text',
  'bet_stake numeric',
  'bet_status text',
  'bet_revision integer',
  // An array with the columns of all credits; NULL where the bet has none.
  'credits text',
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
  amount, currency, type, delta,
  error_code, description,
  transaction_date,
  wallet_transaction_id, balance_after, recorded_at`

/** The SQL of what the statement itself makes. */
interface Recorded {
  walletTransactionId: string
  /** In whole units of the currency. */
  balanceAfter: string
  recordedAt: string
}

export const transactionValues = ({ walletTransactionId, balanceAfter, recordedAt }: Recorded) => sql`
  item.operation, item.transaction_id, item.player_id, item.bet_id,
  item.amount, item.currency, item.type, item.delta,
  item.error_code, item.description,
  timestamptz 'epoch' + item.transaction_date_ms * interval '1 millisecond',
  ${lines([walletTransactionId, balanceAfter, recordedAt])}`

/** The columns of `bets` that a commit writes; `item` has their values. */
export const betColumns = lines(betColumnLines())

export const betValues = sql`
  item.bet_id, item.bet_player_id, item.bet_currency, item.bet_stake, item.bet_status,
  ${lines(
    settlementTypes.map(type =>
      creditColumnsOf(type)
        .map(column => `(item.credits::numeric[])[${creditColumns.indexOf(column) + 1}]`)
        .join(', '),
    ),
  )},
  item.bet_revision`

/** The stored transaction of an item or key. Guard 1: there is none. */
export const fromStoredTransaction = ({ schema }: Pick<Tables, 'schema'>, item: string) => sql`
  FROM ${schema}.transactions stored
  WHERE stored.operation = ${item}.operation
    AND stored.transaction_id = ${item}.transaction_id`

/**
 * Guard 2, of an `item` that writes a bet: its stored revision is the one before. A bet that is not stored
 * has 0.
 */
export const revisionMatches = (storedRevision: string) =>
  `coalesce(${storedRevision}, 0) = item.bet_revision - 1`

/** Guard 3, of an `item` that changes the balance. A balance that is NULL or not finite cannot be changed. */
export const balanceIsValid = (currency: string, balance: string) => sql`
  (
    ${currency} = item.balance_currency
    AND abs(${balance}) < 'Infinity'
  ) IS TRUE`

/** Guard 3: the floor. */
export const isBelowFloor = (item: string, balanceAfter: string) => `${balanceAfter} < ${item}.balance_floor`

/** Whether the balance column cannot hold the new balance. */
export const exceedsColumn = (
  item: string,
  { afterCredit, afterDebit, balanceMax }: { afterCredit: string; afterDebit: string; balanceMax: string },
) => sql`
  (CASE
    WHEN ${item}.balance_delta > 0 THEN ${afterCredit}
    ELSE -${afterDebit}
  END) > ${balanceMax}`

/** The balance column's new value, where `delta` is a numeric in the column's unit. */
export const balancePlus = ({ players: { columns, balanceType } }: Tables, delta: string) =>
  ({
    numeric: `player.${columns.balance} + ${delta}`,
    text: `(player.${columns.balance}::numeric + ${delta})::text`,
    'minor-units': `player.${columns.balance} + ${delta}::bigint`,
  })[balanceType]

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
 * A writer that does not lock the player, such as SQL by hand, has changed the bet after its revision was
 * read.
 */
export const raiseBetChanged = sql`
  RAISE EXCEPTION 'bet-wallet: another writer changed the bet during this commit'
    USING ERRCODE = 'serialization_failure';`

/** The player's balance after the update is not the one computed. */
export const raiseBalanceDiffers = sql`
  -- The row is locked: the difference comes from a trigger that rounds, replaces or suppresses the update.
  RAISE EXCEPTION 'bet-wallet: the balance in the players'' table is not the one written: see its triggers'
    USING ERRCODE = 'triggered_data_change_violation';`

/**
 * The same error of one statement may come from a trigger of one player. This one is about the server: the store does
 * not look for the request that causes it.
 */
export const refuseReadOnly = sql`
  IF current_setting('transaction_read_only')::boolean THEN
    RAISE EXCEPTION 'bet-wallet: this server is read-only'
      USING ERRCODE = 'read_only_sql_transaction';
  END IF;`
