/** Comma-separated values by RFC 4180, with any delimiter. */
import { invalidRow } from './errors.js'

export interface CsvRecord {
  /** Of its first line, from 1. */
  line: number
  cells: readonly string[]
}

/** A longer record is a quote that is never closed: it would take the rest of the file. */
const recordLengthMax = 1_000_000

const delimiters = [',', ';', '\t', '|']

/** The delimiter that the header has most often outside of quotes. */
function delimiterOf(header: string): string {
  const bare = header.replace(/"[^"]*"/g, '')
  const counts = delimiters.map(delimiter => bare.split(delimiter).length)
  return delimiters[counts.indexOf(Math.max(...counts))] as string
}

/**
 * Reads records chunk by chunk. Empty lines are ignored.
 *
 * @returns all records that a chunk completes, at a time
 * @throws {ReconcileError} `INVALID_REPORT`, naming the line
 */
export async function* csvRecords(
  chunks: AsyncIterable<string>,
  delimiter?: string,
): AsyncGenerator<CsvRecord[]> {
  let rest = ''
  let line = 1
  let separator = delimiter
  const take = (isLast: boolean): CsvRecord[] => {
    separator ??= rest.includes('\n') || isLast ? delimiterOf(rest.split('\n', 1)[0] ?? '') : undefined
    if (separator === undefined) return []
    const taken = recordsOf(rest, line, separator, isLast)
    rest = rest.slice(taken.end)
    line = taken.line
    return taken.records
  }
  for await (const chunk of chunks) {
    rest += chunk
    yield take(false)
    if (rest.length > recordLengthMax) {
      invalidRow(
        line,
        null,
        `the record has more than ${recordLengthMax} characters: is a quote not closed, or are its lines ended by CR alone?`,
      )
    }
  }
  if (rest !== '' && !rest.endsWith('\n')) rest += '\n'
  yield take(true)
}

function recordsOf(text: string, firstLine: number, delimiter: string, isLast: boolean) {
  const records: CsvRecord[] = []
  let line = firstLine
  let start = 0
  for (;;) {
    const newline = text.indexOf('\n', start)
    if (newline === -1) break
    const plain = text.slice(start, text.charCodeAt(newline - 1) === 13 ? newline - 1 : newline)
    if (!plain.includes('"')) {
      if (plain !== '') records.push({ line, cells: plain.split(delimiter) })
      start = newline + 1
      line += 1
      continue
    }
    const quoted = quotedRecord(text, start, line, delimiter)
    if (quoted === null) {
      if (isLast) invalidRow(line, null, 'a quote is not closed')
      break
    }
    records.push({ line, cells: quoted.cells })
    start = quoted.end
    line += quoted.lines
  }
  return { records, end: start, line }
}

/** A record with quotes; `null` if it does not end in this text. */
function quotedRecord(text: string, start: number, line: number, delimiter: string) {
  const cells: string[] = []
  let lines = 0
  let at = start
  for (;;) {
    let value: string
    if (text[at] === '"') {
      const close = closingQuote(text, at + 1)
      if (close === -1) return null
      value = text.slice(at + 1, close)
      lines += value.split('\n').length - 1
      value = value.replaceAll('""', '"')
      at = close + 1
    } else {
      const next = text.indexOf(delimiter, at)
      const newline = text.indexOf('\n', at)
      if (newline === -1) return null
      const end = next === -1 || next > newline ? newline : next
      value = text.slice(at, end)
      at = end
      if (end === newline && value.endsWith('\r')) value = value.slice(0, -1)
    }
    cells.push(value)
    if (text.startsWith('\r\n', at)) at += 1
    if (text[at] === '\n') return { cells, end: at + 1, lines: lines + 1 }
    // The next chunk may begin with the rest of a line end, or with the second quote of a pair.
    if (at >= text.length || (text[at] === '\r' && at + 1 === text.length)) return null
    if (!text.startsWith(delimiter, at)) {
      invalidRow(
        line,
        null,
        `after the quote of value ${cells.length}, a ${JSON.stringify(delimiter)} is missing`,
      )
    }
    at += delimiter.length
  }
}

/** The quote that ends a quoted value; two quotes are one of the value. */
function closingQuote(text: string, from: number): number {
  let at = from
  for (;;) {
    const quote = text.indexOf('"', at)
    if (quote === -1 || text[quote + 1] !== '"') return quote
    at = quote + 2
  }
}
