/** `store.ts`: the mapping, the pool and the store. */
import { idTypeOf } from './candidates.js'
import { type Mapping, needsView, playersOf, viewName } from './mapping.js'
import { conditionsSql } from './may-bet.js'
import { programText } from './program-text.js'
import { inTemplate, sqlName, tsKey, tsSql, tsText } from './source-text.js'

export function storeFile(mapping: Mapping, isModule: boolean): string {
  const { engine } = mapping
  const onPostgres = engine === 'postgres'
  const hasRule = mapping.mayBet.length > 0
  const types = hasRule ? ['type PendingCommit', 'type Query'] : []
  const names = onPostgres
    ? ['createPostgresStore', ...['type PlayersTable', ...types].sort()]
    : ['createMysqlStore', 'type MysqlPlayersTable', ...types]
  const table = `${sqlName(engine, mapping.table.schema)}.${sqlName(engine, needsView(mapping) ? viewName : mapping.table.name)}`
  const rule = hasRule ? `, withinTransaction: ${whoMayBetCall(mapping, table)}` : ''
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
        ...(hasRule ? ruleLines(mapping) : []),
        `export const pool = ${onPostgres ? 'new ' : ''}${pool}`,
        `export const store = create${onPostgres ? 'Postgres' : 'Mysql'}Store(pool, { players${rule} })`,
      ],
      work: [],
    },
    isModule,
  )
}

/** The hook of `withinTransaction`. The kit calls it with the name of its copy. */
export function ruleLines(mapping: Mapping): string[] {
  const { engine, id, mayBet } = mapping
  const isTyped = hasOtherIds(mapping)
  const place = engine === 'postgres' ? '$1' : isTyped ? `\${id}` : '?'
  const where = inTemplate(`WHERE ${sqlName(engine, id.name)} = `)
  const allowed = inTemplate(` AND ${conditionsSql(engine, mayBet)}`)
  return [
    '// Refuses the bets of all other players, but no settlement, unsettlement or rollback. The store has locked the row:',
    `// an exclusion before that is read here${engine === 'postgres' ? '' : ' (READ COMMITTED)'}, and one after it waits for this commit.`,
    `export const whoMayBet = (table: string${isTyped ? ', id: string' : ''}) => async (query: Query, pending: readonly PendingCommit[]) => {`,
    '  for (const { changes: { transaction }, refuse } of pending) {',
    "    if (transaction.operation !== 'placebet' || transaction.refusal !== null) continue",
    `    const { rows } = await query(\`SELECT 1 FROM \${table} ${where}${place}${allowed}\`, [transaction.playerId])`,
    "    if (rows.length === 0) refuse('PLAYER_EXCLUDED', 'playerId: may not bet now')",
    '  }',
    '}',
  ]
}

/** On MySQL and MariaDB, where a text is no number or UUID: it would be compared as a float. */
const hasOtherIds = ({ engine, id }: Mapping) => engine === 'mysql' && idTypeOf(engine, id) !== 'text'

/** @param isText whether the id is text in this table, as in the kit's copy */
export function whoMayBetCall(mapping: Mapping, table: string, isText = false): string {
  const typed =
    idTypeOf(mapping.engine, mapping.id) === 'bigint' ? 'CAST(? AS SIGNED)' : "UNHEX(REPLACE(?, '-', ''))"
  const id = hasOtherIds(mapping) ? `, ${tsSql(isText ? '?' : typed)}` : ''
  return `whoMayBet(${tsSql(table)}${id})`
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
