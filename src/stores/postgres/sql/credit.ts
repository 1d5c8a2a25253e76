/** `credit_bet_v1`: settlements by PAM code (D17), in the database transaction that credits the player. */

import { creditColumnsOf, settlementTypes } from '../../database/record-columns.js'
import { lines, sql } from '../../database/sql-text.js'
import { unitFactor } from '../../database/unit-factor.js'
import type { Tables } from '../tables.js'
import {
  creditFunctionName,
  type DatabaseFunction,
  defineFunction,
  isAccount,
  whereAccounts,
} from './fragments.js'
import { literal } from './quoting.js'

export function creditFunction(tables: Tables): DatabaseFunction {
  const { schema, players } = tables
  return defineFunction(tables, {
    name: creditFunctionName,
    comment: sql`
      -- For PAM code that settles bets (D17): records the credit on the bet. Call it in the database
      -- transaction that credits the player.`,
    parameters: sql`
      settled_bet_id text,
      settlement_type text,
      amount numeric`,
    returns: sql`
      void`,
    body: sql`
      DECLARE
        known_bet record;
        live_credit numeric;
      BEGIN
        IF settlement_type IS NULL OR settlement_type NOT IN ('BET_PAID', 'VOIDED', 'CASHOUT') THEN
          RAISE EXCEPTION 'bet-wallet: settlement_type must be BET_PAID, VOIDED or CASHOUT, not %',
            settlement_type
            USING ERRCODE = 'invalid_parameter_value';
        END IF;
        IF amount IS NULL OR NOT (amount >= 0 AND amount < 'Infinity') THEN
          RAISE EXCEPTION 'bet-wallet: amount must be at least 0, not %', amount
            USING ERRCODE = 'invalid_parameter_value';
        END IF;
        SELECT bet.bet_id, bet.player_id, bet.currency INTO known_bet
        FROM ${schema}.bets bet
        WHERE bet.bet_id = settled_bet_id;
        IF known_bet.bet_id IS NULL THEN
          RAISE EXCEPTION 'bet-wallet: unknown bet %', settled_bet_id
            USING ERRCODE = 'no_data_found';
        END IF;
        ${refuseFractions(tables)}

        -- Lock order: the player, then the bet, as in every commit. To settle bets of several players in one
        -- database transaction, call this function in the order of the players' ids.
        PERFORM FROM ${players.table} player
        WHERE ${isAccount(tables, { id: 'known_bet.player_id', currency: 'known_bet.currency' })}
        FOR NO KEY UPDATE;${whereAccounts(tables, () => `\n${raiseWithoutAccount}`)}

        UPDATE ${schema}.bets bet
        SET
          ${lines(settlementTypes.map(creditAssignments))},
          revision = bet.revision + 1
        WHERE bet.bet_id = settled_bet_id
        RETURNING CASE settlement_type
          ${settlementTypes.map(type => `WHEN '${type.toUpperCase()}' THEN bet.${type}_live`).join('\n')}
        END INTO live_credit;
        -- With more digits it is no decimal of the contract, and no load could read the bet.
        IF length(replace(live_credit::text, '.', '')) > 40 THEN
          RAISE EXCEPTION 'bet-wallet: the sum of the credits must have at most 40 digits'
            USING ERRCODE = 'invalid_parameter_value';
        END IF;
      END`,
  })
}

const raiseWithoutAccount = sql`
  IF NOT found THEN
    RAISE EXCEPTION 'bet-wallet: the player of bet % has no account in %', settled_bet_id, known_bet.currency
      USING ERRCODE = 'no_data_found';
  END IF;`

/** What the balance cannot hold, no unsettlement could debit. */
function refuseFractions({ players }: Tables): string {
  const unit = unitFactor(players, 'known_bet.currency', literal)
  if (unit === null) return '-- The decimals of the balance are those of its column: credit no more of them.'
  return sql`
    IF (amount % ${unit} <> 0) THEN -- in brackets: a CASE has a THEN of its own
      RAISE EXCEPTION 'bet-wallet: amount must not have more decimals than the balance, not %', amount
        USING ERRCODE = 'invalid_parameter_value';
    END IF;`
}

/** Adds the amount to the live credit. The other two parts become 0 with the first credit of the type. */
const creditAssignments = (type: (typeof settlementTypes)[number]) =>
  lines(
    creditColumnsOf(type).map(
      column => sql`
        ${column} = CASE
          WHEN settlement_type = '${type.toUpperCase()}' THEN coalesce(bet.${column}, 0)${column.endsWith('_live') ? ' + amount' : ''}
          ELSE bet.${column}
        END`,
    ),
  )
