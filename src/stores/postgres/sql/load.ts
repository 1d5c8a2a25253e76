/** `load`: player, bet and transaction for many keys, in one statement and so from one snapshot. */
import type { Tables } from '../tables.js'
import {
  asPlayerId,
  betQuery,
  creditColumns,
  type DatabaseFunction,
  defineFunction,
  fromStoredTransaction,
  functionName,
  lines,
  lookup,
  sql,
} from './fragments.js'

/** `load_v1`, called with a JSON array of keys. */
export function loadFunction(tables: Tables): DatabaseFunction {
  return defineFunction(tables, {
    name: functionName(tables, 'load'),
    comment: sql`
      -- Every function below has the same settings: one generic plan per connection, made of index lookups. They
      -- hold for triggers that the function fires too. No search_path is set, because all names have their schema.

      -- Returns player, bet and transaction for each key. Read-only.`,
    parameters: 'keys json',
    returns: sql`
      TABLE (key_index integer, currency text, balance text, bet json, transaction json)
      LANGUAGE plpgsql STABLE ROWS 100`,
    body: sql`
      #variable_conflict use_column
      BEGIN
        RETURN QUERY
          ${loadQuery(tables, 'keys')};
      END`,
  })
}

/** @param keys the SQL of the JSON array */
export function loadQuery(tables: Tables, keys: string): string {
  const { id, currency, balance } = tables.players.columns
  return sql`
    SELECT
      key.key_index,
      player.currency,
      player.balance,
      CASE WHEN bet.bet_id IS NOT NULL THEN json_build_object(
        ${jsonFields('bet', ['player_id', 'currency', 'stake', 'status', ...creditColumns, 'revision'])}
      ) END,
      CASE WHEN transaction.transaction_id IS NOT NULL THEN json_build_object(
        ${jsonFields('transaction', transactionFields)},
        'transaction_date_ms', (extract(epoch FROM transaction.transaction_date) * 1000)::bigint
      ) END
    FROM json_to_recordset(${keys}) AS key (
      key_index integer,
      operation text, transaction_id text, player_id text, bet_id text
    )
    ${lookup(
      sql`
        SELECT coalesce(player.${currency}::text, '') AS currency, player.${balance}::text AS balance
        FROM ${tables.players.table} player
        WHERE player.${id} = ${asPlayerId(tables, 'key.player_id')}`,
      'player',
    )}
    ${lookup(betQuery(tables, 'key.bet_id'), 'bet')}
    ${lookup(`SELECT stored.*\n${fromStoredTransaction(tables, 'key')}`, 'transaction')}`
}

const transactionFields = [
  ...['player_id', 'bet_id', 'amount', 'currency', 'type', 'delta', 'error_code', 'description'],
  'wallet_transaction_id',
]

/** Every value as text: a JSON parser would round a number. */
const jsonFields = (alias: string, columns: readonly string[]) =>
  lines(columns.map(column => `'${column}', ${alias}.${column}::text`))
