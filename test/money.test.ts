import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  add,
  compare,
  decimalsOf,
  format,
  isDecimal,
  isNegative,
  isZero,
  JsonNumber,
  negate,
  parseDecimal,
  subtract,
  wholeDigitsOf,
} from '../src/money.js'

const digits40 = '1234567890123456789012345678901234567890'

describe('given decimal text', () => {
  test.each([
    '0',
    '0.00',
    '10.00',
    '100.50',
    '-3.1',
    '0.000000000000000001',
    digits40,
    `-${digits40}`,
    `-1.${digits40.slice(1)}`,
  ])('when it is %s, then it is a Decimal', text => {
    expect(isDecimal(text)).toBe(true)
  })

  test.each([
    ...['', ' ', ' 1', '1 ', '1\n', '+1', '-', '.', '.5', '5.', '01', '00', '-01', '1,5', '1_000', '1.2.3'],
    ...['-0', '-0.00', '1e2', '1E2', '0x10', 'NaN', 'Infinity', '١', `${digits40}1`, `0.${digits40}`],
    ...['1'.repeat(1_000_000)],
  ])('when it is any other text (%#), then it is not a Decimal', text => {
    expect(isDecimal(text)).toBe(false)
  })

  test.each([null, undefined, 30, 30n, true, [], ['30'], {}, new Date(0), new String('30')])(
    'when it is not text (%#), then it is not a Decimal',
    value => {
      expect(isDecimal(value)).toBe(false)
    },
  )
})

describe('given a value to parse as a decimal (D21)', () => {
  test.each([
    ['30', '30'],
    ['30.00', '30'],
    ['10.500', '10.5'],
    ['0.00', '0'],
    ['-3.10', '-3.1'],
    ['1e2', '100'],
    ['1.5e1', '15'],
    ['1E+2', '100'],
    ['150e-2', '1.5'],
    ['0e5', '0'],
    ['1e39', `1${'0'.repeat(39)}`],
    ['1234567890123456.78', '1234567890123456.78'],
    ['0.1000000000000000055511151231257827', '0.1000000000000000055511151231257827'],
    [`1.5${'0'.repeat(60)}`, '1.5'],
    // The limits themselves: 100 characters, an exponent of 40.
    [`1.5${'0'.repeat(97)}`, '1.5'],
    ['0.1e40', `1${'0'.repeat(39)}`],
    ['0e40', '0'],
    ['10e-40', '0.000000000000000000000000000000000000001'],
  ])('when it is the text %s, then it is parsed exactly: %s', (text, parsed) => {
    expect(parseDecimal(text)).toBe(parsed)
    expect(parseDecimal(new JsonNumber(text))).toBe(parsed)
  })

  test.each<[number, string]>([
    [30, '30'],
    [0, '0'],
    [0.1, '0.1'],
    [-2.5, '-2.5'],
    [1e-7, '0.0000001'],
    [1e21, '1000000000000000000000'],
    [1e18, '1000000000000000000'],
    [1.5e20, '150000000000000000000'],
    [1.23456789012345e-7, '0.000000123456789012345'],
    [1.23456789012345e21, '1234567890123450000000'],
    [123456789012345, '123456789012345'],
    [1234567890.12345, '1234567890.12345'],
    [1234567890123450, '1234567890123450'],
    [0.000123456789012345, '0.000123456789012345'],
  ])(
    'when it is the number %d of at most 15 significant digits, then it is parsed as %s',
    (number, parsed) => {
      expect(parseDecimal(number)).toBe(parsed)
    },
  )

  test.each([
    ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0],
    ...[1234567890123456, 1234567890.123456, 0.1 + 0.2, Number.MAX_SAFE_INTEGER, Number.MIN_VALUE],
  ])('when it is the number %d, then the result is null', number => {
    expect(parseDecimal(number)).toBeNull()
  })

  test.each([
    ...['-0', '-0.00', '-0e1', '-0.0e-3', '1e2000000000', '1e400', '1e-400', '1e41', '1e40', '1e-40'],
    ...[
      '',
      ' ',
      ' 30',
      '30 ',
      '30\n',
      '\u00a030',
      '+30',
      '030',
      '-030',
      '.5',
      '5.',
      '1,5',
      '1e',
      'e1',
      '1e1.5',
    ],
    ...['1.x5', '1.-5', '1. 5', '1..5'],
    ...['0x1E', '0b1', '1n', 'NaN', 'Infinity', '-Infinity', 'null', '٣٠', '３０', '--1', '1-', '1\u0000'],
    // One above the limits: 101 characters, an exponent of 41, though the value itself would fit.
    ...[`1.5${'0'.repeat(98)}`, '100e-41', '0e41', '0e-41', '0.01e41', '0.1e+41'],
    ...[`1${'0'.repeat(40)}`, '1'.repeat(1_000_000), `0.${'0'.repeat(1_000_000)}`],
  ])('when it is any other text (%#), then the result is null', text => {
    expect(parseDecimal(text)).toBeNull()
    expect(parseDecimal(new JsonNumber(text))).toBeNull()
  })

  test.each([
    null,
    undefined,
    true,
    30n,
    [],
    [30],
    ['30'],
    {},
    { text: '30' },
    new Date(0),
    new String('30'),
    () => '30',
  ])('when it is neither text nor number (%#), then the result is null', value => {
    expect(parseDecimal(value)).toBeNull()
  })

  test('when it is a JsonNumber of a second copy of the package, then it is parsed', () => {
    const copy = { text: '1234567890123456.78', [Symbol.for('bet-wallet.JsonNumber')]: true }
    expect(parseDecimal(copy)).toBe('1234567890123456.78')
  })
})

describe('given decimals', () => {
  test('when two are added or subtracted, then the result is exact', () => {
    expect(add('0.1', '0.2')).toBe('0.3')
    expect(subtract('0.3', '0.1')).toBe('0.2')
    expect(add('9007199254740993', '0.000000000000000001')).toBe('9007199254740993.000000000000000001')
    expect(add('999999999999999999999', '1')).toBe('1000000000000000000000')
    expect(subtract('0.0000001', '0.00000001')).toBe('0.00000009')
  })

  test('when the result has 40 digits, then it is returned, also with a point and a minus', () => {
    expect(negate('9'.repeat(40))).toBe(`-${'9'.repeat(40)}`)
    expect(add(`0.${'1'.repeat(39)}`, '0')).toBe(`0.${'1'.repeat(39)}`)
    expect(negate(`1.${'1'.repeat(39)}`)).toBe(`-1.${'1'.repeat(39)}`)
  })

  test('when the result would exceed 40 digits, then a RangeError', () => {
    expect(() => add('9'.repeat(40), '1')).toThrow(RangeError)
    expect(() => subtract(`-${'9'.repeat(40)}`, '1')).toThrow(RangeError)
    expect(() => add('1', `0.${'0'.repeat(38)}15`)).toThrow('the sum has more than 40 digits')
  })

  test('when the result is 0, then it is "0", never "-0"', () => {
    expect([add('-5', '5.00'), subtract('5', '5'), negate('0'), negate('0.00')]).toEqual(['0', '0', '0', '0'])
    const long = '12345678901234567.8'
    expect([subtract(long, `${long}0`), add(`-${long}`, long)]).toEqual(['0', '0'])
    expect([negate('30'), negate('-30.50')]).toEqual(['-30', '30.5'])
  })

  test('when two are compared, then their values decide, not their texts', () => {
    expect([compare('10', '10.00'), compare('9', '10'), compare('10', '9'), compare('-1', '0')]).toEqual([
      0, -1, 1, -1,
    ])
  })

  test('when they are short or long, then sum, difference and order are those of whole numbers', () => {
    // Written with up to 12 decimals and up to 12 digits before the point: some take the short way, some not.
    const decimal = fc
      .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.stringMatching(/^[0-9]{0,12}$/))
      .map(([minus, whole, fraction]) => {
        const text = fraction === '' ? `${whole}` : `${whole}.${fraction}`
        return minus && /[1-9]/.test(text) ? `-${text}` : text
      })
    // The same number in units of 10^-12.
    const units = (text: string) => {
      const [whole = '', fraction = ''] = text.split('.')
      return BigInt(whole + fraction.padEnd(12, '0'))
    }
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        for (const result of [add(a, b), subtract(a, b), negate(a)]) {
          expect(isDecimal(result)).toBe(true)
          expect(result).toBe(parseDecimal(result)) // no trailing zeros
        }
        expect(units(add(a, b))).toBe(units(a) + units(b))
        expect(units(subtract(a, b))).toBe(units(a) - units(b))
        expect(units(negate(a))).toBe(-units(a))
        expect(compare(a, b)).toBe(units(a) < units(b) ? -1 : units(a) > units(b) ? 1 : 0)
      }),
      { numRuns: 2_000 },
    )
  })

  test('when sign, zero and digits are asked for, then the value decides', () => {
    expect(['0', '0.00'].every(isZero)).toBe(true)
    expect(['0.01', '-1', '10'].some(isZero)).toBe(false)
    expect([isNegative('-0.01'), isNegative('0'), isNegative('1')]).toEqual([true, false, false])
    expect(['10', '10.00', '10.500', '0.005', '-0.010'].map(decimalsOf)).toEqual([0, 0, 1, 3, 2])
    expect(['0', '10.123', '-999.9', '1000'].map(wholeDigitsOf)).toEqual([1, 2, 3, 4])
  })

  test.each([
    ['100', 2, '100.00'],
    ['100.0050', 2, '100.005'],
    ['100.5', 0, '100.5'],
    ['100.00', 0, '100'],
    ['-0.5', 3, '-0.500'],
    ['0', 2, '0.00'],
  ])('when %s is formatted with %i decimals, then the text is %s (D21)', (value, decimals, text) => {
    expect(format(value, decimals)).toBe(text)
  })
})

test('given a JsonNumber, when it is converted to text or JSON, then the original text is kept', () => {
  const number = new JsonNumber('1234567890123456.78')
  expect([String(number), JSON.stringify({ number })]).toEqual([
    '1234567890123456.78',
    '{"number":"1234567890123456.78"}',
  ])
})
