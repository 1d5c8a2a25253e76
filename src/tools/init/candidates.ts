/** Which columns can be a playerId, a balance or a currency, and why not. */
import type { Column, DatabaseSchema, Engine, Table } from './schema.js'

export interface Candidate {
  column: Column
  /** Why it can be the one. */
  reason: string
  /** `false`: it is offered, but never taken without asking; beside a likely one it is no reason to ask. */
  likely: boolean
}

export interface Rejected {
  column: Column
  /** Why it cannot be the one, although its name says so. */
  reason: string
}

export interface Candidates {
  candidates: readonly Candidate[]
  rejected: readonly Rejected[]
}

/** `playerBalance_cents` is player, balance, cents. */
export const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '')

const has = (name: string, words: ReadonlySet<string>) => wordsOf(name).some(word => words.has(word))

type Judgement = { reason: string; likely: boolean } | { problem: string } | null

function judged(table: Table, judge: (column: Column) => Judgement): Candidates {
  const candidates: Candidate[] = []
  const rejected: Rejected[] = []
  for (const column of table.columns) {
    const judgement = judge(column)
    if (judgement === null) continue
    if ('problem' in judgement) rejected.push({ column, reason: judgement.problem })
    else candidates.push({ column, ...judgement })
  }
  return { candidates, rejected }
}

// The playerId

export type IdType = 'text' | 'bigint' | 'uuid'

const textTypes: Record<Engine, readonly string[]> = {
  postgres: ['text', 'character varying'],
  mysql: ['varchar', 'char', 'varbinary'],
}
export const integerTypes = ['tinyint', 'smallint', 'mediumint', 'int', 'integer', 'bigint']

/** `null`: the store cannot look a player up by such a column. */
export function idTypeOf(engine: Engine, { type, declared }: Column): IdType | null {
  if (textTypes[engine].includes(type)) return 'text'
  if (integerTypes.includes(type)) return 'bigint'
  return type === 'uuid' || (engine === 'mysql' && declared === 'binary(16)') ? 'uuid' : null
}

const identifying = new Set(
  'id uuid guid no number num nr code ref reference key external public owner'.split(' '),
)
const playerWords = new Set(
  'player account wallet user customer member punter bettor client balance purse pam owner'.split(' '),
)
const personal = new Set('email mail phone mobile msisdn document passport ssn iban'.split(' '))
const names = new Set('name username login nickname nick alias screenname handle'.split(' '))

const singular = (word: string) => word.replace(/ies$/, 'y').replace(/s$/, '')

/** Of a player by its name, and not of the row: `player_id` in `wallets`, and not `wallet_id`. */
function isOfPlayer(table: Table, { name }: Column): boolean {
  const row = new Set(wordsOf(table.name).map(singular))
  const words = wordsOf(name)
  return (
    words.some(word => playerWords.has(word) && !row.has(word)) &&
    words.some(word => identifying.has(word) || names.has(word))
  )
}

export const isUniqueAlone = ({ uniqueKeys }: Table, { name }: Column): boolean =>
  uniqueKeys.some(([first, ...more]) => first === name && more.length === 0)

/** Whether the column is unique together with the currency: a row per player and currency. */
export const isUniqueWith = ({ uniqueKeys }: Table, id: Column, currency: Column | null): boolean =>
  currency !== null &&
  uniqueKeys.some(key => key.length === 2 && key.includes(id.name) && key.includes(currency.name))

export function idCandidates(engine: Engine, table: Table): Candidates {
  const currency = currencyCandidates(engine, table).candidates[0]?.column ?? null
  const found = judged(table, column => judgeId(engine, table, column, currency))
  const unique = found.candidates.filter(({ column }) => isUniqueAlone(table, column))
  if (table.isView || !unique.some(({ likely }) => likely)) return found
  // On PostgreSQL a unique index without a constraint, such as Prisma creates, is not in information_schema.
  const mayBeUnique = ({ column }: Candidate) =>
    has(column.name, external) || isOfPlayer(table, column) || isUniqueWith(table, column, currency)
  return { ...found, candidates: found.candidates.filter(each => unique.includes(each) || mayBeUnique(each)) }
}

const external = new Set(['external', 'public', 'uuid', 'guid'])

/** Whether a column that is no key looks like the player's id, so that a key may be that of a row only. */
export const hasSeveralRows = (table: Table, { rejected }: Candidates): boolean =>
  rejected.some(({ column }) => isOfPlayer(table, column))

function judgeId(engine: Engine, table: Table, column: Column, currency: Column | null): Judgement {
  const alone = isUniqueAlone(table, column)
  const perCurrency = isUniqueWith(table, column, currency)
  const isNamed = has(column.name, identifying) && !isForeign(table, column)
  if (!alone && !perCurrency && !isNamed && !has(column.name, names)) return null
  if (has(column.name, new Set(['currency', 'balance', 'status']))) return null
  if (idTypeOf(engine, column) === null)
    return { problem: `${column.declared}: a playerId must be text, an integer or a UUID` }
  if (has(column.name, personal)) return alone ? { problem: 'personal data is no id: it changes' } : null
  if (column.nullable && !table.isView) return alone ? { problem: 'it may be NULL' } : null
  const likely = !has(column.name, names) || isOfPlayer(table, column)
  if (alone) return { reason: `${column.declared}, unique`, likely }
  if (perCurrency)
    return { reason: `${column.declared}, unique together with ${currency?.name}`, likely: true }
  // MySQL shows every index of a table.
  if (!table.isView && engine === 'mysql')
    return isOfPlayer(table, column)
      ? {
          problem: `it is not unique: a player may have several rows. If it has one, create the key: ALTER TABLE ${table.schema}.${table.name} ADD UNIQUE (${column.name})`,
        }
      : null
  return {
    reason: `${column.declared}; no unique constraint on it alone is visible: choose it if it has a unique index of its own, or create one`,
    likely,
  }
}

/** The id of something that a player has or belongs to. */
function isForeign(table: Table, { name }: Column): boolean {
  const words = wordsOf(name)
  const own = new Set([...playerWords, ...identifying, ...wordsOf(table.name).map(singular), ...names, 'ext'])
  return !words.every(word => own.has(word))
}

// The balance

const balanceWords = new Set('balance saldo funds'.split(' '))
const moneyWords = new Set('amount cash wallet credit credits money cents cent minor'.split(' '))
const otherMoney = new Set(
  'bonus locked reserved blocked pending held hold frozen escrow limit min max minimum maximum overdraft after before previous prev old new opening closing initial last total lifetime loyalty points wagered wagering tax casino demo virtual'.split(
    ' ',
  ),
)
const minorWords = new Set('cents cent minor pence subunits'.split(' '))

/** Whether the name says that an integer is in minor units. */
export const saysMinorUnits = (name: string) => has(name, minorWords)

const roundingTypes = ['real', 'double precision', 'double', 'float', 'money']
const smallTypes = ['tinyint', 'smallint', 'mediumint']
/** Whole digits without which a balance cannot be of use. */
const wholeDigitsMin = 5
/** The store's own limit on MySQL. */
const mysqlScaleMax = 20

export type BalanceType = 'numeric' | 'text' | 'minor-units'

export function balanceTypeOf(engine: Engine, { type }: Column): BalanceType | null {
  if (['numeric', 'decimal'].includes(type)) return 'numeric'
  if (integerTypes.includes(type)) return 'minor-units'
  const texts = engine === 'mysql' ? ['varchar', 'char', 'tinytext', 'text'] : textTypes.postgres
  return texts.includes(type) ? 'text' : null
}

/** Why this column cannot hold a balance; `null`: it can. */
export function balanceProblem(engine: Engine, column: Column): string | null {
  const { name, type, declared, precision, scale } = column
  if (roundingTypes.includes(type)) return `${declared} rounds: use decimal(18,2)`
  const balanceType = balanceTypeOf(engine, column)
  if (balanceType === null) return `${declared} is no amount`
  // Read as whole units, 5.00 would debit 5 cents.
  if (balanceType !== 'minor-units' && saysMinorUnits(name))
    return `${declared} is read as whole units, but the name says minor units: make it a bigint; if it holds whole units, offer it under another name in a view`
  if (!column.updatable) return 'it is computed, or cannot be updated'
  if (declared.includes('zerofill')) return 'ZEROFILL adds zeros to its text'
  if (smallTypes.includes(type)) return `${declared} is too small for money`
  if (balanceType !== 'numeric' || precision === null || scale === null) return null
  if (scale < 2) return `${declared} would round cents: widen it, or use an integer of minor units`
  if (precision - scale < wholeDigitsMin) return `${declared} is too small for money`
  return engine === 'mysql' && scale > mysqlScaleMax
    ? `${declared} has more than ${mysqlScaleMax} decimals`
    : null
}

export function balanceCandidates(engine: Engine, table: Table): Candidates {
  const isPlayers = isPlayersName(table.name)
  return judged(table, column => {
    const isBalance = has(column.name, balanceWords)
    if (!isBalance && !(isPlayers && has(column.name, moneyWords))) return null
    if (column.name.toLowerCase().endsWith('_id') || ['boolean', 'bool'].includes(column.type)) return null
    const isOther = has(column.name, otherMoney)
    if ((isOther || !isBalance) && balanceTypeOf(engine, column) === 'text') return null
    const problem = balanceProblem(engine, column)
    if (problem !== null) return isOther ? null : { problem }
    return {
      reason: `${column.declared}${isOther ? '; its name says that it is not the balance for bets' : ''}`,
      likely: !isOther,
    }
  })
}

const lockedWords = new Set('locked reserved blocked pending held hold frozen escrow'.split(' '))

/** Amounts beside the balance, of its type, that a bet must perhaps not use. */
export const lockedColumns = (table: Table, balance: Column): Column[] =>
  table.columns.filter(each => each !== balance && each.type === balance.type && has(each.name, lockedWords))

/** The column of the host's optimistic lock: Sequelize, MikroORM and Hibernate say version, Rails lock_version. */
export const versionColumn = ({ columns }: Table): Column | null =>
  columns.find(
    ({ name, type, updatable }) =>
      /^(?:lock_?|row_?)?version$/i.test(name) && integerTypes.includes(type) && updatable,
  ) ?? null

// The currency

const currencyWords = new Set('currency currencies ccy currencycode'.split(' '))
const otherCurrencies = new Set(['preferred', 'display', 'base'])

export function currencyProblem(engine: Engine, { type, declared }: Column): string | null {
  const texts =
    engine === 'mysql'
      ? ['varchar', 'char', 'tinytext', 'text', 'enum']
      : [...textTypes.postgres, 'character', 'user-defined']
  return texts.includes(type) ? null : `${declared} is no code such as EUR`
}

export function currencyCandidates(engine: Engine, table: Table): Candidates {
  return judged(table, column => {
    if (!has(column.name, currencyWords)) return null
    const problem = currencyProblem(engine, column)
    if (problem !== null) return { problem }
    const isOther = has(column.name, otherCurrencies)
    return {
      reason: `${column.declared}${isOther ? '; its name says that it is not the currency of the balance' : ''}`,
      likely: !isOther,
    }
  })
}

/** A code in another table, to which a column of the players' table refers. */
export interface CodeBehind {
  column: Column
  to: Table
  key: Column
  code: Column
}

const codeWords = new Set('code iso ccy currency alpha'.split(' '))
const numberWords = new Set('numeric number num name symbol sign country'.split(' '))

/** The codes behind foreign keys of a currency: `iso_code` of `currencies`, behind `currency_id`. */
export const codesBehind = (schema: DatabaseSchema, table: Table): CodeBehind[] =>
  codesOf(
    schema,
    table,
    (column, target) => isOfCurrency(column, target) && currencyProblem(schema.engine, column) !== null,
  )

/** Those that are perhaps not the player's own: `currency` of `brands`, behind `brand_id`. */
export const codesElsewhere = (schema: DatabaseSchema, table: Table): CodeBehind[] =>
  codesOf(schema, table, (column, target) => !isOfCurrency(column, target)).filter(({ code }) =>
    has(code.name, currencyWords),
  )

const isOfCurrency = ({ name }: Column, target: string) =>
  has(name, currencyWords) || has(target, currencyWords)

function codesOf(
  { engine, tables }: DatabaseSchema,
  table: Table,
  isWanted: (column: Column, target: string) => boolean,
): CodeBehind[] {
  return table.foreignKeys.flatMap(({ column: name, to: target }) => {
    const column = table.columns.find(each => each.name === name)
    const to = tables.find(each => each.schema === target.schema && each.name === target.table)
    const key = to?.columns.find(each => each.name === target.column)
    if (column === undefined || to === undefined || key === undefined) return []
    if (!isWanted(column, target.table) || has(name, otherCurrencies)) return []
    const texts = to.columns.filter(each => currencyProblem(engine, each) === null && each.name !== key.name)
    const named = texts.filter(each => has(each.name, codeWords) && !has(each.name, numberWords))
    const codes = named.length > 0 ? named : texts.filter(({ length }) => length === 3)
    return codes.map(code => ({ column, to, key, code }))
  })
}

// The table

const otherTables = new Set(
  'history log ledger transaction audit snapshot archive backup old tmp temp bet payment deposit withdrawal bonus affiliate agent operator merchant report daily statement entry movement event staging journal round session jackpot bank house outbox'.split(
    ' ',
  ),
)

export const isPlayersName = (name: string) => wordsOf(name).some(word => playerWords.has(singular(word)))

/** A table of something else that has a balance: a booking, an agent. */
export const isOtherName = (name: string) => wordsOf(name).some(word => otherTables.has(singular(word)))
