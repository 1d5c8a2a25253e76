/** `kit.ts`: the conformance kit on a copy of the players' table, in a schema of its own. */
import { balanceTypeOf, idTypeOf, isUniqueAlone } from './candidates.js'
import { currencyColumn, type Mapping, type MinorUnits } from './mapping.js'
import { type Condition, closedValue, literalOf } from './may-bet.js'
import { programText } from './program-text.js'
import type { Column } from './schema.js'
import { sqlName, sqlText, tsSql, tsTemplate, tsText } from './source-text.js'
import { unitsText, whoMayBetCall } from './store-file.js'

const schema = 'bet_wallet_kit'

export function kitFile(mapping: Mapping, isModule: boolean): string {
  const onPostgres = mapping.engine === 'postgres'
  const engine = onPostgres ? 'Postgres' : 'Mysql'
  const limits = limitsOf(mapping)
  const hasRule = mapping.mayBet.length > 0
  const copy = `${schema}.${sqlName(mapping.engine, mapping.table.name)}`
  const options = hasRule ? 'options' : 'scratch'
  return programText(
    {
      file: 'kit.ts',
      imports: [
        { names: [`create${engine}Store`, `migrate${engine}`], from: `bet-wallet/${mapping.engine}` },
        { names: ['checkWalletStore'], from: 'bet-wallet/testing' },
        { whole: onPostgres ? 'pg' : 'mysql', from: onPostgres ? 'pg' : 'mysql2/promise' },
        { names: ['players', 'pool', ...(hasRule ? ['whoMayBet'] : [])], from: './store.js' },
      ],
      work: [
        ...minorUnitsLines(mapping),
        `const scratch = { schema: '${schema}', players: { ${scratchPlayers(mapping).join(', ')} } }`,
        ...(hasRule
          ? [`const options = { ...scratch, withinTransaction: ${whoMayBetCall(mapping, copy, true)} }`]
          : []),
        onPostgres
          ? 'const second = new pg.Pool({ connectionString: process.env.DATABASE_URL })'
          : "const second = mysql.createPool(process.env.DATABASE_URL ?? '')",
        ...closingLines(mapping),
        'const report = await checkWalletStore({',
        '  async open(list) {',
        ...bareLines(mapping),
        ...copyLines(mapping).map(line => `    ${line}`),
        '    for (const { playerId, currency, balance } of list)',
        `      await pool.query(${insertText(mapping)})`,
        `    await migrate${engine}(pool, scratch)`,
        `    return { store: create${engine}Store(pool, ${options}) }`,
        '  },',
        ...hookLines(mapping).map(line => `  ${line}`),
        ...(limits === null
          ? []
          : [`  limits: { digits: ${limits.digits}, scale: ${limits.scale} }, // of ${wordsOf(mapping)}`]),
        ...(isPlain(mapping)
          ? ["  playerIds: 'plain', // Ann and ann are one player in this collation"]
          : []),
        '}, { runs: 20 })',
        `if (report.passed) await pool.query('DROP SCHEMA ${schema}${onPostgres ? ' CASCADE' : ''}') // or its rows explain the failure`,
        'await Promise.all([pool.end(), second.end()])',
        'process.exitCode = report.passed ? 0 : 1',
      ],
    },
    isModule,
  )
}

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

const isPlain = (mapping: Mapping) => mapping.engine === 'mysql' && keepsId(mapping) && folds(mapping)

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

function scratchPlayers(mapping: Mapping): string[] {
  const { engine, table, exactCollation, minorUnits } = mapping
  const changed = !keepsId(mapping)
  return [
    '...players',
    `table: ${tsText(`${schema}.${table.name}`)}`,
    ...(changed && !isText(mapping) ? ["idType: 'text' as const"] : []),
    ...(changed && engine === 'mysql' ? [`idCollation: ${tsText(exactCollation ?? 'utf8mb4_bin')}`] : []),
    ...(typeof minorUnits === 'object' && minorUnits !== null ? ['minorUnits'] : []),
  ]
}

function minorUnitsLines({ minorUnits }: Mapping): string[] {
  if (minorUnits === null || typeof minorUnits === 'number') return []
  return [`const minorUnits: Record<string, number> = ${unitsText(unitsOfKit(minorUnits))}`]
}

/** The currencies of the kit's players. */
const unitsOfKit = (minorUnits: Readonly<Record<string, number>>) => ({
  EUR: 2,
  JPY: 0,
  SEK: 2,
  ...minorUnits,
})

function copyLines(mapping: Mapping): string[] {
  const { engine, table } = mapping
  const name = (text: string) => sqlName(engine, text)
  const copy = `${schema}.${name(table.name)}`
  const source = `${name(table.schema)}.${name(table.name)}`
  // An identity goes first: with it, the type of the id cannot be changed.
  const altered = [identityChanges(mapping), changesOf(mapping)]
    .filter(changes => changes.length > 0)
    .map(changes => `ALTER TABLE ${copy} ${changes.join(', ')}`)
  if (engine === 'postgres') {
    const kept = isBare(mapping) ? '' : ` INCLUDING ALL${dropsKeys(mapping) ? ' EXCLUDING INDEXES' : ''}`
    const like = `CREATE TABLE ${copy} (LIKE ${source}${kept})`
    const statements = [like, ...altered].map(each => `  ${each}`).join(';\n')
    const indented = statements.replaceAll('\n', '\n    ')
    return `await pool.query(${tsTemplate(`DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema};\n    ${indented}`)})`
      .split('\n')
      .map((line, index) => (index === 0 ? line : line.replace(/^ {4}/, '')))
  }
  return [
    `DROP SCHEMA IF EXISTS ${schema}`,
    `CREATE SCHEMA ${schema}`,
    isBare(mapping)
      ? `CREATE TABLE ${copy} AS SELECT * FROM ${source} WHERE FALSE`
      : `CREATE TABLE ${copy} LIKE ${source}`,
    ...altered,
  ].map(statement => `await pool.query(${tsSql(statement)})`)
}

/** What the copy needs to hold the kit's players. */
function changesOf(mapping: Mapping): string[] {
  const { engine, table, id } = mapping
  const isKeyless = isBare(mapping) || (engine === 'postgres' && dropsKeys(mapping))
  return [
    ...(engine === 'mysql' && !isKeyless && dropsKeys(mapping) ? ['DROP PRIMARY KEY'] : []),
    ...idChanges(mapping),
    ...currencyChanges(mapping),
    ...table.columns.flatMap(column => requiredChanges(mapping, column)),
    ...closingChanges(mapping),
    ...(isKeyless || !isUniqueAlone(table, id) ? [`ADD UNIQUE (${sqlName(engine, id.name)})`] : []),
  ]
}

function idChanges(mapping: Mapping): string[] {
  if (keepsId(mapping)) return []
  const { engine, id, exactCollation } = mapping
  const name = sqlName(engine, id.name)
  if (engine === 'mysql')
    return [`MODIFY ${name} varchar(${idLength}) COLLATE ${exactCollation ?? 'utf8mb4_bin'} NOT NULL`]
  return [...(isText(mapping) ? [] : [`ALTER ${name} DROP DEFAULT`]), `ALTER ${name} TYPE text`]
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
    : [`MODIFY ${name} varchar(16)`]
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
  mapping.mayBet.filter(
    each =>
      isWritten(mapping, each) &&
      ![mapping.id.name, mapping.balance.name, currencyColumn(mapping)].includes(each.column.name),
  )

const writtenColumns = (mapping: Mapping): string[] => [
  ...[mapping.id.name, currencyColumn(mapping), mapping.balance.name],
  ...ruleOf(mapping).map(({ column }) => column.name),
]

function insertText(mapping: Mapping): string {
  const { engine, table } = mapping
  const columns = writtenColumns(mapping).map(each => sqlName(engine, each))
  const allowed = ruleOf(mapping).map(
    ({ column, values }) => `, ${literalOf(engine, column, values[0] ?? null)}`,
  )
  const { amount, values } = amountOf(mapping)
  const places = engine === 'postgres' ? '$1, $2' : '?, ?'
  const text = `INSERT INTO ${schema}.${sqlName(engine, table.name)} (${columns.join(', ')}) VALUES (${places}, ${amount}${allowed.join('')})`
  return `${tsSql(text)},\n        [playerId, currency, balance${values}]`
}

/** The balance in the unit of the column. */
function amountOf({ engine, minorUnits }: Mapping): { amount: string; values: string } {
  const onPostgres = engine === 'postgres'
  const place = onPostgres ? '$3' : '?'
  if (minorUnits === null) return { amount: place, values: '' }
  if (typeof minorUnits === 'object') {
    const amount = onPostgres ? '$3::numeric * $4::integer' : 'CAST(? AS decimal(38, 18)) * ?'
    return { amount, values: ', 10 ** (minorUnits[currency] ?? 0)' }
  }
  const decimal = onPostgres ? '$3::numeric' : `CAST(? AS decimal(38, ${minorUnits}))`
  return { amount: minorUnits === 0 ? decimal : `${decimal} * 1${'0'.repeat(minorUnits)}`, values: '' }
}

/** What the kit does beside the store, as far as the columns tell; the other hooks as comments. */
function hookLines(mapping: Mapping): string[] {
  const { engine, table, id } = mapping
  const onPostgres = engine === 'postgres'
  const copy = `${schema}.${sqlName(engine, table.name)}`
  const where = `WHERE ${sqlName(engine, id.name)} =`
  const place = (index: number) => (onPostgres ? `$${index}` : '?')
  const currency = sqlName(engine, currencyColumn(mapping))
  const closes = closingCondition(mapping) !== null
  const query = (set: string) => tsSql(`UPDATE ${copy} SET ${set} ${where} ${place(2)}`)
  const select = tsSql(`SELECT ${onPostgres ? '' : '1 '}FROM ${copy} ${where} ${place(1)} FOR UPDATE`)
  return [
    `reopen: () => create${onPostgres ? 'Postgres' : 'Mysql'}Store(second, ${mapping.mayBet.length > 0 ? 'options' : 'scratch'}),`,
    'async depositExternally(_, playerId, amount) {',
    `  await pool.query(${query(depositOf(mapping))}, [amount, playerId])`,
    '},',
    'async changeCurrency(_, playerId, currency) {',
    `  await pool.query(${query(`${currency} = ${place(1)}`)}, [currency, playerId])`,
    '},',
    'async holdPlayer(_, playerId) {',
    `  const connection = await second.${onPostgres ? 'connect' : 'getConnection'}()`,
    "  await connection.query('BEGIN')",
    `  await connection.query(${select}, [playerId])`,
    "  return { release: async () => { await connection.query('ROLLBACK'); connection.release() } }",
    '},',
    'advanceClock: null, // no record expires',
    'ownRows: null, // no hook writes rows',
    ...(closes
      ? ['closePlayer: exclude,', 'refuseBets: exclude,']
      : ['refuseBets: null, // no rule of your own refuses a bet']),
    '// crash, holdCommit: answered commits survive, and none is half done. stopReplication: nor lost at a failover',
    `// settleExternally${closes ? ': your own settlements' : ', closePlayer: your own settlements and exclusions'} beside the store`,
  ]
}

/** Of a view, or because of CHECKs that the kit's players could not pass. */
function bareLines(mapping: Mapping): string[] {
  if (!isBare(mapping)) return []
  const isOf = mapping.table.isView
    ? 'your view: keys, CHECKs and triggers below it'
    : 'your table: its keys and CHECKs'
  return [`    // Only the columns of ${isOf} are not tested.`]
}

/** The condition that the kit breaks to exclude a player; `null`: none can be. */
function closingCondition(mapping: Mapping): { column: Column; value: string } | null {
  for (const condition of mapping.mayBet.filter(each => isWritten(mapping, each))) {
    const value = closedValue(mapping.engine, condition)
    if (value !== null) return { column: condition.column, value }
  }
  return null
}

/** Not computed. The copy of a view has columns that the view cannot update. */
const isWritten = ({ table }: Mapping, { column }: Condition) => column.updatable || table.isView

function closingLines(mapping: Mapping): string[] {
  const closing = closingCondition(mapping)
  if (closing === null) return []
  const { engine, table, id } = mapping
  const name = (text: string) => sqlName(engine, text)
  const set = `${name(closing.column.name)} = ${closing.value}`
  const text = `UPDATE ${schema}.${name(table.name)} SET ${set} WHERE ${name(id.name)} = ${engine === 'postgres' ? '$1' : '?'}`
  return [
    'async function exclude(_: unknown, playerId: string) {',
    `  await pool.query(${tsSql(text)}, [playerId])`,
    '}',
  ]
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
function depositOf({ engine, balance, minorUnits, ...mapping }: Mapping): string {
  const onPostgres = engine === 'postgres'
  const name = sqlName(engine, balance.name)
  const decimal = onPostgres ? 'numeric' : 'decimal(38, 18)'
  const amount = onPostgres ? '$1::numeric' : `CAST(? AS ${decimal})`
  if (minorUnits === null) {
    if (balanceTypeOf(engine, balance) !== 'text') return `${name} = ${name} + ${amount}`
    return onPostgres
      ? `${name} = (${name}::numeric + ${amount})::text`
      : `${name} = CAST(${name} AS ${decimal}) + ${amount}`
  }
  if (typeof minorUnits === 'number') return `${name} = ${name} + ${amount} * 1${'0'.repeat(minorUnits)}`
  const factors = Object.entries(unitsOfKit(minorUnits)).map(
    ([code, digits]) => `WHEN ${sqlText(engine, code)} THEN 1${'0'.repeat(digits)}`,
  )
  const currency = sqlName(engine, currencyColumn({ engine, balance, minorUnits, ...mapping }))
  return `${name} = ${name} + ${amount} * CASE ${currency} ${factors.join(' ')} END`
}

const digitsOfInteger: Readonly<Record<string, number>> = { int: 9, integer: 9, bigint: 18 }
/** The largest amount that the core sends. */
const wholeMax = 15
const scaleMax = 18

/** `null`: the column holds every amount. */
export function limitsOf({ engine, balance, minorUnits }: Mapping): { digits: number; scale: number } | null {
  if (minorUnits !== null) return { digits: digitsOfInteger[balance.type] ?? 18, scale: scaleOf(minorUnits) }
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

function wordsOf({ balance, minorUnits }: Mapping): string {
  if (minorUnits === null) return `a ${balance.declared}`
  const unit = minorUnits === 2 ? 'cents' : 'minor units'
  return `a ${balance.type} of ${unit}`
}
