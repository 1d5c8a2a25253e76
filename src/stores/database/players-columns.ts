/** The columns of the players' table, as every database checks them against the options. */
import type { Players, PlayersColumns } from './tables.js'

/** A column, as the catalog describes it. */
export interface PlayersColumn {
  name: string
  /** Without its length: `decimal`. */
  type: string
  /** As messages show it: `decimal(12,2)`. */
  declared: string
  /** Of a decimal; `null`: any. */
  scale: number | null
}

/** The types of columns that a database supports. */
export interface PlayersTypes {
  id: Readonly<Record<Players['idType'], readonly string[]>>
  currency: readonly string[]
  balance: Readonly<Record<Players['balanceType'], readonly string[]>>
}

export type Fail = (problem: string) => never

/** @param key the columns of the unique index, in order */
export const wantedIndex = (key: readonly string[]) =>
  key.length === 1 ? `${key[0]} alone` : `exactly (${key.join(', ')})`

export const unprovenCode = 'UNPROVEN_ACCOUNTS'

/** Two rows of one account are a fault of the call that meets them. The catalog cannot exclude them here. */
export function warnUnproven({ tableName }: Pick<Players, 'tableName'>, problem: string): void {
  process.emitWarning(
    `The players' table ${tableName.join('.')}: nothing proves that an account has one row only: ${problem}. ` +
      'bet-wallet check counts accounts with several',
    { type: 'BetWalletWarning', code: unprovenCode },
  )
}

/**
 * Checks the types of the columns that the options name.
 *
 * @param fail throws `INVALID_PLAYERS_TABLE` with the problem
 * @returns the columns that the databases check further
 */
export function typedColumns<Column extends PlayersColumn>(
  players: Players,
  columns: readonly Column[],
  types: PlayersTypes,
  fail: Fail,
) {
  const { idType, balanceType, columnNames } = players
  const find = (option: keyof PlayersColumns) => {
    const name = columnNames[option]
    const names = columns.map(each => each.name).join(', ')
    return (
      columns.find(each => each.name === name) ??
      fail(`there is no column ${name} (players.${option}); its columns are ${names}`)
    )
  }
  const mustBe = (supported: readonly string[], { name, type, declared }: Column, option: string) => {
    if (supported.includes(type)) return
    const why = option.startsWith('players.balance') && rounding.test(type) ? ', which rounds' : ''
    fail(`${option}, but the column ${name} is ${declared}${why}; it must be ${supported.join(' or ')}`)
  }
  const [id, currency, balance] = [find('id'), find('currency'), find('balance')]
  mustBe(types.id[idType], id, `players.idType is ${idType}`)
  if (!types.currency.includes(currency.type))
    fail(`the column ${currency.name} (players.currency) is ${currency.declared}; it must be text`)
  const mustBeAmount = (column: Column) => {
    const { balance } = types
    const isMinor = balanceType === 'minor-units'
    // Minor units are whole numbers, also in a decimal.
    if (isMinor && column.scale === 0 && balance.numeric.includes(column.type)) return
    const whole = isMinor ? balance.numeric.map(type => `${type}(p,0)`) : []
    mustBe([...balance[balanceType], ...whole], column, `players.balanceType is ${balanceType}`)
  }
  mustBeAmount(balance)
  if (columnNames.reserved !== null) mustBeAmount(find('reserved'))
  const version = columnNames.version === null ? null : find('version')
  if (version !== null) mustBe(types.balance['minor-units'], version, 'players.version is counted up')
  return { id, currency, balance, version }
}

const rounding = /real|double|float|money/

/** A decimal column of whole units must hold every amount of `players.decimalsMin`. */
export function checkScale(
  { balanceType, decimalsMin }: Players,
  column: PlayersColumn,
  scale: number,
  fail: Fail,
): void {
  if (balanceType === 'numeric' && scale < decimalsMin)
    fail(
      `${column.declared} of ${column.name} would round amounts of ${decimalsMin} decimals; ` +
        'widen it, or set players.decimalsMin if no amount has more decimals',
    )
}
