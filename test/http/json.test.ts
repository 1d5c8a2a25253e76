import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readJson, writeJson } from '../../src/http/json.js'
import { JsonNumber, parseDecimal } from '../../src/money.js'

/** A JSON document as a model, before it is serialised. */
type Model = null | boolean | string | { number: string } | Model[] | Map<string, Model>

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength })
const exponent = fc
  .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), digits(1, 3))
  .map(parts => parts.join(''))
const numberText = fc
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

/** Texts that contain what surrounds numbers in JSON, and the prefixes that the parser adds. */
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

const document = fc.letrec<{ value: Model; list: Model[]; record: Map<string, Model> }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Model>(null, true, false),
    text,
    numberText.map(number => ({ number })),
    tie('list'),
    tie('record'),
  ),
  list: fc.array(tie('value'), { maxLength: 5 }),
  record: fc.array(fc.tuple(text, tie('value')), { maxLength: 5 }).map(entries => new Map(entries)),
})).value

const space = fc.constantFrom('', '', ' ', '\n', '\t\r ', '      ')

function serialise(model: Model, gap: string): string {
  if (model instanceof Map) {
    const fields = [...model].map(
      ([key, value]) => `${gap}${JSON.stringify(key)}${gap}:${gap}${serialise(value, gap)}${gap}`,
    )
    return `{${fields.join(',')}}`
  }
  if (Array.isArray(model)) return `[${model.map(item => `${gap}${serialise(item, gap)}${gap}`).join(',')}]`
  if (typeof model === 'object' && model !== null) return model.number
  return JSON.stringify(model)
}

/** The parsed value equals the model, and no digit is lost. */
function expectEqual(parsed: unknown, model: Model): void {
  if (model instanceof Map) {
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
    expect(new Set(Object.keys(parsed as object))).toEqual(new Set(model.keys()))
    for (const [key, value] of model) {
      expectEqual(Object.getOwnPropertyDescriptor(parsed, key)?.value, value)
    }
  } else if (Array.isArray(model)) {
    expect(Array.isArray(parsed) && parsed.length).toBe(model.length)
    for (const [index, item] of model.entries()) expectEqual((parsed as unknown[])[index], item)
  } else if (typeof model === 'object' && model !== null) {
    if (typeof parsed === 'number') {
      // A JavaScript number, and only if it holds every digit.
      expect(Object.is(parsed, Number(model.number))).toBe(true)
      expect(model.number).toMatch(/^-?[0-9.]{1,15}$/)
    } else expect(`${parsed}`).toBe(model.number)
    // The amount that the request parser makes of it.
    if (!/^-[0.]+(?:$|e)/i.test(model.number)) expect(parseDecimal(parsed)).toBe(parseDecimal(model.number))
  } else expect(parsed).toBe(model)
}

describe('given a JSON document', () => {
  test('when it is parsed, then every value is kept, with all of its digits', () => {
    fc.assert(
      fc.property(document, space, space, (model, gap, around) => {
        expectEqual(readJson(`${around}${serialise(model, gap)}${around}`), model)
      }),
      { numRuns: 5000, seed: 20261121 },
    )
  })

  test('when its numbers are short, then the result equals that of JSON.parse', () => {
    fc.assert(
      fc.property(fc.json(), json => {
        const parsed: unknown = JSON.parse(json)
        const short = !/[0-9.]{16}|[0-9]e/i.test(json)
        if (short) expect(readJson(json)).toEqual(parsed)
      }),
      { numRuns: 3000, seed: 20261121 },
    )
  })

  test('when JSON.parse refuses it, then it is refused', () => {
    fc.assert(
      fc.property(
        document,
        fc.nat(),
        fc.constantFrom('', '"', '\\', '1', ',', '}', ']', 'e', '\ufeff', '\0'),
        (model, at, inserted) => {
          const whole = serialise(model, '')
          const position = at % (whole.length + 1)
          const mutated = whole.slice(0, position) + inserted + whole.slice(position + (at % 2))
          let fails = false
          try {
            JSON.parse(mutated)
          } catch {
            fails = true
          }
          if (fails) expect(() => readJson(mutated)).toThrow(SyntaxError)
          else readJson(mutated)
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
  ])('when it has the number %s, then its text is kept', (number, expected) => {
    expect(String(readJson(number))).toBe(expected)
    expect(String((readJson(`{"a":[ -1,\n${number} ]}`) as { a: unknown[] }).a[1])).toBe(expected)
  })

  test('when a number has at most 15 characters, then it is a JavaScript number', () => {
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
  ])('when it has %s beside a long number, then the text is unchanged', (_, json, expected) => {
    const { b, ...rest } = readJson(json) as Record<string, unknown>
    expect(String(b)).toBe('12345678901234567')
    expect(rest).toEqual(expected)
  })

  test('when a text looks like a marked number, then it stays a text', () => {
    for (const text of ['n12345678901234567', 's12345678901234567', '{"text":"1"}']) {
      const { a } = readJson(`{"a":${JSON.stringify(text)},"b":12345678901234567}`) as { a: unknown }
      expect(a).toBe(text)
    }
    expect(parseDecimal(readJson('{"text":"100","b":12345678901234567}'))).toBeNull()
    expect(parseDecimal(readJson('{"text":"100"}'))).toBeNull()
  })

  test('when it has the key "__proto__", then it is an ordinary key, also beside a long number', () => {
    for (const rest of ['', ',"b":12345678901234567']) {
      const parsed = readJson(`{"__proto__":{"amount":1}${rest}}`) as Record<string, unknown>
      expect(Object.keys(parsed)).toContain('__proto__')
      expect(parsed.amount).toBeUndefined()
      expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
    }
    expect(({} as Record<string, unknown>).amount).toBeUndefined()
  })

  test('when a key is duplicated, then the last one counts, also beside a long number', () => {
    expect(readJson('{"a":1,"a":2}')).toEqual({ a: 2 })
    expect(String((readJson('{"a":1,"a":12345678901234567}') as { a: unknown }).a)).toBe('12345678901234567')
    expect((readJson('{"a":12345678901234567,"a":1}') as { a: unknown }).a).toBe(1)
  })

  const long = '12345678901234567'
  const arrays = (depth: number, inside: string) => `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`
  const objects = (depth: number, inside: string) => `${'{"a":'.repeat(depth)}${inside}${'}'.repeat(depth)}`

  test.each([
    ['arrays', arrays],
    ['objects', objects],
  ])(
    'when %s with a long number are nested 100 deep, then they are parsed; 101 deep, refused',
    (_, nested) => {
      for (const depth of [50, 100]) {
        let innermost = readJson(nested(depth, long))
        while (!(innermost instanceof JsonNumber)) innermost = Object.values(innermost as object)[0]
        expect(String(innermost)).toBe(long)
      }
      for (const depth of [101, 20_000]) {
        expect(() => readJson(nested(depth, long))).toThrow(
          new SyntaxError('nested more than 100 levels deep'),
        )
      }
    },
  )

  test('when it is nested deeper but has short numbers only, then it is parsed as by JSON.parse', () => {
    for (const text of [arrays(101, '1'), objects(101, '1')]) expect(readJson(text)).toEqual(JSON.parse(text))
  })

  test('when it is nested so deep that the parser fails, then it throws, and the process does not crash', () => {
    expect(() => readJson(arrays(1_000_000, long))).toThrow()
    expect(() => readJson('{"a":'.repeat(200_000))).toThrow(SyntaxError)
  })
})

describe('given a value to write', () => {
  test('when it was read, then the same JSON is written', () => {
    const plain = (json: string) => JSON.stringify(JSON.parse(json))
    fc.assert(
      fc.property(document, model => {
        const json = serialise(model, '')
        expect(plain(writeJson(readJson(json)))).toBe(plain(json))
      }),
      { numRuns: 2000, seed: 20261122 },
    )
  })

  test('when it has numbers that were read, then they are written with every digit', () => {
    const long = numberText.filter(number => /^-?[0-9.]{16}|e/i.test(number))
    fc.assert(
      fc.property(fc.array(long), text, (numbers, key) => {
        const json = `{${JSON.stringify(key)}:[${numbers.join(',')}]}`
        expect(writeJson(readJson(json))).toBe(json)
      }),
      { numRuns: 2000, seed: 20261122 },
    )
  })

  test.each([
    [new JsonNumber('100.00'), '100.00'],
    [{ a: [new JsonNumber('-0.10'), 1, '1'] }, '{"a":[-0.10,1,"1"]}'],
    [{ b: undefined, c: null, d: new Date(0) }, '{"c":null,"d":"1970-01-01T00:00:00.000Z"}'],
    [JSON.parse('{"__proto__":1}'), '{"__proto__":1}'],
    [['null values'], '["null values"]'],
  ])(
    'when it is %j, then exact numbers are numbers, and the rest is as of JSON.stringify',
    (value, expected) => {
      expect(writeJson(value)).toBe(expected)
    },
  )

  test.each([
    ['undefined', undefined, 'undefined and functions are no JSON'],
    ['a function', () => {}, 'undefined and functions are no JSON'],
    ['a BigInt', 1n, 'BigInt'],
    ['a number with other text', { a: new JsonNumber('1,"admin":true') }, '1,"admin":true is no JSON number'],
    ['an empty number', new JsonNumber(''), ' is no JSON number'],
    ['a number with a plus', new JsonNumber('+1'), '+1 is no JSON number'],
  ])('when it is %s, then a TypeError is thrown', (_, value, message) => {
    const thrown = () => writeJson(value)
    expect(thrown).toThrow(TypeError)
    expect(thrown).toThrow(message)
  })
})
