import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  JsonNumber,
  numberText,
  type ReadJson,
  raw,
  readJson,
  readObject,
  write,
} from '../../../src/tools/wire/json.js'

/** As JSON.parse reads it: numbers rounded, objects instead of maps. */
function rounded(value: ReadJson): unknown {
  if (value instanceof JsonNumber) return Number(value.text)
  if (Array.isArray(value)) return value.map(rounded)
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, rounded(item)]))
  return value
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('readJson', () => {
  it('agrees with JSON.parse in all but the exact numbers', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary', maxDepth: 5 }), fc.constantFrom(0, 2), (json, indent) => {
        const parsed: unknown = JSON.parse(json)
        expect(rounded(readJson(JSON.stringify(parsed, null, indent)))).toEqual(parsed)
      }),
      { numRuns: 3000, seed: 20261121 },
    )
  })

  it('rejects what JSON.parse rejects, and nothing else', () => {
    const damage = [
      '',
      '"',
      '\\',
      '\\"',
      '0',
      '1',
      '-',
      '.',
      'e',
      ',',
      ':',
      '[',
      ']',
      '{',
      '}',
      ' ',
      '\n',
      '\0',
      '\ufeff',
      't',
    ]
    fc.assert(
      fc.property(
        fc.json(),
        fc.nat(),
        fc.constantFrom(...damage),
        fc.nat({ max: 2 }),
        (json, at, put, cut) => {
          const position = at % (json.length + 1)
          const text = json.slice(0, position) + put + json.slice(position + cut)
          if (isJson(text)) readJson(text)
          else expect(() => readJson(text)).toThrow(SyntaxError)
        },
      ),
      { numRuns: 10_000, seed: 20261121 },
    )
  })

  it.each([
    '0',
    '-0',
    '100.00',
    '123456789012345678.10',
    '1e400',
    '-1.50E-7',
    '0.000000000000000000000000000001',
  ])('keeps %s as it is spelled', number => {
    expect(readJson(number)).toEqual(new JsonNumber(number))
    expect(readJson(` [ ${number}\t, {"a":\n${number} } ] `)).toEqual([
      new JsonNumber(number),
      new Map([['a', new JsonNumber(number)]]),
    ])
  })

  it.each([['{"written":"100.00"}'], ['{"text":"100.00"}'], ['{"raw":"100.00"}'], ['["100.00"]']])(
    'does not take %s for a number',
    value => {
      const fields = readObject(`{"balance":${value}}`)
      expect(numberText(fields?.get('balance'))).toBeNull()
    },
  )

  it('treats __proto__ as a key like any other', () => {
    const fields = readObject('{"__proto__":{"balance":1},"constructor":2}')
    expect([...(fields?.keys() ?? [])]).toEqual(['__proto__', 'constructor'])
    expect(fields?.get('balance')).toBeUndefined()
    expect(({} as Record<string, unknown>).balance).toBeUndefined()
  })

  it('reads the last of equal keys', () => {
    expect(numberText(readObject('{"a":1,"b":2,"a":3}')?.get('a'))?.text).toBe('3')
  })

  it('rejects deep nesting instead of exhausting the stack', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`
    expect(() => readJson(nested(100))).not.toThrow()
    expect(() => readJson(nested(101))).toThrow(SyntaxError)
    expect(() => readJson(nested(1_000_000))).toThrow(SyntaxError)
    expect(() => readJson('{"a":'.repeat(200_000))).toThrow(SyntaxError)
  })

  it.each([
    ['one string', `"${'x'.repeat(1 << 20)}"`],
    ['escapes', `"${'\\n'.repeat(1 << 19)}"`],
    ['escaped quotes', `"${'\\"'.repeat(1 << 19)}"`],
    ['backslashes', `"${'\\\\'.repeat(1 << 19)}"`],
    ['white space', `${' '.repeat(1 << 20)}1`],
    ['one number', '1'.repeat(1 << 20)],
    ['small values', `[${'1,'.repeat(1 << 19)}1]`],
  ])('reads a megabyte of %s in linear time', { timeout: 30_000 }, (_, text) => {
    expect(readObject(`{"a":${text},"b":1.50}`)?.get('b')).toEqual(new JsonNumber('1.50'))
  })
})

describe('readObject', () => {
  it('returns the fields in their order', () => {
    const fields = readObject(
      '{"balance": 123456789012345678.10, "text": "1.0 \\" 2", "list": [1.50], "n": null}',
    )
    expect(numberText(fields?.get('balance'))).toEqual({ text: '123456789012345678.10', quoted: false })
    expect(numberText(fields?.get('text'))).toEqual({ text: '1.0 " 2', quoted: true })
    expect(numberText(fields?.get('n'))).toBeNull()
    expect(numberText(fields?.get('missing'))).toBeNull()
    expect([...(fields?.keys() ?? [])]).toEqual(['balance', 'text', 'list', 'n'])
  })

  it.each(['', '[]', '1', '"x"', 'null', '{', '{"a":01}', '<html>', '{"a":1}x', '{"a":"\t"}'])(
    'returns null for %j',
    text => {
      expect(readObject(text)).toBeNull()
    },
  )
})

describe('write', () => {
  it('copies raw text, and leaves out undefined fields', () => {
    const text = write({
      amount: raw('1e2000000000'),
      odds: undefined,
      list: [raw('1.50'), null, 'é"'],
    })
    expect(text).toBe('{"amount":1e2000000000,"list":[1.50,null,"é\\""]}')
  })
})
