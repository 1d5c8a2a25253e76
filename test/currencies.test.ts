import { expect, test } from 'vitest'
import { isoMinorUnits } from '../src/currencies.js'

test.each([
  ['EUR', 2],
  ['JPY', 0],
  ['KWD', 3],
  ['CLF', 4],
  // Intl follows cash usage and gives these none:
  ['HUF', 2],
  ['IDR', 2],
  ['COP', 2],
  // Replaced not long ago, and still in balances:
  ['BGN', 2],
])('D22: given %s, then it has %i minor units', (code, units) => {
  expect(isoMinorUnits(code)).toBe(units)
})

test.each(['BTC', 'eur', '', 'EURO', '__proto__', 'constructor', 'toString'])(
  'D22: given %s, of which ISO 4217 knows nothing, then it has 8',
  code => {
    expect(isoMinorUnits(code)).toBe(8)
  },
)
