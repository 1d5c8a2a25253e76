/** JSON with its numbers as they are written: what JavaScript's own parser rounds is money here. */

/** A number in a body: its text goes out as it is. */
export interface WrittenNumber {
  readonly written: string
}

export type Json =
  | string
  | number
  | boolean
  | null
  | WrittenNumber
  | readonly Json[]
  | { readonly [key: string]: Json | undefined }

/** A JSON number, digit for digit. */
export function written(text: string): WrittenNumber {
  return { written: text }
}

/** JSON text; fields that are `undefined` are left out. */
export function write(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  if (isWritten(value)) return value.written
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${write(field as Json)}`).join(',')}}`
}

function isWritten(value: object): value is WrittenNumber {
  return 'written' in value && typeof value.written === 'string' && Object.keys(value).length === 1
}

/** The fields of a JSON object, in their order; numbers are {@link WrittenNumber}. `null` where it is none. */
export function readObject(text: string): Map<string, unknown> | null {
  try {
    JSON.parse(text)
    const tagged = text.replace(/"(?:[^"\\]+|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, token =>
      token.startsWith('"') ? token : `{"written":"${token}"}`,
    )
    const value: unknown = JSON.parse(tagged)
    if (typeof value !== 'object' || value === null || Array.isArray(value) || isWritten(value)) return null
    return new Map(Object.entries(value))
  } catch {
    return null // not JSON: the answer is judged by that
  }
}

/** The text of a number of {@link readObject}, also of one in quotes; `null` for anything else. */
export function numberText(value: unknown): { text: string; quoted: boolean } | null {
  if (typeof value === 'string') return { text: value, quoted: true }
  return typeof value === 'object' && value !== null && isWritten(value)
    ? { text: value.written, quoted: false }
    : null
}
