/**
 * JSON with exact numbers, written and read. The library's reader is not used: the tools judge wallets that
 * may be built with the library, and one error must not hide another.
 */

/**
 * A number as the body spells it: `"100.00"`. Only {@link readJson} creates it, so that no body can imitate
 * one.
 */
export class JsonNumber {
  constructor(readonly text: string) {}
}

/**
 * JSON text that {@link write} copies as it is: a number with all its digits, or text that is malformed on
 * purpose.
 */
class RawJson {
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
 * Reads any JSON text. Objects become maps, so that `__proto__` is a key like any other; of equal keys the
 * last one counts. Numbers become {@link JsonNumber}.
 *
 * @param onRepeatedKey is called with a key that an object has again; the keys of the outermost object have
 *   depth 1
 * @throws {SyntaxError} for malformed JSON, and for nesting of more than 100 levels
 */
export function readJson(text: string, onRepeatedKey?: (key: string, depth: number) => void): ReadJson {
  return new Reader(text, onRepeatedKey).readDocument()
}

class Reader {
  readonly #text: string
  readonly #onRepeatedKey: ((key: string, depth: number) => void) | undefined
  #at = 0
  /** Without escapes and control characters, a string is the text between its quotes. */
  readonly #isPlain: boolean

  constructor(text: string, onRepeatedKey?: (key: string, depth: number) => void) {
    this.#text = text
    this.#onRepeatedKey = onRepeatedKey
    this.#isPlain = !/[\\\p{Cc}]/u.test(text)
  }

  readDocument(): ReadJson {
    this.#skipSpace()
    const value = this.#readValue(0)
    return this.#at === this.#text.length ? value : this.#fail()
  }

  #readValue(depth: number): ReadJson {
    if (depth > depthMax) this.#fail(`nested more than ${depthMax} levels deep`)
    switch (this.#text[this.#at]) {
      case '"':
        return this.#readString()
      case '{':
        return this.#readFields(depth + 1)
      case '[':
        return this.#readList(depth + 1)
      case 't':
        return this.#skip('true') || this.#fail()
      case 'f':
        return this.#skip('false') ? false : this.#fail()
      case 'n':
        return this.#skip('null') ? null : this.#fail()
      default:
        return this.#readNumber()
    }
  }

  #readFields(depth: number): Map<string, ReadJson> {
    const fields = new Map<string, ReadJson>()
    this.#skip('{')
    if (this.#skip('}')) return fields
    do {
      if (this.#text[this.#at] !== '"') this.#fail()
      const key = this.#readString()
      if (!this.#skip(':')) this.#fail()
      if (fields.has(key)) this.#onRepeatedKey?.(key, depth)
      fields.set(key, this.#readValue(depth))
    } while (this.#skip(','))
    return this.#skip('}') ? fields : this.#fail()
  }

  #readList(depth: number): ReadJson[] {
    const items: ReadJson[] = []
    this.#skip('[')
    if (this.#skip(']')) return items
    do items.push(this.#readValue(depth))
    while (this.#skip(','))
    return this.#skip(']') ? items : this.#fail()
  }

  #readString(): string {
    const from = this.#at
    do this.#at = this.#text.indexOf('"', this.#at + 1)
    while (this.#at !== -1 && isEscaped(this.#text, this.#at))
    if (this.#at === -1) {
      this.#at = this.#text.length
      this.#fail('unterminated string')
    }
    this.#at += 1
    const literal = this.#text.slice(from, this.#at)
    this.#skipSpace()
    return this.#isPlain ? literal.slice(1, -1) : JSON.parse(literal)
  }

  #readNumber(): JsonNumber {
    number.lastIndex = this.#at
    const [spelling] = number.exec(this.#text) ?? this.#fail()
    this.#at += spelling.length
    this.#skipSpace()
    return new JsonNumber(spelling)
  }

  /** Skips this text and the white space after it, if it is next. */
  #skip(expected: string): boolean {
    if (!this.#text.startsWith(expected, this.#at)) return false
    this.#at += expected.length
    this.#skipSpace()
    return true
  }

  #skipSpace(): void {
    if (this.#text.charCodeAt(this.#at) > 0x20) return
    whiteSpace.lastIndex = this.#at
    whiteSpace.test(this.#text)
    this.#at = whiteSpace.lastIndex
  }

  #fail(problem = 'unexpected text'): never {
    throw new SyntaxError(`${problem} at position ${this.#at}`)
  }
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
