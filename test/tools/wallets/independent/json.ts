/** A string or a number of a JSON object as it stands in the text, or what else there is. */
export type Field = { kind: 'text' | 'number'; text: string } | { kind: 'null' } | { kind: 'other' }

/**
 * The members of a JSON object, with its numbers as text.
 *
 * JSON.parse knows the grammar, but makes floats of the numbers. So it judges the text first; then every string
 * gets an `s` and every number becomes a string with an `n`, and it reads the text again. In a text that is known
 * to be JSON a quote opens a string, and a digit or minus outside a string begins a number, so one expression finds
 * them all. The marks keep "10" apart from 10, and a key such as __proto__ from being anything special.
 *
 * @throws SyntaxError if the text is no JSON
 * @returns undefined if it is JSON, but no object
 */
export const readObject = (text: string): Map<string, Field> | undefined => {
  const plain: unknown = JSON.parse(text)
  if (typeof plain !== 'object' || plain === null || Array.isArray(plain)) return undefined
  const marked = text.replace(/"([^"\\]*(?:\\.[^"\\]*)*)"|-?\d[\d.eE+-]*/g, (token, inside?: string) =>
    inside === undefined ? `"n${token}"` : `"s${inside}"`,
  )
  const object: Record<string, unknown> = JSON.parse(marked)
  return new Map(Object.entries(object).map(([key, value]) => [key.slice(1), field(value)]))
}

const field = (value: unknown): Field => {
  if (value === null) return { kind: 'null' }
  if (typeof value !== 'string') return { kind: 'other' }
  return { kind: value.startsWith('n') ? 'number' : 'text', text: value.slice(1) }
}
