/** `credit_bet_v1`: settlements by PAM code (D17), in the database transaction that credits the player. */
import { creditColumnsOf, settlementTypes } from '../../database/record-columns.js'
import { lines, sql } from '../../database/sql-text.js'
import { unitFactor } from '../../database/unit-factor.js'
import type { Tables } from '../tables.js'
import {
  amountDecimal,
  creditProcedureName,
  defineProcedure,
  exactText,
  isAccount,
  type Procedure,
  whereAccounts,
} from './fragments.js'
import { literal } from './quoting.js'

export function creditProcedure(tables: Tables): Procedure {
  const { schema, players } = tables
  const [column, variable] = players.accountPerCurrency ? [', bet.currency', ', bet_currency'] : ['', '']
  return defineProcedure(tables, {
    name: creditProcedureName,
    comment: sql`
      -- For PAM code that settles bets (D17): records the credit on the bet. Call it in the database
      -- transaction that credits the player.`,
    // Texts, longer than what is valid. The server converts and cuts parameters by the sql_mode of the
    // caller, where '55,50' may be 55, and a long betId that of another bet.
    parameters: sql`
      settled_bet_id ${exactText(300)},
      settlement_type ${exactText(20)},
      amount ${exactText(100)}`,
    body: sql`
      BEGIN
        DECLARE known_player_id ${exactText(255)};
        DECLARE is_locked boolean;${whereAccounts(tables, () => `\nDECLARE bet_currency ${exactText(16)};`)}
        DECLARE unit decimal(19, 18);
        DECLARE credit ${amountDecimal};
        DECLARE problem varchar(128) CHARACTER SET utf8mb4;
        IF settlement_type IS NULL OR settlement_type NOT IN ('BET_PAID', 'VOIDED', 'CASHOUT') THEN
          SIGNAL SQLSTATE '45000'
            SET MESSAGE_TEXT = 'bet-wallet: settlement_type must be BET_PAID, VOIDED or CASHOUT';
        END IF;
        IF amount IS NULL OR amount NOT REGEXP '^[0-9]{1,20}([.][0-9]{1,18}0*)?$' THEN
          SIGNAL SQLSTATE '45000'
            SET MESSAGE_TEXT = 'bet-wallet: amount must be at least 0, as a decimal: at most 20 digits, 18 decimals, no exponent';
        END IF;
        SET credit = CAST(amount AS ${amountDecimal});
        IF settled_bet_id IS NULL OR CHAR_LENGTH(settled_bet_id) > 255 THEN
          SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'bet-wallet: settled_bet_id must have at most 255 characters';
        END IF;
        -- SELECT … INTO locks nothing. SET … = (SELECT …) locks the bet, and sees one that is newer than the
        -- snapshot of a database transaction in REPEATABLE READ.
        SELECT bet.player_id${column} INTO known_player_id${variable} FROM ${schema}.wallet_bets bet WHERE bet.bet_id = settled_bet_id;
        IF known_player_id IS NULL THEN
          SET known_player_id = (SELECT bet.player_id FROM ${schema}.wallet_bets bet WHERE bet.bet_id = settled_bet_id);${whereAccounts(tables, () => `\nSET bet_currency = (SELECT bet.currency FROM ${schema}.wallet_bets bet WHERE bet.bet_id = settled_bet_id);`)}
        END IF;
        IF known_player_id IS NULL THEN
          SET problem = CONCAT('bet-wallet: unknown bet ', LEFT(settled_bet_id, 100));
          SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = problem;
        END IF;

        -- Lock order: the player, then the bet, as in every commit. To settle bets of several players in one
        -- database transaction, call this procedure in the order of the players' ids.
        SELECT true INTO is_locked FROM ${players.table} player
        WHERE ${isAccount(tables, 'known_player_id', 'bet_currency')}
        FOR UPDATE;${whereAccounts(tables, () => `\n${signalWithoutAccount}`)}

        ${refuseFractions(tables)}
        UPDATE ${schema}.wallet_bets bet
        SET
          ${lines(settlementTypes.map(creditAssignments))},
          bet.revision = bet.revision + 1
        WHERE bet.bet_id = settled_bet_id;
      END`,
  })
}

const signalWithoutAccount = sql`
  IF is_locked IS NULL THEN
    SET problem = CONCAT('bet-wallet: no account in the currency of bet ', LEFT(settled_bet_id, 80));
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = problem;
  END IF;`

/** What the balance cannot hold, no unsettlement could debit. */
function refuseFractions({ schema, players }: Tables): string {
  const unit = unitFactor(players, 'bet.currency', literal)
  if (unit === null) return '-- The decimals of the balance are those of its column: credit no more of them.'
  return sql`
    SET unit = (SELECT ${unit} FROM ${schema}.wallet_bets bet WHERE bet.bet_id = settled_bet_id);
    IF MOD(credit, unit) <> 0 THEN
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'bet-wallet: amount must not have more decimals than the balance';
    END IF;`
}

/** Adds the amount to the live credit. The other two parts become 0 with the first credit of the type. */
function creditAssignments(type: (typeof settlementTypes)[number]): string {
  return lines(
    creditColumnsOf(type).map(column => {
      const credited = `COALESCE(bet.${column}, 0)${column.endsWith('_live') ? ' + credit' : ''}`
      return `bet.${column} = IF(settlement_type = '${type.toUpperCase()}', ${credited}, bet.${column})`
    }),
  )
}
