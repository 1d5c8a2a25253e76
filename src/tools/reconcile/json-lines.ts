/** One JSON object per line, with every digit of its numbers. */
import { isA } from '../../foreign-values.js'
import { type ReadJson, readJson } from '../wire/json.js'
import { invalidRow } from './errors.js'

export interface JsonRecord {
  line: number
  fields: ReadonlyMap<string, ReadJson>
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

function objectOf(text: string, line: number): JsonRecord['fields'] {
  let twice: string | null = null
  try {
    const value = readJson(text, (key, depth) => {
      if (depth === 1) twice ??= key
    })
    if (twice !== null) return invalidRow(line, twice, 'the line has this key twice')
    if (value instanceof Map) return value
  } catch (error) {
    if (isA(error, SyntaxError)) invalidRow(line, null, `no JSON object: ${error.message}`)
    throw error
  }
  return invalidRow(line, null, 'no JSON object')
}
