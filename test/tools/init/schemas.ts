/** Schemas as `information_schema` describes them, written in short. */
import type { Column, DatabaseSchema, Engine, Table } from '../../../src/tools/init/schema.js'

const integers = ['smallint', 'integer', 'int', 'bigint', 'tinyint', 'mediumint']

/** `balance numeric(18,2)`, `id bigint default`, `email varchar(80) null`. */
export function column(engine: Engine, text: string): Column {
  const [name = '', ...words] = text.split(' ')
  const flags = words.filter(word => ['null', 'default', 'generated', 'domain'].includes(word))
  const declared = words.filter(word => !flags.includes(word)).join(' ')
  const [, bare = '', numbers = ''] = /^([a-z][a-z -]*?)(?:\((.*)\))?(?: unsigned)?$/.exec(declared) ?? []
  const [first, second] = numbers.split(',').map(Number)
  const postgresTypes: Record<string, string> = {
    varchar: 'character varying',
    char: 'character',
    int: 'integer',
  }
  const type = engine === 'postgres' ? (postgresTypes[bare] ?? bare) : bare
  const isText = /char|text|binary/.test(bare)
  return {
    ...{ name, type, declared },
    precision:
      isText || first === undefined || numbers === '' ? (integers.includes(bare) ? 64 : null) : first,
    scale: isText ? null : (second ?? (integers.includes(bare) ? 0 : null)),
    length: isText && numbers !== '' ? (first ?? null) : null,
    nullable: flags.includes('null'),
    hasDefault: flags.includes('default'),
    updatable: !flags.includes('generated'),
    collation: engine === 'mysql' && isText && bare !== 'varbinary' ? 'utf8mb4_general_ci' : null,
    isDomain: flags.includes('domain'),
    labels: bare === 'enum' ? [...declared.matchAll(/'([^']*)'/g)].map(([, label = '']) => label) : null,
  }
}

/** @param keys the unique keys: `['id', 'player_id currency']` */
export function table(
  engine: Engine,
  name: string,
  columns: readonly string[],
  keys: readonly string[] = [],
  more: Partial<Table> = {},
): Table {
  const [schema = '', short = ''] = name.split('.')
  return {
    ...{
      schema,
      name: short,
      isView: false,
      storage: engine === 'mysql' ? 'InnoDB' : null,
      checks: [],
      foreignKeys: [],
      sources: [],
    },
    columns: columns.map(text => column(engine, text)),
    uniqueKeys: keys.map(key => key.split(' ')),
    primaryKey: keys[0]?.split(' ') ?? [],
    ...more,
  }
}

export const schemaOf = (engine: Engine, ...tables: Table[]): DatabaseSchema => ({
  ...{ engine, tables, updatesSubqueries: engine === 'postgres' },
  exactCollation: engine === 'mysql' ? 'utf8mb4_nopad_bin' : null,
})
