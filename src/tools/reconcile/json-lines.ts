/** One JSON object per line, with every digit of its numbers. */
import { readJson } from '../../http/json.js'
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
  const twice = keyTwice(text)
  if (twice !== null) invalidRow(line, twice, 'the line has this key twice')
  return value as Record<string, unknown>
}

/**
 * A reader of JSON keeps the last of two equal keys, and says nothing.
 *
 * @param text a well-formed object
 */
function keyTwice(text: string): string | null {
  const keys = new Set<string>()
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    else if (character === '"') {
      const start = at
      for (at += 1; text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1
      if (depth !== 1 || !isBeforeColon(text, at + 1)) continue
      const key: string = JSON.parse(text.slice(start, at + 1))
      if (keys.has(key)) return key
      keys.add(key)
    }
  }
  return null
}

function isBeforeColon(text: string, from: number): boolean {
  let at = from
  while (' \t\r'.includes(text[at] as string)) at += 1
  return text[at] === ':'
}
