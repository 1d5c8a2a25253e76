/** JSON documents of 10 MB. A file of their own: mutation tests do not run it for every mutant. */
import { describe, expect, test } from 'vitest'
import { readJson } from '../../src/http/json.js'
import { parseDecimal } from '../../src/money.js'

describe('given a JSON document of 10 MB', () => {
  const size = 10 << 20
  const beside = (body: string) => `{"b":12345678901234567,"a":${body}}`
  test.each([
    ['one text', JSON.stringify('x'.repeat(size))],
    ['escapes', `"${'\\n'.repeat(size / 2)}"`],
    ['quotes', `"${'\\"'.repeat(size / 2)}"`],
    ['white space', `${' '.repeat(size)}1`],
    ['a text of white space and commas', `"${', '.repeat(size / 2)}"`],
    ['small numbers', `[${'1,'.repeat(size / 2)}1]`],
    ['small texts', `[${'"",'.repeat(size / 3)}1]`],
    ['one number', '1'.repeat(size)],
    ['a number with dots in a text', `"${'1.'.repeat(size / 2)}"`],
  ])('when it consists of %s, then it is parsed without loss', (_, body) => {
    const parsed = readJson(beside(body)) as { a: unknown; b: unknown }
    expect(String(parsed.b)).toBe('12345678901234567')
    if (typeof parsed.a === 'string') expect(parsed.a === JSON.parse(body)).toBe(true)
    expect(parseDecimal(parsed.a) === null || parsed.a === 1).toBe(true)
  })
})
