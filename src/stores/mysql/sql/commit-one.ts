/** `commit` for one item, by small statements: cheaper to set up than the statements for many. */
import { countUp, lines, sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import {
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
  plainBetColumns,
  plainBetValues,
  procedureName,
  refuseReadOnly,
  setRecordedTime,
  signalBalanceDiffers,
  signalBetChanged,
  takesCredit,
  transactionColumns,
  transactionValues,
  unitDecimal,
  whereReserved,
} from './fragments.js'
import { isLoaded, loadItems } from './load.js'

/**
 * Called with the fields of one item. The guards are checked first, and enforced by the writes too: guards 1
 * and 2 by the unique indexes and the bet's revision, guard 3 by the row lock.
 */
export function commitOneProcedure(tables: Tables): Procedure {
  return defineProcedure(tables, {
    name: procedureName(tables, 'commit_one'),
    comment: '-- Commits one item: the same guards, by small statements.',
    parameters: lines([
      ...itemFields.map(([name, type]) => `item_${name} ${type}`),
      `balance_min ${unitDecimal}`,
      `balance_max ${unitDecimal}`,
      'balance_length integer',
      'commits boolean',
    ]),
    body: sql`
      BEGIN
        DECLARE verdict varchar(12) DEFAULT 'conflict';
        DECLARE is_recorded, is_locked, is_known boolean DEFAULT false;
        DECLARE stored_revision integer;
        DECLARE player_currency ${exactText(255)};
        DECLARE balance_text ${exactText(255)};
        DECLARE balance_before, balance_after, reserved_before ${unitDecimal};
        ${commitHandler}

        ${refuseReadOnly}

        IF commits THEN
          START TRANSACTION;
        END IF;

        guards_and_writes: BEGIN
          ${checkGuards(tables)}

          ${lockPlayer(tables)}

          ${write(tables)}
          SET verdict = 'committed';
        END;

        SELECT 0, verdict, ${[
          'player_currency',
          'balance_text',
          'item_id',
          ...whereReserved(tables, () => 'reserved_before')
            .split(' ')
            .filter(Boolean),
        ]
          .map(asBytes)
          .join(', ')};
        ${loadOne(tables)}
        ${commitNow}
      END`,
  })
}

function loadOne(tables: Tables): string {
  const keys = ['operation', 'transaction_id', 'player_id', 'bet_id']
  return sql`
    IF ${isLoaded('item_', 'verdict')} THEN
      ${loadItems(tables, {
        index: '0',
        items: `(SELECT ${keys.map(key => `item_${key} AS ${key}`).join(', ')})`,
        where: '',
        isAlone: 'true',
        id: 'item_id',
      })}
    END IF;`
}

function checkGuards(tables: Tables): string {
  const { schema } = tables
  return sql`
    -- Guard 1: the transaction is new.
    SELECT EXISTS (
      SELECT 1
      FROM ${schema}.wallet_transactions recorded
      WHERE recorded.operation = item_operation
        AND recorded.transaction_id = item_transaction_id
    ) INTO is_recorded;
    IF is_recorded THEN
      LEAVE guards_and_writes;
    END IF;

    -- Guard 2: the bet has not changed since it was loaded. That of a credit: the bet takes it.
    -- Not SET … = (SELECT …): in a procedure that locks the row, and waits for it.
    IF item_bet_revision = 0 THEN
      SELECT bet.revision INTO stored_revision
      FROM ${schema}.wallet_bets bet
      WHERE bet.bet_id = item_bet_id
        AND ${takesCredit('item_')};
      IF stored_revision IS NULL THEN
        LEAVE guards_and_writes;
      END IF;
    ELSEIF item_bet_revision IS NOT NULL THEN
      SELECT bet.revision INTO stored_revision FROM ${schema}.wallet_bets bet WHERE bet.bet_id = item_bet_id;
      IF COALESCE(stored_revision, 0) <> item_bet_revision - 1 THEN
        LEAVE guards_and_writes;
      END IF;
    END IF;`
}

const accountOfItem = (tables: Tables) => isAccount(tables, 'item_player_id', 'item_account_currency')

/** Of a text column. A batch with a balance that is too long fails in its UPDATE, and is divided. */
function isTooLong(tables: Tables): string {
  if (tables.players.balanceType !== 'text') return ''
  const { table } = tables.players
  return sql`
    OR (
      SELECT CHAR_LENGTH(${balancePlus(tables, 'player', 'item_balance_delta')}) > balance_length
      FROM ${table} player
      WHERE ${accountOfItem(tables)}
    )`
}

function lockPlayer(tables: Tables): string {
  const { table } = tables.players
  const player = accountOfItem(tables)
  const reserved = whereReserved(tables, () => 'reserved_before')
  return sql`
    -- Lock order: the player, then the bet, in every commit. It does not wait for a locked player.
    SELECT true, ${currencyOf(tables, 'player')}, ${balanceOf(tables, 'player')},
      ${asBytes(`player.${tables.players.columns.balance}`)}${whereReserved(tables, column => `, ${column}`)}
    INTO is_locked, player_currency, balance_before, balance_text${whereReserved(tables, () => ', reserved_before')}
    FROM ${table} player
    WHERE ${player}
    FOR UPDATE SKIP LOCKED;
    IF NOT is_locked THEN
      SELECT EXISTS (SELECT 1 FROM ${table} player WHERE ${player}) INTO is_known;
      IF is_known THEN
        SET verdict = 'busy'; -- another writer holds the row lock
      END IF;
      LEAVE guards_and_writes;
    END IF;

    -- Guard 3: the currency and the floor of the balance.
    IF player_currency <> item_account_currency THEN
      LEAVE guards_and_writes;
    END IF;
    IF item_balance_delta IS NOT NULL THEN
      SET balance_after = balance_before + item_balance_delta;
      IF NOT ${balanceIsValid('balance_before', reserved)}
        OR ${isBelowFloor('item_', `balance_after${reserved && ` - ${reserved}`}`)} THEN
        LEAVE guards_and_writes;
      END IF;
      IF ${exceedsColumn('item_', 'balance_after')} ${isTooLong(tables)} THEN
        SET verdict = 'out-of-range';
        LEAVE guards_and_writes;
      END IF;
    END IF;`
}

/** An empty line without an outbox. */
const insertEvent = ({ schema, outbox }: Tables): string =>
  outbox
    ? sql`
      INSERT INTO ${schema}.wallet_outbox (id, bet_id, due_at)
      VALUES (item_id, item_bet_id, recorded_time);
    `
    : ''

function write(tables: Tables): string {
  const { schema, players } = tables
  const { balance, version } = players.columns
  const available = `COALESCE(balance_after, balance_before)${whereReserved(tables, () => ' - reserved_before')}`
  const player = accountOfItem(tables)
  return sql`
    ${setRecordedTime}
    INSERT INTO ${schema}.wallet_transactions (
      ${transactionColumns}
    )
    VALUES (
      ${transactionValues('item_', inWholeUnits(tables, 'player_currency', available))}
    );
    ${insertEvent(tables)}
    IF stored_revision IS NOT NULL THEN
      UPDATE ${schema}.wallet_bets bet
      SET
        ${betAssignments('item_', 'stored_revision')}
      WHERE bet.bet_id = item_bet_id
        AND bet.revision = stored_revision;
      IF ROW_COUNT() <> 1 THEN
        ${signalBetChanged}
      END IF;
    ELSEIF item_bet_revision IS NOT NULL AND item_credits IS NULL THEN
      INSERT INTO ${schema}.wallet_bets (
        ${plainBetColumns}
      )
      VALUES (
        ${plainBetValues('item_')}
      );
    ELSEIF item_bet_revision IS NOT NULL THEN
      INSERT INTO ${schema}.wallet_bets (
        ${betColumns}
      )
      VALUES (
        ${betValues('item_')}
      );
    END IF;

    IF item_balance_delta IS NOT NULL THEN
      UPDATE ${players.table} player
      SET player.${balance} = ${balancePlus(tables, 'player', 'item_balance_delta')}${countUp(version, 'player.')}
      WHERE ${player};
      SELECT ${balanceOf(tables, 'player')}, ${asBytes(`player.${balance}`)}
      INTO balance_before, balance_text
      FROM ${players.table} player
      WHERE ${player};
      IF NOT balance_before <=> balance_after THEN
        ${signalBalanceDiffers}
      END IF;
    END IF;`
}
