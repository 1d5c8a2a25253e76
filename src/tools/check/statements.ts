/** The finding about statements that write a balance back. */
import { createHash } from 'node:crypto'
import { type Finding, finding } from './finding.js'
import { type BalanceColumnName, mayWriteTo, writesBack } from './write-back.js'

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

/**
 * @param columns the column of balances, and where the table is a view, that of the table below
 * @param about what was checked: `since …`
 * @param grant lets this user see the statements of others; `null`: it sees them
 */
export function statementsFinding(
  statements: readonly Statement[],
  columns: readonly BalanceColumnName[],
  { locked, about, grant }: { locked: readonly string[]; about: string; grant: string | null },
): Finding {
  const those = (isThat: typeof writesBack) =>
    statements.filter(
      ({ text, schemaDefault }) =>
        !locked.includes(idOf(text)) && columns.some(column => isThat(text, column, schemaDefault)),
    )
  const found = those(writesBack)
  const tables = columns.map(({ schema, table }) => `${schema}.${table}`).join(', ')
  if (found.length > 0)
    return finding(
      'statements',
      'problem',
      `${countOf(found.length, 'statement')} on ${tables} set the balance instead of adding to it. A bet between the read and this ` +
        'write loses its debit, unless the same database transaction has locked the row before it read the balance ' +
        '(SELECT … FOR UPDATE). Add in the statement: SET balance = balance + …; or, where the code locks the row, name ' +
        'the statement: --locked <id>',
      found.map(lineOf),
    )
  if (grant !== null) return notAllowed(grant)
  const cut = those(
    (text, ...where) =>
      text.trimEnd().endsWith(cutMark) && mayWriteTo(text.trimEnd().slice(0, -cutMark.length), ...where),
  )
  if (cut.length > 0)
    return finding(
      'statements',
      'unknown',
      `of ${countOf(cut.length, 'statement')} on ${tables} the server has kept only the beginning, so that the new balance ` +
        'cannot be seen: raise max_digest_length and performance_schema_max_digest_length; or, where the code adds in the ' +
        'statement or locks the row, name the statement: --locked <id>',
      cut.map(lineOf),
    )
  return finding(
    'statements',
    'ok',
    `none of ${countOf(statements.length, 'statement')} that name ${tables} writes a balance back; ${about}`,
  )
}
