/** The decided mapping of the players' table: as options of the store, and as the view that they need. */
import { isoMinorUnits } from '../../currencies.js'
import type { MysqlPlayersTable as PlayersOptions } from '../../stores/mysql/index.js'
import { balanceTypeOf, type CodeBehind, idTypeOf, versionColumn } from './candidates.js'
import type { Condition } from './may-bet.js'
import type { Column, Engine, Table } from './schema.js'
import { present, sqlName, sqlTable, sqlText } from './source-text.js'

/** Of the players' table, on either engine. */
export type { PlayersOptions }

/** A number for all currencies, or one of each. */
export type MinorUnits = number | Readonly<Record<string, number>>

/** A table whose rows refer to those of the players' table, and have an amount. */
export interface Ledger {
  table: Table
  /** `null`: no hook can be written. */
  entry: {
    /** Its column, and that of the players' table to which it refers. */
    link: readonly [own: Column, of: Column]
    amount: Column
    balanceAfter: Column | null
    /** Columns that an entry must have besides. */
    required: readonly Column[]
  } | null
}

export interface Mapping {
  engine: Engine
  table: Table
  id: Column
  balance: Column
  /** `null`: the table has none. */
  currency: Column | null
  /** Where the currency is, if the table only refers to it. */
  codeBehind: CodeBehind | null
  /** The currency of all players; with a column: only its rows are players. */
  onlyCurrency: string | null
  /** The codes that the table has, as far as they are known: the labels of an enum, or those of its rows. */
  codes: readonly string[]
  /** Whether a player may have a row for each currency. */
  accountPerCurrency: boolean
  /** `null`: the balance has decimals. */
  minorUnits: MinorUnits | null
  /** Of the players who may bet; none: everyone may. */
  mayBet: readonly Condition[]
  /** Tables of entries about the balance, which bets would not be in. */
  ledgers: readonly Ledger[]
  exactCollation: string | null
  /** Whether the view of an earlier try is there, maybe with other columns. */
  hasOldView: boolean
  /** What the table reads, if it is a view: tables, and views with what these read. */
  below: readonly Table[]
}

/** The tables and views below a view, as far as the user may see them. */
export function tablesBelow(table: Table, all: readonly Table[]): Table[] {
  const direct = table.sources.flatMap(([schema, name]) =>
    all.filter(each => each.schema === schema && each.name === name),
  )
  return [...new Set(direct.flatMap(each => [each, ...tablesBelow(each, all)]))]
}

/** `2`, or `EUR=2,JPY=0`; `null` for anything else, also for a code that is named twice. */
export function minorUnitsIn(text: string): MinorUnits | null {
  const units = (digits: string) => (/^(?:[0-9]|1[0-8])$/.test(digits) ? Number(digits) : null)
  const single = units(text)
  if (single !== null) return single
  const entries = text.split(',').map(entry => {
    const [, code = '', digits = ''] = /^\s*([A-Za-z0-9._-]{1,16})=([0-9]{1,2})\s*$/.exec(entry) ?? []
    return [code, units(digits)] as const
  })
  const isNamedTwice = new Set(entries.map(([code]) => code)).size < entries.length
  return !isNamedTwice && entries.every((entry): entry is readonly [string, number] => entry[1] !== null)
    ? Object.fromEntries(entries)
    : null
}

export const fractionTextOf = (units: MinorUnits) =>
  typeof units === 'number'
    ? `${units} decimals`
    : `decimals ${Object.entries(units)
        .map(([code, digits]) => `${code} ${digits}`)
        .join(', ')}`

/** ` * 100`: what makes an amount one in minor units. */
export function timesUnits(engine: Engine, units: MinorUnits, currency: string): string {
  const factor = (digits: number) => `1${'0'.repeat(digits)}`
  if (typeof units === 'number') return ` * ${factor(units)}`
  const factors = Object.entries(units).map(
    ([code, digits]) => `WHEN ${sqlText(engine, code)} THEN ${factor(digits)}`,
  )
  return ` * CASE ${currency} ${factors.join(' ')} END`
}

/** A playerId in the type of the column: MySQL and MariaDB would compare a text as a float. */
export function idPlace({ engine, id }: Mapping, place: string): string {
  const idType = idTypeOf(engine, id)
  if (engine === 'postgres' || idType === 'text') return place
  return idType === 'bigint' ? 'CAST(? AS SIGNED)' : "UNHEX(REPLACE(?, '-', ''))"
}

/** The decimals of the known codes outside ISO 4217: no amount may have more than the balance holds. */
export function ownDecimals({ onlyCurrency, minorUnits, balance, codes }: Mapping): Record<string, number> {
  const known = onlyCurrency === null ? [...Object.keys(Object(minorUnits)), ...codes] : [onlyCurrency]
  // An amount has no more.
  const scale = balance.scale && Math.min(balance.scale, 18)
  const unitsOf = (code: string) =>
    typeof minorUnits === 'object' ? (minorUnits === null ? scale : minorUnits[code]) : minorUnits
  const own = known.filter(code => isoMinorUnits(code) === isoMinorUnits(''))
  return Object.fromEntries(own.flatMap(code => [[code, unitsOf(code)]].filter(([, units]) => units != null)))
}

/** The name of the view, in the schema of the table. */
export const viewName = 'bet_wallet_players'

/** Of the view, and of the kit's copy where the table has none. */
const currencyName = 'currency'

/** A type of PostgreSQL that the store cannot read, such as citext. */
const isCast = ({ currency }: Pick<Mapping, 'currency'>) =>
  currency?.type === 'user-defined' && currency.labels === null

/** Whether the store needs a view: the table lacks a currency as text, or has several rows of a player. */
export const needsView = (mapping: Mapping): boolean =>
  mapping.onlyCurrency !== null || mapping.codeBehind !== null || isCast(mapping)

/** The column of the currency, as the store reads it. */
export const currencyColumn = ({ currency }: Mapping): string => currency?.name ?? currencyName

/** The options of the store, in the order in which they are written. */
export function playersOf(mapping: Mapping): PlayersOptions {
  const { engine, table, id, balance, minorUnits, accountPerCurrency } = mapping
  const idType = idTypeOf(engine, id) ?? 'text'
  const balanceType = balanceTypeOf(engine, balance) ?? 'numeric'
  const version = versionColumn(table)
  return {
    table: `${table.schema}.${needsView(mapping) ? viewName : table.name}`,
    id: id.name,
    ...(idType === 'text' ? {} : { idType }),
    ...(engine === 'mysql' && idType === 'text' ? { idCollation: id.collation ?? 'binary' } : {}),
    currency: currencyColumn(mapping),
    ...(accountPerCurrency && { accountPerCurrency }),
    balance: balance.name,
    ...(version === null ? {} : { version: version.name }),
    ...(balanceType === 'numeric' ? {} : { balanceType }),
    ...(minorUnits === null ? {} : { minorUnits }),
  }
}

/** The same as options of the command: `--players`, `pam.accounts`, `--id`, … */
export function playersWords(mapping: Mapping): string[] {
  const { table, ...others } = playersOf(mapping)
  const wordOf = (value: object) => Object.entries(value).map(([code, digits]) => `${code}=${digits}`)
  return Object.entries({ players: table, ...others }).flatMap(([name, value]) => [
    `--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`,
    ...(value === true ? [] : [String(typeof value === 'object' ? wordOf(value) : value)]),
  ])
}

type Source = Pick<Mapping, 'engine' | 'table' | 'currency' | 'onlyCurrency' | 'codeBehind'>

/** The currency of a row, as text where it is not one, and the rows that are players. */
export function sourceOf({ engine, table, currency, onlyCurrency, codeBehind }: Source) {
  const name = (text: string) => sqlName(engine, text)
  const asText = (code: string) => (engine === 'postgres' ? `${code}::text` : code)
  const column = currency === null ? '' : name(currency.name)
  const shown = () => {
    if (codeBehind !== null) return asText(`(${codeOf(engine, codeBehind)})`)
    if (currency === null) return asText(sqlText(engine, onlyCurrency ?? ''))
    return isCast({ currency }) ? asText(column) : column
  }
  const where =
    currency === null || onlyCurrency === null ? '' : ` WHERE ${column} = ${sqlText(engine, onlyCurrency)}`
  const from = `${sqlTable(engine, table)}${codeBehind === null ? '' : ' player'}${where}`
  return { shown: shown(), from }
}

/** The accounts, as `check` reads them too. */
export const accountsQuery = ({ balance, ...source }: Source & Pick<Mapping, 'balance'>): string => {
  const { shown, from } = sourceOf(source)
  return `(SELECT ${shown} AS currency, ${sqlName(source.engine, balance.name)} AS balance FROM ${from})`
}

/** The statement that creates the view; `null`: the store reads the table itself. */
export function viewStatement(mapping: Mapping): string | null {
  if (!needsView(mapping)) return null
  const { engine, table, id, balance } = mapping
  const name = (text: string) => sqlName(engine, text)
  const { shown, from } = sourceOf(mapping)
  const as = name(currencyColumn(mapping))
  const shownAlready = [id.name, balance.name, currencyColumn(mapping)]
  const version = versionColumn(table)
  const read = [...(version === null ? [] : [version]), ...readColumns(mapping)]
  const others = [...new Set(read)].flatMap(column =>
    shownAlready.includes(column.name) ? [] : [`, ${name(column.name)}`],
  )
  return (
    `CREATE OR REPLACE VIEW ${viewSql(mapping)} AS ` +
    `SELECT ${name(id.name)}, ${shown === as ? as : `${shown} AS ${as}`}, ${name(balance.name)}${others.join('')} ` +
    `FROM ${from}`
  )
}

/** CREATE OR REPLACE cannot rename a column. */
export const dropViewStatement = (mapping: Mapping) => `DROP VIEW ${viewSql(mapping)}`

const viewSql = ({ engine, table }: Mapping) => sqlTable(engine, { ...table, name: viewName })

/** What the store reads: the table, or its view. */
export const readSql = (mapping: Mapping) =>
  needsView(mapping) ? viewSql(mapping) : sqlTable(mapping.engine, mapping.table)

/** Those of the table that the rule reads. */
const readColumns = ({ mayBet }: Mapping) => [
  ...new Set(mayBet.map(({ column, behind }) => behind?.from ?? column)),
]

/** Of one player. A join could not be updated. */
function codeOf(engine: Engine, { column, to, key, code }: CodeBehind): string {
  const name = (text: string) => sqlName(engine, text)
  return (
    `SELECT c.${name(code.name)} FROM ${sqlTable(engine, to)} c ` +
    `WHERE c.${name(key.name)} = player.${name(column.name)}`
  )
}

/**
 * Rights of the store's user, beside those that `bet-wallet grants` prints: to read who may bet, and on MySQL
 * and MariaDB what is below a view, as `ready()` does.
 */
export function moreGrants(mapping: Mapping, role: string): string[] {
  const { engine, table, id, currency, below, codeBehind, mayBet } = mapping
  const name = (text: string) => sqlName(engine, text)
  const grant = (privilege: string, relation: string, schema = table.schema) =>
    `GRANT ${privilege} ON ${sqlTable(engine, { schema, name: relation })} TO ${name(role)};`
  const read = (columns: readonly Column[], relation: string, schema?: string) =>
    grant(`SELECT (${columns.map(each => name(each.name)).join(', ')})`, relation, schema)
  const usage = (schema: string) =>
    engine === 'postgres' && schema !== table.schema
      ? [`GRANT USAGE ON SCHEMA ${name(schema)} TO ${name(role)};`]
      : []
  const behind = mayBet.flatMap(each =>
    each.behind === null ? [] : [{ ...each.behind, column: each.column }],
  )
  const persons = [
    ...new Set(behind.flatMap(({ to }) => usage(to.schema))),
    ...behind.map(({ to, key, column }) => read([...new Set([key, column])], to.name, to.schema)),
  ]
  if (engine === 'postgres' || !(needsView(mapping) || table.isView)) {
    const columns = readColumns(mapping)
    const relation = needsView(mapping) ? viewName : table.name
    return columns.length === 0 ? [] : [read(columns, relation), ...persons]
  }
  const view = playersOf(mapping).table.slice(table.schema.length + 1)
  // ready() looks for the unique index below, whose columns the catalog hides without a right on them.
  const key = currency === null ? [id] : [id, currency]
  const own = needsView(mapping) && !table.isView ? [read(key, table.name)] : []
  const views = [...new Set([view, ...(table.isView ? [table.name] : [])])]
  return present([
    ...views.map(each => grant('SELECT, SHOW VIEW', each)),
    ...own,
    ...persons,
    ...[...below, ...(codeBehind === null ? [] : [codeBehind.to])].map(
      ({ schema, name: relation, isView, columns }) =>
        grant(isView ? 'SELECT, SHOW VIEW' : `SELECT (${name(columns[0]?.name ?? '')})`, relation, schema),
    ),
    table.isView &&
      below.length === 0 &&
      '-- And SELECT on a column of each table that the view reads: this user may not see them.',
  ])
}
