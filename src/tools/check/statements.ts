/** The finding about statements that write a balance back. */
import { createHash } from 'node:crypto'
import { type Finding, finding } from './finding.js'
import { type BalanceColumnName, writesBack } from './write-back.js'

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

/**
 * @param columns the column of balances, and where the table is a view, that of the table below
 * @param about what was looked at: `since …`
 * @param reason why statements of others are not seen; `null`: they are
 */
export function statementsFinding(
  statements: readonly Statement[],
  columns: readonly BalanceColumnName[],
  { locked, about, reason }: { locked: readonly string[]; about: string; reason: string | null },
): Finding {
  const found = new Map<string, Statement>()
  for (const statement of statements) {
    const { text, schemaDefault } = statement
    const id = idOf(text)
    if (!locked.includes(id) && columns.some(column => writesBack(text, column, schemaDefault)))
      found.set(id, statement)
  }
  const tables = columns.map(({ schema, table }) => `${schema}.${table}`).join(', ')
  if (found.size > 0)
    return finding(
      'statements',
      'problem',
      `${countOf(found.size, 'statement')} on ${tables} set the balance instead of adding to it. A bet between the read and this ` +
        'write loses its debit, unless the same database transaction has locked the row before it read the balance ' +
        '(SELECT … FOR UPDATE). Add in the statement: SET balance = balance + …; or, where the code locks the row, name ' +
        'the statement: --locked <id>',
      [...found].map(([id, { text, calls, user }]) => {
        const line = text.replace(/\s+/g, ' ').trim()
        const shown = line.length > shownMax ? `${line.slice(0, shownMax)}…` : line
        return `${id}  ${countOf(calls, 'call')}${user === null ? '' : ` by ${user}`}: ${shown}`
      }),
    )
  if (reason !== null) return finding('statements', 'skipped', `not looked at, because ${reason}`)
  return finding(
    'statements',
    'ok',
    `none of ${countOf(statements.length, 'statement')} that name ${tables} writes a balance back; ${about}`,
  )
}
