/** The operator's tables, as the catalogs describe them. No row is read. */

import { sourcesIn } from '../../stores/mysql/base-tables.js'
import { type Engine, sqlText } from './source-text.js'

export type { Engine }

export interface Column {
  name: string
  /** Without its length, in lower case: `character varying`, `decimal`. Of a domain, its base type. */
  type: string
  /** As people write it: `decimal(18,2)`, `bigint unsigned`. */
  declared: string
  precision: number | null
  scale: number | null
  /** In characters; of binary columns in bytes. */
  length: number | null
  nullable: boolean
  /** Whether an INSERT may leave it out although it is not nullable. */
  hasDefault: boolean
  /** Whether an UPDATE may set it. */
  updatable: boolean
  /** Of text on MySQL and MariaDB; otherwise `null`. */
  collation: string | null
  /** Whether its type is a domain of PostgreSQL, which may have conditions of its own. */
  isDomain: boolean
  /** Of an enum: its values. */
  labels: readonly string[] | null
}

export interface Table {
  schema: string
  name: string
  isView: boolean
  /** Of MySQL and MariaDB: `InnoDB`. `null`: of a view, or of PostgreSQL. */
  storage: string | null
  columns: readonly Column[]
  /** The columns of each unique index without a condition or an expression. */
  uniqueKeys: readonly (readonly string[])[]
  primaryKey: readonly string[]
  /** The texts of its CHECKs that the user may see. */
  checks: readonly string[]
  /** Those of one column. */
  foreignKeys: readonly ForeignKey[]
  /** Of a view: what it reads, on MySQL and MariaDB as far as the user may see it. */
  sources: readonly (readonly [schema: string, table: string])[]
}

export interface ForeignKey {
  column: string
  to: { schema: string; table: string; column: string }
}

export const refersTo = ({ to }: ForeignKey, { schema, name }: Table): boolean =>
  to.schema === schema && to.table === name

export interface DatabaseSchema {
  engine: Engine
  /** Whether a view with a subquery can be updated. Not on MySQL, whatever its catalog says. */
  updatesSubqueries: boolean
  tables: readonly Table[]
  /** Of MySQL and MariaDB: the collation that compares ids exactly. */
  exactCollation: string | null
}

export interface CatalogDatabase {
  engine: Engine
  /** Runs a query on the catalog: rows as objects, or as lists of values. */
  ask(text: string): Promise<readonly unknown[]>
  /** On MySQL and MariaDB; otherwise those of the default schema, or of all. */
  schemas?: readonly string[]
}

type Row = Record<string, unknown>

/** @returns every table that this user may see; on MySQL those of the default schema, if there is one */
export async function readSchema(database: CatalogDatabase): Promise<DatabaseSchema> {
  const { engine } = database
  const rows = async (query: string, names: readonly string[]): Promise<Row[]> =>
    (await database.ask(query)).map(row =>
      Array.isArray(row) ? Object.fromEntries(names.map((name, index) => [name, row[index]])) : (row as Row),
    )
  const found: Partial<Record<Part, Row[]>> = {}
  const ofSchema = ofSchemas(database.schemas)
  for (const [part, query] of Object.entries(queriesOf(ofSchema)[engine]) as [Part, string][])
    found[part] = await rows(query, namesOf[part])
  const [server] = engine === 'mysql' ? await rows('SELECT VERSION()', ['version']) : []
  return {
    engine,
    updatesSubqueries: engine === 'postgres' || /mariadb/i.test(String(server?.version)),
    tables: tablesOf(engine, found),
    exactCollation: textOf(found.collations?.[0]?.name),
  }
}

/** Of the columns of each query: MySQL and MariaDB return lists of values. */
const namesOf: Record<Part, readonly string[]> = {
  columns: [
    ...['schema', 'table', 'kind', 'storage', 'column', 'type', 'declared', 'precision', 'scale', 'length'],
    ...['nullable', 'default', 'extra', 'collation', 'domain'],
  ],
  keys: ['schema', 'table', 'key', 'column'],
  checks: ['schema', 'table', 'clause'],
  views: ['schema', 'table', 'definition'],
  references: ['schema', 'table', 'key', 'column', 'toSchema', 'toTable', 'toColumn'],
  collations: ['name'],
}

/** Schemas of the servers, and the library's own. */
const systemSchemas =
  "'information_schema', 'pg_catalog', 'mysql', 'performance_schema', 'sys', 'bet_wallet', 'bet_wallet_kit'"

const ofSchemas = (schemas: readonly string[] | undefined) => (schema: string) =>
  schemas === undefined
    ? `${schema} = coalesce(DATABASE(), ${schema}) AND ${schema} NOT IN (${systemSchemas})`
    : `${schema} IN (${schemas.map(each => sqlText('mysql', each)).join()})`

type Part = 'columns' | 'keys' | 'checks' | 'views' | 'references' | 'collations'
type Queries = Partial<Record<Part, string>>

/**
 * MySQL and MariaDB have the labels of an enum in its declared type.
 *
 * @param ofSchema the condition about the schema of a table, there
 */
const queriesOf = (ofSchema: (schema: string) => string): Record<Engine, Queries> => ({
  postgres: {
    // Not of information_schema, which hides columns that this user has no right on.
    columns: `SELECT n.nspname AS schema, c.relname AS table, CASE c.relkind WHEN 'v' THEN 'VIEW' END AS kind,
        NULL AS storage, a.attname AS column,
        CASE WHEN b.typelem <> 0 AND b.typlen = -1 THEN 'array'
          WHEN b.typnamespace <> 'pg_catalog'::regnamespace THEN 'user-defined'
          ELSE format_type(b.oid, NULL) END AS type,
        b.typname AS declared, information_schema._pg_numeric_precision(b.oid, m.typmod) AS precision,
        information_schema._pg_numeric_scale(b.oid, m.typmod) AS scale,
        information_schema._pg_char_max_length(b.oid, m.typmod) AS length,
        CASE WHEN a.attnotnull OR t.typnotnull THEN 'NO' ELSE 'YES' END AS nullable,
        CASE WHEN a.atthasdef OR a.attidentity <> '' THEN 'YES' END AS default,
        CASE WHEN a.attgenerated <> '' OR NOT pg_column_is_updatable(c.oid, a.attnum, false)
          THEN 'GENERATED' END AS extra,
        NULL AS collation, CASE t.typtype WHEN 'd' THEN t.typname END AS domain,
        (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder)::text
          FROM pg_catalog.pg_enum e WHERE e.enumtypid = b.oid) AS labels
      FROM pg_catalog.pg_attribute a
      JOIN pg_catalog.pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p', 'v')
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
      CROSS JOIN LATERAL (SELECT
        CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END AS type,
        CASE t.typtype WHEN 'd' THEN t.typtypmod ELSE a.atttypmod END AS typmod) m
      JOIN pg_catalog.pg_type b ON b.oid = m.type
      WHERE a.attnum > 0 AND NOT a.attisdropped
        AND n.nspname NOT IN (${systemSchemas}) AND n.nspname NOT LIKE 'pg\\_%'
      ORDER BY n.nspname, c.relname, a.attnum`,
    // ORMs create indexes, which are no constraints; and every role may read these catalogs.
    keys: `SELECT n.nspname AS schema, c.relname AS table, a.attname AS column,
        CASE WHEN x.indisprimary THEN 'PRIMARY' ELSE x.indexrelid::text END AS key
      FROM pg_catalog.pg_index x
      JOIN pg_catalog.pg_class c ON c.oid = x.indrelid
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      CROSS JOIN unnest(x.indkey::smallint[]) WITH ORDINALITY part (attribute, position)
      JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = part.attribute
      WHERE x.indisunique AND x.indisvalid AND x.indpred IS NULL AND x.indexprs IS NULL
        AND part.position <= x.indnkeyatts
      ORDER BY n.nspname, c.relname, x.indexrelid, part.position`,
    checks: `SELECT t.table_schema AS schema, t.table_name AS table, c.check_clause AS clause
      FROM information_schema.table_constraints t
      JOIN information_schema.check_constraints c
        ON c.constraint_schema = t.constraint_schema AND c.constraint_name = t.constraint_name
      WHERE t.constraint_type = 'CHECK' AND c.check_clause NOT LIKE '% IS NOT NULL'`, // NOT NULL is none
    references: `SELECT n.nspname AS schema, c.relname AS table, k.oid AS key, a.attname AS column,
        m.nspname AS "toSchema", t.relname AS "toTable", b.attname AS "toColumn"
      FROM pg_catalog.pg_constraint k
      JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_catalog.pg_class t ON t.oid = k.confrelid
      JOIN pg_catalog.pg_namespace m ON m.oid = t.relnamespace
      JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[1]
      JOIN pg_catalog.pg_attribute b ON b.attrelid = t.oid AND b.attnum = k.confkey[1]
      WHERE k.contype = 'f' AND cardinality(k.conkey) = 1`,
    views: `SELECT DISTINCT n.nspname AS schema, v.relname AS table, m.nspname AS "toSchema", t.relname AS "toTable"
      FROM pg_catalog.pg_rewrite r
      JOIN pg_catalog.pg_class v ON v.oid = r.ev_class AND v.relkind = 'v'
      JOIN pg_catalog.pg_namespace n ON n.oid = v.relnamespace
      JOIN pg_catalog.pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
        AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> v.oid
      JOIN pg_catalog.pg_class t ON t.oid = d.refobjid
      JOIN pg_catalog.pg_namespace m ON m.oid = t.relnamespace
      WHERE n.nspname NOT IN (${systemSchemas})`,
  },
  mysql: {
    columns: `SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, NUMERIC_PRECISION,
        NUMERIC_SCALE, CHARACTER_MAXIMUM_LENGTH, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLLATION_NAME, NULL
      FROM information_schema.COLUMNS JOIN information_schema.TABLES USING (TABLE_SCHEMA, TABLE_NAME)
      WHERE ${ofSchema('TABLE_SCHEMA')} AND TABLE_TYPE IN ('BASE TABLE', 'VIEW')
      ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION`,
    keys: `SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, COLUMN_NAME
      FROM information_schema.STATISTICS
      WHERE ${ofSchema('TABLE_SCHEMA')} AND NON_UNIQUE = 0
      ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`,
    checks: `SELECT t.TABLE_SCHEMA, t.TABLE_NAME, c.CHECK_CLAUSE
      FROM information_schema.TABLE_CONSTRAINTS t
      JOIN information_schema.CHECK_CONSTRAINTS c
        ON c.CONSTRAINT_SCHEMA = t.CONSTRAINT_SCHEMA AND c.CONSTRAINT_NAME = t.CONSTRAINT_NAME
      WHERE ${ofSchema('t.TABLE_SCHEMA')} AND t.CONSTRAINT_TYPE = 'CHECK'`,
    views: `SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS
      WHERE ${ofSchema('TABLE_SCHEMA')}`,
    references: `SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA,
        REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME
      FROM information_schema.KEY_COLUMN_USAGE
      WHERE REFERENCED_TABLE_NAME IS NOT NULL AND ${ofSchema('TABLE_SCHEMA')}`,
    collations: `SELECT COLLATION_NAME FROM information_schema.COLLATIONS
      WHERE COLLATION_NAME IN ('utf8mb4_nopad_bin', 'utf8mb4_0900_bin')`,
  },
})

function tablesOf(engine: Engine, found: Partial<Record<Part, Row[]>>): Table[] {
  const nameOf = ({ schema, table }: Row) => JSON.stringify([schema, table])
  const byTable = (part: Part) => grouped(found[part] ?? [], nameOf)
  const [keys, checks, views] = [byTable('keys'), byTable('checks'), byTable('views')]
  const references = byTable('references')
  return [...byTable('columns')].map(([name, rows]) => {
    const columnsOf = (each: readonly Row[]) => each.map(({ column }) => String(column))
    const ownKeys = grouped(keys.get(name) ?? [], ({ key }) => String(key))
    const ownReferences = grouped(references.get(name) ?? [], ({ key }) => String(key))
    return {
      schema: String(rows[0]?.schema),
      name: String(rows[0]?.table),
      isView: rows[0]?.kind === 'VIEW',
      storage: textOf(rows[0]?.storage),
      columns: rows.map(row => columnOf(engine, row)),
      uniqueKeys: [...ownKeys.values()].map(columnsOf),
      primaryKey: columnsOf(ownKeys.get('PRIMARY') ?? []),
      checks: (checks.get(name) ?? []).map(({ clause }) => String(clause)),
      foreignKeys: [...ownReferences.values()].flatMap(foreignKeyOf),
      sources: (views.get(name) ?? []).flatMap(sourcesOf),
    }
  })
}

const sourcesOf = ({ definition, toSchema, toTable }: Row): Table['sources'] =>
  toTable === undefined ? sourcesIn(String(definition ?? '')) : [[String(toSchema), String(toTable)]]

function grouped(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row])
  return groups
}

/** None for a key of several columns. */
function foreignKeyOf([row, ...more]: readonly Row[]): ForeignKey[] {
  if (row === undefined || more.length > 0) return []
  const { column, toSchema, toTable, toColumn } = row
  const to = { schema: String(toSchema), table: String(toTable), column: String(toColumn) }
  return [{ column: String(column), to }]
}

const textOf = (value: unknown) => (value === null || value === undefined ? null : String(value))
const numberOf = (value: unknown) => (value === null || value === undefined ? null : Number(value))

function columnOf(engine: Engine, row: Row): Column {
  const type = String(row.type).toLowerCase()
  const [precision, scale, length] = [numberOf(row.precision), numberOf(row.scale), numberOf(row.length)]
  const extra = String(row.extra ?? '').toLowerCase()
  return {
    name: String(row.column),
    type,
    precision,
    scale,
    length,
    declared:
      engine === 'mysql'
        ? String(row.declared).toLowerCase()
        : declaredOf({ type, declared: String(row.declared), precision, scale, length }),
    nullable: row.nullable === 'YES',
    hasDefault: textOf(row.default) !== null || /auto_increment|default_generated/.test(extra),
    updatable: !extra.replace('default_generated', '').includes('generated'),
    collation: textOf(row.collation),
    isDomain: textOf(row.domain) !== null,
    labels: row.labels
      ? JSON.parse(String(row.labels))
      : type === 'enum'
        ? labelsIn(String(row.declared))
        : null,
  }
}

/** `enum('active','closed')` */
const labelsIn = (declared: string) =>
  [...declared.matchAll(/'((?:[^']|'')*)'/g)].map(([, label = '']) => label.replaceAll("''", "'"))

/** PostgreSQL has no column for it. */
function declaredOf(column: Pick<Column, 'type' | 'declared' | 'precision' | 'scale' | 'length'>): string {
  const { type, declared, precision, scale, length } = column
  if (type === 'numeric' && precision !== null) return `numeric(${precision},${scale ?? 0})`
  if (type === 'character varying') return length === null ? 'varchar' : `varchar(${length})`
  if (type === 'character') return `char(${length ?? 1})`
  return type === 'user-defined' || type === 'array' ? declared : type
}
