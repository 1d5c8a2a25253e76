/** The list of other code's statements that write balances, as the statistics of a server keep them. */
import { type Finding, finding } from './finding.js'

/** A table with its column of balances; `null`: it is not known which, so every column counts. */
export interface BalanceColumn {
  schema: string
  table: string
  column: string | null
}

export interface Statement {
  text: string
  calls: number
  /** Who runs it, since when it is recorded, how it is named to be forgotten. */
  details: readonly string[]
}

interface Recorded {
  statements: readonly Statement[]
  /** The players' table, and where that is a view, what is below it. */
  columns: readonly BalanceColumn[]
  /** What the text of each of the wallet's own statements contains. */
  own: string
  /** What was recorded: `since …`. */
  about: string
  /** How a statement that was corrected is forgotten. */
  forget: string
}

/** @param grant what lets this user see the statements of others */
export const notAllowed = (grant: string): Finding =>
  finding('statements', 'skipped', 'this user may not see the statements of others. An administrator runs:', [
    `${grant};`,
  ])

/** @param reason what is switched off */
export const switchedOff = (reason: string): Finding =>
  finding('statements', 'skipped', `not checked: ${reason}`)

const writePattern =
  /^(?!\s*(?:select|explain|grant|revoke|create|alter)\b).*\b(?:update|insert|merge|replace)\b/is

/** How MySQL and MariaDB mark a statement of which they have kept only the beginning. */
const cutPattern = /\.\.\.\s*$/

const escaped = (name: string) => name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
const bare = (name: string) => `(?<![\\p{L}\\p{N}_$])${escaped(name)}(?![\\p{L}\\p{N}_$])`
const hasName = (text: string, name: string) => new RegExp(`${bare(name)}`, 'iu').test(text)

/** The statements that write the balances of this column, or may: a cut text lacks what it names later. */
const writes = ({ text }: Statement, { table, column }: BalanceColumn): boolean =>
  writePattern.test(text) &&
  hasName(text, table) &&
  (column === null || cutPattern.test(text) || hasName(text, column))

/**
 * Statements that add in each assignment to the column: `balance = balance + $1`,
 * `= (accounts.balance)::numeric - ?`, `= COALESCE(balance, 0) + $1`. It only sorts the list.
 */
export function additions(column: string): RegExp {
  const quoted = `["\`]?${bare(column)}["\`]?`
  const name = `(?:["\`]?(?!excluded\\b|new\\b)[\\p{L}\\p{N}_$ ]+["\`]?\\s*\\.\\s*)*${quoted}`
  const orElse = `(?:coalesce|ifnull)\\s*\\(\\s*${name}\\s*,[^()]*\\)`
  const type = '[\\w ]+(?:\\([^()]*\\))?'
  const cast = `cast\\s*\\(\\s*${name}\\s+as\\s+${type}\\s*\\)`
  const adds = `[\\s(]*(?:${orElse}|${cast}|${name})(?:[\\s)]|::\\s*${type})*[+-]`
  const assigns = `${quoted}\\s*=`
  return new RegExp(`^(?!.*${assigns}(?!${adds})).*${assigns}${adds}`, 'isu')
}

const countOf = (number: number, word: string) =>
  `${number.toLocaleString('en')} ${word}${number === 1 ? '' : 's'}`

const lineOf = ({ text, calls, details }: Statement) =>
  `${[countOf(calls, 'call'), ...details].join(', ')}: ${text.replace(/\s+/g, ' ').trim()}`

const readThese =
  'A value that was read before the write loses the bets in between (a lost update), unless the same database ' +
  'transaction locked the row before it read it (SELECT … FOR UPDATE). Better: SET balance = balance + …'

/** No verdict: a text does not tell whether its code has locked the row. */
export function statementsFinding({ statements, columns, own, about, forget }: Recorded): Finding {
  const tables = columns.map(({ schema, table }) => `${schema}.${table}`).join(', ')
  const found = statements.filter(
    each => !each.text.includes(own) && columns.some(column => writes(each, column)),
  )
  if (found.length === 0)
    return finding(
      'statements',
      'skipped',
      `nothing was seen: no statement that writes balances of ${tables} was recorded but the wallet's own; ${about}`,
    )
  const patterns = columns.flatMap(({ column }) => (column === null ? [] : [additions(column)]))
  const others = found.filter(({ text }) => cutPattern.test(text) || !patterns.some(each => each.test(text)))
  const count = found.length - others.length
  const adding = `${countOf(count, 'statement')} on ${tables} ${count === 1 ? 'adds' : 'add'} to the balance in the statement`
  if (others.length === 0) return finding('statements', 'ok', `${adding}, no other writes it; ${about}`)
  const cut = others.some(({ text }) => cutPattern.test(text))
    ? ' The server kept only the beginning of a text that ends in "...": raise max_digest_length and performance_schema_max_digest_length.'
    : ''
  return finding(
    'statements',
    'read',
    `${adding}; ${about}. Read these ${others.length}. ${readThese}.${cut} ${forget}`,
    others.toSorted((a, b) => b.calls - a.calls).map(lineOf),
  )
}
