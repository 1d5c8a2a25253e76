/** Lookups: statements that read bets and transactions. All values are text: a driver may round numbers. */

import type { LookupIndex } from '../../database/lookup-indexes.js'
import type { LookupStatements, Position } from '../../database/lookups.js'
import { anyOwed, betContent, transactionKey } from '../../database/record-columns.js'
import { lines, sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import { asBytes, currencyOfLoaded, exactText, isPlayer } from './fragments.js'
import { loadedTransactionColumns, transactionColumn } from './load.js'
import { literal } from './quoting.js'

/** The columns of a transaction, in the order of every result. */
export const lookedUpTransactionColumns = [
  ...transactionKey,
  ...loadedTransactionColumns,
  'balance_after',
  'recorded_at',
  'id',
]

export const transactionFields = lines(lookedUpTransactionColumns.map(transactionColumn))

/** The columns of a bet, which come next. */
export const lookedUpBetColumns = ['bet_id', ...betContent, 'recorded_at']

const betFields = lines(lookedUpBetColumns.map(column => asBytes(`bet.${column}`)))

const dateTimeOf = (time: string) => time.replace('T', ' ')

/** With the time twice. */
const position = ([at, id]: Position) => [dateTimeOf(at), dateTimeOf(at), id]

export const lookupStatements = (tables: Tables): LookupStatements => ({
  bet: betId => [betStatement(tables), [JSON.stringify([betId])]],
  transaction: transactionId => [transactionStatement(tables), [transactionId]],
  owed: () => [owedStatement(tables), []],
  player: ({ playerKey, playerId, from, to, before, limit }) => [
    playerStatement(tables, limit),
    [JSON.stringify([playerKey]), playerId, dateTimeOf(from), dateTimeOf(to), ...position(before)],
  ],
  time: ({ after, to, limit }) => [timeStatement(tables, limit), [...position(after), dateTimeOf(to)]],
})

/** Called with the betId in a JSON array. At least one row: the bet, beside each of its transactions. */
const betStatement = (tables: Tables) => sql`
  SELECT
    ${transactionFields},
    ${betFields}
  FROM JSON_TABLE(?, '$' COLUMNS (bet_id ${exactText(255)} PATH '$[0]')) item
  LEFT JOIN ${tables.schema}.wallet_bets bet ON bet.bet_id = item.bet_id
  LEFT JOIN ${tables.schema}.wallet_transactions recorded ON recorded.bet_id = item.bet_id`

const transactionStatement = (tables: Tables) => sql`
  SELECT
    ${transactionFields}
  FROM ${tables.schema}.wallet_transactions recorded
  WHERE recorded.operation IN ('placebet', 'settlement', 'unsettlement', 'rollbackbet')
    AND recorded.transaction_id = ?`

/** Bets of which something is owed: a row for each of its refused unsettlements, at least one. */
const owedStatement = (tables: Tables) => sql`
  SELECT
    ${transactionFields},
    ${betFields}
  FROM ${tables.schema}.wallet_bets bet
  LEFT JOIN ${tables.schema}.wallet_transactions recorded
    ON recorded.bet_id = bet.bet_id AND recorded.operation = 'unsettlement' AND recorded.error_code IS NOT NULL
  WHERE ${anyOwed('bet')}`

const time = 'CAST(? AS datetime(6))'

/**
 * Called with the id of the player in the players' table in a JSON array; the playerId, from, to; and a
 * position: the time, twice, and the id. At least one row: each account, beside each transaction and its bet.
 */
function playerStatement(tables: Tables, limit: number): string {
  const { schema, players } = tables
  const { reserved } = players.columns
  return sql`
    SELECT
      ${transactionFields},
      ${betFields},
      ${currencyOfLoaded(tables)},
      ${asBytes(`player.${players.columns.balance}`)}${reserved === null ? '' : `,\n${asBytes(`player.${reserved}`)}`}
    FROM JSON_TABLE(?, '$' COLUMNS (player_key ${exactText(255)} PATH '$[0]')) item
    LEFT JOIN ${players.table} player ON ${isPlayer(tables, 'player', 'item.player_key')}
    LEFT JOIN (
      SELECT latest.*
      FROM ${schema}.wallet_transactions latest
      WHERE latest.player_id = ?
        AND latest.recorded_at >= ${time}
        AND latest.recorded_at < ${time}
        AND latest.recorded_at <= ${time}
        AND (latest.recorded_at < ${time} OR latest.id < CAST(? AS unsigned))
      ORDER BY latest.recorded_at DESC, latest.id DESC
      LIMIT ${limit}
    ) recorded ON 1 = 1
    LEFT JOIN ${schema}.wallet_bets bet ON bet.bet_id = recorded.bet_id
    ORDER BY recorded.recorded_at DESC, recorded.id DESC`
}

/** Called with a position: the time, twice, and the id; then to. */
const timeStatement = (tables: Tables, limit: number) => sql`
  SELECT
    ${transactionFields}
  FROM ${tables.schema}.wallet_transactions recorded
  WHERE recorded.recorded_at >= ${time}
    AND (recorded.recorded_at > ${time} OR recorded.id > CAST(? AS unsigned))
    AND recorded.recorded_at < ${time}
  ORDER BY recorded.recorded_at, recorded.id
  LIMIT ${limit}`

const indexName = ({ name }: LookupIndex) => `wallet_transactions_${name}`

/** Commits go on meanwhile. */
export const createIndex = ({ schema }: Tables, index: LookupIndex) =>
  `CREATE INDEX ${indexName(index)} ON ${schema}.wallet_transactions (${index.columns.join(', ')})`

/** For SQL as text: MySQL has no CREATE INDEX IF NOT EXISTS. */
export const createMissingIndex = (tables: Tables, index: LookupIndex) => sql`
  SET @bet_wallet_index = IF(
    EXISTS (
      SELECT 1 FROM information_schema.STATISTICS
      WHERE TABLE_SCHEMA = ${literal(tables.schemaName)}
        AND TABLE_NAME = 'wallet_transactions'
        AND INDEX_NAME = '${indexName(index)}'
    ),
    'DO 0',
    ${literal(createIndex(tables, index))}
  );
  PREPARE bet_wallet_index FROM @bet_wallet_index;
  EXECUTE bet_wallet_index;
  DEALLOCATE PREPARE bet_wallet_index`
