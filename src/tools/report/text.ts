/** A report as text for a terminal. */
import { onOneLine } from '../../visible-text.js'
import { shortText } from './figures.js'
import {
  type Block,
  type Cell,
  type Fact,
  type Finding,
  firstOf,
  partsOfCell,
  printedSections,
  type Report,
  shownMax,
  type Table,
  type Tone,
} from './model.js'

/**
 * The facts, the sections, and the verdict at the end, where it is read first. What others have written is on
 * one line each, and cannot control the terminal.
 *
 * @param colours by escape sequences
 * @returns lines without a line end at the end
 */
export function textOf(report: Report, colours = false): string {
  const { title, facts = [], verdict } = report
  const paint = colours ? painted : (_: Tone, text: string) => text
  const sections = printedSections(report, 'text').flatMap(({ heading, blocks }) => [
    '',
    plain(heading),
    ...blocks.flatMap(block => linesOf(block, paint).map(line => `  ${line}`)),
  ])
  return [
    plain(title),
    ...pairs(facts),
    ...sections,
    '',
    `${paint(verdict.tone, plain(verdict.word).toUpperCase())}: ${plain(verdict.sentence)}`,
  ].join('\n')
}

type Paint = (tone: Tone, text: string) => string

const colourOf: Record<Tone, number> = { pass: 32, warn: 33, fail: 31, none: 39 }
const painted: Paint = (tone, text) => `\u001b[${colourOf[tone]}m${text}\u001b[0m`

const charactersMax = 10_000
/** On one line, cut, and without what is invisible or controls a terminal. */
export const plain = (text: string) => onOneLine(shortText(text, charactersMax))

/** Charts are on the page only. */
function linesOf(block: Block, paint: Paint): string[] {
  switch (block.kind) {
    case 'text':
      return [plain(block.text)]
    case 'code':
      return block.text.split('\n').map(plain)
    case 'list':
      return block.items.map(plain)
    case 'facts':
      return pairs(block.facts)
    case 'table':
      return tableLines(block, paint)
    case 'findings':
      return findingLines(block, paint)
    case 'charts':
      return []
  }
}

const moreLines = (more: number) => (more > 0 ? [`… and ${more.toLocaleString('en')} more`] : [])

function pairs(facts: readonly Fact[]): string[] {
  const names = facts.map(([name]) => plain(name))
  const width = widest(names)
  return facts.map(([, value], index) => `${(names[index] ?? '').padEnd(width)}  ${plain(value)}`)
}

const widest = (texts: readonly string[]) => Math.max(0, ...texts.map(text => text.length))

/** Columns with two spaces between them. */
function tableLines({ columns, rows, total }: Table, paint: Paint): string[] {
  const { shown, more } = firstOf(rows, total, shownMax.text)
  const names: readonly Cell[] = columns.map(({ name }) => name)
  const cells = [names, ...shown].map(row =>
    row.map(partsOfCell).map(({ text, tone }) => ({ text: plain(text), tone })),
  )
  const widths = columns.map((_, index) => widest(cells.map(row => row[index]?.text ?? '')))
  const lines = cells.map(row =>
    row
      .map(({ text, tone }, index) => {
        const width = widths[index] ?? 0
        const isLast = index === row.length - 1
        const onLeft = isLast ? text : text.padEnd(width)
        const padded = columns[index]?.isNumber ? text.padStart(width) : onLeft
        return tone === 'none' ? padded : paint(tone, padded)
      })
      .join('  ')
      .trimEnd(),
  )
  return [...lines, ...moreLines(more)]
}

function findingLines(
  { findings, total }: { findings: readonly Finding[]; total?: number },
  paint: Paint,
): string[] {
  const { shown, more } = firstOf(findings, total, shownMax.text)
  const marks = widest(shown.map(({ mark }) => plain(mark)))
  const names = widest(shown.map(({ name }) => plain(name)))
  const lines = shown.flatMap(({ tone, mark, name, title, sentence = '', facts = [], code = [] }) => [
    `${paint(tone, plain(mark).padEnd(marks))}  ${plain(name).padEnd(names)}  ${plain(title)}`,
    ...(sentence === '' ? [] : [`  ${plain(sentence)}`]),
    ...[...pairs(facts), ...code.flatMap(text => text.split('\n').map(plain))].map(line => `  ${line}`),
  ])
  return [...lines, ...moreLines(more)]
}
