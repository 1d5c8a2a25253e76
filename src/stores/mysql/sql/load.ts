/** `load`: player, bet and transaction for many keys, in one statement and so from one snapshot. */
import { lines, sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import {
  asText,
  currencyOf,
  defineProcedure,
  exactText,
  isPlayer,
  type Procedure,
  procedureName,
} from './fragments.js'
import { betColumn, joinLegacyBet, loadedBetColumns } from './legacy-bets.js'

/** The columns of a transaction that a load returns. */
export const loadedTransactionColumns = [
  ...['player_id', 'bet_id', 'amount', 'currency', 'type', 'delta', 'error_code', 'description'],
  ...['transaction_date', 'wallet_transaction_id'],
]

/** The SQL of a column of a stored transaction, as text. */
export const transactionColumn = (column: string) =>
  column === 'wallet_transaction_id'
    ? `COALESCE(recorded.reference, ${asText('recorded.id')})`
    : asText(`recorded.${column}`)

/**
 * A row per key: its index, whether the server is read-only, then player, bet and transaction. All values are
 * text: a driver may round numbers.
 *
 * @param keys the SQL of the JSON array
 */
export function loadQuery(tables: Tables, keys: string): string {
  const { schema, players } = tables
  return sql`
    SELECT
      item.key_index - 1,
      @@GLOBAL.read_only,
      IF(player.${players.columns.id} IS NULL, NULL, ${currencyOf(tables, 'player')}),
      ${asText(`player.${players.columns.balance}`)},
      ${lines(loadedBetColumns.map(column => asText(betColumn(tables, column))))},
      ${lines(loadedTransactionColumns.map(transactionColumn))}
    FROM JSON_TABLE(${keys}, '$[*]' COLUMNS (
      key_index FOR ORDINALITY,
      operation ${exactText(12)} PATH '$[0]',
      transaction_id ${exactText(255)} PATH '$[1]',
      player_id ${exactText(255)} PATH '$[2]',
      bet_id ${exactText(255)} PATH '$[3]'
    )) item
    LEFT JOIN ${players.table} player ON ${isPlayer(tables, 'player', 'item.player_id')}
    LEFT JOIN ${schema}.wallet_bets bet ON bet.bet_id = item.bet_id
    ${joinLegacyBet(tables, 'item.bet_id')}
    LEFT JOIN ${schema}.wallet_transactions recorded
      ON recorded.operation = item.operation AND recorded.transaction_id = item.transaction_id`
}

/**
 * The same, from a server that proves that it can commit durably: it reads, and then commits a row that is inserted
 * and deleted again. That commit waits for the disk, the binary log and the replicas that every commit waits for.
 */
export function loadConfirmedProcedure(tables: Tables): Procedure {
  const { schema } = tables
  return defineProcedure(tables, {
    name: procedureName(tables, 'load_confirmed'),
    comment: '-- The same as a load, and then an empty commit: it proves that this server is the primary.',
    parameters: sql`
      key_array longtext CHARACTER SET utf8mb4,
      proof_id bigint unsigned`,
    body: sql`
      BEGIN
        DECLARE EXIT HANDLER FOR SQLEXCEPTION
        BEGIN
          ROLLBACK;
          RESIGNAL;
        END;
        ${loadQuery(tables, 'key_array')};
        START TRANSACTION;
        INSERT INTO ${schema}.wallet_proofs (id) VALUES (proof_id);
        DELETE FROM ${schema}.wallet_proofs WHERE id = proof_id;
        COMMIT;
      END`,
  })
}
