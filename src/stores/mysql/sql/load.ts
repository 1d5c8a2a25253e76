/** `load` and `loadConfirmed`: player, bet and transaction for many keys, in one statement. */
import { creditColumns, transactionContent } from '../../database/record-columns.js'
import { lines, sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import {
  allRows,
  asBytes,
  commit,
  currencyOfLoaded,
  defineProcedure,
  exactText,
  isPlayer,
  isServerReadOnly,
  type Procedure,
  procedureName,
  rollback,
} from './fragments.js'

/** The columns of a bet that a load returns, after bet_id. */
export const loadedBetColumns = ['player_id', 'currency', 'stake', 'status', ...creditColumns, 'revision']

/** The columns of a transaction that a load returns. */
export const loadedTransactionColumns = [...transactionContent, 'transaction_date', 'wallet_transaction_id']

/** The SQL of a column of a stored transaction, as text. */
export const transactionColumn = (column: string) =>
  asBytes(
    column === 'wallet_transaction_id' ? 'COALESCE(recorded.reference, recorded.id)' : `recorded.${column}`,
  )

/**
 * A row per key: its index, whether the server is read-only, then player, bet and transaction. All values are
 * text: a driver may round numbers. From one snapshot.
 */
function loadQuery(tables: Tables): string {
  const { schema, players } = tables
  const { reserved } = players.columns
  return sql`
    SELECT
      item.key_index - 1,
      ${isServerReadOnly},
      ${currencyOfLoaded(tables)},
      ${asBytes(`player.${players.columns.balance}`)},
      ${lines(loadedBetColumns.map(column => asBytes(`bet.${column}`)))},
      ${lines(loadedTransactionColumns.map(transactionColumn))}${reserved === null ? '' : `,\n${asBytes(`player.${reserved}`)}`}
    FROM JSON_TABLE(key_array, '$[*]' COLUMNS (
      key_index FOR ORDINALITY,
      operation ${exactText(12)} PATH '$[0]',
      transaction_id ${exactText(255)} PATH '$[1]',
      player_id ${exactText(255)} PATH '$[2]',
      bet_id ${exactText(255)} PATH '$[3]'
    )) item
    LEFT JOIN ${players.table} player ON ${isPlayer(tables, 'player', 'item.player_id')}
    LEFT JOIN ${schema}.wallet_bets bet ON bet.bet_id = item.bet_id
    LEFT JOIN ${schema}.wallet_transactions recorded
      ON recorded.operation = item.operation AND recorded.transaction_id = item.transaction_id
    ${allRows}`
}

/**
 * With a `proof_id` the server proves that it can commit durably: it reads, and then commits a row that is
 * inserted and deleted again. That commit waits for the disk, the binary log and the replicas that every
 * commit waits for.
 *
 * A procedure, since the end of a CALL reports the settings that a function of a view has changed. That of a
 * SELECT does not.
 */
export function loadProcedure(tables: Tables): Procedure {
  const { schema } = tables
  return defineProcedure(tables, {
    name: procedureName(tables, 'load'),
    comment:
      '-- Reads players, bets and transactions; with a proof_id, proves that this server is the primary.',
    parameters: sql`
      key_array longtext CHARACTER SET utf8mb4,
      proof_id bigint unsigned`,
    body: sql`
      BEGIN
        DECLARE EXIT HANDLER FOR SQLEXCEPTION
        BEGIN
          ${rollback};
          RESIGNAL;
        END;
        ${loadQuery(tables)};
        -- The rows above tell of a read-only server.
        IF proof_id IS NOT NULL AND NOT ${isServerReadOnly} THEN
          START TRANSACTION;
          INSERT INTO ${schema}.wallet_proofs (id) VALUES (proof_id);
          DELETE FROM ${schema}.wallet_proofs WHERE id = proof_id;
          ${commit};
        END IF;
      END`,
  })
}
