/** `commit` for one item, by small statements: cheaper to set up than the statement for many. */

import { countUp, sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import {
  accountOfItem,
  balanceIsValid,
  balanceOf,
  balancePlus,
  beforeCommit,
  betAssignments,
  betColumns,
  betValues,
  commitSettings,
  committedTable,
  type DatabaseFunction,
  defineFunction,
  exceedsColumn,
  fromStoredTransaction,
  functionName,
  inWholeUnits,
  isAccount,
  isBelowFloor,
  itemColumns,
  keepKey,
  nextWalletTransactionId,
  raiseBalanceDiffers,
  raiseBetChanged,
  refuseEncoding,
  refuseFormerPrimary,
  refuseReadOnly,
  takesCredit,
  textOf,
  transactionColumns,
  transactionValues,
  whereReserved,
} from './fragments.js'

/**
 * `commit_one_v1`, called with the fields of one item, an array as text. The guards are checked first, and
 * enforced by the writes too: guards 1 and 2 by the unique indexes and the bet's revision, guard 3 by the row
 * lock.
 */
export function commitOneFunction(tables: Tables): DatabaseFunction {
  return defineFunction(tables, {
    name: functionName(tables, 'commit_one'),
    comment: '-- Commits one item: the same guards, by small statements.',
    parameters: sql`
      fields_text text,
      balance_max numeric,
      balance_length integer,
      ${commitSettings}`,
    returns: committedTable(tables),
    rows: 1,
    body: sql`
      #variable_conflict use_column
      DECLARE
        fields text[] := fields_text::text[];
        item record;
        stored_revision integer;
        balance_before numeric;
        ${whereReserved(tables, () => 'reserved_before numeric;')}
        balance_after numeric;
        balance_written numeric;
        loaded_keys json[];
      BEGIN
        PERFORM set_config('lock_timeout', lock_timeout_ms::text, true);
        ${refuseReadOnly}
        ${refuseFormerPrimary(tables)}
        ${refuseEncoding}
        SELECT
          ${itemColumns((index, type) => `fields[${index}]${type === 'text' ? '' : `::${type}`}`)}
        INTO item;
        item_index := 0;
        verdict := 'conflict';

        <<guards_and_writes>>
        BEGIN
          ${checkGuards(tables)}

          ${lockPlayer(tables)}

          ${write(tables)}
          verdict := 'committed';
        END;

        RETURN NEXT;
        ${keepKey('item')}
        ${beforeCommit(tables, readBack(tables))}
      END`,
  })
}

/** The balance in the table: triggers may have changed it after the UPDATE. */
function readBack(tables: Tables): string {
  const { table, columns } = tables.players
  return sql`
    IF verdict = 'committed' AND item.balance_delta IS NOT NULL THEN
      PERFORM FROM ${table} player
      WHERE ${isAccount(tables, accountOfItem)}
        AND player.${columns.balance}::numeric = balance_after;
      IF NOT found THEN
        ${raiseBalanceDiffers}
      END IF;
    END IF;`
}

function checkGuards(tables: Tables): string {
  const { schema } = tables
  return sql`
    -- Before the row lock: a conflict by guards 1 and 2 locks nothing.
    -- Guard 1: the transaction is new.
    PERFORM ${fromStoredTransaction(tables, 'item')};
    EXIT guards_and_writes WHEN found;

    -- Guard 2: the bet has not changed since it was loaded. That of a credit: the bet takes it.
    IF item.bet_revision = 0 THEN
      SELECT bet.revision INTO stored_revision
      FROM ${schema}.bets bet
      WHERE bet.bet_id = item.bet_id
        AND ${takesCredit};
      EXIT guards_and_writes WHEN NOT found;
    ELSIF item.bet_revision IS NOT NULL THEN
      SELECT bet.revision INTO stored_revision FROM ${schema}.bets bet WHERE bet.bet_id = item.bet_id;
      EXIT guards_and_writes WHEN coalesce(stored_revision, 0) <> item.bet_revision - 1;
    END IF;`
}

function lockPlayer(tables: Tables): string {
  const { table, columns } = tables.players
  const balance = `player.${columns.balance}::numeric`
  const reserved = whereReserved(tables, column => column)
  const available = `${balance}${reserved && ` - ${reserved}`} + item.balance_delta`
  const player = sql`
    FROM ${table} player
    WHERE ${isAccount(tables, accountOfItem)}`
  // Guard 3. A row that another writer has changed is judged by its new version, when the lock is held.
  const guard = sql`
    AND player.${columns.currency}::text = item.account_currency
    AND (
      item.balance_delta IS NULL
      OR ${balanceIsValid(balance, reserved)}
        AND (${isBelowFloor('item', available)}) IS NOT TRUE
    )`
  return sql`
    -- Lock order: the player, then the bet, in every commit. It does not wait for a locked player.
    -- Guard 3: the currency and the floor of the balance.
    SELECT coalesce(player.${columns.currency}::text, ''), ${balanceOf(tables)}${reserved && `, ${reserved}`}
    INTO currency, balance_before${reserved && ', reserved_before'}
    ${player}
    ${guard}
    FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT found THEN
      PERFORM ${player}
      ${guard};
      IF found THEN
        verdict := 'busy'; -- another writer holds the row lock
      END IF;
      EXIT guards_and_writes;
    END IF;
    balance := ${textOf('balance_before')};
    ${reserved && 'reserved := reserved_before::text;'}
    balance_after := balance_before + item.balance_delta;
    IF ${exceedsColumn('item', 'balance_after', 'balance_max')}
      OR item.balance_delta IS NOT NULL AND length(balance_after::text) > balance_length THEN
      verdict := 'out-of-range';
      EXIT guards_and_writes;
    END IF;`
}

/** An empty line without an outbox. */
const insertEvent = ({ schema, outbox }: Tables): string =>
  outbox
    ? sql`
      INSERT INTO ${schema}.outbox (bet_id, event_number)
      VALUES (item.bet_id, wallet_transaction_id::bigint);
    `
    : ''

function write(tables: Tables): string {
  const { schema, players } = tables
  const { balance, version } = players.columns
  const available = `coalesce(balance_after, balance_before)${whereReserved(tables, () => ' - reserved_before')}`
  return sql`
    INSERT INTO ${schema}.transactions AS new_transaction (
      ${transactionColumns}
    )
    VALUES (
      ${transactionValues({
        walletTransactionId: nextWalletTransactionId(schema),
        balanceAfter: inWholeUnits(tables, 'currency', available),
      })}
    )
    RETURNING new_transaction.wallet_transaction_id INTO wallet_transaction_id;
    ${insertEvent(tables)}
    IF stored_revision IS NOT NULL THEN
      UPDATE ${schema}.bets bet
      SET
        ${betAssignments('stored_revision')}
      WHERE bet.bet_id = item.bet_id
        AND bet.revision = stored_revision;
      IF NOT found THEN
        ${raiseBetChanged}
      END IF;
    ELSIF item.bet_revision IS NOT NULL THEN
      INSERT INTO ${schema}.bets (
        ${betColumns}
      )
      VALUES (
        ${betValues}
      );
    END IF;

    IF item.balance_delta IS NOT NULL THEN
      UPDATE ${players.table} player
      SET ${balance} = ${balancePlus(tables, 'item.balance_delta')}${countUp(version, 'player.', '')}
      WHERE ${isAccount(tables, accountOfItem)}
      RETURNING player.${balance}::numeric INTO balance_written;
      IF balance_written IS DISTINCT FROM balance_after THEN
        ${raiseBalanceDiffers}
      END IF;
      balance := ${textOf('balance_after')};
    END IF;`
}
