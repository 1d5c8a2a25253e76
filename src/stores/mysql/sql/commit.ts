/** `commit` for many items: judges every item by its guards, and writes the accepted ones by sets. */
import { lines, sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import {
  allRows,
  asBytes,
  balanceIsValid,
  balanceOf,
  balancePlus,
  betAssignments,
  betColumns,
  betValues,
  commitHandler,
  commitNow,
  currencyOf,
  defineProcedure,
  exactText,
  exceedsColumn,
  inWholeUnits,
  isBelowFloor,
  isPlayer,
  itemFields,
  type Procedure,
  procedureName,
  refuseReadOnly,
  setRecordedTime,
  signalBalanceDiffers,
  signalBetChanged,
  transactionColumns,
  transactionValues,
  unitDecimal,
} from './fragments.js'
import { joinLegacyBet, storedRevision } from './legacy-bets.js'

/**
 * Called with a JSON array of items, each an array of its fields, and the playerIds in their order.
 *
 * In READ COMMITTED the locked rows are current. Guards 1 and 2 are enforced by the writes too: a
 * transactionId or betId inserted by another session meanwhile (1062), and a bet changed meanwhile (1020),
 * undo everything; the store then retries the items in smaller batches.
 */
export function commitProcedure(tables: Tables): Procedure {
  return defineProcedure(tables, {
    name: procedureName(tables, 'commit'),
    comment: '-- Commits many items: checks the guards of each, and writes the accepted ones.',
    parameters: sql`
      items longtext CHARACTER SET utf8mb4,
      player_ids longtext CHARACTER SET utf8mb4,
      balance_min ${unitDecimal},
      balance_max ${unitDecimal},
      commits boolean`,
    body: sql`
      BEGIN
        DECLARE bets_to_change, wrong_balances, rejected integer DEFAULT 0;
        ${commitHandler}

        ${refuseReadOnly}

        ${temporaryTables(tables)}

        IF commits THEN
          START TRANSACTION;
        END IF;

        ${lockPlayers(tables)}

        ${judge(tables)}

        ${write(tables)}

        ${answer(tables)}
        ${commitNow}
      END`,
  })
}

/** One of each per connection. Both are in memory, and never logged. */
function temporaryTables({ schema }: Tables): string {
  return sql`
    CREATE TEMPORARY TABLE IF NOT EXISTS ${schema}.wallet_batch_players (
      player_id ${exactText(255)} NOT NULL PRIMARY KEY,
      currency ${exactText(255)},
      balance ${unitDecimal},
      delta ${unitDecimal}
    ) ENGINE = MEMORY;
    CREATE TEMPORARY TABLE IF NOT EXISTS ${schema}.wallet_batch_items (
      item_index integer NOT NULL PRIMARY KEY,
      verdict varchar(12) NOT NULL,
      bet_is_stored boolean NOT NULL,
      ${lines(itemFields.map(([name, type]) => `${name} ${type}`))}
    ) ENGINE = MEMORY;
    DELETE FROM ${schema}.wallet_batch_players;
    DELETE FROM ${schema}.wallet_batch_items;`
}

function lockPlayers(tables: Tables): string {
  const { schema, players } = tables
  return sql`
    -- Lock order: the players, then the bets, in every commit. It does not wait for a locked player.
    INSERT INTO ${schema}.wallet_batch_players (player_id, currency, balance)
    SELECT item.player_id, ${currencyOf(tables, 'player')}, ${balanceOf(tables, 'player')}
    FROM JSON_TABLE(player_ids, '$[*]' COLUMNS (player_id ${exactText(255)} PATH '$')) item
    STRAIGHT_JOIN ${players.table} player ON ${isPlayer(tables, 'player', 'item.player_id')}
    -- Beside JSON_TABLE, MySQL requires the table to lock (3569). MariaDB does not know OF.
    FOR UPDATE /*!80000 OF player */ SKIP LOCKED;`
}

function judge(tables: Tables): string {
  const { schema, players } = tables
  const afterDebits = 'locked.balance + COALESCE(item.debits_before, 0) + item.balance_delta'
  const afterCredits = 'locked.balance + COALESCE(item.credits_before, 0) + item.balance_delta'
  return sql`
    -- Several items of one player are applied in order. Each may still be rejected, so a debit is not covered
    -- by a credit of the same batch, and a credit cannot use the range that a debit frees.
    INSERT INTO ${schema}.wallet_batch_items
    SELECT
      item.item_index - 1,
      CASE
        WHEN recorded.id IS NOT NULL THEN 'conflict' -- guard 1
        WHEN item.bet_revision IS NOT NULL AND ${storedRevision(tables)} <> item.bet_revision - 1
          THEN 'conflict' -- guard 2
        WHEN locked.player_id IS NULL THEN
          -- Busy: another writer holds the row lock.
          IF(EXISTS (
            SELECT 1 FROM ${players.table} player WHERE ${isPlayer(tables, 'player', 'item.player_id')}
          ), 'busy', 'conflict')
        WHEN item.balance_delta IS NULL THEN 'committed'
        WHEN NOT ${balanceIsValid('item.', 'locked.currency', 'locked.balance')} THEN 'conflict' -- guard 3
        WHEN ${isBelowFloor('item.', afterDebits)} THEN 'conflict' -- guard 3, the floor
        WHEN ${exceedsColumn('item.', { credit: afterCredits, debit: afterDebits })} THEN 'out-of-range'
        ELSE 'committed'
      END,
      item.bet_revision IS NOT NULL AND bet.bet_id IS NOT NULL,
      ${lines(itemFields.map(([name]) => `item.${name}`))}
    FROM JSON_TABLE(items, '$[*]' COLUMNS (
      item_index FOR ORDINALITY,
      ${lines(itemFields.map(([name, type], index) => `${name} ${type} PATH '$[${index}]' ERROR ON ERROR`))}
    )) item
    LEFT JOIN ${schema}.wallet_batch_players locked ON locked.player_id = item.player_id
    LEFT JOIN ${schema}.wallet_transactions recorded
      ON recorded.operation = item.operation AND recorded.transaction_id = item.transaction_id
    LEFT JOIN ${schema}.wallet_bets bet ON bet.bet_id = item.bet_id
    ${joinLegacyBet(tables, 'item.bet_id')};`
}

function write(tables: Tables): string {
  const { schema, players } = tables
  const { balance } = players.columns
  const player = isPlayer(tables, 'player', 'locked.player_id')
  return sql`
    ${setRecordedTime}
    SELECT COUNT(*) INTO rejected FROM ${schema}.wallet_batch_items item WHERE item.verdict <> 'committed';
    IF rejected = 0 THEN
      ${insertTransactions(tables, 'COALESCE(item.debits_before, 0) + COALESCE(item.credits_before, 0) + COALESCE(item.balance_delta, 0)')}
    ELSE
      -- Only those that are committed count; a window function sorts all items.
      ${insertTransactions(tables, 'COALESCE(SUM(item.balance_delta) OVER (PARTITION BY item.player_id ORDER BY item.item_index ROWS UNBOUNDED PRECEDING), 0)')}
    END IF;
    ${insertEvents(tables)}
    INSERT INTO ${schema}.wallet_bets (
      ${betColumns}
    )
    SELECT
      ${betValues('item.')}
    FROM ${schema}.wallet_batch_items item
    WHERE item.verdict = 'committed'
      AND item.bet_revision IS NOT NULL
      AND NOT item.bet_is_stored;

    SELECT COUNT(*) INTO bets_to_change
    FROM ${schema}.wallet_batch_items item
    WHERE item.verdict = 'committed' AND item.bet_is_stored;
    IF bets_to_change > 0 THEN
      UPDATE ${schema}.wallet_batch_items item
      STRAIGHT_JOIN ${schema}.wallet_bets bet
        ON bet.bet_id = item.bet_id AND bet.revision = item.bet_revision - 1
      SET
        ${betAssignments('item.')}
      WHERE item.verdict = 'committed' AND item.bet_is_stored;
      IF ROW_COUNT() <> bets_to_change THEN
        ${signalBetChanged}
      END IF;
    END IF;

    INSERT INTO ${schema}.wallet_batch_players (player_id, delta)
    SELECT item.player_id, item.balance_delta
    FROM ${schema}.wallet_batch_items item
    WHERE item.verdict = 'committed' AND item.balance_delta IS NOT NULL
    ON DUPLICATE KEY UPDATE delta = COALESCE(wallet_batch_players.delta, 0) + VALUES(delta);
    UPDATE ${schema}.wallet_batch_players locked
    STRAIGHT_JOIN ${players.table} player ON ${player}
    SET player.${balance} = ${balancePlus(tables, 'player', 'locked.delta')}
    WHERE locked.delta IS NOT NULL;
    SELECT COUNT(*) INTO wrong_balances
    FROM ${schema}.wallet_batch_players locked
    STRAIGHT_JOIN ${players.table} player ON ${player}
    WHERE NOT ${balanceOf(tables, 'player')} <=> locked.balance + locked.delta
      AND locked.delta IS NOT NULL;
    IF wrong_balances > 0 THEN
      ${signalBalanceDiffers}
    END IF;`
}

/** An empty line without an outbox. */
const insertEvents = ({ schema, outbox }: Tables): string =>
  outbox
    ? sql`
      INSERT INTO ${schema}.wallet_outbox (id, bet_id, due_at)
      SELECT item.id, item.bet_id, recorded_time
      FROM ${schema}.wallet_batch_items item
      WHERE item.verdict = 'committed';
    `
    : ''

/** @param changes of the player's balance by the items up to this one */
function insertTransactions(tables: Tables, changes: string): string {
  const { schema } = tables
  return sql`
    INSERT INTO ${schema}.wallet_transactions (
      ${transactionColumns}
    )
    SELECT
      ${transactionValues('item.', {
        balanceAfter: inWholeUnits(tables, 'locked.currency', `locked.balance + ${changes}`),
        // The times differ, so that they keep the order in which the items were applied.
        recordedAt: 'recorded_time + INTERVAL item.item_index MICROSECOND',
      })}
    FROM ${schema}.wallet_batch_items item
    JOIN ${schema}.wallet_batch_players locked ON locked.player_id = item.player_id
    WHERE item.verdict = 'committed';`
}

function answer(tables: Tables): string {
  const { schema } = tables
  return sql`
    SELECT item.item_index, item.verdict, ${asBytes('locked.currency')},
      ${asBytes('locked.balance + COALESCE(locked.delta, 0)')}, ${asBytes('item.id')}
    FROM ${schema}.wallet_batch_items item
    LEFT JOIN ${schema}.wallet_batch_players locked ON locked.player_id = item.player_id
    ${allRows};`
}
