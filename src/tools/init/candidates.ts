/** Which columns can be a playerId, a balance or a currency, and why not. */
import { type Column, type DatabaseSchema, type Engine, refersTo, type Table } from './schema.js'
import { sqlName } from './source-text.js'

export type Candidates = ReturnType<typeof judged>

/** `playerBalance_cents` is player, balance, cents. */
export const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(word => word !== '')

const has = (name: string, words: ReadonlySet<string>) => wordsOf(name).some(word => words.has(word))

/**
 * `reason`: why it can be the one; not `likely`: it is offered, but never taken without asking, and beside a
 * likely one it is no reason to ask. `problem`: why it cannot be the one, although its name says so.
 */
type Judgement = { reason: string; likely: boolean } | { problem: string } | null

function judged(table: Table, judge: (column: Column) => Judgement) {
  const candidates: { column: Column; reason: string; likely: boolean }[] = []
  const rejected: { column: Column; reason: string }[] = []
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

const persons = new Set('player user customer member punter bettor client'.split(' '))
const idWords = new Set([...identifying, ...personal, ...names])
const owners = new Set([...persons, 'account', 'owner'])

const singular = (word: string) => word.replace(/ies$/, 'y').replace(/s$/, '')

/** Whether a row of the table is a person, by its name. */
export const isOfPersons = (name: string) =>
  wordsOf(name).some(word => persons.has(singular(word))) && !isOtherName(name)

/** `wallet_id` of `wallets` */
export const isRowOf = ({ name }: Column, table: Table) =>
  wordsOf(name).join() === [...wordsOf(table.name).map(word => word.replace(/s$/, '')), 'id'].join()

/** Of a player by name or foreign key, and not of the row: `player_id` in `wallets`, and not `wallet_id`. */
function isOfPlayer(table: Table, { name }: Column, of: ReadonlySet<string> = playerWords): boolean {
  const row = new Set(wordsOf(table.name).map(singular))
  const words = wordsOf(name)
  const isNamed =
    words.some(word => of.has(word) && !row.has(word)) &&
    words.some(word => identifying.has(word) || names.has(word))
  return isNamed || table.foreignKeys.some(({ column, to }) => column === name && isOfPersons(to.table))
}

/** The players' own columns beside a key that numbers the rows: `user_id` beside `id` of `wallets`. */
export const ownersBeside = (engine: Engine, table: Table, id: Column): Column[] =>
  isOfPlayer(table, id, owners)
    ? []
    : table.columns.filter(each => isOfPlayer(table, each, owners) && idTypeOf(engine, each) !== null)

export const isUniqueAlone = ({ uniqueKeys }: Table, { name }: Column): boolean =>
  uniqueKeys.some(([first, ...more]) => first === name && more.length === 0)

/** Whether the column is unique together with the currency: a row per player and currency. */
export const isUniqueWith = ({ uniqueKeys }: Table, id: Column, currency: Column | null): boolean =>
  currency !== null &&
  uniqueKeys.some(key => key.length === 2 && key.includes(id.name) && key.includes(currency.name))

/** The players' own columns first. */
export function idCandidates(engine: Engine, table: Table): Candidates {
  const currencies = currencyCandidates(engine, table).candidates.map(({ column }) => column)
  const { candidates, rejected } = judged(table, column => judgeId(engine, table, column, currencies))
  const rank = (column: Column) => (ownersBeside(engine, table, column).length === 0 ? 0 : 1)
  return { candidates: candidates.toSorted((one, other) => rank(one.column) - rank(other.column)), rejected }
}

function judgeId(engine: Engine, table: Table, column: Column, currencies: readonly Column[]): Judgement {
  const alone = isUniqueAlone(table, column)
  const isNamed = has(column.name, identifying) && !isForeign(table, column)
  const isOwner = isOfPlayer(table, column)
  const currency = currencies.find(each => isUniqueWith(table, column, each))
  if (!alone && currency === undefined && !isNamed && !isOwner && !has(column.name, names)) return null
  if (currencies.includes(column) || has(column.name, new Set(['balance', 'status']))) return null
  if (idTypeOf(engine, column) === null)
    return { problem: `${column.declared}: a playerId must be text, an integer or a UUID` }
  if (has(column.name, personal)) return alone ? { problem: 'personal data is no id: it changes' } : null
  if (column.nullable && !table.isView) return alone ? { problem: 'it may be NULL' } : null
  const beside = ownersBeside(engine, table, column)
  const isLikely = !has(column.name, names) || isOwner
  if (alone && beside.length > 0)
    return {
      reason: `${column.declared}, unique: it numbers the rows of ${table.name}, and ${ofPlayer(beside)}`,
      likely: isLikely && isOfPersons(table.name),
    }
  if (alone) return { reason: `${column.declared}, unique`, likely: isLikely }
  if (currency !== undefined)
    return { reason: `${column.declared}, unique together with ${currency.name}`, likely: true }
  if (table.isView) return { reason: column.declared, likely: isLikely }
  return isOwner ? { problem: notUnique(engine, table, column, currencies) } : null
}

/** `user_id is the player's` */
export const ofPlayer = (columns: readonly Column[]) =>
  `${columns.map(({ name }) => name).join(', ')} ${columns.length === 1 ? 'is' : 'are'} the player's`

/** Of an id that the store would refuse, with what helps. */
export function notUnique(
  engine: Engine,
  table: Table,
  { name }: Column,
  currencies: readonly Column[],
): string {
  const key = table.uniqueKeys.find(each => each.includes(name))
  const with_ = key === undefined ? '' : ` but together with ${key.filter(each => each !== name).join(', ')}`
  const quoted = (one: string) => (/^[a-z_][a-z0-9_]*$/.test(one) ? one : sqlName(engine, one))
  const columns = [name, ...currencies.slice(0, 1).map(currency => currency.name)].map(quoted).join(', ')
  const of = [table.schema, table.name].map(quoted).join('.')
  return `it is not unique${with_}: a player may have several rows. Name a view of one row each; or, if there is one, CREATE UNIQUE INDEX ${quoted(`${table.name}_player`)} ON ${of} (${columns})`
}

/** Of many players. */
const groups = new Set('currency brand tenant site skin country region company role level'.split(' '))

/** Whether a row of the table may be of one player alone. */
export const mayBeOfOne = (name: string) =>
  isOfPersons(name) || !(isOtherName(name) || wordsOf(name).some(word => groups.has(singular(word))))

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
const derived = new Set(['snapshot', 'cached', 'cache'])
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

/** Minor units are kept in decimals too: without a fraction, they are asked for as of an integer. */
export function balanceTypeOf(engine: Engine, { type, scale }: Column): BalanceType | null {
  if (['numeric', 'decimal'].includes(type)) return scale === 0 ? 'minor-units' : 'numeric'
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
  if (!['numeric', 'decimal'].includes(type) || precision === null || scale === null) return null
  if (scale < 0 || scale === 1)
    return `${declared} would round cents: widen it, or use an integer of minor units`
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
    const isDerived = has(column.name, derived)
    const but = isDerived ? derivedText : '; its name says that it is not the balance for bets'
    return { reason: `${column.declared}${isOther || isDerived ? but : ''}`, likely: !isOther && !isDerived }
  })
}

const derivedText =
  '; its name says that it is computed from entries: bets change it, and the next computation would undo them'

const lockedWords = new Set('locked reserved blocked pending held hold frozen escrow'.split(' '))

/** Amounts beside the balance, of its type, that a bet must perhaps not use. */
export const lockedColumns = (table: Table, balance: Column): Column[] =>
  table.columns.filter(each => each !== balance && each.type === balance.type && isLocked(each.name))

/** Not `is_locked`. */
const isLocked = (name: string) => has(name, lockedWords) && !['is', 'has'].includes(wordsOf(name)[0] ?? '')

/** `frozen integer`: 1, or an amount. */
export const mayBeFlag = ({ name, type }: Column) => integerTypes.includes(type) && wordsOf(name).length === 1

/** The column of the host's optimistic lock: `version`, or `lock_version` of Rails. */
export const versionColumn = ({ columns }: Table): Column | null =>
  columns.find(
    ({ name, type, updatable }) =>
      /^(?:lock_?|row_?)?version$/i.test(name) && integerTypes.includes(type) && updatable,
  ) ?? null

// The currency

const currencyWords = new Set('currency currencies ccy currencycode'.split(' '))
/** Currencies if nothing else is in the name: `asset_code`, and not `access_token`. */
const assetWords = new Set('asset coin token symbol ticker denomination code'.split(' '))
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
    const { name, declared } = column
    const problem = currencyProblem(engine, column)
    if (has(name, currencyWords)) {
      if (problem !== null) return { problem }
      const isOther = has(name, otherCurrencies)
      return {
        reason: `${declared}${isOther ? '; its name says that it is not the currency of the balance' : ''}`,
        likely: !isOther,
      }
    }
    const words = wordsOf(name)
    if (problem !== null || words.join() === 'code') return null
    const key = table.uniqueKeys.find(each => each.length === 2 && each[1] === name)
    const isAsset = words.every(word => assetWords.has(word))
    if (!isAsset && (key === undefined || words.some(word => idWords.has(word)))) return null
    const beside = key === undefined ? '' : `, unique together with ${key[0]}`
    return { reason: `${declared}${beside}: is it a code such as EUR?`, likely: isAsset && key !== undefined }
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
  return table.foreignKeys.flatMap(reference => {
    const column = table.columns.find(each => each.name === reference.column)
    const to = tables.find(each => refersTo(reference, each))
    const key = to?.columns.find(each => each.name === reference.to.column)
    if (column === undefined || to === undefined || key === undefined) return []
    if (!isWanted(column, to.name) || has(column.name, otherCurrencies)) return []
    const texts = to.columns.filter(each => currencyProblem(engine, each) === null && each.name !== key.name)
    const named = texts.filter(each => has(each.name, codeWords) && !has(each.name, numberWords))
    const codes = named.length > 0 ? named : texts.filter(({ length }) => length === 3)
    return codes.map(code => ({ column, to, key, code }))
  })
}

// The table

const entries =
  'history log ledger transaction transfer entry movement event journal statement posting'.split(' ')
const otherTables = new Set([
  ...entries,
  ...'audit snapshot archive backup old tmp temp bet payment deposit withdrawal bonus affiliate agent operator merchant report daily staging round session jackpot bank house outbox'.split(
    ' ',
  ),
])

export const isPlayersName = (name: string) => wordsOf(name).some(word => playerWords.has(singular(word)))

/** A table of something else that has a balance: a booking, an agent. */
export const isOtherName = (name: string) => wordsOf(name).some(word => otherTables.has(singular(word)))

export const isEntriesName = (name: string) =>
  wordsOf(name).some(word => [...entries, 'operation', 'credit', 'debit'].includes(singular(word)))
