import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readJson } from '../../src/http/json.js'
import { parseDecimal } from '../../src/money.js'

/** A document as it is meant, before it is written. */
type Meant = null | boolean | string | { written: string } | Meant[] | Map<string, Meant>

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength })
const exponent = fc
  .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), digits(1, 3))
  .map(parts => parts.join(''))
const written = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(
      fc.constant('0'),
      digits(0, 25).chain(rest => fc.constantFrom(...'123456789').map(first => first + rest)),
    ),
    fc.oneof(
      fc.constant(''),
      digits(1, 25).map(fraction => `.${fraction}`),
    ),
    fc.oneof({ weight: 3, arbitrary: fc.constant('') }, exponent),
  )
  .map(parts => parts.join(''))

/** Texts that look like what stands around numbers, and like what marks them. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom(
        '"',
        '\\',
        '\\"',
        '1234567890123456',
        '-0.1',
        '1e5',
        ':',
        ',',
        '[',
        '{',
        '}',
        ']',
        ' ',
        'n',
        's',
        '\n',
        '\u2028',
        '😀',
        '\ud800',
      ),
    )
    .map(parts => parts.join('')),
  fc.constantFrom('__proto__', 'constructor', 'n1', 's', 'n', '', 'toString'),
)

const document = fc.letrec<{ value: Meant; list: Meant[]; record: Map<string, Meant> }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Meant>(null, true, false),
    text,
    written.map(number => ({ written: number })),
    tie('list'),
    tie('record'),
  ),
  list: fc.array(tie('value'), { maxLength: 5 }),
  record: fc.array(fc.tuple(text, tie('value')), { maxLength: 5 }).map(entries => new Map(entries)),
})).value

const space = fc.constantFrom('', '', ' ', '\n', '\t\r ', '      ')

function write(meant: Meant, gap: string): string {
  if (meant instanceof Map) {
    const fields = [...meant].map(
      ([key, value]) => `${gap}${JSON.stringify(key)}${gap}:${gap}${write(value, gap)}${gap}`,
    )
    return `{${fields.join(',')}}`
  }
  if (Array.isArray(meant)) return `[${meant.map(item => `${gap}${write(item, gap)}${gap}`).join(',')}]`
  if (typeof meant === 'object' && meant !== null) return meant.written
  return JSON.stringify(meant)
}

/** What was read is what was meant, and no digit is lost. */
function expectMeaning(read: unknown, meant: Meant): void {
  if (meant instanceof Map) {
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
    expect(new Set(Object.keys(read as object))).toEqual(new Set(meant.keys()))
    for (const [key, value] of meant) {
      expectMeaning(Object.getOwnPropertyDescriptor(read, key)?.value, value)
    }
  } else if (Array.isArray(meant)) {
    expect(Array.isArray(read) && read.length).toBe(meant.length)
    for (const [index, item] of meant.entries()) expectMeaning((read as unknown[])[index], item)
  } else if (typeof meant === 'object' && meant !== null) {
    if (typeof read === 'number') {
      // As JSON.parse has it, and only where nothing is lost.
      expect(Object.is(read, Number(meant.written))).toBe(true)
      expect(meant.written).toMatch(/^-?[0-9.]{1,15}$/)
    } else expect(`${read}`).toBe(meant.written)
    // Which is what makes an amount of it.
    if (!/^-[0.]+(?:$|e)/i.test(meant.written)) expect(parseDecimal(read)).toBe(parseDecimal(meant.written))
  } else expect(read).toBe(meant)
}

describe('readJson', () => {
  test('reads every document as it was meant, with all of its digits', () => {
    fc.assert(
      fc.property(document, space, space, (meant, gap, around) => {
        expectMeaning(readJson(`${around}${write(meant, gap)}${around}`), meant)
      }),
      { numRuns: 5000, seed: 20261121 },
    )
  })

  test('is JSON.parse where numbers are short', () => {
    fc.assert(
      fc.property(fc.json(), json => {
        const parsed: unknown = JSON.parse(json)
        const short = !/[0-9.]{16}|[0-9]e/i.test(json)
        if (short) expect(readJson(json)).toEqual(parsed)
      }),
      { numRuns: 3000, seed: 20261121 },
    )
  })

  test('refuses what JSON.parse refuses', () => {
    fc.assert(
      fc.property(
        document,
        fc.nat(),
        fc.constantFrom('', '"', '\\', '1', ',', '}', ']', 'e', '\ufeff', '\0'),
        (meant, at, put) => {
          const whole = write(meant, '')
          const position = at % (whole.length + 1)
          const broken = whole.slice(0, position) + put + whole.slice(position + (at % 2))
          let fails = false
          try {
            JSON.parse(broken)
          } catch {
            fails = true
          }
          if (fails) expect(() => readJson(broken)).toThrow(SyntaxError)
          else readJson(broken)
        },
      ),
      { numRuns: 5000, seed: 20261121 },
    )
  })

  test.each([
    ['0.1234567890123456', '0.1234567890123456'],
    ['12345678901234567', '12345678901234567'],
    ['1234567890123456.78', '1234567890123456.78'],
    ['100.000000000000000000', '100.000000000000000000'],
    ['9007199254740993', '9007199254740993'],
    ['1e400', '1e400'],
    ['1E-7', '1E-7'],
    ['5e0', '5e0'],
  ])('keeps %s as it was written', (number, expected) => {
    expect(String(readJson(number))).toBe(expected)
    expect(String((readJson(`{"a":[ -1,\n${number} ]}`) as { a: unknown[] }).a[1])).toBe(expected)
  })

  test('takes up to 15 digits as a number', () => {
    expect(readJson('123456789012345')).toBe(123456789012345)
    expect(readJson('0.1234567890123')).toBe(0.1234567890123)
  })

  test.each([
    ['a text of digits', '{"a":"12345678901234567","b":12345678901234567}', { a: '12345678901234567' }],
    [
      'a text with escaped quotes',
      '{"a":"x\\":12345678901234567,\\"","b":12345678901234567}',
      { a: 'x":12345678901234567,"' },
    ],
    ['a text that ends in backslashes', '{"a":"\\\\\\\\","b":12345678901234567}', { a: '\\\\' }],
    [
      'a text of escapes and digits',
      '{"a":"\\u003112345678901234567\\t1\\b2","b":12345678901234567}',
      { a: '112345678901234567\t1\b2' },
    ],
    ['a text with an escaped surrogate pair', '{"a":"\\ud83d\\ude00","b":12345678901234567}', { a: '😀' }],
  ])('leaves alone %s beside a long number', (_, json, expected) => {
    const { b, ...rest } = readJson(json) as Record<string, unknown>
    expect(String(b)).toBe('12345678901234567')
    expect(rest).toEqual(expected)
  })

  test('a body cannot pretend to hold the number of a JSON text', () => {
    for (const text of ['n12345678901234567', 's12345678901234567', '{"text":"1"}']) {
      const { a } = readJson(`{"a":${JSON.stringify(text)},"b":12345678901234567}`) as { a: unknown }
      expect(a).toBe(text)
    }
    expect(parseDecimal(readJson('{"text":"100","b":12345678901234567}'))).toBeNull()
    expect(parseDecimal(readJson('{"text":"100"}'))).toBeNull()
  })

  test('__proto__ is a key like any other, also beside a long number', () => {
    for (const rest of ['', ',"b":12345678901234567']) {
      const read = readJson(`{"__proto__":{"amount":1}${rest}}`) as Record<string, unknown>
      expect(Object.keys(read)).toContain('__proto__')
      expect(read.amount).toBeUndefined()
      expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
    }
    expect(({} as Record<string, unknown>).amount).toBeUndefined()
  })

  test('of duplicate keys the last counts, also beside a long number', () => {
    expect(readJson('{"a":1,"a":2}')).toEqual({ a: 2 })
    expect(String((readJson('{"a":1,"a":12345678901234567}') as { a: unknown }).a)).toBe('12345678901234567')
    expect((readJson('{"a":12345678901234567,"a":1}') as { a: unknown }).a).toBe(1)
  })

  test('nesting: as deep as anybody likes, or refused, never a crash', () => {
    const nested = (depth: number, inside: string) => `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`
    expect(() => readJson(nested(50, '12345678901234567'))).not.toThrow()
    expect(() => readJson(nested(101, '12345678901234567'))).toThrow(SyntaxError)
    expect(() => readJson(nested(1_000_000, '12345678901234567'))).toThrow()
    expect(() => readJson('{"a":'.repeat(200_000))).toThrow(SyntaxError)
  })

  describe('10 MB', () => {
    const size = 10 << 20
    const beside = (body: string) => `{"b":12345678901234567,"a":${body}}`
    test.each([
      ['of one text', JSON.stringify('x'.repeat(size))],
      ['of escapes', `"${'\\n'.repeat(size / 2)}"`],
      ['of quotes', `"${'\\"'.repeat(size / 2)}"`],
      ['of white space', `${' '.repeat(size)}1`],
      ['of a text of white space and commas', `"${', '.repeat(size / 2)}"`],
      ['of small numbers', `[${'1,'.repeat(size / 2)}1]`],
      ['of small texts', `[${'"",'.repeat(size / 3)}1]`],
      ['of one number', '1'.repeat(size)],
      ['of a number with dots in a text', `"${'1.'.repeat(size / 2)}"`],
    ])('%s', (_, body) => {
      const read = readJson(beside(body)) as { a: unknown; b: unknown }
      expect(String(read.b)).toBe('12345678901234567')
      if (typeof read.a === 'string') expect(read.a === JSON.parse(body)).toBe(true)
      expect(parseDecimal(read.a) === null || read.a === 1).toBe(true)
    })
  })
})
