/** The decimals and dates of the reconciliation, beside those of the wallet, with which they share no code. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as money from '../../../src/money.js'
import { parseDate } from '../../../src/requests.js'
import { textOf } from '../../../src/tools/numbers/decimal.js'
import * as amounts from '../../../src/tools/reconcile/amounts.js'
import { datesOf } from '../../../src/tools/reconcile/dates.js'

/** Decimal text of up to 15 digits before the point and 18 after it, also with zeros at its end. */
const amount = fc
  .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 15n - 1n }), fc.stringMatching(/^[0-9]{0,18}$/))
  .map(([minus, whole, fraction]) => {
    const text = fraction === '' ? `${whole}` : `${whole}.${fraction}`
    return minus && /[1-9]/.test(text) ? `-${text}` : text
  })

test('amounts have one form, which is that of the wallet', () => {
  const written = fc.oneof(
    amount,
    fc.constantFrom('1e2', '1.50E-3', '-0.5', '01', '1.', '.5', '+1', '--1', ' 1', ''),
  )
  fc.assert(
    fc.property(written, text => {
      expect(amounts.decimalOf(text)).toBe(money.parseDecimal(text))
    }),
    { numRuns: 1_000 },
  )
})

test('difference, order and text are those of the wallet', () => {
  fc.assert(
    fc.property(amount, amount, fc.constantFrom('EUR', 'JPY', 'BHD', 'BTC'), (a, b, currency) => {
      expect(amounts.difference(a, b)).toBe(money.subtract(a, b))
      const [large, small] = [a, b].map(amounts.magnitudeOf) as [string, string]
      expect(Math.sign(amounts.byMagnitude(a, b))).toBe(money.compare(small, large))
      const decimals = { EUR: 2, JPY: 0, BHD: 3, BTC: 8 }[currency] ?? 0
      expect(amounts.amountText(a, currency)).toBe(money.format(a, decimals))
    }),
    { numRuns: 1_000 },
  )
})

test('a sum of many is what adding them one by one gives, also beyond what a number holds', () => {
  const cents = fc.integer({ min: -10_000_000, max: 10_000_000 }).map(number => String(number / 100))
  const large = fc.constantFrom(
    '999999999999999',
    '-999999999999999.99',
    '9007199254740991',
    '0.00000001',
    '10.500',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(cents, large), { maxLength: 50 }), each => {
      const sum = new amounts.Sum()
      for (const text of each) sum.add(text)
      expect(textOf(sum.total())).toBe(each.reduce(money.add, '0'))
      expect(textOf(sum.total())).toBe(each.reduce(money.add, '0'))
    }),
  )
})

test('dates are read as the wallet reads them, and those that no calendar has are not', () => {
  const { read } = datesOf({ timeZone: 'UTC' }, problem => {
    throw new Error(problem)
  })
  const two = fc.integer({ min: 0, max: 62 }).map(number => String(number).padStart(2, '0'))
  const part = (...known: string[]) => fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...known) }, two)
  const written = fc
    .tuple(
      ...[fc.constantFrom('2026', '2024', '1900', '1970'), part('02', '11', '12'), part('28', '29', '31')],
      ...[fc.constantFrom('T', ' ', 't', '_'), part('00', '23'), part('00', '59'), part('59', '60')],
      fc.constantFrom('', '.1', ',123', '.123456789', '.'),
      fc.constantFrom('', 'Z', 'z', '+01:00', '-0530', '+14', '+24:00', '-01:60', '+1'),
    )
    .map(([y, M, d, t, h, m, s, fraction, offset]) => `${y}-${M}-${d}${t}${h}:${m}:${s}${fraction}${offset}`)
  let valid = 0
  fc.assert(
    fc.property(written, text => {
      const result = read(text)
      const expected = parseDate(text)
      if (expected !== null) valid += 1
      expect({ text, date: 'date' in result ? result.date : null }).toEqual({ text, date: expected })
    }),
    { numRuns: 3_000 },
  )
  expect(valid).toBeGreaterThan(200)
})
