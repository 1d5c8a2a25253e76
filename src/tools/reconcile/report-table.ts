/** The platform's report as a table, whether it is CSV or JSON lines: columns, and rows of cells. */
import { isA } from '../../foreign-values.js'
import { type ReadJson, readJson } from '../wire/json.js'
import { csvRecords } from './csv.js'
import { invalidRow, ReconcileError } from './errors.js'
import { type ReportSource, textChunks } from './text-chunks.js'

export interface TableRow {
  line: number
  /** A value per column; `undefined`: the row has none. */
  cells: readonly (ReadJson | undefined)[]
}

export interface Table {
  columns: readonly string[]
  /** Some rows at a time. */
  rows: AsyncIterable<TableRow[]>
}

/** A longer line is no row of a report. */
const lineLengthMax = 1_000_000

/**
 * Opens the platform's report: JSON lines if its first character that is no space is a `{`, otherwise CSV.
 *
 * @param named the columns that are read: no row may have one that the first row lacks
 * @throws {ReconcileError} `INVALID_REPORT`, naming the line; so do the rows, when they are read
 */
export async function openTable(
  source: ReportSource,
  delimiter: string | undefined,
  named: readonly string[],
): Promise<Table> {
  const chunks = textChunks(source)
  let start = ''
  for (let isDone: boolean | undefined = false; !isDone && start.trim() === ''; ) {
    const { done, value } = await chunks.next()
    start += value ?? ''
    isDone = done
  }
  if (start.trim() === '') throw new ReconcileError('INVALID_REPORT', "The platform's report is empty")
  const all = after(start, chunks)
  return start.trimStart().startsWith('{') ? await jsonTable(all, named) : await csvTable(all, delimiter)
}

async function* after<T>(first: T, others: AsyncGenerator<T>): AsyncGenerator<T> {
  yield first
  yield* others
}

/** The next batch that is not empty. */
async function nextOf<T>(batches: AsyncGenerator<T[]>): Promise<T[]> {
  for (;;) {
    const { done, value } = await batches.next()
    if (done === true) return []
    if (value.length > 0) return value
  }
}

async function csvTable(chunks: AsyncIterable<string>, delimiter: string | undefined): Promise<Table> {
  const batches = csvRecords(chunks, delimiter)
  const [head, ...rest] = await nextOf(batches)
  const first = rest.length > 0 ? rest : await nextOf(batches)
  const columns = head?.cells ?? []
  if (first.length === 0 && columns.some(column => column.includes('\r'))) {
    const problem = 'its lines are ended by CR alone: the header takes all of the file, and there is no row'
    invalidRow(1, null, problem)
  }
  async function* rows() {
    for await (const batch of after(first, batches)) {
      for (const { line, cells } of batch) {
        if (cells.length === columns.length) continue
        const problem = `it has ${cells.length} values, and the header has ${columns.length} columns`
        invalidRow(line, null, problem)
      }
      yield batch
    }
  }
  return { columns: columns.map(column => column.trim()), rows: rows() }
}

async function jsonTable(chunks: AsyncIterable<string>, named: readonly string[]): Promise<Table> {
  const batches = jsonObjects(chunks)
  const first = await nextOf(batches)
  const columns = [...(first[0]?.fields.keys() ?? [])]
  const missing = named.filter(column => !columns.includes(column))
  async function* rows() {
    for await (const batch of after(first, batches)) {
      yield batch.map(({ line, fields }) => {
        // What the first row lacks is not compared: a status that comes later must not be overlooked.
        const late = missing.find(column => fields.has(column))
        if (late !== undefined) invalidRow(line, late, 'the first row has no such key')
        return { line, cells: columns.map(column => fields.get(column)) }
      })
    }
  }
  return { columns, rows: rows() }
}

/** All objects that a chunk completes, at a time. Empty lines are ignored. */
async function* jsonObjects(chunks: AsyncIterable<string>) {
  let rest = ''
  let line = 0
  const read = (lines: readonly string[]) =>
    lines.flatMap(text => {
      line += 1
      return text.trim() === '' ? [] : [{ line, fields: objectOf(text, line) }]
    })
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield read(lines)
    if (rest.length <= lineLengthMax) continue
    const problem = `the line has more than ${lineLengthMax} characters: one object per line is expected`
    invalidRow(line + 1, null, problem)
  }
  yield read([rest])
}

function objectOf(text: string, line: number): ReadonlyMap<string, ReadJson> {
  try {
    const value = readJson(text, (key, depth) => {
      if (depth === 1) invalidRow(line, key, 'the line has this key twice')
    })
    return value instanceof Map ? value : invalidRow(line, null, 'no JSON object')
  } catch (error) {
    if (isA(error, SyntaxError)) invalidRow(line, null, `no JSON object: ${error.message}`)
    throw error
  }
}
