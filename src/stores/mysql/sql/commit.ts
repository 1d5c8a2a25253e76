/** `commit` for many items: judges every item by its guards, and writes the accepted ones by sets. */
import { countUp, lines, sql } from '../../database/sql-text.js'
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
  isAccount,
  isBelowFloor,
  itemFields,
  type Procedure,
  procedureName,
  refuseReadOnly,
  setRecordedTime,
  signalBalanceDiffers,
  signalBetChanged,
  takesCredit,
  transactionColumns,
  transactionValues,
  unitDecimal,
  whereAccounts,
  whereReserved,
} from './fragments.js'
import { isLoaded, loadItems } from './load.js'

/**
 * Called with a JSON array of items, each an array of its fields, and the playerIds in their order: with
 * `players.accountPerCurrency`, pairs of playerId and currency.
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
        DECLARE committed, bets_to_change, to_load, wrong_balances integer DEFAULT 0;
        DECLARE proof_id bigint unsigned;
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
        ${loadSome(tables)}
        ${commitNow}
      END`,
  })
}

/** One of each per connection. Both are in memory, and never logged. */
function temporaryTables(tables: Tables): string {
  const { schema, players } = tables
  const key = players.accountPerCurrency ? '' : ' PRIMARY KEY'
  return sql`
    CREATE TEMPORARY TABLE IF NOT EXISTS ${schema}.wallet_batch_players (
      player_id ${exactText(255)} NOT NULL${key},
      currency ${exactText(255)},
      balance ${unitDecimal}${whereReserved(tables, () => `,\nreserved ${unitDecimal}`)}${whereAccounts(tables, () => ',\nPRIMARY KEY (player_id, currency)')}
    ) ENGINE = MEMORY;
    CREATE TEMPORARY TABLE IF NOT EXISTS ${schema}.wallet_batch_items (
      item_index integer NOT NULL PRIMARY KEY,
      verdict varchar(12) NOT NULL,
      stored_revision integer,
      ${lines(itemFields.map(([name, type]) => `${name} ${type}`))}
    ) ENGINE = MEMORY;
    DELETE FROM ${schema}.wallet_batch_players;
    DELETE FROM ${schema}.wallet_batch_items;`
}

/** The columns of a playerId with a currency. */
const pair = `player_id ${exactText(255)} PATH '$[0]', account_currency ${exactText(16)} PATH '$[1]'`

/** A joined account that is locked. */
const isLocked = (tables: Tables) =>
  `locked.player_id = item.player_id${whereAccounts(tables, () => ' AND locked.currency = item.account_currency')}`

function lockPlayers(tables: Tables): string {
  const { schema, players } = tables
  return sql`
    -- Lock order: the players, then the bets, in every commit. It does not wait for a locked player.
    INSERT INTO ${schema}.wallet_batch_players
    SELECT item.player_id, ${currencyOf(tables, 'player')}, ${balanceOf(tables, 'player')}${whereReserved(tables, reserved => `, ${reserved}`)}
    FROM JSON_TABLE(player_ids, '$[*]' COLUMNS (${players.accountPerCurrency ? pair : `player_id ${exactText(255)} PATH '$'`})) item
    STRAIGHT_JOIN ${players.table} player ON ${isAccount(tables, 'item.player_id', 'item.account_currency')}
    -- Beside JSON_TABLE, MySQL requires the table to lock (3569). MariaDB does not know OF.
    FOR UPDATE /*!80000 OF player */ SKIP LOCKED;`
}

function judge(tables: Tables): string {
  const { schema, players } = tables
  const balanceAfter = 'locked.balance + item.balance_delta'
  const reserved = whereReserved(tables, () => 'locked.reserved')
  return sql`
    INSERT INTO ${schema}.wallet_batch_items
    SELECT
      item.item_index - 1,
      CASE
        WHEN recorded.id IS NOT NULL THEN 'conflict' -- guard 1
        -- Guard 2: the bet has not changed since it was loaded. That of a credit: the bet takes it.
        WHEN item.bet_revision = 0 AND ${takesCredit('item.')} IS NOT TRUE THEN 'conflict'
        WHEN item.bet_revision > 0 AND COALESCE(bet.revision, 0) <> item.bet_revision - 1 THEN 'conflict'
        WHEN locked.player_id IS NULL THEN
          -- Busy: another writer holds the row lock.
          IF(EXISTS (
            SELECT 1 FROM ${players.table} player WHERE ${isAccount(tables, 'item.player_id', 'item.account_currency')}
          ), 'busy', 'conflict')
        WHEN locked.currency <> item.account_currency THEN 'conflict' -- guard 3
        WHEN item.balance_delta IS NULL THEN 'committed'
        WHEN NOT ${balanceIsValid('locked.balance', reserved)} THEN 'conflict'
        WHEN ${isBelowFloor('item.', `${balanceAfter}${reserved && ` - ${reserved}`}`)} THEN 'conflict' -- guard 3, the floor
        WHEN ${exceedsColumn('item.', balanceAfter)} THEN 'out-of-range'
        ELSE 'committed'
      END,
      IF(item.bet_revision IS NULL, NULL, bet.revision),
      ${lines(itemFields.map(([name]) => `item.${name}`))}
    FROM JSON_TABLE(items, '$[*]' COLUMNS (
      item_index FOR ORDINALITY,
      ${lines(itemFields.map(([name, type], index) => `${name} ${type} PATH '$[${index}]' ERROR ON ERROR`))}
    )) item
    LEFT JOIN ${schema}.wallet_batch_players locked ON ${isLocked(tables)}
    LEFT JOIN ${schema}.wallet_transactions recorded
      ON recorded.operation = item.operation AND recorded.transaction_id = item.transaction_id
    LEFT JOIN ${schema}.wallet_bets bet ON bet.bet_id = item.bet_id;`
}

const balanceAfter = 'locked.balance + COALESCE(item.balance_delta, 0)'

function write(tables: Tables): string {
  const { schema, players } = tables
  const { balance, version } = players.columns
  const player = isAccount(tables, 'item.player_id', 'item.account_currency')
  const available = `${balanceAfter}${whereReserved(tables, () => ' - locked.reserved')}`
  const isChange = "item.verdict = 'committed' AND item.balance_delta IS NOT NULL"
  return sql`
    ${setRecordedTime}
    INSERT INTO ${schema}.wallet_transactions (
      ${transactionColumns}
    )
    SELECT
      ${transactionValues('item.', inWholeUnits(tables, 'locked.currency', available))}
    FROM ${schema}.wallet_batch_items item
    JOIN ${schema}.wallet_batch_players locked ON ${isLocked(tables)}
    WHERE item.verdict = 'committed';
    ${insertEvents(tables)}
    INSERT INTO ${schema}.wallet_bets (
      ${betColumns}
    )
    SELECT
      ${betValues('item.')}
    FROM ${schema}.wallet_batch_items item
    WHERE item.verdict = 'committed'
      AND item.bet_revision IS NOT NULL
      AND item.stored_revision IS NULL;

    SELECT
      SUM(item.verdict = 'committed'),
      SUM(item.verdict = 'committed' AND item.stored_revision IS NOT NULL),
      SUM(${isLoaded('item.', 'item.verdict')}),
      MIN(item.id)
    INTO committed, bets_to_change, to_load, proof_id
    FROM ${schema}.wallet_batch_items item;
    IF bets_to_change > 0 THEN
      UPDATE ${schema}.wallet_batch_items item
      STRAIGHT_JOIN ${schema}.wallet_bets bet
        ON bet.bet_id = item.bet_id AND bet.revision = item.stored_revision
      SET
        ${betAssignments('item.', 'item.stored_revision')}
      WHERE item.verdict = 'committed';
      IF ROW_COUNT() <> bets_to_change THEN
        ${signalBetChanged}
      END IF;
    END IF;

    UPDATE ${schema}.wallet_batch_items item
    STRAIGHT_JOIN ${players.table} player ON ${player}
    SET player.${balance} = ${balancePlus(tables, 'player', 'item.balance_delta')}${countUp(version, 'player.')}
    WHERE ${isChange};
    SELECT COUNT(*) INTO wrong_balances
    FROM ${schema}.wallet_batch_items item
    STRAIGHT_JOIN ${schema}.wallet_batch_players locked ON ${isLocked(tables)}
    STRAIGHT_JOIN ${players.table} player ON ${player}
    WHERE ${isChange}
      AND NOT ${balanceOf(tables, 'player')} <=> ${balanceAfter};
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

function answer(tables: Tables): string {
  const { schema } = tables
  return sql`
    SELECT item.item_index, item.verdict, ${asBytes('locked.currency')},
      ${asBytes(balanceAfter)}, ${asBytes('item.id')}${whereReserved(tables, () => `, ${asBytes('locked.reserved')}`)}
    FROM ${schema}.wallet_batch_items item
    LEFT JOIN ${schema}.wallet_batch_players locked ON ${isLocked(tables)}
    ${allRows};`
}

function loadSome(tables: Tables): string {
  return sql`
    IF to_load > 0 THEN
      ${loadItems(tables, {
        index: 'item.item_index',
        items: `${tables.schema}.wallet_batch_items`,
        where: `WHERE ${isLoaded('item.', 'item.verdict')}`,
        isAlone: 'committed = 0',
        id: 'proof_id',
      })}
    END IF;`
}
