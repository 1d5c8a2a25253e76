/**
 * `commit` for many items: judges every item by its guards, and writes the accepted ones in one statement.
 */

import { countUp, sql } from '../../database/sql-text.js'
import type { Tables } from '../tables.js'
import {
  accountOfItem,
  asPlayerId,
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
  defineProcedure,
  exceedsColumn,
  fromStoredTransaction,
  functionName,
  inWholeUnits,
  isAccount,
  isBelowFloor,
  isReadable,
  itemColumns,
  keepKey,
  lookup,
  nextWalletTransactionId,
  raiseBalanceDiffers,
  raiseBetChanged,
  raiseSeveralRows,
  refuseEncoding,
  refuseFormerPrimary,
  refuseReadOnly,
  takesCredit,
  textOf,
  transactionColumns,
  transactionValues,
  whereAccounts,
  whereReserved,
} from './fragments.js'

/**
 * `commit_v1`, called with an array of the fields of all items, as text: per field, an array of its values.
 *
 * One statement tests guards 1 and 2, locks the players of the items that pass, tests guard 3 on the locked
 * rows, and writes. A conflict by guards 1 and 2 locks nothing.
 *
 * In READ COMMITTED the locked rows are current: PostgreSQL reads a row again that was changed since the
 * statement began. Guards 1 and 2 are enforced by the writes too. A transactionId or betId inserted by
 * another session meanwhile (23505), and a bet changed meanwhile, undo the whole function; the store then
 * retries the items in smaller batches. In a stricter isolation level a lock on a changed row fails (40001).
 */
export function commitFunction(tables: Tables): DatabaseFunction {
  return defineFunction(tables, {
    name: functionName(tables, 'commit'),
    comment: '-- Commits many items: checks the guards of each, and writes the accepted ones.',
    parameters: sql`
      items text,
      balance_max numeric,
      ${commitSettings}`,
    returns: committedTable(tables),
    rows: 100,
    body: sql`
      #variable_conflict use_column
      DECLARE
        fields text[] := items::text[];
        result record;
        changed_players text[];${whereAccounts(tables, () => '\nchanged_currencies text[];')}
        changed_balances numeric[];
        loaded_keys json[];
      BEGIN
        -- For all other locks. It does not wait for a locked player.
        PERFORM set_config('lock_timeout', lock_timeout_ms::text, true);
        ${refuseReadOnly}
        ${refuseFormerPrimary(tables)}
        ${refuseEncoding}

        FOR result IN
          ${commitQuery(tables, { fields: 'fields', balanceMax: 'balance_max' })}
        LOOP
          IF NOT result.all_bets_changed THEN
            ${raiseBetChanged}
          END IF;
          IF NOT result.balance_is_expected THEN
            ${raiseBalanceDiffers}
          END IF;
          IF NOT result.rows_are_single THEN
            ${raiseSeveralRows}
          END IF;
          IF has_triggers AND result.changed_player IS NOT NULL THEN
            changed_players := changed_players || result.changed_player;${whereAccounts(tables, () => '\nchanged_currencies := changed_currencies || result.currency;')}
            changed_balances := changed_balances || result.changed_balance;
          END IF;
          item_index := result.item_index;
          verdict := result.verdict;
          ${keepKey('result')}
          currency := result.currency;
          balance := result.balance;
          ${whereReserved(tables, () => 'reserved := result.reserved;')}
          wallet_transaction_id := result.wallet_transaction_id;
          RETURN NEXT;
        END LOOP;

        ${beforeCommit(tables, readBack(tables))}
      END`,
  })
}

/** The balances of the changed players in the table: triggers may have changed them after the UPDATE. */
function readBack(tables: Tables): string {
  const { table, columns } = tables.players
  const [values, names] = tables.players.accountPerCurrency
    ? [', changed_currencies', ', currency']
    : ['', '']
  return sql`
    PERFORM FROM unnest(changed_players, changed_balances${values}) AS changed (player_id, balance${names})
    ${lookup(
      sql`
        SELECT player.${columns.balance}::numeric AS balance
        FROM ${table} player
        WHERE ${isAccount(tables, { id: 'changed.player_id', currency: 'changed.currency' })}`,
      'stored',
    )}
    WHERE stored.balance IS DISTINCT FROM changed.balance;
    IF found THEN
      ${raiseBalanceDiffers}
    END IF;`
}

/** The inputs of the statement as SQL: variable names or parameters. */
export interface CommitInputs {
  /** Of type text[]: per field, an array with its values of all items; an empty one where all are NULL. */
  fields: string
  balanceMax: string
}

export function commitQuery(tables: Tables, inputs: CommitInputs): string {
  return sql`
    WITH ${checkedItems(tables, inputs)},

    ${lockedPlayers(tables)},

    ${judgedItems(tables, inputs)},

    ${insertedRows(tables)},

    ${changedBets(tables)},

    ${changedPlayers(tables)}

    SELECT
      item.item_index,
      item.operation, item.transaction_id, item.player_id, item.bet_id,
      item.verdict,
      item.bet_revision,
      item.player_currency AS currency,
      ${textOf('coalesce(changed_player.balance, item.player_balance)')} AS balance,
      ${whereReserved(tables, () => 'item.player_reserved::text AS reserved,')}
      CASE WHEN item.verdict = 'committed' THEN item.wallet_transaction_id END AS wallet_transaction_id,
      (SELECT count(*) FROM judged stored WHERE stored.verdict = 'committed' AND stored.stored_revision IS NOT NULL)
        = (SELECT count(*) FROM changed_bet) AS all_bets_changed,
      item.verdict <> 'committed'
        OR item.balance_delta IS NULL
        OR changed_player.is_expected IS TRUE AS balance_is_expected,
      (SELECT count(*) FROM changed_player) <= (SELECT count(*) FROM balance_change) AS rows_are_single,
      changed_player.player_id AS changed_player,
      changed_player.balance AS changed_balance
    FROM judged item
    -- By item: of two changes of one player, which no batch has, the UPDATE would make one only.
    LEFT JOIN changed_player ON changed_player.item_index = item.item_index`
}

function checkedItems(tables: Tables, { fields }: CommitInputs): string {
  const { schema } = tables
  return sql`
    -- The guards that depend on the item alone: one index lookup per item and table.
    checked AS MATERIALIZED (
      SELECT
        transaction.is_stored IS NULL -- guard 1
          AND CASE item.bet_revision -- guard 2
            WHEN 0 THEN bet.revision IS NOT NULL
            ELSE item.bet_revision IS NULL OR item.bet_revision - 1 = coalesce(bet.revision, 0)
          END
          AS is_new,
        CASE WHEN item.bet_revision IS NOT NULL THEN bet.revision END AS stored_revision,
        item.*
      FROM (
        SELECT
          generate_series(0, cardinality(${fields}[1]::text[]) - 1) AS item_index,
          ${itemColumns((index, type) =>
            type.endsWith('[]')
              ? `unnest(${fields}[${index}]::text[])::${type}`
              : `unnest(${fields}[${index}]::${type}[])`,
          )}
      ) item
      ${lookup(
        sql`
          SELECT bet.revision
          FROM ${schema}.bets bet
          WHERE bet.bet_id = item.bet_id
            AND (
              item.bet_revision IS DISTINCT FROM 0
              OR ${takesCredit}
            )`,
        'bet',
      )}
      ${lookup(`SELECT true AS is_stored\n${fromStoredTransaction({ schema }, 'item')}`, 'transaction')}
    )`
}

/** Whether an item names the account `player`. Ids and codes have no line breaks (D24). */
const isNamed = (id: string, currency: string) => sql`
  AND (player.${id}::text || chr(10) || ${currency}) COLLATE "C" = ANY (ARRAY(
    SELECT item.player_id || chr(10) || item.account_currency FROM checked item WHERE item.is_new
  ))`

function lockedPlayers(tables: Tables): string {
  const { players } = tables
  const { id, currency } = players.columns
  return sql`
    locked AS MATERIALIZED (
      SELECT
        player.${id}::text AS player_id,
        coalesce(player.${currency}::text, '') AS currency,
        ${balanceOf(tables)} AS balance${whereReserved(tables, reserved => `,\n${reserved} AS reserved`)}
      FROM ${players.table} player
      WHERE player.${id} = ANY (ARRAY(
        SELECT ${asPlayerId({ players }, 'item.player_id')} FROM checked item WHERE item.is_new
      ))${whereAccounts(tables, currency => `\n${isNamed(id, currency)}`)}
      FOR NO KEY UPDATE SKIP LOCKED
    )`
}

function judgedItems(tables: Tables, { balanceMax }: CommitInputs): string {
  const { schema, players } = tables
  const balanceAfter = 'player.balance + item.balance_delta'
  const reserved = whereReserved(tables, () => 'player.reserved')
  const available = `${balanceAfter}${reserved && ` - ${reserved}`}`
  return sql`
    judged AS MATERIALIZED (
      SELECT
        CASE
          WHEN NOT item.is_new THEN 'conflict'
          WHEN player.player_id IS NULL THEN
            -- Not EXISTS, for which PostgreSQL may read all players. Busy: another writer holds the row lock.
            coalesce((
              SELECT 'busy'
              FROM ${players.table} player
              WHERE ${isAccount(tables, accountOfItem)}
            ), 'conflict')
          WHEN player.currency <> item.account_currency THEN 'conflict' -- guard 3
          WHEN item.balance_delta IS NULL THEN 'committed'
          WHEN NOT ${balanceIsValid('player.balance', reserved)} THEN 'conflict'
          WHEN ${isBelowFloor('item', available)} THEN 'conflict' -- guard 3, the floor
          WHEN ${exceedsColumn('item', balanceAfter, balanceMax)} THEN 'out-of-range'
          ELSE 'committed'
        END AS verdict,
        item.*,
        player.currency AS player_currency,
        player.balance AS player_balance,
        ${reserved && `${reserved} AS player_reserved,`}
        CASE WHEN player.player_id IS NOT NULL THEN
          ${nextWalletTransactionId(schema)}
        END AS wallet_transaction_id
      FROM checked item
      LEFT JOIN locked player ON player.player_id = item.player_id${whereAccounts(tables, () => ' AND player.currency = item.account_currency')}
    )`
}

function insertedRows(tables: Tables): string {
  const { schema } = tables
  const reserved = whereReserved(tables, () => ' - item.player_reserved')
  const balanceAfter = `item.player_balance + coalesce(item.balance_delta, 0)${reserved}`
  return sql`
    new_transaction AS (
      INSERT INTO ${schema}.transactions (
        ${transactionColumns}
      )
      SELECT
        ${transactionValues({
          walletTransactionId: 'item.wallet_transaction_id',
          balanceAfter: inWholeUnits(tables, 'item.player_currency', balanceAfter),
        })}
      FROM judged item
      WHERE item.verdict = 'committed'
    ),

    new_bet AS (
      INSERT INTO ${schema}.bets (
        ${betColumns}
      )
      SELECT
        ${betValues}
      FROM judged item
      WHERE item.verdict = 'committed'
        AND item.bet_revision IS NOT NULL
        AND item.stored_revision IS NULL
    )${tables.outbox ? `,\n\n${insertedEvents(tables)}` : ''}`
}

function insertedEvents({ schema }: Tables): string {
  return sql`
    new_event AS (
      INSERT INTO ${schema}.outbox (bet_id, event_number)
      SELECT item.bet_id, item.wallet_transaction_id::bigint
      FROM judged item
      WHERE item.verdict = 'committed'
    )`
}

function changedBets({ schema }: Tables): string {
  return sql`
    -- By ctid: for a join by bet_id, a generic plan made while the table is empty reads the whole table for
    -- every commit. The revision is compared again: before the minor releases of November 2025, an UPDATE by
    -- ctid changes a row that another transaction has updated meanwhile, unless another condition on it
    -- fails.
    changed_bet AS (
      UPDATE ${schema}.bets bet
      SET
        ${betAssignments('item.stored_revision')}
      FROM judged item
      ${lookup(
        sql`
          SELECT stored.ctid AS location
          FROM ${schema}.bets stored
          WHERE stored.bet_id = item.bet_id
            AND stored.revision = item.stored_revision`,
        'stored_bet',
      )}
      -- An item whose bet is new is not looked up.
      WHERE item.verdict = 'committed'
        AND item.stored_revision IS NOT NULL
        AND bet.ctid = stored_bet.location
        AND bet.revision = item.stored_revision
      RETURNING 1
    )`
}

function changedPlayers(tables: Tables): string {
  const { table, columns } = tables.players
  const { id, balance, version } = columns
  return sql`
    balance_change AS (
      SELECT item.item_index, item.player_id, item.balance_delta, item.player_balance${whereAccounts(tables, () => ', item.account_currency')}
      FROM judged item
      WHERE item.verdict = 'committed'
        AND item.balance_delta IS NOT NULL
    ),

    -- One array of ids for the index lookup: a join alone may read the whole table.
    changed_player AS (
      UPDATE ${table} player
      SET ${balance} = ${balancePlus(tables, 'change.balance_delta')}${countUp(version, 'player.', '')}
      FROM balance_change change
      WHERE player.${id} = ANY (ARRAY(
        SELECT ${asPlayerId(tables, 'changed.player_id')} FROM balance_change changed
      ))
        AND player.${id}::text = change.player_id${whereAccounts(tables, own => ` AND ${own} = change.account_currency`)}
      RETURNING
        change.item_index,
        change.player_id,
        player.${balance}::numeric AS balance,
        player.${balance}::numeric = change.player_balance + change.balance_delta
          AND ${isReadable(`player.${balance}::numeric`)} AS is_expected
    )`
}

/**
 * `commit_procedure_v1`, `commit_one_procedure_v1`: the function as a database transaction, as JSON. For
 * clients that cannot tell whether other code left a transaction block open.
 */
export function commitProcedure(tables: Tables, commit: 'commit' | 'commit_one'): DatabaseFunction {
  const isOne = commit === 'commit_one'
  return defineProcedure(tables, {
    name: functionName(tables, `${commit}_procedure`),
    comment: `-- The same as ${commit}, as JSON. Inside another database transaction it is an error.`,
    parameters: sql`
      items text,
      balance_max numeric,${isOne ? '\nbalance_length integer,' : ''}
      ${commitSettings}`,
    body: sql`
      SELECT json_agg(committed) INTO result
      FROM ${tables.schema}.${functionName(tables, commit)}(
        items, balance_max,${isOne ? ' balance_length,' : ''} lock_timeout_ms, has_triggers, every_row,
        commit_follows, durable,
        highest_timeline, of_system
      ) committed;`,
  })
}
