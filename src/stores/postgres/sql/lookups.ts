/** Lookups: statements that read bets and transactions. All values are text: a driver may round numbers. */

import type { LookupIndex } from '../../database/lookup-indexes.js'
import type { LookupStatements } from '../../database/lookups.js'
import { anyOwed, betContent, transactionContent, transactionKey } from '../../database/record-columns.js'
import { lines, sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import { asPlayerId, lookup } from './fragments.js'
import { quoted } from './quoting.js'

/** With microseconds, in UTC, whatever the settings of the session. */
const timeText = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`

/** A time from such a text. */
const timeOf = (parameter: string) => `(${parameter}::text::timestamp AT TIME ZONE 'UTC')`

/** The columns of the row `stored` of a transaction. */
export const transactionFields = lines([
  ...[...transactionKey, ...transactionContent, 'wallet_transaction_id', 'balance_after'].map(
    column => `stored.${column}::text AS ${column}`,
  ),
  '(extract(epoch FROM stored.transaction_date) * 1000)::bigint::text AS transaction_date_ms',
  `${timeText('stored.recorded_at')} AS recorded_at`,
])

/** The columns of a bet; in the result they begin with `b_`. */
export const lookedUpBetColumns = ['bet_id', ...betContent, 'recorded_at']

const betFields = lines([
  ...lookedUpBetColumns.slice(0, -1).map(column => `bet.${column}::text AS b_${column}`),
  `${timeText('bet.recorded_at')} AS b_recorded_at`,
])

const betOf = ({ schema }: Tables, betId: string) =>
  lookup(`SELECT known.*\nFROM ${schema}.bets known\nWHERE known.bet_id = ${betId}`, 'bet')

export const lookupStatements = (tables: Tables): LookupStatements => ({
  bet: betId => [betStatement(tables), [betId]],
  transaction: transactionId => [transactionStatement(tables), [transactionId]],
  owed: () => [owedStatement(tables), []],
  player: ({ playerKey, playerId, from, to, before, limit }) => [
    playerStatement(tables),
    [playerKey, playerId, from, to, ...before, limit],
  ],
  time: ({ after, to, limit }) => [timeStatement(tables), [...after, to, limit]],
})

/** Called with the betId. At least one row: the bet, beside each of its transactions. */
const betStatement = (tables: Tables) => sql`
  SELECT
    ${betFields},
    ${transactionFields}
  FROM (SELECT $1::text AS bet_id) key
  ${betOf(tables, 'key.bet_id')}
  LEFT JOIN ${tables.schema}.transactions stored ON stored.bet_id = key.bet_id`

const transactionStatement = (tables: Tables) => sql`
  SELECT
    ${transactionFields}
  FROM ${tables.schema}.transactions stored
  WHERE stored.operation IN ('placebet', 'settlement', 'unsettlement', 'rollbackbet')
    AND stored.transaction_id = $1`

/** Bets of which something is owed: a row for each of its refused unsettlements, at least one. */
const owedStatement = (tables: Tables) => sql`
  SELECT
    ${betFields},
    ${transactionFields}
  FROM ${tables.schema}.bets bet
  LEFT JOIN ${tables.schema}.transactions stored
    ON stored.bet_id = bet.bet_id AND stored.operation = 'unsettlement' AND stored.error_code IS NOT NULL
  WHERE ${anyOwed('bet')}`

const position = (column: string) => `(${column}.recorded_at, ${column}.operation, ${column}.transaction_id)`

/**
 * Called with the id of the player in the players' table, the playerId, from, to, and a position: time,
 * operation, transactionId; and the limit. At least one row: an account, a transaction and its bet.
 */
function playerStatement(tables: Tables): string {
  const { schema, players } = tables
  const { id, currency, balance, reserved } = players.columns
  const fields = [
    `coalesce(account.${currency}::text, '') AS p_currency`,
    `account.${balance}::text AS p_balance`,
    ...(reserved === null ? [] : [`account.${reserved}::text AS p_reserved`]),
  ]
  return sql`
    SELECT
      player.*,
      ${betFields},
      ${transactionFields}
    FROM (SELECT $1::text AS player_key) key
    ${lookup(
      sql`
        SELECT ${fields.join(', ')}
        FROM ${players.table} account
        WHERE account.${id} = ${asPlayerId(tables, 'key.player_key')}`,
      'player',
    )}
    LEFT JOIN (
      SELECT recorded.*
      FROM ${schema}.transactions recorded
      WHERE recorded.player_id = $2
        AND recorded.recorded_at >= ${timeOf('$3')}
        AND recorded.recorded_at < ${timeOf('$4')}
        AND recorded.recorded_at <= ${timeOf('$5')}
        AND ${position('recorded')} < (${timeOf('$5')}, $6::text, $7::text)
      ORDER BY recorded.recorded_at DESC, recorded.operation DESC, recorded.transaction_id DESC
      LIMIT $8::integer
    ) stored ON true
    ${betOf(tables, 'stored.bet_id')}
    ORDER BY stored.recorded_at DESC, stored.operation DESC, stored.transaction_id DESC`
}

/** Called with a position: time, operation, transactionId; then to, and the limit. */
const timeStatement = (tables: Tables) => sql`
  SELECT
    ${transactionFields}
  FROM ${tables.schema}.transactions stored
  WHERE stored.recorded_at >= ${timeOf('$1')}
    AND ${position('stored')} > (${timeOf('$1')}, $2::text, $3::text)
    AND stored.recorded_at < ${timeOf('$4')}
  ORDER BY stored.recorded_at, stored.operation, stored.transaction_id
  LIMIT $5::integer`

/** Called with the name of the table of transactions. */
export const transactionsTableStatement = sql`
  SELECT
    (SELECT c.reltuples::bigint::text FROM pg_catalog.pg_class c WHERE c.oid = to_regclass($1)) AS row_count,
    (
      SELECT json_agg((
        SELECT json_agg(a.attname ORDER BY key.position)
        FROM unnest(i.indkey::smallint[]) WITH ORDINALITY key (attribute, position)
        LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = key.attribute
      ))::text
      FROM pg_catalog.pg_index i
      JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
      JOIN pg_catalog.pg_am am ON am.oid = c.relam
      WHERE i.indrelid = to_regclass($1) AND i.indisvalid AND i.indpred IS NULL AND am.amname = 'btree'
    ) AS indexes`

const indexName = ({ name }: LookupIndex) => `transactions_${name}`

/**
 * @param how `CONCURRENTLY`: commits go on meanwhile; it cannot be part of a database transaction
 */
export const createIndex = ({ schema }: Tables, index: LookupIndex, how: 'CONCURRENTLY' | '' = '') =>
  `CREATE INDEX ${how === '' ? '' : `${how} `}IF NOT EXISTS ${quoted(indexName(index))} ON ${schema}.transactions (${index.columns.join(', ')})`

export const dropIndex = ({ schema }: Tables, index: LookupIndex) =>
  `DROP INDEX CONCURRENTLY IF EXISTS ${schema}.${quoted(indexName(index))}`
