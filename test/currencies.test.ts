import { expect, test } from 'vitest'
import { isoMinorUnits } from '../src/currencies.js'

test.each([
  ['EUR', 2],
  ['JPY', 0],
  ['KWD', 3],
  ['CLF', 4],
  // Intl follows cash usage and returns 0 for these:
  ['HUF', 2],
  ['IDR', 2],
  ['COP', 2],
  // Replaced recently, but still in balances:
  ['BGN', 2],
])('D22: given %s, then it has %i minor units', (code, units) => {
  expect(isoMinorUnits(code)).toBe(units)
})

test.each(['BTC', 'eur', '', 'EURO', '__proto__', 'constructor', 'toString'])(
  'D22: given %j, which is not in ISO 4217, then it has 8 minor units',
  code => {
    expect(isoMinorUnits(code)).toBe(8)
  },
)
