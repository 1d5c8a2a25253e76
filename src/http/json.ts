/** JSON text in and out, without losing a digit (D21). */
import { JsonNumber } from '../money.js'

/** A number of 16 characters or more, or with an exponent: a JavaScript number might not hold it. May also hit a text. */
const longNumber = /(?:^|[[:,])\s*-?(?:[0-9.]{16}|[0-9.]+[eE])/

/**
 * In a well-formed JSON document: an escape, the begin or the end of a text, or what is a number outside of texts. Never
 * a whole text: the engine gives up on one with millions of escapes.
 */
const tokens = /\\.|"|-?[0-9][0-9.eE+-]*/g

/** What is nested deeper is refused where it has to be walked. No call of the interface is nested at all. */
const depthMax = 100

/**
 * Reads JSON as `JSON.parse` does, but gives a number that a JavaScript number might not hold exactly as a
 * {@link JsonNumber}. On every supported Node: the reviver's `context.source` is missing in 20.
 *
 * @throws {SyntaxError} for malformed JSON, or for long numbers in a document nested more than 100 deep
 */
export function readJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!longNumber.test(text)) return value
  // The document is well-formed, so its tokens are where the pattern says. Numbers become texts marked "n", texts
  // are marked "s" (keys too), and no body can pretend to be the one or the other.
  let insideText = false
  const marked = text.replace(tokens, token => {
    if (token === '"') {
      insideText = !insideText
      return insideText ? '"s' : '"'
    }
    return insideText ? token : `"n${token}"`
  })
  return unmarked(JSON.parse(marked), 0)
}

function unmarked(value: unknown, depth: number): unknown {
  if (depth > depthMax) throw new SyntaxError(`nested more than ${depthMax} deep`)
  if (typeof value === 'string') return value.startsWith('s') ? value.slice(1) : numberOf(value.slice(1))
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => unmarked(item, depth + 1))
  // fromEntries defines its keys, so that "__proto__" is a key like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.slice(1), unmarked(item, depth + 1)]),
  )
}

function numberOf(written: string): number | JsonNumber {
  return longNumber.test(written) ? new JsonNumber(written) : Number(written)
}
