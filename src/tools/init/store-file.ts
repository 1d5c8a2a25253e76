/** `store.ts`: the mapping, the pool and the store. */
import { type Mapping, playersOf, viewStatement } from './mapping.js'
import { programText } from './program-text.js'
import { tsKey, tsSql, tsText } from './source-text.js'

/**
 * @param withMigration whether it exports `migrate`: no migration tool creates the tables
 */
export function storeFile(mapping: Mapping, isModule: boolean, withMigration: boolean): string {
  const { engine } = mapping
  const onPostgres = engine === 'postgres'
  const names = onPostgres
    ? ['createPostgresStore', ...(withMigration ? ['migratePostgres'] : []), 'type PlayersTable']
    : ['createMysqlStore', 'type MysqlPlayersTable', ...(withMigration ? ['migrateMysql'] : [])]
  const [driver, pool] = onPostgres
    ? ['pg', 'pg.Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 5_000 })']
    : [
        'mysql2/promise',
        "mysql.createPool({ uri: process.env.DATABASE_URL ?? '', connectTimeout: 5_000 }) // for the wallet alone",
      ]
  return programText(
    {
      file: 'store.ts',
      imports: [
        { names, from: `bet-wallet/${engine}` },
        { whole: onPostgres ? 'pg' : 'mysql', from: driver },
      ],
      before: [
        `export const players: ${onPostgres ? 'PlayersTable' : 'MysqlPlayersTable'} = {`,
        ...playersLines(mapping),
        '}',
        `export const pool = ${onPostgres ? 'new ' : ''}${pool}`,
        `export const store = create${onPostgres ? 'Postgres' : 'Mysql'}Store(pool, { players })`,
        ...(withMigration ? migrateLines(mapping) : []),
      ],
      work: [],
    },
    isModule,
  )
}

/** Two lines: who, and how much. */
function playersLines(mapping: Mapping): string[] {
  const { table, id, idType, idCollation, currency, balance, balanceType, minorUnits } = playersOf(mapping)
  const text = (entries: Record<string, string | undefined>) =>
    Object.entries(entries)
      .flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${tsText(value)}`]))
      .join(', ')
  const units = minorUnits === undefined ? '' : `, minorUnits: ${unitsText(minorUnits)}`
  return [
    `  ${text({ table, id, idType, idCollation, currency })},`,
    `  ${text({ balance, balanceType })}${units},`,
  ]
}

export const unitsText = (units: number | Readonly<Record<string, number>>): string =>
  typeof units === 'number'
    ? String(units)
    : `{ ${Object.entries(units)
        .map(([code, digits]) => `${tsKey(code)}: ${digits}`)
        .join(', ')} }`

function migrateLines(mapping: Mapping): string[] {
  const call = `migrate${mapping.engine === 'postgres' ? 'Postgres' : 'Mysql'}(pool, { players }, { lookupIndexes: true })`
  const view = viewStatement(mapping)
  if (view === null) return [`export const migrate = () => ${call}`]
  return [
    'export async function migrate() {',
    '  // The wallet reads your table by a view: its players, with their currency.',
    `  await pool.query(${tsSql(view)})`,
    `  await ${call}`,
    '}',
  ]
}
