/**
 * `commit` for many items: judges every item by its guards, and writes the accepted ones in one statement.
 */
import type { Tables } from '../tables.js'
import {
  asPlayerId,
  balanceIsValid,
  balancePlus,
  betColumns,
  betRevisionQuery,
  betValues,
  type DatabaseFunction,
  defineFunction,
  exceedsColumn,
  fromStoredTransaction,
  functionName,
  isBelowFloor,
  itemColumns,
  lookup,
  nextWalletTransactionId,
  raiseBalanceDiffers,
  raiseBetChanged,
  revisionMatches,
  sql,
  transactionColumns,
  transactionValues,
} from './fragments.js'

/**
 * `commit_v1`, called with a JSON array of items and the ids of their players.
 *
 * In READ COMMITTED every statement of the function sees all rows committed before it began: the balances are
 * read after the row locks are held, and so are current. In a stricter isolation level a lock on a changed
 * row fails (40001).
 *
 * A transactionId or betId inserted by another session meanwhile (23505), and a bet changed without a lock on
 * its player, undo the whole function; the store then retries the items in smaller batches.
 */
export function commitFunction(tables: Tables): DatabaseFunction {
  return defineFunction(tables, {
    name: functionName(tables, 'commit'),
    comment: '-- Commits many items: checks the guards of each, and writes the accepted ones.',
    parameters: sql`
      items text,
      player_ids text,
      balance_max numeric,
      lock_timeout_ms integer`,
    returns: sql`
      TABLE (item_index integer, verdict text, currency text, balance text, wallet_transaction_id text)
      LANGUAGE plpgsql VOLATILE ROWS 100`,
    body: commitBody(tables),
  })
}

function commitBody(tables: Tables): string {
  const { idType } = tables.players
  return sql`
    #variable_conflict use_column
    DECLARE
      ids_to_lock ${idType}[] := ARRAY(
        SELECT ${asPlayerId(tables, 'id')}
        FROM json_array_elements_text(player_ids::json) id
      );
      locked_ids ${idType}[];
      all_locked boolean;
      result record;
    BEGIN
      PERFORM set_config('lock_timeout', lock_timeout_ms::text, true);

      -- Lock order: the players by id, then their bets, in every commit. It does not wait for a locked player.
      locked_ids := ARRAY(
        ${lockQuery(tables, 'ids_to_lock')}
      );
      all_locked := cardinality(locked_ids) = cardinality(ids_to_lock);

      FOR result IN
        ${commitQuery(tables, {
          items: 'items::json',
          lockedIds: 'locked_ids',
          allLocked: 'all_locked',
          balanceMax: 'balance_max',
        })}
      LOOP
        IF NOT result.all_bets_changed THEN
          ${raiseBetChanged}
        END IF;
        IF NOT result.balance_is_expected THEN
          ${raiseBalanceDiffers}
        END IF;
        item_index := result.item_index;
        verdict := result.verdict;
        currency := result.currency;
        balance := result.balance;
        wallet_transaction_id := result.wallet_transaction_id;
        RETURN NEXT;
      END LOOP;
    END`
}

/** Locks the players in the order of their ids; returns the ids of the locked rows. */
export function lockQuery({ players }: Tables, ids: string): string {
  const { id } = players.columns
  return sql`
    SELECT player.${id}
    FROM ${players.table} player
    WHERE player.${id} = ANY (${ids})
    ORDER BY player.${id}
    FOR NO KEY UPDATE SKIP LOCKED`
}

/** The inputs of the statement as SQL: variable names or parameters. */
export interface CommitInputs {
  items: string
  lockedIds: string
  allLocked: string
  balanceMax: string
}

export function commitQuery(tables: Tables, inputs: CommitInputs): string {
  return sql`
    WITH item AS MATERIALIZED (
      SELECT *
      FROM json_to_recordset(${inputs.items}) AS item (
        ${itemColumns}
      )
    ),

    ${checkedItems(tables, inputs)},

    ${judgedItems(inputs)},

    ${acceptedItems(tables)},

    ${insertedRows(tables)},

    ${changedBets(tables)},

    ${changedPlayers(tables)}

    SELECT
      judged.item_index,
      judged.verdict,
      judged.currency,
      coalesce(changed_player.balance, judged.balance)::text AS balance,
      accepted.wallet_transaction_id,
      (SELECT count(*) FROM accepted stored WHERE stored.has_bet AND stored.bet_is_stored)
        = (SELECT count(*) FROM changed_bet) AS all_bets_changed,
      balance_change.player_id IS NULL
        OR (changed_player.balance = judged.balance + balance_change.delta) IS TRUE AS balance_is_expected
    FROM judged
    LEFT JOIN accepted ON accepted.item_index = judged.item_index
    LEFT JOIN balance_change ON balance_change.player_id = judged.player_id
    LEFT JOIN changed_player ON changed_player.player_id = judged.player_id`
}

function checkedItems(tables: Tables, { lockedIds, allLocked }: CommitInputs): string {
  const { table, columns } = tables.players
  return sql`
    -- The guards that depend on one item alone: one index lookup per item and table. The rows stay narrow from
    -- here on; columns that are only written are read from item again.
    checked AS (
      SELECT
        item.item_index,
        item.player_id,
        item.balance_delta,
        item.balance_floor,
        item.bet_revision IS NOT NULL AS has_bet,
        bet.is_stored AS bet_is_stored,
        player.currency,
        player.balance,
        player.is_locked,
        player.currency IS NOT NULL
          AND transaction.is_stored IS NULL -- guard 1
          AND (item.bet_revision IS NULL OR ${revisionMatches('bet.revision')}) -- guard 2
          AND ( -- guard 3, without the floor
            item.balance_delta IS NULL
            OR ${balanceIsValid('player.currency', 'player.balance')}
          ) AS guards_hold
      FROM item
      ${lookup(
        sql`
          SELECT
            coalesce(player.${columns.currency}::text, '') AS currency,
            player.${columns.balance}::numeric AS balance,
            ${allLocked} OR player.${columns.id} = ANY (${lockedIds}) AS is_locked
          FROM ${table} player
          WHERE player.${columns.id} = ${asPlayerId(tables, 'item.player_id')}`,
        'player',
      )}
      ${lookup(betRevisionQuery(tables, 'item.bet_id'), 'bet')}
      ${lookup(`SELECT true AS is_stored\n${fromStoredTransaction(tables, 'item')}`, 'transaction')}
    )`
}

function judgedItems({ balanceMax }: CommitInputs): string {
  return sql`
    -- Several items of one player are applied in order. Each may still be rejected, so a debit is not covered
    -- by a credit of the same batch, and a credit cannot use the range that a debit frees.
    summed AS (
      SELECT
        checked.*,
        checked.balance
          + sum(CASE WHEN checked.guards_hold THEN least(checked.balance_delta, 0) ELSE 0 END)
          OVER up_to_item AS balance_after_debits,
        checked.balance
          + sum(CASE WHEN checked.guards_hold THEN greatest(checked.balance_delta, 0) ELSE 0 END)
          OVER up_to_item AS balance_after_credits
      FROM checked
      WINDOW up_to_item AS (
        PARTITION BY checked.player_id
        ORDER BY checked.item_index
        ROWS UNBOUNDED PRECEDING
      )
    ),

    judged AS MATERIALIZED (
      SELECT
        summed.item_index,
        summed.player_id,
        summed.balance_delta,
        summed.has_bet,
        summed.bet_is_stored,
        summed.currency,
        summed.balance,
        CASE
          WHEN summed.is_locked IS FALSE THEN 'busy' -- another writer holds the row lock
          WHEN NOT summed.guards_hold THEN 'conflict'
          WHEN summed.balance_delta IS NULL THEN 'committed'
          WHEN ${isBelowFloor('summed', 'summed.balance_after_debits + greatest(summed.balance_delta, 0)')}
            THEN 'conflict' -- guard 3, the floor
          WHEN ${exceedsColumn('summed', {
            afterCredit: 'summed.balance_after_credits',
            afterDebit: 'summed.balance_after_debits',
            balanceMax,
          })} THEN 'out-of-range'
          ELSE 'committed'
        END AS verdict
      FROM summed
    )`
}

function acceptedItems({ schema }: Tables): string {
  return sql`
    accepted AS MATERIALIZED (
      SELECT
        judged.item_index,
        judged.player_id,
        judged.balance_delta,
        judged.has_bet,
        judged.bet_is_stored,
        ${nextWalletTransactionId(schema)} AS wallet_transaction_id
      FROM judged
      WHERE judged.verdict = 'committed'
    ),

    balance_change AS MATERIALIZED (
      SELECT accepted.player_id, sum(accepted.balance_delta) AS delta
      FROM accepted
      WHERE accepted.balance_delta IS NOT NULL
      GROUP BY accepted.player_id
    )`
}

function insertedRows({ schema }: Tables): string {
  return sql`
    new_transaction AS (
      INSERT INTO ${schema}.transactions (
        ${transactionColumns}
      )
      SELECT
        ${transactionValues('accepted.wallet_transaction_id')}
      FROM accepted
      JOIN item ON item.item_index = accepted.item_index
    ),

    new_bet AS (
      INSERT INTO ${schema}.bets (
        ${betColumns}
      )
      SELECT
        ${betValues}
      FROM accepted
      JOIN item ON item.item_index = accepted.item_index
      WHERE accepted.has_bet
        AND accepted.bet_is_stored IS NOT TRUE
    )`
}

function changedBets({ schema }: Tables): string {
  return sql`
    -- By ctid: for a join by bet_id, a generic plan made while the table is empty reads the whole table for
    -- every commit. The revision is compared again: before the minor releases of November 2025, an UPDATE by
    -- ctid changes a row that another transaction has updated meanwhile, unless another condition on it fails.
    changed_bet AS (
      UPDATE ${schema}.bets bet
      SET (
        ${betColumns}
      ) = (
        ${betValues}
      )
      FROM accepted
      JOIN item ON item.item_index = accepted.item_index
      ${lookup(
        sql`
          SELECT stored.ctid AS location
          FROM ${schema}.bets stored
          WHERE stored.bet_id = item.bet_id
            AND stored.revision = item.bet_revision - 1`,
        'stored_bet',
      )}
      WHERE accepted.has_bet
        AND accepted.bet_is_stored
        AND bet.ctid = stored_bet.location
        AND bet.revision = item.bet_revision - 1
      RETURNING 1
    )`
}

function changedPlayers(tables: Tables): string {
  const { table, columns } = tables.players
  const { id, balance } = columns
  return sql`
    -- No join with the players' table: one array of ids for the index lookup, and one object with the change of
    -- each player.
    changed_player AS (
      UPDATE ${table} player
      SET ${balance} = ${balancePlus(tables, changeOfPlayer(id))}
      WHERE player.${id} = ANY (ARRAY(
        SELECT ${asPlayerId(tables, 'balance_change.player_id')} FROM balance_change
      ))
      RETURNING player.${id}::text AS player_id, player.${balance}::numeric AS balance
    )`
}

const changeOfPlayer = (id: string) => sql`
  ((
    SELECT jsonb_object_agg(balance_change.player_id, balance_change.delta)
    FROM balance_change
  ) ->> player.${id}::text)::numeric`
