/** JSON that keeps every digit (D21), read and written. */
import { randomUUID } from 'node:crypto'
import { isJsonNumber, JsonNumber } from '../money.js'

/**
 * A number of 16 characters or more, or with an exponent: a JavaScript number might not hold it. May also
 * match in a string.
 */
const longNumber = /(?:^|[[:,])\s*-?(?:[0-9.]{16}|[0-9.]+[eE])/

/**
 * The tokens of a well-formed JSON document: an escape, the quote that begins or ends a string, or (outside
 * of strings) a number. Never a whole string: the regular expression engine fails on one with millions of
 * escapes.
 */
const tokens = /\\.|"|-?[0-9][0-9.eE+-]*/g

/** The maximum nesting of a document that has to be walked. No request of the interface is nested at all. */
const depthMax = 100

/**
 * Parses JSON as `JSON.parse` does, but returns a {@link JsonNumber} for a number that a JavaScript number
 * might not hold exactly. The reviver's `context.source`, which would do the same, is missing in Node 20.
 *
 * @throws {SyntaxError} for malformed JSON, or for long numbers in a document nested more than 100 deep
 */
export function readJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!longNumber.test(text)) return value
  // The document is well-formed, so the pattern finds its tokens. Numbers become strings with the prefix "n",
  // strings (keys too) get the prefix "s": no document can make one look like the other.
  let insideString = false
  const marked = text.replace(tokens, token => {
    if (token === '"') {
      insideString = !insideString
      return insideString ? '"s' : '"'
    }
    return insideString ? token : `"n${token}"`
  })
  return unmarked(JSON.parse(marked), 0)
}

function unmarked(value: unknown, depth: number): unknown {
  if (depth > depthMax) throw new SyntaxError(`nested more than ${depthMax} levels deep`)
  if (typeof value === 'string') return value.startsWith('s') ? value.slice(1) : numberOf(value.slice(1))
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => unmarked(item, depth + 1))
  // fromEntries defines its keys: "__proto__" is a key like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.slice(1), unmarked(item, depth + 1)]),
  )
}

function numberOf(written: string): number | JsonNumber {
  return longNumber.test(written) ? new JsonNumber(written) : Number(written)
}

const numberText = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/

/**
 * Writes JSON as `JSON.stringify` does, and a {@link JsonNumber} as a number with all of its digits.
 * `JSON.rawJSON`, which would do the same, is missing in Node 20.
 *
 * @throws {TypeError} for what is no JSON: `undefined`, a function, a BigInt, a cycle, a JsonNumber of other
 *   text
 */
export function writeJson(value: unknown): string {
  // No text of the value can be the mark: it is random.
  let mark: string | null = null
  const text = JSON.stringify(value, function (this: Record<string, unknown>, key, item: unknown) {
    const number = this[key] // before toJSON
    if (!isJsonNumber(number)) return item
    if (!numberText.test(number.text)) throw new TypeError(`${number.text} is no JSON number`)
    mark ??= randomUUID()
    return mark + number.text
  })
  if (text === undefined) throw new TypeError('undefined and functions are no JSON')
  return mark === null ? text : text.replace(new RegExp(`"${mark}([^"]+)"`, 'g'), '$1')
}
