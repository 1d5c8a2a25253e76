/**
 * JSON with exact numbers, written and read. Its own reader and not the library's: the audit and the simulator judge
 * wallets that may be built with the library, and one error must not hide another.
 */

/** A number as the body spells it: `"100.00"`. Only {@link readJson} creates it, so that no body can imitate one. */
export class JsonNumber {
  constructor(readonly text: string) {}
}

/** JSON text that {@link write} copies as it is: a number with all its digits, or text that is malformed on purpose. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** A value to write. */
export type Json =
  | string
  | number
  | boolean
  | null
  | RawJson
  | readonly Json[]
  | { readonly [key: string]: Json | undefined }

/** A value that was read. */
export type ReadJson = string | boolean | null | JsonNumber | ReadJson[] | Map<string, ReadJson>

export function raw(text: string): RawJson {
  return new RawJson(text)
}

/** JSON text; fields that are `undefined` are left out. */
export function write(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  if (value instanceof RawJson) return value.text
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${write(field as Json)}`).join(',')}}`
}

/** Deeper nesting is rejected: no answer of the interface is nested at all. */
const depthMax = 100

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const whiteSpace = /[ \t\n\r]*/y

/**
 * Reads any JSON text. Objects become maps, so that `__proto__` is a key like any other; of equal keys the last one
 * counts. Numbers become {@link JsonNumber}.
 *
 * @throws {SyntaxError} for malformed JSON, and for nesting of more than 100 levels
 */
export function readJson(text: string): ReadJson {
  let at = 0
  // Without escapes and control characters, a string is what stands between its quotes. Else the engine reads it.
  const isPlain = !/[\\\p{Cc}]/u.test(text)

  function fail(problem = 'unexpected text'): never {
    throw new SyntaxError(`${problem} at position ${at}`)
  }

  function skipSpace(): void {
    if (text.charCodeAt(at) > 0x20) return
    whiteSpace.lastIndex = at
    whiteSpace.test(text)
    at = whiteSpace.lastIndex
  }

  /** Whether this comes next, and if so, it is skipped with the white space behind it. */
  function skip(expected: string): boolean {
    if (!text.startsWith(expected, at)) return false
    at += expected.length
    skipSpace()
    return true
  }

  function readText(): string {
    const from = at
    if (text[at] !== '"') fail()
    do at = text.indexOf('"', at + 1)
    while (at !== -1 && isEscaped(text, at))
    if (at === -1) {
      at = text.length
      fail('unterminated string')
    }
    at += 1
    const literal = text.slice(from, at)
    skipSpace()
    return isPlain ? literal.slice(1, -1) : JSON.parse(literal)
  }

  function readNumber(): JsonNumber {
    number.lastIndex = at
    const [spelling] = number.exec(text) ?? fail()
    at += spelling.length
    skipSpace()
    return new JsonNumber(spelling)
  }

  function readList(depth: number): ReadJson[] {
    const items: ReadJson[] = []
    if (skip(']')) return items
    do items.push(readValue(depth))
    while (skip(','))
    return skip(']') ? items : fail()
  }

  function readFields(depth: number): Map<string, ReadJson> {
    const fields = new Map<string, ReadJson>()
    if (skip('}')) return fields
    do {
      const key = readText()
      if (!skip(':')) fail()
      fields.set(key, readValue(depth))
    } while (skip(','))
    return skip('}') ? fields : fail()
  }

  function readValue(depth: number): ReadJson {
    if (depth > depthMax) fail(`nested more than ${depthMax} levels deep`)
    switch (text[at]) {
      case '"':
        return readText()
      case '{':
        skip('{')
        return readFields(depth + 1)
      case '[':
        skip('[')
        return readList(depth + 1)
      case 't':
        return skip('true') || fail()
      case 'f':
        return skip('false') ? false : fail()
      case 'n':
        return skip('null') ? null : fail()
      default:
        return readNumber()
    }
  }

  skipSpace()
  const value = readValue(0)
  return at === text.length ? value : fail()
}

/** Whether an odd number of backslashes stands before this position. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text[before] === '\\') before -= 1
  return (at - before) % 2 === 0
}

/** The fields of a JSON object in their order; `null` for any other text. */
export function readObject(text: string): Map<string, ReadJson> | null {
  try {
    const value = readJson(text)
    return value instanceof Map ? value : null
  } catch {
    return null // not JSON: the caller judges that
  }
}

/** The text of a number that was read, or of a string; `null` for any other value. */
export function numberText(value: ReadJson | undefined): { text: string; quoted: boolean } | null {
  if (typeof value === 'string') return { text: value, quoted: true }
  return value instanceof JsonNumber ? { text: value.text, quoted: false } : null
}
