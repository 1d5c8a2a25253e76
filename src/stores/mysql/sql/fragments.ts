/**
 * Parts that several statements share. All SQL of this store is plain text made from names; values of a
 * request travel as parameters.
 */
import { nameHash } from '../../database/name-hash.js'
import { creditColumns, transactionContent, transactionKey } from '../../database/record-columns.js'
import { lines, sql } from '../../database/sql-text.js'
import { unitFactor } from '../../database/unit-factor.js'
import type { Tables } from '../tables.js'
import { literal } from './quoting.js'
import { schemaVersion } from './version.js'

/**
 * The collation that keeps case, accents and trailing spaces apart (D24). MariaDB ignores comments for
 * versions of MySQL, and MySQL those for MariaDB.
 */
export const exactCollation = '/*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */'

/** A text column or variable that is compared exactly. */
export const exactText = (length: number) =>
  `varchar(${length}) CHARACTER SET utf8mb4 COLLATE ${exactCollation}`

/** Of what a procedure returns: a trigger, or a function of a view, may have set sql_select_limit. */
export const allRows = 'LIMIT 18446744073709551615'

/**
 * Sets the time of a commit when the player is locked: so times keep the order in which the balance changes.
 * A function of the players' view may have run SET TIMESTAMP before it.
 */
export const setRecordedTime = sql`
  SET recorded_time = UTC_TIMESTAMP(6);
  IF recorded_time NOT BETWEEN begin_time AND begin_time + INTERVAL 1 HOUR THEN
    SET recorded_time = begin_time;
  END IF;`

/**
 * A value as the bytes of its text in UTF-8. Text would be converted to the character set of the session, or
 * of the one that created the procedure, where other ids are `????`; and a trigger or function can change the
 * session's meanwhile.
 */
export const asBytes = (value: string) => `CAST(CAST(${value} AS char CHARACTER SET utf8mb4) AS binary)`

/** A change of a balance, in the unit of the column. */
export const unitDecimal = 'decimal(65,20)'

/** An amount in whole units of the currency. */
export const amountDecimal = 'decimal(38,18)'

/**
 * The beginning of the name of a procedure of the store, in the library's schema: bound to the version and to
 * the options. `defineProcedure` adds a hash of the body. So no migration changes or drops a procedure that a
 * running process calls.
 */
export const procedureName = ({ optionSet }: Tables, name: string) =>
  `wallet_${name}_v${schemaVersion}_${optionSet.hash}`

/** The procedure that PAM code calls: without a hash, it stays the same when options change. */
export const creditProcedureName = `credit_bet_v${schemaVersion}`

/** A procedure of the library's schema. */
export interface Procedure {
  name: string
  body: string
  definition: string
}

/**
 * MariaDB replaces a procedure and keeps the rights on it, which MySQL cannot: there a procedure with a hash
 * stays.
 *
 * @param parameters their declarations, one per line
 */
export function defineProcedure(
  { schema, optionSet }: Tables,
  { name, comment, parameters, body }: { name: string; comment: string; parameters: string; body: string },
): Procedure {
  const isFixed = name === creditProcedureName
  const fullName = isFixed ? name : `${name}_${nameHash(`${parameters} ${body}`)}`
  return {
    name: fullName,
    body,
    definition: sql`
      ${comment}
      CREATE /*M!100001 OR REPLACE */ PROCEDURE ${isFixed ? '' : '/*!80000 IF NOT EXISTS */ '}${schema}.${fullName}(
        ${parameters}
      )
      MODIFIES SQL DATA
      SQL SECURITY INVOKER
      COMMENT ${literal(optionSet.json)}
      ${body}`,
  }
}

/** Whatever a trigger has made of completion_type. */
export const commit = 'COMMIT AND NO CHAIN NO RELEASE'
export const rollback = 'ROLLBACK AND NO CHAIN NO RELEASE'

/**
 * The first lines of a procedure that commits. An error of COMMIT itself gets the number 1180, unless it is a
 * conflict: the store must know whether the commit may be recorded. An error before it undoes everything.
 */
export const commitHandler = sql`
  DECLARE is_committing boolean DEFAULT false;
  DECLARE begin_time, recorded_time datetime(6) DEFAULT UTC_TIMESTAMP(6);
  -- MySQL undoes only the statement that failed. The rest would be committed by the next BEGIN.
  DECLARE EXIT HANDLER FOR 1213, 1020
  BEGIN
    IF commits THEN
      ${rollback};
    END IF;
    RESIGNAL;
  END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    IF commits THEN
      ${rollback};
    END IF;
    IF is_committing THEN
      RESIGNAL SET MYSQL_ERRNO = 1180;
    END IF;
    RESIGNAL;
  END;`

/** Readers of Amazon Aurora have innodb_read_only alone. */
export const isServerReadOnly = "(@@GLOBAL.read_only NOT IN ('0', 'OFF') OR @@GLOBAL.innodb_read_only)"

/** A user with READ_ONLY ADMIN may write to a replica. The store must not: some commits need no load. */
export const refuseReadOnly = sql`
  IF ${isServerReadOnly} THEN
    SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290, MESSAGE_TEXT = 'bet-wallet: this server is read-only';
  END IF;`

/** The end of a procedure that commits: its result has been sent, nothing may fail behind COMMIT. */
export const commitNow = sql`
  IF commits THEN
    SET is_committing = true;
    ${commit};
  END IF;`

/** The player's row that belongs to a playerId, `key`: by the index of the column, and exactly. */
export function isPlayer({ players }: Pick<Tables, 'players'>, player: string, key: string): string {
  const { idType, idCollation, columns } = players
  const column = `${player}.${columns.id}`
  if (idType === 'bigint') return `${column} = CAST(${key} AS SIGNED)`
  if (idType === 'uuid') return `${column} = UNHEX(REPLACE(${key}, '-', ''))`
  if (idCollation === null) return `${column} = ${key}`
  if (idCollation === 'binary') return `${column} = CAST(${key} AS BINARY)`
  const charset = idCollation.split('_')[0] ?? ''
  const isWide = charset === 'utf8mb4'
  const exact = isWide ? column : `CONVERT(${column} USING utf8mb4)`
  return sql`
    ${column} = ${isWide ? key : `CONVERT(${key} USING ${charset})`} COLLATE ${idCollation}
    AND ${exact} COLLATE ${exactCollation} = ${key}`
}

/** With `players.accountPerCurrency`: further SQL. */
export const whereAccounts = ({ players }: Pick<Tables, 'players'>, use: (currency: string) => string) =>
  players.accountPerCurrency ? use(`player.${players.columns.currency}`) : ''

/**
 * Whether the row `player` is the account of a playerId and a currency. ASCII is compared in the collation of
 * any column, by its index: an UPDATE that reads the row of another account waits for its lock. And exactly.
 */
export const isAccount = (tables: Pick<Tables, 'players'>, playerId: string, currency: string) =>
  `${isPlayer(tables, 'player', playerId)}${whereAccounts(
    tables,
    own =>
      `\nAND ${own} = CONVERT(${currency} USING ascii)\nAND CONVERT(${own} USING utf8mb4) COLLATE ${exactCollation} = ${currency}`,
  )}`

/** Decimal text that loads can read and add up: 40 digits at most, no leading zeros, no -0. */
const decimalPattern = '^(?!-[0.]*$)-?(?=([0-9][.]?){1,40}$)(0|[1-9][0-9]*)([.][0-9]{1,20})?$'

/** The balance as a decimal; NULL where a text is none. */
export function balanceOf({ players }: Pick<Tables, 'players'>, player: string): string {
  const column = `${player}.${players.columns.balance}`
  if (players.balanceType !== 'text') return column
  return `(CASE WHEN ${column} REGEXP '${decimalPattern}' THEN CAST(${column} AS ${unitDecimal}) END)`
}

/** With `players.reserved`: SQL about the column of the row `player`, in the balance's unit. */
export const whereReserved = ({ players }: Pick<Tables, 'players'>, use: (reserved: string) => string) =>
  players.columns.reserved === null
    ? ''
    : use(
        balanceOf(
          { players: { ...players, columns: { ...players.columns, balance: players.columns.reserved } } },
          'player',
        ),
      )

/** The currency of a player that exists; never NULL. */
export const currencyOf = ({ players }: Pick<Tables, 'players'>, player: string) =>
  `COALESCE(CONVERT(${player}.${players.columns.currency} USING utf8mb4), '')`

/** The currency of a joined player; NULL: there is none. */
export const currencyOfLoaded = (tables: Pick<Tables, 'players'>) =>
  asBytes(`IF(player.${tables.players.columns.id} IS NULL, NULL, ${currencyOf(tables, 'player')})`)

/** The balance column's new value, where `delta` is a decimal in the column's unit. */
export function balancePlus(tables: Pick<Tables, 'players'>, player: string, delta: string): string {
  const column = `${player}.${tables.players.columns.balance}`
  if (tables.players.balanceType !== 'text') return `${column} + ${delta}`
  // As many decimals as the longer of the two has.
  const sum = `CAST(CAST(${column} AS ${unitDecimal}) + ${delta} AS char)`
  const short = `TRIM(TRAILING '0' FROM CAST(${delta} AS char))`
  const decimals = sql`
    GREATEST(
      IF(LOCATE('.', ${column}) = 0, 0, CHAR_LENGTH(${column}) - LOCATE('.', ${column})),
      CHAR_LENGTH(${short}) - LOCATE('.', ${short})
    )`
  return sql`
    LEFT(${sum}, CHAR_LENGTH(${sum}) - 20 + ${decimals} - (${decimals} = 0))`
}

/** The fields of an item of a commit: `fieldsOf` in database/rows.ts, then `completed` in mysql/rows.ts. */
export const itemFields: readonly (readonly [name: string, type: string])[] = [
  ['operation', exactText(12)],
  ['transaction_id', exactText(255)],
  ['player_id', exactText(255)],
  ['bet_id', exactText(255)],
  ['amount', amountDecimal],
  ['currency', exactText(16)],
  ['type', exactText(255)],
  ['delta', amountDecimal],
  ['error_code', exactText(64)],
  ['description', exactText(500)],
  ['reason', exactText(64)],
  ['transaction_date', 'varchar(23) CHARACTER SET ascii'],
  ['balance_delta', unitDecimal],
  ['account_currency', exactText(16)],
  ['balance_floor', unitDecimal],
  ['bet_player_id', exactText(255)],
  ['bet_currency', exactText(16)],
  ['bet_stake', amountDecimal],
  ['bet_status', exactText(11)],
  // 0: nothing but the credits, which are to be added to the stored bet.
  ['bet_revision', 'integer'],
  // A JSON array with the columns of all credits, as text; NULL where the bet has none.
  ['credits', 'varchar(1000) CHARACTER SET ascii'],
  ['id', 'bigint unsigned'],
]

/** The columns of `wallet_transactions` that a commit writes. */
const transactionColumnNames = ['id', ...transactionKey, ...transactionContent, 'transaction_date']

export const transactionColumns = lines([...transactionColumnNames, 'balance_after', 'recorded_at'])

/** @param item the prefix of its fields: `item.` or `item_` */
export const transactionValues = (item: string, balanceAfter: string) =>
  lines([...transactionColumnNames.map(name => `${item}${name}`), balanceAfter, 'recorded_time'])

/**
 * A balance in the column's unit, in whole units of the currency. NULL where `amountDecimal` cannot hold it:
 * what is kept for people must not stop a commit.
 */
export function inWholeUnits(
  { players }: Pick<Tables, 'players'>,
  currency: string,
  balance: string,
): string {
  const factor = unitFactor(players, currency, literal)
  const value = factor === null ? balance : `(${balance}) * ${factor}`
  return sql`
    IF(
      ABS(${value}) < 100000000000000000000
        AND ROUND(${value}, 18) = ${value},
      ${value},
      NULL
    )`
}

/**
 * The columns of `wallet_bets` that a commit writes, and the fields of the item that they come from. A bet
 * has the id of its first transaction.
 */
const betColumnNames = [
  ['id', 'id'],
  ['bet_id', 'bet_id'],
  ['player_id', 'bet_player_id'],
  ['currency', 'bet_currency'],
  ['stake', 'bet_stake'],
  ['status', 'bet_status'],
  ['revision', 'bet_revision'],
] as const

const creditValue = (item: string, index: number) => `JSON_VALUE(${item}credits, '$[${index}]')`

/** Of a bet without credits: nearly every new one. */
export const plainBetColumns = lines([...betColumnNames.map(([column]) => column), 'recorded_at'])
export const plainBetValues = (item: string) =>
  lines([...betColumnNames.map(([, field]) => `${item}${field}`), 'recorded_time'])

export const betColumns = lines([plainBetColumns, ...creditColumns])

export const betValues = (item: string) =>
  lines([plainBetValues(item), ...creditColumns.map((_, index) => creditValue(item, index))])

const addedCredit = (item: string, index: number) => `CAST(${creditValue(item, index)} AS ${amountDecimal})`

/**
 * The assignments of an UPDATE of `bet`. Its player stays: it may have been forgotten meanwhile. A credit to
 * add is live: what is reversed and owed stays.
 *
 * @param stored the revision before
 */
export const betAssignments = (item: string, stored: string) =>
  lines([
    `bet.stake = COALESCE(${item}bet_stake, bet.stake)`,
    `bet.status = ${item}bet_status`,
    ...creditColumns.map((column, index) => {
      const value = creditValue(item, index)
      const sum = column.endsWith('_live') ? `bet.${column} + ${addedCredit(item, index)}, ` : ''
      return sql`
        bet.${column} = IF(
          ${item}bet_revision = 0,
          COALESCE(${sum}bet.${column}, ${value}),
          ${value}
        )`
    }),
    `bet.revision = ${stored} + 1`,
  ])

/** Guard 2 of a credit, on the stored `bet`; and `amountDecimal` can hold the sum. */
export const takesCredit = (item: string) => sql`
  (
    bet.player_id = ${item}bet_player_id
      AND bet.currency = ${item}bet_currency
      AND bet.status = ${item}bet_status
      AND COALESCE(
        ${lines(
          creditColumns.flatMap((column, index) =>
            column.endsWith('_live') ? [`COALESCE(bet.${column}, 0) + ${addedCredit(item, index)}`] : [],
          ),
        )}
      ) < 100000000000000000000
  )`

/**
 * Guard 3, of an item that changes the balance. A balance that is NULL, or that a load could not read, cannot
 * be changed.
 */
export const balanceIsValid = (balance: string, reserved = '') =>
  `(ABS(${balance}) <= COALESCE(balance_max, ABS(${balance}))${reserved && ` AND ${reserved} IS NOT NULL`}) IS TRUE`

/** Guard 3: the floor. */
export const isBelowFloor = (item: string, balanceAfter: string) =>
  `(${balanceAfter} < ${item}balance_floor) IS TRUE`

/** Whether the balance column cannot hold the new balance. */
export const exceedsColumn = (item: string, balanceAfter: string) => sql`
  IF(${item}balance_delta > 0, ${balanceAfter} > balance_max, ${balanceAfter} < balance_min) IS TRUE`

/** A writer that does not lock the player, such as SQL by hand, has changed the bet: a conflict. */
export const signalBetChanged = sql`
  SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1020,
    MESSAGE_TEXT = 'bet-wallet: another writer changed the bet during this commit';`

/** The player's balance after the update is not the one computed. */
export const signalBalanceDiffers = sql`
  -- The row is locked: the difference comes from a trigger that rounds, replaces or suppresses the update.
  SIGNAL SQLSTATE '45000'
    SET MESSAGE_TEXT = 'bet-wallet: the balance in the players'' table is not the one written: see its triggers';`
