/** The check of the players' table: its columns must match the options. */
import type { Decimal } from '../../money.js'
import type { BalanceColumn } from '../database/columns.js'
import {
  checkScale,
  type Fail,
  type PlayersColumn,
  type PlayersTypes,
  typedColumns,
  wantedIndex,
  warnUnproven,
} from '../database/players-columns.js'
import { baseTablesOf, isUniqueBelow, uniqueIndexesOf } from './base-tables.js'
import { hasNumber, privilegeNumbers, storeError } from './errors.js'
import type { Session } from './session.js'
import type { Tables } from './tables.js'

/** A column, as the catalog describes it. */
interface Column extends PlayersColumn {
  precision: number
  scale: number
  /** In characters. */
  length: number | null
  collation: string | null
  generated: boolean
  nullable: boolean
}

const types: PlayersTypes = {
  id: {
    text: ['varchar', 'char', 'varbinary'],
    bigint: ['tinyint', 'smallint', 'mediumint', 'int', 'bigint'],
    uuid: ['uuid (MariaDB)', 'binary(16)'],
  },
  currency: ['varchar', 'char', 'tinytext', 'text', 'enum'],
  balance: {
    numeric: ['decimal'],
    text: ['varchar', 'char', 'tinytext', 'text'],
    'minor-units': ['tinyint', 'smallint', 'mediumint', 'int', 'bigint'],
  },
}

type Reader = Pick<Session, 'rows'>

/** Before anything is created, if this user may see the table: a migration needs no right on it. */
export async function judgePlayersTable(database: Reader, tables: Tables): Promise<void> {
  if (!tables.players.own && (await columnsIn(database, tables.players.tableName)).length > 0)
    await checkPlayersTable(database, tables)
}

/** @throws {StoreError} `INVALID_PLAYERS_TABLE`, naming the column; `NOT_DURABLE` */
export async function checkPlayersTable(database: Reader, { players }: Tables): Promise<BalanceColumn> {
  const { tableName, columnNames } = players
  const fail: Fail = problem => {
    throw storeError('INVALID_PLAYERS_TABLE', `The players' table ${tableName.join('.')}: ${problem}`)
  }
  const columns = await columnsIn(database, tableName)
  if (columns.length === 0)
    fail('it does not exist, or this user may not see it (names are compared as the catalog spells them)')
  for (const option of ['id', 'currency', 'balance', 'reserved', 'version'] as const) {
    const isSeen = columns.some(({ name }) => name === columnNames[option])
    if (!isSeen && columnNames[option] !== null)
      await tryColumn(database, players, players.columns[option] ?? '')
  }
  const baseTables = await baseTablesOf(database, tableName)
  const other = baseTables.find(({ engine }) => engine !== 'InnoDB')
  if (other !== undefined)
    throw storeError(
      'NOT_DURABLE',
      `${other.name.join('.')} is a table of ${other.engine}, without database transactions; it must be InnoDB`,
    )
  const { id, currency, balance, version } = typedColumns(players, columns, types, fail)
  if (version?.generated) fail(`the column ${version.name} (players.version) cannot be updated`)
  const collation = id.collation ?? 'binary'
  if (players.idType === 'text' && !players.own && collation !== players.idCollation)
    fail(`players.idCollation is ${players.idCollation}, but that of the column ${id.name} is ${collation}`)
  const isView = baseTables.some(({ name }) => name !== tableName)
  await checkUnique(database, players, isView, fail)
  if (!isView) {
    if (players.accountPerCurrency && currency.nullable)
      fail(`the column ${currency.name} may be NULL: an account would have any number of such rows`)
  }
  return rangeOf(balance, players, fail)
}

/** The catalog hides a column that this user may not read. @throws the server's error */
async function tryColumn(database: Reader, { table }: Tables['players'], column: string): Promise<void> {
  try {
    await database.rows(`SELECT ${column} FROM ${table} WHERE FALSE`)
  } catch (error) {
    if (hasNumber(error, ...privilegeNumbers)) throw error
  }
}

/** The types of ids as messages spell them: BINARY of another length is none. */
const spelled: Readonly<Record<string, string>> = { 'binary(16)': 'binary(16)', uuid: 'uuid (MariaDB)' }

async function columnsIn(database: Reader, tableName: readonly [string, string]): Promise<Column[]> {
  const rows = await database.rows(
    `SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, NUMERIC_PRECISION, NUMERIC_SCALE, COLLATION_NAME, EXTRA,
        CHARACTER_MAXIMUM_LENGTH, IS_NULLABLE
      FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION`,
    [...tableName],
  )
  return rows.map(([name, type, declared, precision, scale, collation, extra, length, nullable]) => ({
    name: String(name),
    type: spelled[String(declared).toLowerCase()] ?? String(type).toLowerCase(),
    declared: String(declared).toLowerCase(),
    precision: Number(precision ?? 0),
    scale: Number(scale ?? 0),
    length: length === null ? null : Number(length),
    collation: collation === null ? null : String(collation),
    nullable: nullable === 'YES',
    generated: /GENERATED/i.test(String(extra)) && !/DEFAULT_GENERATED/i.test(String(extra)),
  }))
}

async function checkUnique(
  database: Reader,
  players: Tables['players'],
  isView: boolean,
  fail: Fail,
): Promise<void> {
  const { tableName } = players
  const { id, currency } = players.columnNames
  const key = players.accountPerCurrency ? [id, currency] : [id]
  const wanted = wantedIndex(key)
  if (!isView) {
    const indexes = await uniqueIndexesOf(database, tableName)
    if (indexes.some(columns => JSON.stringify(columns) === JSON.stringify(key))) return
    return fail(`there is no unique index on ${wanted}`)
  }
  const isUnique = await isUniqueBelow(database, tableName, key)
  if (isUnique === true) return
  if (isUnique === null)
    return warnUnproven(players, `below the view no unique index on ${wanted} is visible`)
  fail(
    `the view may return an account twice: the table below it has no unique index on ${wanted}. Create it, and declare it in your ORM: one that synchronizes drops others`,
  )
}

const digitsMax = 40

/** Sums are computed with this many decimals. */
const scaleMax = 20

function rangeOf(balance: Column, players: Tables['players'], fail: Fail): BalanceColumn {
  const { name, type, declared, precision, scale, length } = balance
  if (balance.generated) fail(`the column ${name} (players.balance) cannot be updated`)
  // Its text has leading zeros, and is no decimal.
  if (declared.includes('zerofill'))
    fail(`the column ${name} is ${declared}: remove ZEROFILL from players.balance`)
  const isUnsigned = declared.includes('unsigned')
  if (players.balanceType === 'text') return { scale: null, max: null, isUnsigned: false, length }
  if (type !== 'decimal') return { scale: null, max: maxOfInteger(type, declared), isUnsigned, length: null }
  if (scale > scaleMax) fail(`${declared} of ${name} has more than ${scaleMax} decimals`)
  checkScale(players, balance, scale, fail)
  // A decimal of the contract has at most 40 digits: a balance beyond cannot be loaded, and is not changed.
  const whole = '9'.repeat(Math.max(Math.min(precision, digitsMax) - scale, 0)) || '0'
  return { scale, max: scale === 0 ? whole : `${whole}.${'9'.repeat(scale)}`, isUnsigned, length: null }
}

const bitsOf: Readonly<Record<string, bigint>> = {
  tinyint: 8n,
  smallint: 16n,
  mediumint: 24n,
  int: 32n,
  bigint: 64n,
}

function maxOfInteger(type: string, declared: string): Decimal {
  const bits = bitsOf[type] ?? 64n
  return String(2n ** (declared.includes('unsigned') ? bits : bits - 1n) - 1n)
}
