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
      const problem = `the record has more than ${recordLengthMax} characters: is a quote not closed, or are its lines ended by CR alone?`
      invalidRow(line, null, problem)
    }
  }
  if (rest !== '' && !rest.endsWith('\n')) rest += '\n'
  yield take(true)
}

function recordsOf(text: string, firstLine: number, delimiter: string, isLast: boolean) {
  const records: CsvRecord[] = []
  let line = firstLine
  let start = 0
  for (let newline = text.indexOf('\n'); newline !== -1; newline = text.indexOf('\n', start)) {
    const plain = text.slice(start, text.charCodeAt(newline - 1) === 13 ? newline - 1 : newline)
    const record = plain.includes('"')
      ? quotedRecord(text, start, line, delimiter)
      : { cells: plain === '' ? [] : plain.split(delimiter), end: newline + 1, lines: 1 }
    if (record === null) {
      if (isLast) invalidRow(line, null, 'a quote is not closed')
      break
    }
    if (record.cells.length > 0) records.push({ line, cells: record.cells })
    start = record.end
    line += record.lines
  }
  return { records, end: start, line }
}

/** A record with quotes; `null` if it does not end in this text. */
function quotedRecord(text: string, start: number, line: number, delimiter: string) {
  const cells: string[] = []
  for (let at = start; ; at += delimiter.length) {
    const isQuoted = text[at] === '"'
    const end = isQuoted ? closingQuote(text, at + 1) : endOfBare(text, at, delimiter)
    if (end === -1) return null
    const value = isQuoted ? text.slice(at + 1, end).replaceAll('""', '"') : text.slice(at, end)
    cells.push(value)
    at = isQuoted ? end + 1 : end
    if (text.startsWith('\r\n', at)) at += 1
    if (text[at] === '\n') {
      return { cells, end: at + 1, lines: text.slice(start, at + 1).split('\n').length - 1 }
    }
    // The next chunk may begin with the rest of a line end, or with the second quote of a pair.
    if (at >= text.length || (text[at] === '\r' && at + 1 === text.length)) return null
    if (text.startsWith(delimiter, at)) continue
    const problem = `after the quote of value ${cells.length}, a ${JSON.stringify(delimiter)} is missing`
    invalidRow(line, null, problem)
  }
}

/** Where a value without quotes ends: before a delimiter or a line end. */
function endOfBare(text: string, from: number, delimiter: string): number {
  const newline = text.indexOf('\n', from)
  if (newline === -1) return -1
  const length = text.slice(from, newline).indexOf(delimiter)
  if (length !== -1) return from + length
  return newline > from && text[newline - 1] === '\r' ? newline - 1 : newline
}

/** The quote that ends a quoted value; two quotes are one of the value. */
function closingQuote(text: string, from: number): number {
  let quote = text.indexOf('"', from)
  while (quote !== -1 && text[quote + 1] === '"') quote = text.indexOf('"', quote + 2)
  return quote
}
