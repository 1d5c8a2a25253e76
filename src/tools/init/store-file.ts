/** `store.ts`: the mapping, the pool, the store, and the copy of the table for `kit.ts`. */
import {
  copyName,
  copyOptions,
  copySchema,
  copyStatements,
  createStatements,
  excludeStatement,
  isPlain,
  limitsOf,
  untestedPart,
} from './copy.js'
import { ledgerLines } from './ledger.js'
import {
  currencyColumn,
  idPlace,
  type Mapping,
  ownDecimals,
  type PlayersOptions,
  playersOf,
  readSql,
} from './mapping.js'
import { conditionsSql } from './may-bet.js'
import { inTemplate, present, sqlName, tsKey, tsSql, tsText } from './source-text.js'

export interface ProjectKind {
  /** `false`: CommonJS, where the driver is required, for any `esModuleInterop`. */
  isModule: boolean
  /** Whether the driver for PostgreSQL is postgres.js. */
  hasPostgresJs: boolean
}

export function storeFile(mapping: Mapping, { isModule, hasPostgresJs }: ProjectKind): string {
  const { engine } = mapping
  const onPostgres = engine === 'postgres'
  const hooks = [...(mapping.mayBet.length > 0 ? ruleLines(mapping) : []), ...ledgerLines(mapping)]
  const types = [
    onPostgres ? 'PlayersTable' : 'MysqlPlayersTable',
    ...(hooks.length > 0 ? ['PendingCommit', 'Query'] : []),
  ]
  const overSql = onPostgres && hasPostgresJs
  const adapter = overSql ? ['fromPostgresJs'] : []
  const names = [...namesOf(mapping), ...adapter, ...types.sort().map(type => `type ${type}`)]
  // `lend`: for a connection of its own, which kit.ts needs.
  const [whole, driver, lend, pool] = overSql
    ? ['postgres', 'postgres', 'reserve', postgresJsPool]
    : onPostgres
      ? ['pg', 'pg', 'connect', pgPool]
      : ['mysql', 'mysql2/promise', 'getConnection', mysqlPool]
  const [create] = namesOf(mapping)
  return `${[
    '// store.ts',
    `import { ${names.join(', ')} } from 'bet-wallet/${engine}'`,
    ...(overSql ? ["import { EventEmitter } from 'node:events'"] : []),
    isModule ? `import ${whole} from '${driver}'` : `import ${whole} = require('${driver}')`,
    '',
    `export const players: ${types.find(type => type.endsWith('Table'))} = {`,
    ...propertiesOf(playersOf(mapping)).map(each => `  ${each},`),
    '}',
    ...(hooks.length > 0 ? ['', ...hooks, ''] : []),
    `export const createPool = () =>${pool}`,
    'export const pool = createPool()',
    `export const store = ${create}(pool, { players${ruleOption(mapping, readSql(mapping))} })`,
    '',
    ...decimalsLines(mapping),
    '',
    ...copyLines(mapping, lend),
  ].join('\n')}\n`
}

/** For server.ts: amounts that the balance cannot hold are refused before the store sees them. */
function decimalsLines(mapping: Mapping): string[] {
  const own = Object.entries(ownDecimals(mapping)).map(([code, units]) => `[${tsText(code)}, ${units}]`)
  return [
    '// Decimals of codes outside ISO 4217.',
    `export const minorUnits = (currency: string) => new Map<string, number>([${own.join(', ')}]).get(currency)`,
  ]
}

const pgPool =
  '\n  new pg.Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 5_000 })'
const mysqlPool =
  " mysql.createPool({ uri: process.env.DATABASE_URL ?? '', connectTimeout: 5_000 }) // for the wallet alone"
const postgresJsPool = ` {
  const notices = new EventEmitter()
  const onnotice = (notice: object) => void notices.emit('notice', notice)
  const sql = postgres(process.env.DATABASE_URL ?? '', { connect_timeout: 5, onnotice })
  const reserve = async () => {
    const own = await sql.reserve()
    return { ...fromPostgresJs(own), release: () => own.release() }
  }
  return { ...fromPostgresJs(sql, notices), reserve, end: () => sql.end() }
}`

const namesOf = ({ engine }: Mapping) =>
  engine === 'postgres' ? ['createPostgresStore', 'migratePostgres'] : ['createMysqlStore', 'migrateMysql']

/** @param isCopy of the kit, beside which there are no persons */
const ruleOption = (mapping: Mapping, table: string, isCopy = false) =>
  mapping.mayBet.some(({ behind }) => !isCopy || behind === null)
    ? `, withinTransaction: ${whoMayBetCall(mapping, table, isCopy)}`
    : ''

/** What `kit.ts` needs of the table. */
function copyLines(mapping: Mapping, connect: string): string[] {
  const [createStore, migrate] = namesOf(mapping)
  const untested = untestedPart(mapping)
  return present([
    '// For kit.ts: a copy of the table in a schema of its own, which the kit makes, fills and drops.',
    untested !== null && `// Only the columns of ${untested} are not tested.`,
    `const copied: typeof players = { ...players, ${propertiesOf(copyOptions(mapping)).join(', ')} }`,
    `const options = { schema: ${tsText(copySchema)}, players: copied${ruleOption(mapping, copyName(mapping), true)} }`,
    ...excludeLines(mapping),
    'export const copy = {',
    '  create: [',
    ...createStatements(mapping).map(statement => `    ${tsSql(statement)},`),
    '  ],',
    ...Object.entries(copyStatements(mapping)).map(([name, statement]) => property(name, tsSql(statement))),
    `  migrate: () => ${migrate}(pool, options),`,
    `  createStore: (on: typeof pool) => ${createStore}(on, options),`,
    `  connect: (to: typeof pool) => to.${connect}(),`,
    `  account: (playerId: string, ${mapping.accountPerCurrency ? 'currency: string) => [playerId, currency]' : '_: string) => [playerId]'},`,
    '  hooks: {',
    ...hookLines(mapping).map(line => `    ${line}`),
    '  },',
    '}',
  ])
}

/** A line, or two where one would be longer than most formatters allow. */
function property(name: string, value: string): string {
  const line = `  ${name}: ${value},`
  return line.length > 110 ? `  ${name}:\n    ${value},` : line
}

function excludeLines(mapping: Mapping): string[] {
  const statement = excludeStatement(mapping)
  if (statement === null) return []
  return [
    'async function exclude(_: unknown, playerId: string) {',
    `  await pool.query(${tsSql(statement)}, [playerId])`,
    '}',
  ]
}

/** What the columns tell of the kit's hooks. */
function hookLines(mapping: Mapping): string[] {
  const limits = limitsOf(mapping)
  const person = mapping.mayBet.find(({ behind }) => behind !== null)?.behind?.to.name
  const untested =
    person === undefined
      ? 'no rule of your own refuses a bet'
      : `${person} is not in the copy: test it yourself`
  return present([
    mapping.accountPerCurrency
      ? 'accountPerCurrency: true as const,'
      : 'accountPerCurrency: null, // a player has one account',
    ...(excludeStatement(mapping) === null
      ? [`refuseBets: null, // ${untested}. closePlayer: your own exclusions`]
      : ['closePlayer: exclude,', 'refuseBets: exclude,']),
    limits !== null &&
      `limits: { digits: ${limits.digits}, scale: ${limits.scale} }, // of the balance, a ${mapping.balance.declared}`,
    isPlain(mapping) && "playerIds: 'plain' as const, // Ann and ann are one player in this collation",
  ])
}

/** The hook of `withinTransaction`. The kit calls it with the name of its copy. */
export function ruleLines(mapping: Mapping): string[] {
  const { engine, id, mayBet, accountPerCurrency } = mapping
  const onPostgres = engine === 'postgres'
  const isTyped = hasOtherIds(mapping)
  const place = onPostgres ? '$1' : isTyped ? `\${id}` : '?'
  const currency = sqlName(engine, currencyColumn(mapping))
  const where = present([
    `${inTemplate(sqlName(engine, id.name))} = ${place}`,
    accountPerCurrency && inTemplate(`${currency}${onPostgres ? '::text = $2' : ' = ?'}`),
    ...mayBet.map(each => each.behind === null && inTemplate(conditionsSql(engine, [each]))),
  ]).join(' AND ')
  const persons = mayBet.some(({ behind }) => behind !== null)
  const parameters = `table: string${isTyped ? ', id: string' : ''}${persons ? ", persons = ''" : ''}`
  const [changes, values] = accountPerCurrency
    ? ['{ transaction, account }', 'transaction.playerId, account.currency']
    : ['{ transaction }', 'transaction.playerId']
  return present([
    '// Refuses the bets of all other players, but no settlement, unsettlement or rollback. The store has locked the row:',
    `// an exclusion before that is read here${onPostgres ? '' : ' (READ COMMITTED)'}, and one after it waits for this commit.`,
    persons && '// The person is not locked: an exclusion there holds for bets that begin after its commit.',
    `export const whoMayBet = (${parameters}) => async (query: Query, pending: readonly PendingCommit[]) => {`,
    `  for (const { changes: ${changes}, refuse } of pending) {`,
    "    if (transaction.operation !== 'placebet' || transaction.refusal !== null) continue",
    `    const { rows } = await query(\`SELECT 1 FROM \${table}${persons ? ' player' : ''} WHERE ${where}${persons ? `\${persons}` : ''}\`, [${values}])`,
    "    if (rows.length === 0) refuse('PLAYER_EXCLUDED', 'playerId: may not bet now')",
    '  }',
    '}',
  ])
}

/** On MySQL and MariaDB, where a text is no number or UUID. */
const hasOtherIds = (mapping: Mapping) => mapping.engine === 'mysql' && idPlace(mapping, '?') !== '?'

/** @param isCopy whether the id is text in this table, and no person is beside it */
export function whoMayBetCall(mapping: Mapping, table: string, isCopy = false): string {
  const id = hasOtherIds(mapping) ? `, ${tsSql(isCopy ? '?' : idPlace(mapping, '?'))}` : ''
  const behind = isCopy ? [] : mapping.mayBet.filter(each => each.behind !== null)
  const persons = behind.length === 0 ? '' : `, ${tsSql(` AND ${conditionsSql(mapping.engine, behind)}`)}`
  return `whoMayBet(${tsSql(table)}${id}${persons})`
}

/** Options of the store, as source text. */
const propertiesOf = (options: Partial<PlayersOptions>): string[] =>
  Object.entries(options).map(([name, value]) => `${name}: ${valueText(value)}`)

function valueText(value: string | number | boolean | Readonly<Record<string, number>>): string {
  if (typeof value !== 'object') return typeof value === 'string' ? tsText(value) : String(value)
  return `{ ${Object.entries(value)
    .map(([code, digits]) => `${tsKey(code)}: ${digits}`)
    .join(', ')} }`
}
