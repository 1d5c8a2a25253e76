/** The kit's copy of the players' table, in a schema of its own: what `store.ts` holds of it for `kit.ts`. */
import { balanceTypeOf, idTypeOf, isUniqueAlone, lockedColumns } from './candidates.js'
import { currencyColumn, type Mapping, type MinorUnits, type PlayersOptions, timesUnits } from './mapping.js'
import { closedValue, literalOf } from './may-bet.js'
import type { Column } from './schema.js'
import { present, sqlName, sqlTable } from './source-text.js'

export const copySchema = 'bet_wallet_kit'

/** The name of the copy in SQL. */
export const copyName = ({ engine, table }: Mapping) => `${copySchema}.${sqlName(engine, table.name)}`

/** The kit's players have text ids of up to 255 characters, and EUR or JPY. */
const idLength = 255

/** Ids that a collation may fold are short. */
const plainLength = 32

const isText = ({ engine, id }: Mapping) => idTypeOf(engine, id) === 'text'

/** Whether the kit's copy has the id column as it is. */
function keepsId(mapping: Mapping): boolean {
  const { engine, id } = mapping
  if (!isText(mapping) || id.isDomain || hasForeignCheck(mapping)) return false
  if (engine === 'postgres') return id.length === null || id.length >= idLength
  return (
    (id.collation ?? '').startsWith('utf8mb4_') &&
    (id.length ?? 0) >= (folds(mapping) ? plainLength : idLength)
  )
}

const folds = ({ id, exactCollation }: Mapping) => id.collation !== exactCollation

/** Whether the copy's collation folds ids, as the table's does. */
export const isPlain = (mapping: Mapping) => mapping.engine === 'mysql' && keepsId(mapping) && folds(mapping)

/** A CHECK about ids or currencies, which the kit's players may not pass. */
const hasForeignCheck = ({ table, id, currency }: Mapping) =>
  table.checks.some(clause =>
    [id.name, currency?.name].some(
      name => name !== undefined && clause.toLowerCase().includes(name.toLowerCase()),
    ),
  )

/** Whether the copy has the columns only: of a view, or without CHECKs that the kit's players may fail. */
const isBare = (mapping: Mapping) => mapping.table.isView || hasForeignCheck(mapping)

/** Whether the application fills the primary key, as with Prisma: its columns cannot become nullable. */
function dropsKeys(mapping: Mapping): boolean {
  const { engine, table } = mapping
  const required = table.columns.filter(column => requiredChanges(mapping, column).length > 0)
  // PostgreSQL may hide the key from this user.
  return engine === 'postgres'
    ? required.length > 0
    : required.some(({ name }) => table.primaryKey.includes(name))
}

/** The options of the store in which the copy differs from the table. */
export function copyOptions(mapping: Mapping): Partial<PlayersOptions> {
  const { engine, table, exactCollation, minorUnits } = mapping
  const isChanged = !keepsId(mapping)
  return {
    table: `${copySchema}.${table.name}`,
    ...(isChanged && !isText(mapping) && { idType: 'text' }),
    ...(isChanged && engine === 'mysql' && { idCollation: exactCollation ?? 'utf8mb4_bin' }),
    ...(typeof minorUnits === 'object' && minorUnits !== null && { minorUnits: unitsOfKit(minorUnits) }),
  }
}

/** The currencies of the kit's players. */
const unitsOfKit = (minorUnits: Readonly<Record<string, number>>) => ({
  EUR: 2,
  JPY: 0,
  SEK: 2,
  ...minorUnits,
})

/** The statements that make the copy. */
export function createStatements(mapping: Mapping): string[] {
  const { engine, table } = mapping
  const onPostgres = engine === 'postgres'
  const copy = copyName(mapping)
  const source = sqlTable(engine, table)
  const kept = isBare(mapping) ? '' : ` INCLUDING ALL${dropsKeys(mapping) ? ' EXCLUDING INDEXES' : ''}`
  const create = onPostgres
    ? `CREATE TABLE ${copy} (LIKE ${source}${kept})`
    : `CREATE TABLE ${copy} ${isBare(mapping) ? `AS SELECT * FROM ${source} WHERE FALSE` : `LIKE ${source}`}`
  // An identity goes first: with it, the type of the id cannot be changed.
  const altered = [identityChanges(mapping), changesOf(mapping)]
    .filter(changes => changes.length > 0)
    .map(changes => `ALTER TABLE ${copy} ${changes.join(', ')}`)
  return [
    `DROP SCHEMA IF EXISTS ${copySchema}${onPostgres ? ' CASCADE' : ''}`,
    `CREATE SCHEMA ${copySchema}`,
    create,
    ...altered,
  ]
}

/** The columns of an account. */
const keyOf = (mapping: Mapping): string[] =>
  present([mapping.id.name, mapping.accountPerCurrency && currencyColumn(mapping)])

/** What the copy needs to hold the kit's players. */
function changesOf(mapping: Mapping): string[] {
  const { engine, table, id, accountPerCurrency } = mapping
  const isKeyless = isBare(mapping) || (engine === 'postgres' && dropsKeys(mapping))
  const key = keyOf(mapping).map(each => sqlName(engine, each))
  return present([
    engine === 'mysql' && !isKeyless && dropsKeys(mapping) && 'DROP PRIMARY KEY',
    ...idChanges(mapping),
    ...currencyChanges(mapping),
    ...table.columns.flatMap(column => requiredChanges(mapping, column)),
    ...closingChanges(mapping),
    (isKeyless || !(accountPerCurrency || isUniqueAlone(table, id))) && `ADD UNIQUE (${key.join(', ')})`,
  ])
}

function idChanges(mapping: Mapping): string[] {
  if (keepsId(mapping)) return []
  const { engine, id, exactCollation } = mapping
  const name = sqlName(engine, id.name)
  if (engine === 'mysql')
    return [`MODIFY ${name} varchar(${idLength}) COLLATE ${exactCollation ?? 'utf8mb4_bin'} NOT NULL`]
  return present([!isText(mapping) && `ALTER ${name} DROP DEFAULT`, `ALTER ${name} TYPE text`])
}

function identityChanges(mapping: Mapping): string[] {
  if (mapping.engine === 'mysql' || keepsId(mapping) || isText(mapping)) return []
  return [`ALTER ${sqlName(mapping.engine, mapping.id.name)} DROP IDENTITY IF EXISTS`]
}

function currencyChanges(mapping: Mapping): string[] {
  const { engine, table, currency } = mapping
  const column = currencyColumn(mapping)
  const name = sqlName(engine, column)
  const onPostgres = engine === 'postgres'
  // A column of this name that is no currency, such as the number of one.
  const other = currency === null && table.columns.some(each => each.name === column)
  if (currency === null && !other) return [onPostgres ? `ADD ${name} text` : `ADD ${name} varchar(16)`]
  if (!other && currency !== null && !currency.isDomain && !['enum', 'user-defined'].includes(currency.type))
    return []
  return onPostgres
    ? [`ALTER ${name} DROP DEFAULT`, `ALTER ${name} TYPE text`]
    : [`MODIFY ${name} varchar(16) NOT NULL`]
}

/** Another column that an INSERT may not leave out. */
function requiredChanges(mapping: Mapping, column: Column): string[] {
  const { engine } = mapping
  const written = writtenColumns(mapping).includes(column.name)
  // The copy of a bare table has no default.
  const hasDefault = column.hasDefault && !(isBare(mapping) && engine === 'postgres')
  if (written || column.nullable || hasDefault || !column.updatable) return []
  const name = sqlName(engine, column.name)
  return [engine === 'postgres' ? `ALTER ${name} DROP NOT NULL` : `MODIFY ${name} ${column.declared} NULL`]
}

/** The columns of the rule that an INSERT sets. */
const ruleOf = (mapping: Mapping) =>
  ownConditions(mapping).filter(({ column }) => !mappedColumns(mapping).includes(column.name))

/** Not of computed columns. The copy of a view has columns that the view cannot update. */
const ownConditions = ({ mayBet, table }: Mapping) =>
  mayBet.filter(({ behind, column }) => behind === null && (column.updatable || table.isView))

const mappedColumns = (mapping: Mapping) => [mapping.id.name, currencyColumn(mapping), mapping.balance.name]

const writtenColumns = (mapping: Mapping): string[] => [
  ...mappedColumns(mapping),
  ...ruleOf(mapping).map(({ column }) => column.name),
  ...lockedOf(mapping).map(({ name }) => name),
]

/** Nothing is locked in the copy. If the operator declares it as reserved, a NULL would be a fault. */
const lockedOf = ({ table, balance, mayBet }: Mapping) =>
  lockedColumns(table, balance).filter(
    each => each.updatable && mayBet.every(({ column }) => column !== each),
  )

/** What `kit.ts` does with the copy, by name. */
export function copyStatements(mapping: Mapping): Record<string, string> {
  const { engine, id } = mapping
  const onPostgres = engine === 'postgres'
  const place = (index: number) => (onPostgres ? `$${index}` : '?')
  const where = (index: number, key = keyOf(mapping)) =>
    `WHERE ${key.map((name, part) => `${sqlName(engine, name)} = ${place(index + part)}`).join(' AND ')}`
  const update = (set: string, key?: string[]) => `UPDATE ${copyName(mapping)} SET ${set} ${where(2, key)}`
  const columns = writtenColumns(mapping).map(each => sqlName(engine, each))
  const allowed = ruleOf(mapping).map(
    ({ column, values }) => `, ${literalOf(engine, column, values[0] ?? null)}`,
  )
  return {
    insert: `INSERT INTO ${copyName(mapping)} (${columns.join(', ')}) VALUES (${place(1)}, ${place(2)}, 0${allowed.join('')}${', 0'.repeat(lockedOf(mapping).length)})`,
    deposit: update(depositOf(mapping)),
    changeCurrency: update(`${sqlName(engine, currencyColumn(mapping))} = ${place(1)}`, [id.name]),
    lock: `SELECT ${onPostgres ? '' : '1 '}FROM ${copyName(mapping)} ${where(1)} FOR UPDATE`,
    drop: `DROP SCHEMA ${copySchema}${onPostgres ? ' CASCADE' : ''}`,
  }
}

/** Of a view, or because of CHECKs that the kit's players could not pass; `null`: the copy is whole. */
export function untestedPart(mapping: Mapping): string | null {
  if (!isBare(mapping)) return null
  return mapping.table.isView
    ? 'your view: keys, CHECKs and triggers below it'
    : 'your table: its keys and CHECKs'
}

/** The condition that the kit breaks to exclude a player; `null`: none can be. */
function closingCondition(mapping: Mapping): { column: Column; value: string } | null {
  for (const condition of ownConditions(mapping)) {
    const value = closedValue(mapping.engine, condition)
    if (value !== null) return { column: condition.column, value }
  }
  return null
}

/** The statement that excludes a player; `null`: none is known. */
export function excludeStatement(mapping: Mapping): string | null {
  const closing = closingCondition(mapping)
  if (closing === null) return null
  const { engine, id } = mapping
  const set = `${sqlName(engine, closing.column.name)} = ${closing.value}`
  const place = engine === 'postgres' ? '$1' : '?'
  return `UPDATE ${copyName(mapping)} SET ${set} WHERE ${sqlName(engine, id.name)} = ${place}`
}

/** Of a column that must not be NULL, but is when the kit excludes a player. */
function closingChanges(mapping: Mapping): string[] {
  const closing = closingCondition(mapping)
  if (closing?.value !== 'NULL' || closing.column.nullable) return []
  const { name: text, declared, collation } = closing.column
  const name = sqlName(mapping.engine, text)
  if (mapping.engine === 'postgres') return [`ALTER ${name} DROP NOT NULL`]
  return [`MODIFY ${name} ${declared}${collation === null ? '' : ` COLLATE ${collation}`} NULL`]
}

/** The balance with an amount added, in the unit of the column. */
function depositOf(mapping: Mapping): string {
  const { engine, balance, minorUnits } = mapping
  const onPostgres = engine === 'postgres'
  const name = sqlName(engine, balance.name)
  // A text holds fewer decimals than the sum of two decimals would have.
  const isText = minorUnits === null && balanceTypeOf(engine, balance) === 'text'
  const scale = (isText && limitsOf(mapping)?.scale) || scaleMax
  const decimal = onPostgres ? 'numeric' : `decimal(38, ${scale})`
  const amount = onPostgres ? '$1::numeric' : `CAST(? AS ${decimal})`
  if (minorUnits === null) {
    if (!isText) return `${name} = ${name} + ${amount}`
    return onPostgres
      ? `${name} = (${name}::numeric + ${amount})::text`
      : `${name} = CAST(${name} AS ${decimal}) + ${amount}`
  }
  const currency = sqlName(engine, currencyColumn(mapping))
  const units = typeof minorUnits === 'number' ? minorUnits : unitsOfKit(minorUnits)
  return `${name} = ${name} + ${amount}${timesUnits(engine, units, currency)}`
}

const digitsOfInteger: Readonly<Record<string, number>> = { int: 9, integer: 9, bigint: 18 }
/** The largest amount that the core sends. */
const wholeMax = 15
const scaleMax = 18

/** `null`: the column holds every amount. */
export function limitsOf({ engine, balance, minorUnits }: Mapping): { digits: number; scale: number } | null {
  if (minorUnits !== null) {
    const kept = scaleOf(minorUnits)
    const digits = Math.min(balance.precision ?? scaleMax, wholeMax + kept)
    return { digits: digitsOfInteger[balance.type] ?? digits, scale: kept }
  }
  if (balanceTypeOf(engine, balance) === 'text') {
    // With a sign and a point.
    const digits = (balance.length ?? 1_000) - 2
    return digits >= wholeMax + scaleMax ? null : { digits, scale: 2 }
  }
  const { precision, scale } = balance
  if (precision === null || scale === null || (scale >= scaleMax && precision - scale >= wholeMax))
    return null
  const kept = Math.min(scale, scaleMax)
  return { digits: Math.min(precision - scale, wholeMax) + kept, scale: kept }
}

/** Of the kit's euros. */
const scaleOf = (units: MinorUnits) => (typeof units === 'number' ? units : (units.EUR ?? 2))
