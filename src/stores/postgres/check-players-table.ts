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
} from '../database/players-columns.js'
import type { Ask } from './client.js'
import { storeError } from './errors.js'
import type { Tables } from './tables.js'

/** A column, as the catalog describes it. */
interface Column extends PlayersColumn {
  precision: number | null
  /** In characters. */
  length: number | null
  deterministic: boolean
  updatable: boolean
  nullable: boolean
  /** Of the table: `v` is a view. */
  kind: string
}

const types: PlayersTypes = {
  id: { text: ['text', 'character varying'], bigint: ['smallint', 'integer', 'bigint'], uuid: ['uuid'] },
  currency: ['text', 'character varying', 'character', 'enum'],
  balance: {
    numeric: ['numeric'],
    text: ['text', 'character varying'],
    'minor-units': ['smallint', 'integer', 'bigint'],
  },
}

export const failOf =
  ({ tableName }: Tables['players']): Fail =>
  problem => {
    throw storeError('INVALID_PLAYERS_TABLE', `The players' table ${tableName.join('.')}: ${problem}`)
  }

/** @throws {StoreError} `INVALID_PLAYERS_TABLE`, naming the column */
export async function checkPlayersTable(ask: Ask, { players }: Tables): Promise<BalanceColumn> {
  const fail = failOf(players)
  const columns = await columnsIn(ask, players.tableName)
  if (columns.length === 0)
    fail('it does not exist, or this role may not see it (names are compared as the catalog spells them)')
  const { id, currency, balance, version } = typedColumns(players, columns, types, fail)
  if (version?.updatable === false) fail(`the column ${version.name} (players.version) cannot be updated`)
  if (!id.deterministic)
    fail(`the collation of ${id.name} is nondeterministic: distinct ids would compare equal (D24)`)
  if (id.kind !== 'v') {
    const key = players.accountPerCurrency ? [id.name, currency.name] : [id.name]
    if (!(await hasUniqueIndex(ask, players.tableName, key)))
      fail(`there is no unique index on ${wantedIndex(key)}`)
    if (players.accountPerCurrency && currency.nullable)
      fail(`the column ${currency.name} may be NULL: an account would have any number of such rows`)
  }
  if (!currency.deterministic)
    fail(
      `the collation of ${currency.name} is nondeterministic: a bet in eur would be taken from a balance in EUR`,
    )
  return rangeOf(balance, players, fail)
}

/** Whether a valid unique index, without a condition, has exactly these columns in this order. */
export async function hasUniqueIndex(
  ask: Ask,
  table: readonly [schema: string, table: string],
  columns: readonly string[],
): Promise<boolean> {
  const found = await ask<{ columns: string }>(
    `SELECT (
      SELECT json_agg(a.attname ORDER BY key.position)
      FROM unnest(x.indkey::smallint[]) WITH ORDINALITY key (attribute, position)
      LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = key.attribute
      WHERE key.position <= x.indnkeyatts
    )::text AS columns
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_index x ON x.indrelid = c.oid
    WHERE n.nspname = $1 AND c.relname = $2 AND x.indisunique AND x.indisvalid AND x.indpred IS NULL`,
    [...table],
  )
  const wanted = JSON.stringify(columns)
  return found.some(index => JSON.stringify(JSON.parse(index.columns)) === wanted)
}

async function columnsIn(ask: Ask, tableName: readonly [schema: string, table: string]): Promise<Column[]> {
  const rows = await ask<Omit<Column, 'declared'>>(
    `WITH RECURSIVE base (attnum, type, typmod) AS (
      SELECT a.attnum, a.atttypid, a.atttypmod
      FROM pg_catalog.pg_attribute a
      JOIN pg_catalog.pg_class r ON r.oid = a.attrelid
      JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace
      WHERE n.nspname = $1 AND r.relname = $2
      UNION ALL
      -- A domain, maybe over another domain.
      SELECT base.attnum, t.typbasetype, t.typtypmod
      FROM base
      JOIN pg_catalog.pg_type t ON t.oid = base.type AND t.typtype = 'd'
    )
    SELECT
      c.column_name::text AS name,
      -- Without the quotes of quote_all_identifiers.
      CASE t.typtype WHEN 'e' THEN 'enum' ELSE replace(format_type(base.type, NULL), '"', '') END AS type,
      information_schema._pg_numeric_precision(base.type, base.typmod)::integer AS precision,
      -- Of a numeric. It may be negative, which information_schema does not know.
      CASE WHEN base.typmod <> -1 THEN (((base.typmod - 4) & 2047) # 1024) - 1024 END AS scale,
      information_schema._pg_char_max_length(base.type, base.typmod)::integer AS length,
      coalesce(l.collisdeterministic, true) AS deterministic,
      c.is_updatable = 'YES' AND c.is_generated = 'NEVER' AS updatable,
      r.relkind::text AS kind,
      c.is_nullable = 'YES' AS nullable
    FROM information_schema.columns c
    JOIN pg_catalog.pg_namespace n ON n.nspname = c.table_schema
    JOIN pg_catalog.pg_class r ON r.relnamespace = n.oid AND r.relname = c.table_name
    JOIN pg_catalog.pg_attribute a ON a.attrelid = r.oid AND a.attname = c.column_name
    JOIN base ON base.attnum = a.attnum
    JOIN pg_catalog.pg_type t ON t.oid = base.type AND t.typtype <> 'd'
    LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
    WHERE c.table_schema = $1 AND c.table_name = $2`,
    [...tableName],
  )
  return rows.map(row => ({ ...row, declared: row.type }))
}

const joinAdvice =
  'A view that joins tables is not updatable: select the currency by a subquery in place of the join'

/** A column that holds any balance. */
const any: BalanceColumn = { scale: null, max: null, isUnsigned: false, length: null }

function rangeOf(balance: Column, players: Tables['players'], fail: Fail): BalanceColumn {
  const { name, type, precision, scale } = balance
  if (!balance.updatable) {
    const advice = balance.kind === 'v' ? `. ${joinAdvice}` : ''
    fail(`the column ${name} (players.balance) cannot be updated${advice}`)
  }
  if (players.balanceType === 'text') return { ...any, length: balance.length }
  if (type !== 'numeric') return { ...any, max: maxOfInteger(type) }
  if (precision === null || scale === null) return any
  checkScale(players, { ...balance, declared: `numeric(${precision},${scale})` }, scale, fail)
  return { ...any, scale, max: maxOfNumeric(precision, scale) }
}

function maxOfInteger(type: string): Decimal {
  return { smallint: '32767', integer: '2147483647' }[type] ?? '9223372036854775807'
}

function maxOfNumeric(precision: number, scale: number): Decimal {
  // numeric(3,5) holds at most 0.00999.
  const digits = '9'.repeat(precision).padStart(scale + 1, '0')
  return scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}
