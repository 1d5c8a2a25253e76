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
 * A row per key `item`: its index, whether the server is read-only, then player, bet and transaction. All
 * values are text: a driver may round numbers. From one snapshot.
 */
function loadQuery(tables: Tables, index: string, items: string, where = ''): string {
  const { schema, players } = tables
  const { reserved } = players.columns
  return sql`
    SELECT
      ${index},
      ${isServerReadOnly},
      ${currencyOfLoaded(tables)},
      ${asBytes(`player.${players.columns.balance}`)},
      ${lines(loadedBetColumns.map(column => asBytes(`bet.${column}`)))},
      ${lines(loadedTransactionColumns.map(transactionColumn))}${reserved === null ? '' : `,\n${asBytes(`player.${reserved}`)}`}
    FROM ${items} item
    LEFT JOIN ${players.table} player ON ${isPlayer(tables, 'player', 'item.player_id')}
    LEFT JOIN ${schema}.wallet_bets bet ON bet.bet_id = item.bet_id
    LEFT JOIN ${schema}.wallet_transactions recorded
      ON recorded.operation = item.operation AND recorded.transaction_id = item.transaction_id
    ${where}
    ${allRows}`
}

/** Of a JSON array. */
const keyArray = sql`
  JSON_TABLE(key_array, '$[*]' COLUMNS (
    key_index FOR ORDINALITY,
    operation ${exactText(12)} PATH '$[0]',
    transaction_id ${exactText(255)} PATH '$[1]',
    player_id ${exactText(255)} PATH '$[2]',
    bet_id ${exactText(255)} PATH '$[3]'
  ))`

/** The proof that this server can commit durably: a row that is inserted and deleted again. */
const writeProof = ({ schema }: Tables, id: string) => sql`
  INSERT INTO ${schema}.wallet_proofs (id) VALUES (${id});
  DELETE FROM ${schema}.wallet_proofs WHERE id = ${id};`

/**
 * Whether a commit returns the records of an item too: those of a conflict, for its next decision; or where a
 * hook follows, of a bet that a credit was added to.
 */
export const isLoaded = (item: string, verdict: string) =>
  `IF(commits, ${verdict} = 'conflict', ${verdict} = 'committed' AND ${item}bet_revision <=> 0)`

/** The second result of a commit. Conflicts alone commit nothing: then they commit a proof. */
export const loadItems = (
  tables: Tables,
  { index, items, where, isAlone, id }: Record<'index' | 'items' | 'where' | 'isAlone' | 'id', string>,
) => sql`
  IF commits AND ${isAlone} THEN
    -- Nothing is written: the locks of players end before the wait for replicas.
    ${commit};
    START TRANSACTION;
    ${writeProof(tables, id)}
  END IF;
  ${loadQuery(tables, index, items, where)};`

/**
 * With a `proof_id` the server proves that it can commit durably: it reads, and then commits a row that is
 * inserted and deleted again. That commit waits for the disk, the binary log and the replicas that every
 * commit waits for.
 *
 * A procedure, since the end of a CALL reports the settings that a function of a view has changed. That of a
 * SELECT does not.
 */
export function loadProcedure(tables: Tables): Procedure {
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
        ${loadQuery(tables, 'item.key_index - 1', keyArray)};
        -- The rows above tell of a read-only server.
        IF proof_id IS NOT NULL AND NOT ${isServerReadOnly} THEN
          START TRANSACTION;
          ${writeProof(tables, 'proof_id')}
          ${commit};
        END IF;
      END`,
  })
}
