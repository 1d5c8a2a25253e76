/** Proposes the mapping of the players' table, with the reason for each part, or asks. Pure. */
import { shellWord } from '../wire/curl.js'
import {
  balanceCandidates,
  balanceProblem,
  balanceTypeOf,
  type Candidates,
  type CodeBehind,
  codesBehind,
  codesElsewhere,
  currencyCandidates,
  currencyProblem,
  idCandidates,
  idTypeOf,
  isOfPersons,
  isOtherName,
  isPlayersName,
  isUniqueAlone,
  isUniqueWith,
  lockedColumns,
  mayBeFlag,
  notUnique,
  ofPlayer,
  ownersBeside,
  saysMinorUnits,
  versionColumn,
} from './candidates.js'
import { ledgersOf } from './ledger.js'
import {
  accountsQuery,
  fractionTextOf,
  type Mapping,
  type MinorUnits,
  minorUnitsIn,
  needsView,
  tablesBelow,
  viewName,
} from './mapping.js'
import {
  type Condition,
  conditionsIn,
  describedStatus,
  linksOf,
  statedText,
  statusColumns,
} from './may-bet.js'
import type { Column, DatabaseSchema, Engine, Table } from './schema.js'
import { present, sqlName, sqlTable, tsText } from './source-text.js'

/** What the operator has decided: options of the command, and answers to questions. */
export interface Answers {
  /** The players' table with its schema. */
  players?: string
  /** Columns. */
  id?: string
  balance?: string
  /** A column, or the code of the one currency of all players. */
  currency?: string
  /** `2`, `0`, or by currency: `EUR=2,JPY=0`; `none`: the balance is in whole units. */
  'minor-units'?: string
  /** `state=active,trial; closed_at=null`; `anyone`: no column says so. */
  'may-bet'?: string
}

export interface Question {
  option: keyof Answers
  text: string
  /** What can be answered, with its reason. */
  choices: readonly { value: string; reason: string }[]
}

/** Why a part of the mapping is as it is. */
type Reason = ReturnType<typeof reasonsOf>[number]

export type Proposal =
  | {
      status: 'ready'
      mapping: Mapping
      reasons: readonly Reason[]
      /** What the operator must know. */
      notes: readonly string[]
    }
  /** With the parts that are known already. */
  | {
      status: 'unclear'
      reasons: readonly Reason[]
      questions: readonly Question[]
      /** Where the unit is asked: the accounts, as a SELECT in brackets; `null`: they are asked too. */
      accounts: string | null
    }
  /** An answer, or the whole schema, is not supported. */
  | { status: 'impossible'; problem: string }

class Impossible extends Error {}

/** A part of the mapping that is decided, or a question. */
type Decision<T> = { value: T; reason: string } | { question: Question }

export function propose(schema: DatabaseSchema, answers: Answers): Proposal {
  try {
    const table = chosenTable(schema, answers)
    if ('question' in table)
      return { status: 'unclear', reasons: [], questions: [table.question], accounts: null }
    return proposeColumns(schema, table, answers)
  } catch (error) {
    if (error instanceof Impossible) return { status: 'impossible', problem: error.message }
    throw error
  }
}

function proposeColumns(
  schema: DatabaseSchema,
  { value: table, reason }: { value: Table; reason: string },
  answers: Answers,
): Proposal {
  const { engine } = schema
  const id = chosenId(engine, table, answers)
  const balance = chosenBalance(engine, table, answers)
  if ('value' in id && 'value' in balance && id.value === balance.value)
    throw new Impossible(`--balance: ${balance.value.name} is the id already`)
  const currency = chosenCurrency(schema, table, answers, 'value' in id ? id.value : null)
  if ('value' in id && 'value' in currency) checkUnique(engine, table, id.value, currency.value)
  const units = 'value' in balance ? chosenUnits(engine, balance.value, answers) : null
  const mayBet = chosenConditions(schema, table, answers, 'value' in balance ? balance.value : null)
  const parts = { id, currency, balance, units, mayBet }
  const reasons = reasonsOf(table, reason, parts)
  const questions = Object.values(parts).flatMap(part =>
    part !== null && 'question' in part ? [part.question] : [],
  )
  if (questions.length > 0) {
    const isOfUnit = 'value' in balance && balanceTypeOf(engine, balance.value) === 'minor-units'
    const accounts =
      isOfUnit && 'value' in currency && units !== null && 'question' in units
        ? accountsQuery({ engine, table, balance: balance.value, ...currency.value })
        : null
    return { status: 'unclear', reasons, questions, accounts }
  }
  const decided = parts as Decided
  const mapping: Mapping = {
    engine,
    table,
    exactCollation: schema.exactCollation,
    hasOldView: schema.tables.some(each => each.schema === table.schema && each.name === viewName),
    below: tablesBelow(table, schema.tables),
    id: decided.id.value,
    balance: decided.balance.value,
    minorUnits: decided.units.value,
    mayBet: decided.mayBet.value,
    ledgers: ledgersOf(table, decided.id.value, schema.tables),
    codes: decided.currency.value.currency?.labels?.filter(label => codePattern.test(label)) ?? [],
    ...decided.currency.value,
  }
  return { status: 'ready', mapping, notes: notesOf(mapping, codesElsewhere(schema, table)), reasons }
}

interface Parts {
  id: Decision<Column>
  currency: Decision<Currency>
  balance: Decision<Column>
  /** `null`: the balance is not known yet. */
  units: Decision<MinorUnits | null> | null
  mayBet: Decision<readonly Condition[]>
}

type Decided = { [part in keyof Parts]: Extract<Parts[part], { value: unknown }> }

/** Of the parts that are decided. */
function reasonsOf(table: Table, reason: string, { id, currency, balance, units, mayBet }: Parts) {
  const of = <T>(part: string, decision: Decision<T> | null, shown: (value: T) => string) =>
    decision !== null && 'value' in decision
      ? [{ part, value: shown(decision.value), reason: decision.reason }]
      : []
  const collation =
    'value' in id && id.value.collation !== null
      ? { value: id.value.collation, reason: `of ${id.value.name}: ids are also compared exactly` }
      : null
  return [
    { part: 'players', value: fullName(table), reason },
    ...of('id', id, ({ name }) => name),
    ...of('collation', collation, name => name),
    ...of(
      'currency',
      currency,
      ({ onlyCurrency, currency: column, codeBehind }) =>
        onlyCurrency ?? column?.name ?? (codeBehind === null ? '' : nameOfCode(codeBehind)),
    ),
    ...of('balance', balance, ({ name }) => name),
    ...of('unit', units, value => (value === null ? 'whole units' : `minor units, ${fractionTextOf(value)}`)),
    ...of('may bet', mayBet, conditions => statedText(conditions) || 'anyone'),
  ]
}

export const fullName = ({ schema, name }: Table) => `${schema}.${name}`

// The table

function chosenTable({ engine, tables }: DatabaseSchema, { players }: Answers): Decision<Table> {
  if (players !== undefined) {
    const table = tables.find(each => fullName(each) === players)
    if (table === undefined)
      throw new Impossible(
        `--players: there is no table ${players}, or this user may not see it. The tables are ${listed(tables.map(fullName))}`,
      )
    if (!hasTransactions(table))
      throw new Impossible(
        `${players} is a table of ${table.storage}, without database transactions: InnoDB only`,
      )
    return { value: table, reason: 'as stated' }
  }
  const found = tables.filter(table => isCandidate(engine, table))
  // A view is proposed where no table is.
  const ofTables = found.filter(({ isView }) => !isView)
  const all = ofTables.length > 0 ? ofTables : found
  const named = all.filter(({ name }) => isPlayersName(name))
  const best = named.length > 0 ? named : all
  const [table] = best
  if (table === undefined)
    throw new Impossible(
      `No table has columns that are named like a player's id and a balance${nearMisses(engine, tables)}. Name it: --players, --id, --balance`,
    )
  const others = all.filter(each => each !== table).map(fullName)
  if (best.length === 1) {
    const beside = others.length === 0 ? '' : `; judged by their names, not of players: ${listed(others)}`
    return { value: table, reason: `it has an id and a balance${beside}` }
  }
  const choices = best.map(each => ({
    value: fullName(each),
    reason: `balances: ${listed(balanceCandidates(engine, each).candidates.map(({ column }) => column.name))}`,
  }))
  return { question: { option: 'players', text: 'Which table holds the balance that bets use?', choices } }
}

const isCandidate = (engine: Engine, table: Table) =>
  ![table.schema, table.name].some(part => part.includes('.')) &&
  hasTransactions(table) &&
  !isOtherName(table.name) &&
  balanceCandidates(engine, table).candidates.some(({ likely }) => likely) &&
  idCandidates(engine, table).candidates.length > 0

const hasTransactions = ({ storage }: Table) => storage === null || storage === 'InnoDB'

function nearMisses(engine: Engine, tables: readonly Table[]): string {
  const misses = tables.flatMap(table => {
    const { candidates, rejected } = balanceCandidates(engine, table)
    const all = [...rejected, ...candidates.filter(each => !each.likely && isPlayersName(table.name))]
    return all.map(({ column, reason }) => `${fullName(table)}.${column.name} (${reason})`)
  })
  return misses.length === 0 ? '' : `. Not usable: ${listed(misses)}`
}

// The columns

function named(table: Table, option: keyof Answers, name: string): Column {
  const column = table.columns.find(each => each.name === name)
  if (column !== undefined) return column
  throw new Impossible(
    `--${option}: ${fullName(table)} has no column ${name}. Its columns are ${listed(table.columns.map(each => each.name))}`,
  )
}

function chosenId(engine: Engine, table: Table, { id }: Answers): Decision<Column> {
  const found = idCandidates(engine, table)
  if (id === undefined) {
    const why = found.rejected.map(({ column, reason }) => ` Not ${column.name}: ${reason}.`).join('')
    const text = `Which column is the playerId that the platform sends?${why}`
    return chosenColumn('id', text, found)
  }
  const column = named(table, 'id', id)
  if (idTypeOf(engine, column) === null)
    throw new Impossible(`--id: ${id} is ${column.declared}; a playerId must be text, an integer or a UUID`)
  return { value: column, reason: reasonIn(found, column) }
}

function chosenBalance(engine: Engine, table: Table, { balance }: Answers): Decision<Column> {
  const found = balanceCandidates(engine, table)
  if (balance === undefined)
    return chosenColumn('balance', 'Which column is the balance that a bet may use?', found)
  const column = named(table, 'balance', balance)
  const problem = balanceProblem(engine, column)
  if (problem !== null) throw new Impossible(`--balance: ${balance}: ${problem}`)
  return { value: column, reason: reasonIn(found, column) }
}

/** Before anything is created: the store would refuse it. */
function checkUnique(
  engine: Engine,
  table: Table,
  id: Column,
  { currency, onlyCurrency, accountPerCurrency }: Currency,
): void {
  const isOfRows = accountPerCurrency || (onlyCurrency !== null && isUniqueWith(table, id, currency))
  if (!table.isView && !isUniqueAlone(table, id) && !isOfRows)
    throw new Impossible(
      `--id: ${id.name}: ${notUnique(engine, table, id, currency === null ? [] : [currency])}`,
    )
}

const reasonIn = ({ candidates }: Candidates, column: Column) =>
  `as stated; ${candidates.find(each => each.column === column)?.reason ?? column.declared}`

/** The only likely candidate, or a question. */
function chosenColumn(option: 'id' | 'balance', text: string, found: Candidates): Decision<Column> {
  const { candidates, rejected } = found
  const [one, ...more] = candidates.filter(each => each.likely)
  const withReason = ({ column, reason }: Candidates['rejected'][number]) => `${column.name} (${reason})`
  const why = rejected.map(withReason)
  if (candidates.length === 0)
    throw new Impossible(
      `No column can be the ${option === 'id' ? 'playerId' : 'balance'}${why.length === 0 ? '' : `: ${listed(why)}`}. Name it: --${option}`,
    )
  if (one === undefined || more.length > 0) {
    const choices = candidates.map(({ column, reason }) => ({ value: column.name, reason }))
    return { question: { option, text, choices } }
  }
  const beside = [...candidates.filter(each => each !== one).map(withReason), ...why]
  return { value: one.column, reason: `${one.reason}${beside.length === 0 ? '' : `; not ${listed(beside)}`}` }
}

// The currency

type Currency = Pick<Mapping, 'currency' | 'onlyCurrency' | 'codeBehind' | 'accountPerCurrency'>

/** A currency of one account per player. */
const single = { codeBehind: null, onlyCurrency: null, accountPerCurrency: false }

/** How an answer names it. */
const nameOfCode = ({ column, code }: CodeBehind) => `${column.name}.${code.name}`

/** What to do for a column that refers to a currency. */
function viewAdvice(schema: DatabaseSchema, table: Table, { name }: Column): string {
  const { engine, updatesSubqueries } = schema
  const onPostgres = engine === 'postgres'
  const code = [...codesBehind(schema, table), ...codesElsewhere(schema, table)].find(
    each => each.column.name === name,
  )
  const quoted = (column: string) => sqlName(engine, column)
  // Without a known foreign key, its values are: what is printed runs, with the codes of the operator.
  const shown =
    code === undefined || !updatesSubqueries
      ? `CASE p.${quoted(name)} WHEN 1 THEN 'EUR' WHEN 2 THEN 'USD' END`
      : `(SELECT c.${quoted(code.code.name)} FROM ${sqlTable(engine, code.to)} c WHERE c.${quoted(code.key.name)} = p.${quoted(name)})${onPostgres ? '::text' : ''}`
  // Beside p.*, a column of this name would be there twice.
  const others = table.columns.some(each => each.name === 'currency')
    ? table.columns.flatMap(each => (each.name === 'currency' ? [] : [`p.${quoted(each.name)}`])).join(', ')
    : 'p.*'
  const view = `CREATE VIEW ${sqlTable(engine, { ...table, name: `wallet_${table.name}` })} AS SELECT ${others}, ${shown} AS currency FROM ${sqlTable(engine, table)} p`
  const not = onPostgres ? 'a join' : 'a subquery'
  const why = onPostgres || !updatesSubqueries ? ` (one with ${not} cannot be updated)` : ''
  const behind = code === undefined ? '' : `${name} leads to ${fullName(code.to)}.${code.code.name}. `
  return `${behind}Create a view with the code as text, and name it by --players: ${view}${why}`
}

const codePattern = /^[A-Z][A-Z0-9]{1,15}$/

function chosenCurrency(
  schema: DatabaseSchema,
  table: Table,
  { currency: answer }: Answers,
  id: Column | null,
): Decision<Currency> {
  const { engine } = schema
  const { candidates, rejected } = currencyCandidates(engine, table)
  const referred = codesBehind(schema, table)
  const behind = schema.updatesSubqueries ? referred : []
  if (answer === undefined) return undecidedCurrency(schema, table, id, behind)
  const code = behind.find(each => nameOfCode(each) === answer)
  if (code !== undefined) return withCode(code)
  if (!table.columns.some(({ name }) => name === answer) && codePattern.test(answer)) {
    const sure = [
      ...candidates.flatMap(each => (each.likely || isRowKey(table, id, each.column) ? [each.column] : [])),
      ...table.columns.filter(({ labels }) => labels?.includes(answer)),
    ]
    const found = sure.length > 0 ? [...new Set(sure)] : candidates.map(each => each.column)
    if (found.length > 1)
      throw new Impossible(
        `--currency ${answer}: each of ${listed(found.map(({ name }) => name))} may be the currency of a row of ${fullName(table)}: name one, or a view of the rows in ${answer} (--players)`,
      )
    const [column = null] = found
    const unread = [...new Set([...rejected, ...referred].map(each => each.column))]
    const unreadTexts = unread.map(({ name, declared }) => `${name} (${declared})`)
    const [first] = unread
    // Players of another currency would be debited as if their balances were in this one.
    if (sure.length === 0 && first !== undefined)
      throw new Impossible(
        `--currency ${answer}: ${fullName(table)} has a currency that is no code: ${listed(unreadTexts)}. ${viewAdvice(schema, table, first)}`,
      )
    const reason =
      column === null ? 'as stated: of all players' : `as stated: only the rows of ${column.name} ${answer}`
    return { value: { ...single, currency: column, onlyCurrency: answer }, reason }
  }
  const other = codesElsewhere(schema, table).find(each => nameOfCode(each) === answer)
  if (other !== undefined && schema.updatesSubqueries) return withCode(other)
  const column = named(table, 'currency', answer)
  const problem = currencyProblem(engine, column)
  if (problem !== null) throw new Impossible(`--currency: ${answer}: ${problem}`)
  return withColumn(table, id, column, `as stated; ${column.declared}`)
}

/** The only likely column or code, or a question. */
function undecidedCurrency(
  schema: DatabaseSchema,
  table: Table,
  id: Column | null,
  behind: readonly CodeBehind[],
): Decision<Currency> {
  const { candidates, rejected } = currencyCandidates(schema.engine, table)
  const [one, ...more] = [...candidates.filter(each => each.likely), ...behind]
  if (one !== undefined && more.length === 0)
    return 'code' in one
      ? withCode(one)
      : withColumn(table, id, one.column, `${one.reason}, judged by its name`)
  const elsewhere = codesElsewhere(schema, table)
  const choices = [
    ...candidates.map(({ column, reason }) => ({ value: column.name, reason })),
    ...[...behind, ...(schema.updatesSubqueries ? elsewhere : [])].map(each => ({
      value: nameOfCode(each),
      reason: reasonOfCode(each),
    })),
  ]
  const unusable = rejected.filter(({ column }) => behind.every(each => each.column !== column))
  const why = unusable.map(({ column, reason }) => ` ${column.name} is not usable: ${reason}.`).join('')
  const [first] = [...unusable, ...elsewhere]
  const advice =
    choices.length === 0 && first !== undefined ? ` ${viewAdvice(schema, table, first.column)}.` : ''
  const text =
    unusable.length > 0 && advice !== ''
      ? `Which column is the currency code?${why}`
      : `Which column is the currency, or which code (EUR) is the only one, of all players?${why}`
  return {
    question: { option: 'currency', text: `${text}${advice}${readyViews(schema, table)}`, choices },
  }
}

/** Views that have a currency beside an id and a balance, where the table has none. */
function readyViews({ engine, tables }: DatabaseSchema, table: Table): string {
  const views = tables.filter(
    each =>
      each.isView &&
      each !== table &&
      isCandidate(engine, each) &&
      currencyCandidates(engine, each).candidates.some(({ likely }) => likely),
  )
  return views.length === 0 ? '' : ` With a currency: --players ${views.map(fullName).join(', or ')}.`
}

/** Whether a player has a row for each value of the column. */
const isRowKey = (table: Table, id: Column | null, column: Column): boolean =>
  id !== null && !isUniqueAlone(table, id) && isUniqueWith(table, id, column)

function withColumn(table: Table, id: Column | null, column: Column, reason: string): Decision<Currency> {
  if (id === null || !isRowKey(table, id, column)) return { value: { ...single, currency: column }, reason }
  const isAccountKey = table.uniqueKeys.some(key => key.join('\0') === `${id.name}\0${column.name}`)
  if (isAccountKey && !column.nullable)
    return {
      value: { ...single, currency: column, accountPerCurrency: true },
      reason: `${reason}; a player has an account in each (${id.name}, ${column.name})`,
    }
  const text = `A player has a row per currency: the rows of which one, EUR say? Players cannot bet in the others. For all of them, ${column.name} must be NOT NULL, with a unique index on (${id.name}, ${column.name}) in this order.`
  return { question: { option: 'currency', text, choices: [] } }
}

const reasonOfCode = ({ column, to, code }: CodeBehind) =>
  `${code.declared} of ${fullName(to)}, behind the foreign key ${column.name}`

const withCode = (code: CodeBehind): Decision<Currency> => ({
  value: { ...single, currency: null, codeBehind: code },
  reason: reasonOfCode(code),
})

// The unit

function chosenUnits(
  engine: Engine,
  balance: Column,
  { 'minor-units': answer }: Answers,
): Decision<MinorUnits | null> {
  const balanceType = balanceTypeOf(engine, balance)
  if (balanceType !== 'minor-units') {
    if (answer !== undefined && answer !== 'none')
      throw new Impossible(
        `--minor-units ${answer} is for integers: ${balance.name} is ${balance.declared}, which is read as whole units`,
      )
    if (balance.scale !== null) return { value: null, reason: `${balance.declared} has decimals` }
    if (answer === 'none') return { value: null, reason: `as stated; ${balance.declared}` }
    const text = `${balance.name} is ${balance.declared}: does 1005 in it mean 1005.00, and never 10.05? If it may mean 10.05, make it a bigint.`
    const choices = [{ value: 'none', reason: 'whole units: 10.05 is stored as 10.05' }]
    return { question: { option: 'minor-units', text, choices } }
  }
  if (answer === undefined) {
    const hint = saysMinorUnits(balance.name) ? ', as its name says' : ''
    const text = `${balance.name} is ${balance.declared}: how many decimals of a currency does it hold?`
    const choices = [
      { value: '2', reason: `hundredths (cents) in every currency${hint}: 1005 is 10.05` },
      { value: '0', reason: 'whole units: 1005 is 1005.00, and bets with cents are refused' },
      { value: 'EUR=2,JPY=0', reason: 'by currency: name each one that you have' },
    ]
    return { question: { option: 'minor-units', text, choices } }
  }
  const units = minorUnitsIn(answer)
  if (units === null)
    throw new Impossible(
      `--minor-units must be a number such as 2, or EUR=2,JPY=0, not ${JSON.stringify(answer)}`,
    )
  return { value: units, reason: `as stated; ${balance.declared}` }
}

// Who may bet

function chosenConditions(
  schema: DatabaseSchema,
  table: Table,
  { 'may-bet': answer }: Answers,
  balance: Column | null,
): Decision<readonly Condition[]> {
  if (answer === 'anyone') return { value: [], reason: 'as stated' }
  const links = linksOf(schema, table)
  if (answer !== undefined) {
    const conditions = conditionsIn(table, answer, links)
    if (typeof conditions === 'string') throw new Impossible(conditions)
    return { value: conditions, reason: 'as stated; other bets are refused in store.ts' }
  }
  const amounts = balance === null ? [] : lockedColumns(table, balance).filter(each => !mayBeFlag(each))
  const own = statusColumns(table, amounts)
  const choices = [
    ...own.map(column => describedStatus(table, column)),
    ...links.flatMap(({ to }) =>
      statusColumns(to, []).map(column => describedStatus(to, column, `${to.name}.`)),
    ),
    { value: 'anyone', reason: 'closed and excluded players too' },
  ]
  const none = choices.length > 1 ? '' : ` No column of ${fullName(table)} looks like a status.`
  const text = `Who may bet? The values of a column that allow it: state=active,trial. Several columns must all agree: state=active; closed_at=null.${none}`
  return { question: { option: 'may-bet', text, choices } }
}

// Notes

function notesOf(mapping: Mapping, elsewhere: readonly CodeBehind[]): string[] {
  const { engine, table, id, balance, currency, onlyCurrency, ledgers, mayBet } = mapping
  const owners = ownersBeside(engine, table, id)
  const version = versionColumn(table)
  const hooked = ledgers.find(({ entry }) => entry !== null)?.table
  const hook =
    hooked === undefined
      ? 'add them yourself: no hook could be written. Do it'
      : `complete addEntries in store.ts, which is of ${hooked.name}, and call it`
  const others = onlyCurrency === null || currency !== null ? [] : elsewhere
  return present([
    owners.length > 0 &&
      !isOfPersons(table.name) &&
      `${id.name} numbers the rows of ${table.name}, and ${ofPlayer(owners)}: the platform must send ${id.name}. If it sends ${owners[0]?.name}, bets debit other players.`,
    ...statusNotes(mapping),
    mapping.hasOldView &&
      needsView(mapping) &&
      `${table.schema}.${viewName} exists, of an earlier try: it is dropped. Not if a wallet runs on it: bets in another currency would use the same balances.`,
    ledgers.length > 0 &&
      `Bets will not stand in ${listed(ledgers.map(ledger => fullName(ledger.table)))}. If its entries add up to ${balance.name}, ${hook} in withinTransaction (docs/postgres.md#your-own-rows-in-the-same-transaction).`,
    ...lockedColumns(table, balance)
      .filter(column => mayBet.every(each => each.column !== column))
      .map(column => lockedNote(mapping, column)),
    ...nullableNotes(mapping),
    version !== null &&
      `${version.name} is counted up with each change of the balance (players.version), for an optimistic lock of your code.`,
    ...others.map(
      code => `A player whose ${nameOfCode(code)} is not ${onlyCurrency} would bet in ${onlyCurrency}.`,
    ),
    engine === 'mysql' &&
      currency?.type === 'enum' &&
      `${currency.name} is ${currency.declared}: a bet in a currency that the enum lacks is refused.`,
  ])
}

function statusNotes({ table, balance, mayBet }: Mapping): string[] {
  const all = statusColumns(table, lockedColumns(table, balance))
  const unread = all.filter(column => mayBet.every(each => each.column !== column))
  return present([
    unread.length > 0 && `${listed(unread.map(({ name }) => name))} is not read.`,
    mayBet.length === 0 &&
      'Closed and excluded players can bet, until you refuse them (docs/your-own-code.md#who-may-bet).',
  ])
}

/** NULL in a row is a fault of each call of this player. */
const nullableNotes = ({ table, balance, currency }: Mapping): string[] =>
  present(
    [balance, currency].map(
      column =>
        column?.nullable &&
        !table.isView &&
        `${column.name} may be NULL: each call of such a player is a fault (500). bet-wallet check counts them.`,
    ),
  )

function lockedNote(mapping: Mapping, { name }: Column): string {
  const why = `If ${mapping.balance.name} includes it, a stake may use it, or fail with 500 by a CHECK`
  const view = needsView(mapping) ? ', and the column to the view' : ''
  return `${name} is not read. ${why}: then add reserved: ${tsText(name)} to players in store.ts, --reserved ${shellWord(name)} to migrate${view} (docs/postgres.md#reserved).`
}

const listedMax = 12

/** The first of them, so that a large schema does not fill the terminal. */
function listed(items: readonly string[]): string {
  const shown = items.slice(0, listedMax).join(', ')
  return items.length > listedMax ? `${shown} and ${items.length - listedMax} more` : shown
}
