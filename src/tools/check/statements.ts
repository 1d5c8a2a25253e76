/** The finding about statements that set a balance: a lost update. */
import { createHash } from 'node:crypto'
import { type Finding, finding } from './finding.js'
import {
  type BalanceColumnName,
  type BalanceWrite,
  balanceWriteOf,
  mayWriteTo,
  worstOf,
} from './write-back.js'

/** A statement, as the statistics of a server keep it. */
export interface Statement {
  text: string
  calls: number
  user: string | null
  /** Of names without a schema; `null`: it is not known. */
  schemaDefault: string | null
}

/** The same on every server that keeps the same text. */
const idOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8)

const countOf = (number: number, word: string) =>
  `${number.toLocaleString('en')} ${word}${number === 1 ? '' : 's'}`

/** Of a long statement, the beginning is shown. */
const shownMax = 300

/** How MySQL and MariaDB mark a statement of which they have kept only the beginning. */
const cutMark = '...'

const isCut = (text: string) => text.trimEnd().endsWith(cutMark)

/** What is missing of a cut statement may add to the balance, or fail when it has changed. */
function writeOf({ text, schemaDefault }: Statement, column: BalanceColumnName): BalanceWrite {
  if (!isCut(text)) return balanceWriteOf(text, column, schemaDefault)
  return mayWriteTo(text.trimEnd().slice(0, -cutMark.length), column, schemaDefault) ? 'unclear' : 'safe'
}

function lineOf({ text, calls, user }: Statement): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const shown = line.length > shownMax ? `${line.slice(0, shownMax)}…` : line
  return `${idOf(text)}  ${countOf(calls, 'call')}${user === null ? '' : ` by ${user}`}: ${shown}`
}

/** @param grant what lets this user see the statements of others */
export const notAllowed = (grant: string): Finding =>
  finding('statements', 'unknown', 'this user may not see the statements of others. An administrator runs:', [
    `${grant};`,
  ])

/** @param reason what is switched off */
export const switchedOff = (reason: string): Finding =>
  finding('statements', 'skipped', `not checked: ${reason}`)

interface StatementsSearch {
  locked: readonly string[]
  about: string
  incomplete: string | null
  grant: string | null
}

/**
 * @param columns the column of balances, and where the table is a view, that of the table below
 * @param about what was checked: `since …`
 * @param incomplete why the statistics lack statements; `null`: they are complete
 * @param grant lets this user see the statements of others; `null`: it sees them
 */
export function statementsFinding(
  statements: readonly Statement[],
  columns: readonly BalanceColumnName[],
  { locked, about, incomplete, grant }: StatementsSearch,
): Finding {
  const open = statements.filter(({ text }) => !locked.includes(idOf(text)))
  const writes = new Map(
    open.map(statement => [statement, worstOf(columns.map(column => writeOf(statement, column)))]),
  )
  const that = (write: BalanceWrite) => open.filter(statement => writes.get(statement) === write)
  const found = that('sets')
  const tables = columns.map(({ schema, table }) => `${schema}.${table}`).join(', ')
  if (found.length > 0)
    return finding(
      'statements',
      'problem',
      `${countOf(found.length, 'statement')} on ${tables} set the balance instead of adding to it. A bet between the read and this ` +
        'write loses its debit (a lost update), unless the same database transaction has locked the row before it read the balance ' +
        '(SELECT … FOR UPDATE). Add in the statement: SET balance = balance + …; or, where the code locks the row, name ' +
        'the statement: --locked <id>',
      found.map(lineOf),
    )
  if (grant !== null) return notAllowed(grant)
  const unclear = that('unclear')
  if (unclear.length > 0)
    return finding(
      'statements',
      'unknown',
      `${countOf(unclear.length, 'statement')} on ${tables} may set the balance instead of adding to it: read them. Only ` +
        'SET balance = balance + … and balance - … are recognized' +
        (unclear.some(({ text }) => isCut(text))
          ? ', and the server kept only the beginning of a statement that ends in "...": raise max_digest_length and ' +
            'performance_schema_max_digest_length. '
          : '. ') +
        'Where the code adds in the statement or locks the row, name the statement: --locked <id>',
      unclear.map(lineOf),
    )
  const result = `none of ${countOf(open.length, 'statement')} that name ${tables} sets a balance`
  const excepted = statements.length - open.length
  const unused = locked.filter(id => statements.every(({ text }) => idOf(text) !== id))
  const details = [
    about,
    ...(excepted === 0 ? [] : [`${countOf(excepted, 'more statement')} excepted by --locked`]),
    ...(unused.length === 0 ? [] : [`--locked names none of them: ${unused.join(', ')}`]),
  ].join('; ')
  // What is not recorded may set a balance.
  return incomplete === null
    ? finding('statements', 'ok', `${result}; ${details}`)
    : finding('statements', 'unknown', `${result}, but ${incomplete}; ${details}`)
}
