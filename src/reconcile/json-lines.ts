/** One JSON object per line, with every digit of its numbers. */
import { readJson } from '../http/json.js'
import { invalidRow } from './errors.js'

export interface JsonRecord {
  line: number
  fields: Readonly<Record<string, unknown>>
}

/** A longer line is no row of a report. */
const lineLengthMax = 1_000_000

/**
 * Reads objects chunk by chunk. Empty lines are ignored.
 *
 * @returns all objects that a chunk completes, at a time
 * @throws {ReconcileError} `INVALID_REPORT`, naming the line
 */
export async function* jsonRecords(chunks: AsyncIterable<string>): AsyncGenerator<JsonRecord[]> {
  let rest = ''
  let line = 0
  const read = (lines: readonly string[]) => {
    const records: JsonRecord[] = []
    for (const text of lines) {
      line += 1
      if (text.trim() !== '') records.push({ line, fields: objectOf(text, line) })
    }
    return records
  }
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield read(lines)
    if (rest.length > lineLengthMax) {
      invalidRow(
        line + 1,
        null,
        `the line has more than ${lineLengthMax} characters: one object per line is expected`,
      )
    }
  }
  yield read([rest])
}

function objectOf(text: string, line: number): Record<string, unknown> {
  let value: unknown
  try {
    value = readJson(text)
  } catch (error) {
    invalidRow(line, null, `no JSON object: ${(error as Error).message}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    invalidRow(line, null, 'no JSON object')
  }
  return value as Record<string, unknown>
}
