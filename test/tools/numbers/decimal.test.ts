import { describe, expect, it } from 'vitest'
import { isoMinorUnits as minorUnitsOfTheCore } from '../../../src/currencies.js'
import {
  add,
  compare,
  fromUnits,
  parseDecimal,
  subtract,
  textOf,
  textOfUnits,
  times,
  toUnits,
  wholeUnits,
} from '../../../src/tools/numbers/decimal.js'
import { isoMinorUnits } from '../../../src/tools/numbers/minor-units.js'

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
    '01',
    '-00.5',
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
    expect(textOf(fromUnits(250, 2), 2)).toBe('2.50')
    expect(textOf(fromUnits(250, 0))).toBe('250')
    expect(wholeUnits(of('2.509'), 2)).toBe(250n)
    expect(wholeUnits(of('2.5'), 8)).toBe(250_000_000n)
    expect(toUnits(of('70.50'), 2)).toBe(7050n)
    expect(toUnits(of('-70.5'), 3)).toBe(-70_500n)
    expect(toUnits(of('70.505'), 2)).toBeNull()
  })

  it.each([
    [7050n, 2, 0, '70.5'],
    [7050n, 2, 2, '70.50'],
    [7050n, 2, 4, '70.5000'],
    [7055n, 2, 1, '70.55'],
    [-5n, 2, 2, '-0.05'],
    [0n, 2, 0, '0'],
    [0n, 0, 2, '0.00'],
    [1200n, 0, 0, '1200'],
  ])('%d units at scale %d with at least %d decimals are %s', (units, scale, decimals, text) => {
    expect(textOfUnits(units, scale, decimals)).toBe(text)
  })
})

describe('the minor units of the audit', () => {
  it('are those of the library for every code, though both have their own table', () => {
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
    const codes = letters.flatMap(one => letters.flatMap(two => letters.map(three => one + two + three)))
    const different = ['', 'eur', 'USDT', 'play-money', ...codes].filter(
      code => isoMinorUnits(code) !== minorUnitsOfTheCore(code),
    )
    expect(different).toEqual([])
    expect(['JPY', 'EUR', 'KWD', 'CLF', 'BTC'].map(isoMinorUnits)).toEqual([0, 2, 3, 4, 8])
  })
})
