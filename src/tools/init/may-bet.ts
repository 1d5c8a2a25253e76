/** Who may bet, by columns of the players' table or of the player behind it, as conditions of SQL. */
import { idTypeOf, integerTypes, isRowOf, isUniqueAlone, mayBeOfOne, wordsOf } from './candidates.js'
import { type Column, type DatabaseSchema, type Engine, refersTo, type Table } from './schema.js'
import { sqlName, sqlTable, sqlText } from './source-text.js'

/** The column has one of these values; `null` is NULL. */
export interface Condition {
  column: Column
  values: readonly (string | null)[]
  /** Where the column is, if not in the players' table. */
  behind: Link | null
}

/** The row of a person or an account, to which a row of the players' table leads. */
export interface Link {
  from: Column
  to: Table
  key: Column
}

/** By a foreign key; or from the id to a key of the same name, or from `userId` to the id of `users`. */
export function linksOf({ engine, tables }: DatabaseSchema, table: Table): Link[] {
  return tables.flatMap(to => {
    if (to === table || to.isView || !mayBeOfOne(to.name)) return []
    const leads = (from: Column, key: Column) =>
      table.foreignKeys.some(
        each => each.column === from.name && refersTo(each, to) && each.to.column === key.name,
      ) ||
      (isUniqueAlone(to, key) &&
        idTypeOf(engine, from) === idTypeOf(engine, key) &&
        (key.name === 'id' ? isRowOf(from, to) : key.name === from.name && wordsOf(key.name).includes('id')))
    const found = table.columns.flatMap(from =>
      to.columns.filter(key => leads(from, key)).map(key => ({ from, to, key })),
    )
    return found.slice(0, 1)
  })
}

const statusNames =
  /status|state|blocked|closed|active|suspend|exclu|banned|delet|disabled|enabled|locked|terminated|frozen|kyc|verified|(?:may|can)_?bet/i

/** Columns that may say whether a player may bet. @param amounts columns that their names only seem to fit */
export const statusColumns = (table: Table, amounts: readonly Column[]): Column[] =>
  table.columns.filter(column => statusNames.test(column.name) && !amounts.includes(column))

type Kind = 'boolean' | 'number' | 'text' | 'time' | 'other'

function kindOf({ type, declared, labels }: Column): Kind {
  if (type === 'boolean' || declared === 'tinyint(1)' || declared === 'bit(1)') return 'boolean'
  if ([...integerTypes, 'numeric', 'decimal'].includes(type)) return 'number'
  if (labels !== null || /char|text/.test(type) || declared === 'citext') return 'text'
  return /^(?:date|timestamp)/.test(type) ? 'time' : 'other'
}

/** The values that the type of the column allows, if they are few. */
const allValues = (column: Column): readonly string[] =>
  column.labels ?? (kindOf(column) === 'boolean' ? ['true', 'false'] : [])

/** What can be stated about a column, for a question. */
export function describedStatus(table: Table, column: Column, before = '') {
  const { declared, nullable } = column
  const name = `${before}${column.name}`
  const rule = table.checks.find(clause => clause.includes(column.name))
  const type = column.labels === null ? declared : 'enum'
  const values = allValues(column).length === 0 ? '' : `: ${allValues(column).join(', ')}`
  return {
    value: `${name}=${kindOf(column) === 'time' ? 'null' : '…'}`,
    reason: `${type}${values}${nullable ? ', or null' : ''}${rule === undefined ? '' : `; CHECK ${rule}`}`,
  }
}

/**
 * @param text `state=active,trial`; several columns must all agree: `state=active; users.closed_at=null`
 * @returns a text: what is wrong with it
 */
export function conditionsIn(table: Table, text: string, links: readonly Link[]): Condition[] | string {
  const found: Condition[] = []
  for (const part of text.split(';').map(each => each.trim())) {
    const [, name = '', list = ''] = /^([^=]*[^=\s])\s*=(.*)$/.exec(part) ?? []
    if (name === '')
      return `--may-bet must be as in state=active,trial, or anyone, not ${JSON.stringify(part)}`
    const behind = links.find(({ to }) => name.startsWith(`${to.name}.`)) ?? null
    const inTable = behind === null ? name : name.slice(behind.to.name.length + 1)
    const column = (behind?.to ?? table).columns.find(each => each.name === inTable)
    if (column === undefined)
      return `--may-bet: ${table.schema}.${table.name} has no column ${name}. Its columns are ${table.columns.map(each => each.name).join(', ')}`
    if (found.some(each => each.column === column))
      return `--may-bet: ${name} is named twice. Its values belong together: ${name}=…,…`
    const values = list.split(',').map(each => stated(column, each.trim()))
    const wrong = values.indexOf(undefined)
    if (wrong >= 0)
      return `--may-bet ${part}: ${JSON.stringify(list.split(',')[wrong]?.trim())} is no value of ${name}, which is ${expected(column)}`
    found.push({ column, values: values as (string | null)[], behind })
  }
  return found
}

/** `undefined`: the column cannot have it. */
function stated(column: Column, text: string): string | null | undefined {
  if (text.toLowerCase() === 'null') return null
  const kind = kindOf(column)
  const value = kind === 'boolean' ? ({ 0: 'false', 1: 'true' }[text] ?? text.toLowerCase()) : text
  const all = allValues(column)
  if (all.length > 0) return all.includes(value) ? value : undefined
  if (kind === 'number') return /^-?\d{1,18}(?:\.\d{1,18})?$/.test(value) ? value : undefined
  return kind === 'text' && value !== '' ? value : undefined
}

function expected(column: Column): string {
  const all = allValues(column)
  if (all.length > 0) return all.join(', ')
  const kind = kindOf(column)
  return kind === 'text' || kind === 'number'
    ? column.declared
    : `${column.declared}: only null can be stated`
}

/** As it is stated. */
export const statedText = (conditions: readonly Condition[]): string =>
  conditions
    .map(
      ({ column, values, behind }) =>
        `${behind === null ? '' : `${behind.to.name}.`}${column.name}=${values.map(each => each ?? 'null').join(',')}`,
    )
    .join('; ')

/** A value in SQL. */
export function literalOf(engine: Engine, column: Column, value: string | null): string {
  const kind = kindOf(column)
  if (value === null) return 'NULL'
  if (kind === 'boolean') return engine === 'postgres' ? value : value === 'true' ? '1' : '0'
  return kind === 'number' ? value : sqlText(engine, value)
}

/** `"state" IN ('active', 'trial') AND "closed_at" IS NULL` */
export const conditionsSql = (engine: Engine, conditions: readonly Condition[]): string =>
  conditions.map(each => conditionSql(engine, each)).join(' AND ')

function conditionSql(engine: Engine, condition: Condition): string {
  const { behind } = condition
  if (behind === null) return ownSql(engine, condition, '')
  const name = (text: string) => sqlName(engine, text)
  const { from, to, key } = behind
  return (
    `EXISTS (SELECT 1 FROM ${sqlTable(engine, to)} person ` +
    `WHERE person.${name(key.name)} = player.${name(from.name)} AND ${ownSql(engine, condition, 'person.')})`
  )
}

function ownSql(engine: Engine, { column, values }: Condition, before: string): string {
  const name = `${before}${sqlName(engine, column.name)}`
  const listed = values.flatMap(value => (value === null ? [] : [literalOf(engine, column, value)]))
  const isListed = listed.length === 1 ? `${name} = ${listed[0]}` : `${name} IN (${listed.join(', ')})`
  if (!values.includes(null)) return isListed
  return listed.length === 0 ? `${name} IS NULL` : `(${isListed} OR ${name} IS NULL)`
}

/** SQL of a value with which the player may not bet; `null`: none is known. */
export function closedValue(engine: Engine, { column, values }: Condition): string | null {
  const other = allValues(column).find(value => !values.includes(value))
  if (other !== undefined) return literalOf(engine, column, other)
  if (!values.includes(null)) return 'NULL'
  const kind = kindOf(column)
  if (kind === 'time') return 'now()'
  const free = { number: ['0', '1', '2'], text: ['x', 'y', 'z'] }[kind as string]
  const unused = free?.find(value => !values.includes(value))
  return unused === undefined || allValues(column).length > 0 ? null : literalOf(engine, column, unused)
}
