/** `load`: player, bet and transaction for many keys, in one statement and so from one snapshot. */

import { creditColumns, transactionContent } from '../../database/record-columns.js'
import { lines, sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import {
  asPlayerId,
  balanceOf,
  type DatabaseFunction,
  defineFunction,
  defineProcedure,
  emptyCommit,
  fromStoredTransaction,
  functionName,
  lookup,
  readCommitted,
  refuseBalanceType,
  refuseEncoding,
  refuseFormerPrimary,
  textOf,
  timelineParameters,
  waitForDisk,
  whereReserved,
} from './fragments.js'
import { literal } from './quoting.js'

/** `load_v1`, called with a JSON array of keys. */
export function loadFunction(tables: Tables): DatabaseFunction {
  return defineFunction(tables, {
    name: functionName(tables, 'load'),
    comment: sql`
      -- Every function below has the same settings: one generic plan per connection, made of index lookups.
      -- They hold for triggers that the function fires too. No search_path is set, because all names have
      -- their schema.

      -- Returns player, bet and transaction for each key, a JSON array. Read-only, but VOLATILE: its
      -- statement takes its snapshot when it has the locks of the tables. A table that was rewritten
      -- meanwhile is empty to an older one.`,
    parameters: sql`
      keys text,
      every_row boolean,
      lock_timeout_ms integer,
      ${timelineParameters}`,
    returns: sql`
      TABLE (
        key_index integer, currency text, balance text, bet json, transaction json,
        ${whereReserved(tables, () => 'reserved text,')}
        timeline text -- of this server, where it is not the highest one
      )`,
    rows: 100,
    body: sql`
      #variable_conflict use_column
      DECLARE
        row_security_before text := current_setting('row_security');
      BEGIN
        -- A client that waits no longer may be gone: this session would not notice it while it waits.
        PERFORM set_config('lock_timeout', lock_timeout_ms::text, true);
        -- A standby lags, so that its records may be old. 25006 is the code of a write on a standby.
        IF pg_is_in_recovery() THEN
          RAISE EXCEPTION 'bet-wallet: this server is a standby'
            USING ERRCODE = 'read_only_sql_transaction';
        END IF;
        ${refuseFormerPrimary(tables)}
        ${refuseEncoding}
        IF every_row THEN
          -- A policy that hid no rows at start must not hide them now: it is an error.
          PERFORM set_config('row_security', 'off', true);
        END IF;
        RETURN QUERY
          SELECT loaded.*, timeline
          FROM (
            ${loadQuery(tables, 'keys::json')}
          ) loaded;
        IF every_row THEN
          PERFORM set_config('row_security', row_security_before, true);
        END IF;
      END`,
  })
}

/**
 * `load_confirmed_v1`: the same, from a server that proves that it is the primary. It reads, and then writes
 * an empty message to the WAL: the commit of this statement waits for the disk and for the synchronous
 * standbys, as every commit does. A former primary never gets their confirmation.
 */
export function loadConfirmedProcedure(tables: Tables): DatabaseFunction {
  return defineProcedure(tables, {
    name: functionName(tables, 'load_confirmed'),
    comment: sql`
      -- The same as load, as JSON, and then an empty commit: its answer proves that this server is the
      -- primary.`,
    parameters: sql`
      keys text,
      every_row boolean,
      lock_timeout_ms integer,
      durable boolean,
      ${timelineParameters}`,
    body: sql`
      ${readCommitted};
      SELECT json_agg(loaded) INTO result
      FROM ${tables.schema}.${functionName(tables, 'load')}(
        keys, every_row, lock_timeout_ms, highest_timeline, of_system
      ) loaded;
      IF result IS NOT NULL THEN
        PERFORM ${emptyCommit};
      END IF;
      IF durable THEN
        PERFORM ${waitForDisk};
      END IF;`,
  })
}

/** Called where the balance column has another type than the options say. */
export function refuseBalanceTypeFunction(tables: Tables): DatabaseFunction {
  const { players } = tables
  const options = `players.balanceType ${players.balanceType}`
  return defineFunction(tables, {
    name: functionName(tables, refuseBalanceType),
    comment: sql`
      -- For a balance column whose type was changed while processes run.`,
    parameters: 'balance_type regtype',
    returns: 'numeric',
    body: sql`
      BEGIN
        RAISE EXCEPTION 'bet-wallet: the balance column is % now, and the store runs with %', balance_type,
          ${literal(options)}
          USING ERRCODE = 'datatype_mismatch',
            HINT = 'Migrate with the options of the new type, and start the processes with them';
      END`,
  })
}

/** @param keys the SQL of the JSON array */
export function loadQuery(tables: Tables, keys: string): string {
  const { id, currency } = tables.players.columns
  return sql`
    SELECT
      key.key_index,
      player.currency,
      ${textOf('player.balance')},
      CASE WHEN bet.bet_id IS NOT NULL THEN json_build_object(
        ${jsonFields('bet', ['player_id', 'currency', 'stake', 'status', ...creditColumns, 'revision'])}
      ) END,
      CASE WHEN transaction.transaction_id IS NOT NULL THEN json_build_object(
        ${jsonFields('transaction', transactionFields)},
        'transaction_date_ms', (extract(epoch FROM transaction.transaction_date) * 1000)::bigint
      ) END${whereReserved(tables, () => ',\nplayer.reserved')}
    FROM json_to_recordset(${keys}) AS key (
      key_index integer,
      operation text, transaction_id text, player_id text, bet_id text
    )
    ${lookup(
      sql`
        SELECT coalesce(player.${currency}::text, '') AS currency, ${balanceOf(tables)} AS balance${whereReserved(tables, reserved => `,\n${reserved}::text AS reserved`)}
        FROM ${tables.players.table} player
        WHERE player.${id} = ${asPlayerId(tables, 'key.player_id')}`,
      'player',
    )}
    ${lookup(`SELECT bet.*\nFROM ${tables.schema}.bets bet\nWHERE bet.bet_id = key.bet_id`, 'bet')}
    ${lookup(`SELECT stored.*\n${fromStoredTransaction(tables, 'key')}`, 'transaction')}`
}

const transactionFields = [...transactionContent, 'wallet_transaction_id']

/** Every value as text: a JSON parser would round a number. */
const jsonFields = (alias: string, columns: readonly string[]) =>
  lines(columns.map(column => `'${column}', ${alias}.${column}::text`))
