/** The check of the players' table: its columns must match the options. */
import type { Decimal } from '../../money.js'
import type { BalanceColumn } from '../database/columns.js'
import { baseTablesOf } from './base-tables.js'
import { hasNumber, privilegeNumbers, storeError } from './errors.js'
import type { Session } from './session.js'
import type { Tables } from './tables.js'

/** A column, as the catalog describes it. */
interface Column {
  name: string
  /** Without its length: `decimal`. */
  type: string
  /** As it was declared: `bigint(20) unsigned`. */
  declared: string
  precision: number
  scale: number
  /** In characters. */
  length: number | null
  collation: string | null
  generated: boolean
}

type Fail = (problem: string) => never

/** @throws {StoreError} `INVALID_PLAYERS_TABLE`, naming the column; `NOT_DURABLE` */
export async function checkPlayersTable(database: Session, { players }: Tables): Promise<BalanceColumn> {
  const fail: Fail = problem => {
    throw storeError('INVALID_PLAYERS_TABLE', `The players' table ${players.tableName.join('.')}: ${problem}`)
  }
  const columns = await columnsIn(database, players.tableName)
  if (columns.length === 0)
    fail('it does not exist, or this user may not see it (names are compared as the catalog spells them)')
  const column = async (option: 'id' | 'currency' | 'balance' | 'reserved'): Promise<Column> => {
    const name = players.columnNames[option]
    const names = columns.map(each => each.name).join(', ')
    const found = columns.find(each => each.name === name)
    if (found !== undefined) return found
    await tryColumn(database, players, players.columns[option] ?? '')
    return fail(`there is no column ${name} (players.${option}); its columns are ${names}`)
  }
  const baseTables = await baseTablesOf(database, players.tableName)
  const other = baseTables.find(({ engine }) => engine !== 'InnoDB')
  if (other !== undefined)
    throw storeError(
      'NOT_DURABLE',
      `${other.name.join('.')} is a table of ${other.engine}, without database transactions; it must be InnoDB`,
    )
  checkId(await column('id'), players, fail)
  const isView = baseTables.some(({ name }) => name !== players.tableName)
  if (!isView) await checkUnique(database, players, fail)
  checkCurrency(await column('currency'), fail)
  if (players.columnNames.reserved !== null) {
    const reserved = await column('reserved')
    if (!balanceTypes[players.balanceType].includes(reserved.type))
      fail(
        `players.reserved is ${reserved.declared}; it must be ${balanceTypes[players.balanceType].join(' or ')}`,
      )
  }
  return checkBalance(await column('balance'), players, fail)
}

/** The catalog hides a column that this user may not read. @throws the server's error */
async function tryColumn(database: Session, { table }: Tables['players'], column: string): Promise<void> {
  try {
    await database.rows(`SELECT ${column} FROM ${table} WHERE FALSE`)
  } catch (error) {
    if (hasNumber(error, ...privilegeNumbers)) throw error
  }
}

async function columnsIn(database: Session, tableName: readonly [string, string]): Promise<Column[]> {
  const rows = await database.rows(
    `SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, NUMERIC_PRECISION, NUMERIC_SCALE, COLLATION_NAME, EXTRA,
        CHARACTER_MAXIMUM_LENGTH
      FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION`,
    [...tableName],
  )
  return rows.map(([name, type, declared, precision, scale, collation, extra, length]) => ({
    name: String(name),
    type: String(type).toLowerCase(),
    declared: String(declared).toLowerCase(),
    precision: Number(precision ?? 0),
    scale: Number(scale ?? 0),
    length: length === null ? null : Number(length),
    collation: collation === null ? null : String(collation),
    generated: /GENERATED/i.test(String(extra)) && !/DEFAULT_GENERATED/i.test(String(extra)),
  }))
}

const idTypes = {
  text: ['varchar', 'char', 'varbinary'],
  bigint: ['tinyint', 'smallint', 'mediumint', 'int', 'bigint'],
  uuid: ['binary', 'uuid'],
}

function checkId(id: Column, { idType, idCollation, own }: Tables['players'], fail: Fail): void {
  const types = idTypes[idType]
  if (!types.includes(id.type) || (id.type === 'binary' && id.declared !== 'binary(16)')) {
    fail(
      `players.idType is ${idType}, but the column ${id.name} is ${id.declared}; it must be ` +
        `${idType === 'uuid' ? 'uuid (MariaDB) or binary(16)' : types.join(' or ')}`,
    )
  }
  if (idType !== 'text' || own) return
  const collation = id.collation ?? 'binary'
  if (collation !== idCollation)
    fail(`players.idCollation is ${idCollation}, but that of the column ${id.name} is ${collation}`)
}

async function checkUnique(
  database: Session,
  { tableName, columnNames }: Tables['players'],
  fail: Fail,
): Promise<void> {
  const rows = await database.rows(
    `SELECT INDEX_NAME FROM information_schema.STATISTICS
      WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND NON_UNIQUE = 0
      GROUP BY INDEX_NAME HAVING COUNT(*) = 1 AND MIN(COLUMN_NAME) = ? AND MIN(SUB_PART) IS NULL`,
    [...tableName, columnNames.id],
  )
  if (rows.length === 0) fail(`there is no unique index on ${columnNames.id} alone`)
}

function checkCurrency(currency: Column, fail: Fail): void {
  if (!['varchar', 'char', 'tinytext', 'text', 'enum'].includes(currency.type)) {
    fail(`the column ${currency.name} (players.currency) is ${currency.declared}; it must be text`)
  }
}

const balanceTypes = {
  numeric: ['decimal'],
  text: ['varchar', 'char', 'tinytext', 'text'],
  'minor-units': ['tinyint', 'smallint', 'mediumint', 'int', 'bigint'],
}

const digitsMax = 40

/** Sums are computed with this many decimals. */
const scaleMax = 20

function checkBalance(balance: Column, players: Tables['players'], fail: Fail): BalanceColumn {
  const { balanceType, decimalsMin } = players
  const { name, type, declared, precision, scale } = balance
  if (balance.generated) fail(`the column ${name} (players.balance) cannot be updated`)
  // Its text has leading zeros, and is no decimal.
  if (declared.includes('zerofill'))
    fail(`the column ${name} is ${declared}: remove ZEROFILL from players.balance`)
  const types = balanceTypes[balanceType]
  if (!types.includes(type)) {
    const why = /float|double|real/.test(type) ? ', which rounds' : ''
    fail(
      `players.balanceType is ${balanceType}, but the column ${name} is ${declared}${why}; it must be ${types.join(' or ')}`,
    )
  }
  const isUnsigned = declared.includes('unsigned')
  if (balanceType === 'minor-units')
    return { scale: null, max: maxOfInteger(type, declared), isUnsigned, length: null }
  if (balanceType === 'text') return { scale: null, max: null, isUnsigned: false, length: balance.length }
  if (scale > scaleMax) fail(`${declared} of ${name} has more than ${scaleMax} decimals`)
  if (scale < decimalsMin) {
    fail(
      `${declared} of ${name} would round amounts of ${decimalsMin} decimals; ` +
        'widen it, or set players.decimalsMin if no amount has more decimals',
    )
  }
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
