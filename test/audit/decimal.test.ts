import { describe, expect, it } from 'vitest'
import {
  add,
  compare,
  parseDecimal,
  subtract,
  textOf,
  times,
  unitsOf,
  wholeUnits,
} from '../../src/audit/decimal.js'
import { numberText, readObject, write, written } from '../../src/audit/json.js'

const of = (text: string) => {
  const value = parseDecimal(text)
  if (value === null) throw new Error(`${text} is no decimal`)
  return value
}

describe('the decimals of the audit', () => {
  it.each([
    ['100.50', '100.5'],
    ['-0.10', '-0.1'],
    ['1e2', '100'],
    ['1.5E-3', '0.0015'],
    ['123456789012345678901234567890.000000001', '123456789012345678901234567890.000000001'],
    ['0.00', '0'],
  ])('%s is %s', (text, value) => {
    expect(textOf(of(text))).toBe(value)
  })

  it.each([
    '',
    '-',
    '.5',
    '5.',
    '+1',
    '1,5',
    ' 1',
    '0x1',
    'NaN',
    'Infinity',
    '1e99999',
    '1e401',
    '9'.repeat(401),
  ])('%j is none', text => {
    expect(parseDecimal(text)).toBeNull()
  })

  it('are exact', () => {
    expect(textOf(add(of('0.1'), of('0.2')))).toBe('0.3')
    expect(textOf(subtract(of('90071992547409.93'), of('0.01')))).toBe('90071992547409.92')
    expect(textOf(times(of('0.10'), 10))).toBe('1')
    expect(compare(of('10'), of('10.00'))).toBe(0)
    expect(compare(of('9'), of('10'))).toBeLessThan(0)
    expect(compare(of('-1'), of('-2'))).toBeGreaterThan(0)
  })

  it('count smallest units', () => {
    expect(textOf(unitsOf(250, 2), 2)).toBe('2.50')
    expect(textOf(unitsOf(250, 0))).toBe('250')
    expect(wholeUnits(of('2.509'), 2)).toBe(250n)
    expect(wholeUnits(of('2.5'), 8)).toBe(250_000_000n)
  })
})

describe('the JSON of the audit', () => {
  it('reads numbers as they are written, and no others', () => {
    const fields = readObject(
      '{"balance": 123456789012345678.10, "text": "1.0 \\" 2", "list": [1.50], "n": null}',
    )
    expect(numberText(fields?.get('balance'))).toEqual({ text: '123456789012345678.10', quoted: false })
    expect(numberText(fields?.get('text'))).toEqual({ text: '1.0 " 2', quoted: true })
    expect(numberText(fields?.get('n'))).toBeNull()
    expect([...(fields?.keys() ?? [])]).toEqual(['balance', 'text', 'list', 'n'])
  })

  it.each(['', '[]', '1', '"x"', 'null', '{', '{"a":01}', '<html>', '{"a":1}x'])('%j is no object', text => {
    expect(readObject(text)).toBeNull()
  })

  it('writes numbers as they are given, and leaves out what is not there', () => {
    const text = write({
      amount: written('1e2000000000'),
      odds: undefined,
      list: [written('1.50'), null, 'é"'],
    })
    expect(text).toBe('{"amount":1e2000000000,"list":[1.50,null,"é\\""]}')
  })
})
