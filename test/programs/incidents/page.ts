/** docs/runbook.md as a person uses it: the lines of a symptom, what to run, and whether the output is that of the line. */
import { type Page, readPage, sectionOf } from '../../docs/pages.js'
import type { DatabaseName } from './databases.js'

export const runbook = readPage('docs/runbook.md')

export interface RunbookRow {
  symptom: string
  run: string
  says: string
  whatToDo: string
}

/** Every line of every symptom: `**symptom**: run …`, then the lines `- it says → do`. */
export const runbookRows: readonly RunbookRow[] = [
  ...runbook.text.matchAll(/^\*\*(.+)\*\*: run (.+)\n\n((?:- .+\n)+)/gm),
].flatMap(([, symptom = '', run = '', lines = '']) =>
  [...lines.matchAll(/^- (.+?) → (.+)$/gm)].map(([, says = '', whatToDo = '']) => ({
    symptom,
    run,
    says,
    whatToDo,
  })),
)

export const rowsOfSymptom = (symptom: string) => runbookRows.filter(row => row.symptom === symptom)

/** What to look at: commands, sections with SQL or a command of their own, and the log. */
export type LookAt =
  | { kind: 'command'; words: readonly string[] }
  | { kind: 'section'; heading: string }
  | { kind: 'log' }

export function lookAtsOf({ run }: RunbookRow): LookAt[] {
  const parts = [...run.matchAll(/`npx bet-wallet ([^`]+)`|\[([^\]]+)\]\(#[^)]+\)|\bthe log\b/g)]
  return parts.map(([, words, heading]) => {
    if (words !== undefined) return { kind: 'command', words: words.split(' ') }
    return heading === undefined ? { kind: 'log' } : { kind: 'section', heading }
  })
}

const atLeastOneRow = /^\([1-9]\d* rows?\)$/m

/**
 * Whether the output is what "It says" describes: each part is in it, one of those with "or", none of those with "no";
 * "a row" is that the statement has found one.
 */
export function isOutputOf({ says }: RunbookRow, output: string): boolean {
  if (/\ba row\b/.test(says) && !atLeastOneRow.test(output)) return false
  const needed: string[][] = []
  for (const [, word, part = ''] of says.matchAll(/(\bno |\bor )?`([^`]+)`/g)) {
    if (word === 'no ') {
      if (output.includes(part)) return false
    } else if (word === 'or ') needed.at(-1)?.push(part)
    else needed.push([part])
  }
  return needed.every(parts => parts.some(part => output.includes(part)))
}

/** An id in place of which an operator writes that of the session to end. */
export const placeholder = /<(?:pid|thread)>/

export const runbookSection = (heading: string): Page => sectionOf(runbook, heading)

/** The statements of a section's block for this database. */
export function statementsOf(heading: string, name: DatabaseName): string[] {
  const first = name === 'MySQL or MariaDB' ? '-- MySQL and MariaDB' : '-- PostgreSQL'
  const blocks = [...runbookSection(heading).text.matchAll(/^```sql\n([\s\S]*?)^```$/gm)]
  const block = blocks.map(([, code = '']) => code).find(code => code.startsWith(`${first}\n`))
  if (block === undefined) throw new Error(`The section ${heading} has no block that begins with ${first}`)
  return block
    .slice(first.length)
    .split(/;\n/)
    .map(statement => statement.trim())
    .filter(statement => statement !== '')
}

/** Rows as psql and mariadb print them in their long forms: a line per value, then how many. */
export const printed = (rows: readonly object[]): string =>
  [
    ...rows.map(row =>
      Object.entries(row)
        .map(([name, value]) => `${name}: ${value instanceof Date ? value.toISOString() : value}`)
        .join('\n'),
    ),
    `(${rows.length} row${rows.length === 1 ? '' : 's'})`,
  ].join('\n\n')
