/** What a command reports: one model, printed for the terminal (`text.ts`) and as a page (`page.ts`). */
import type { Chart } from './chart.js'

/** The colour of a word. The word itself says the same. */
export type Tone = 'pass' | 'warn' | 'fail' | 'none'

export interface Report {
  /** `Wallet audit of http://127.0.0.1:3000` */
  title: string
  /** The word is in capitals in the terminal: no code of a currency is in it. */
  verdict: { tone: Tone; word: string; sentence: string }
  /** @default none */
  facts?: readonly Fact[]
  sections: readonly Section[]
  /**
   * How to read the page.
   *
   * @default none
   */
  footnotes?: readonly string[]
}

export type Fact = readonly [name: string, value: string]

export interface Section {
  heading: string
  /** Those that say nothing are left out; a section without any, too. */
  blocks: readonly Block[]
  /** Where alone it is printed. */
  only?: 'text' | 'page'
}

export const section = (heading: string, ...blocks: Block[]): Section => ({ heading, blocks })
/** On the page alone: a terminal shows no charts, and unfolds nothing. */
export const onPage = (heading: string, ...blocks: Block[]): Section => ({ heading, blocks, only: 'page' })

export type Block =
  | { kind: 'text'; text: string }
  | { kind: 'list'; items: readonly string[] }
  | { kind: 'facts'; facts: readonly Fact[] }
  /** A call, a body, SQL: to be copied. */
  | { kind: 'code'; text: string }
  | Table
  | { kind: 'findings'; findings: readonly Finding[]; total?: number }
  | { kind: 'charts'; charts: readonly Chart[] }

export interface Table {
  kind: 'table'
  columns: readonly Column[]
  rows: readonly (readonly Cell[])[]
  /** How many rows there are. With it the first ones are printed; without it all. */
  total?: number
}

export interface Column {
  name: string
  /** Numbers are on the right. */
  isNumber?: boolean
}

/** @param link the anchor of a finding */
export type Cell = string | { text: string; tone: Tone; link?: string }

export interface Finding {
  tone: Tone
  /** `FAILED`, `ok` */
  mark: string
  /** What was judged: `AU-201`, `players table` */
  name: string
  title: string
  /** What it means. */
  sentence?: string
  facts?: readonly Fact[]
  code?: readonly string[]
  /** On the page only: behind a line that unfolds. */
  details?: readonly Block[]
  /** On the page only: for links to it. */
  anchor?: string
  /** On the page it is one line that unfolds. */
  folded?: boolean
}

/** Of a list that names its total: more are too long to read. The JSON has more of them. */
export const shownMax = { text: 10, page: 100 }

export function isEmpty(block: Block): boolean {
  switch (block.kind) {
    case 'text':
    case 'code':
      return block.text === ''
    case 'list':
      return block.items.length === 0
    case 'facts':
      return block.facts.length === 0
    case 'table':
      return block.rows.length === 0
    case 'findings':
      return block.findings.length === 0
    case 'charts':
      return block.charts.length === 0
  }
}

/** The sections that a printer prints, without what says nothing. */
export const printedSections = ({ sections }: Report, printer: 'text' | 'page'): readonly Section[] =>
  sections
    .filter(({ only }) => only === undefined || only === printer)
    .map(section => ({ ...section, blocks: section.blocks.filter(block => !isEmpty(block)) }))
    .filter(({ blocks }) => blocks.length > 0)

/** @returns the first ones, and how many are left out */
export function firstOf<T>(all: readonly T[], total: number | undefined, max: number) {
  if (total === undefined) return { shown: all, more: 0 }
  const shown = all.slice(0, max)
  return { shown, more: total - shown.length }
}

export const partsOfCell = (cell: Cell) =>
  typeof cell === 'string' ? { text: cell, tone: 'none' as const, link: undefined } : cell
