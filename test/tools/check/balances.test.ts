/** What `check` and `init` say of the players' rows, as the wallet reads them. */
import { expect, test } from 'vitest'
import { balancesFinding, readBalances } from '../../../src/tools/check/balances.js'

const cents = { columns: {} as never, balanceType: 'minor-units', minorUnits: 2 } as const
const accounts = (currency: string, balance: string | null, withoutBalance = 0) => [
  ...[currency, 3, withoutBalance, balance],
]
const readingOf = (rows: unknown[][], unit: Parameters<typeof readBalances>[2]) =>
  readBalances({ ask: async () => rows, text: String, exact: String }, 'pam.accounts', unit)

test('a row per currency, and no warning where a person may compare', async () => {
  const read = await readingOf([accounts('EUR', '10000'), accounts('BRL', null)], cents)
  expect(read).toEqual({
    lines: ['EUR 10000 → 100.00 EUR, one of 3 accounts', 'BRL: 3 accounts'],
    warnings: [],
    codes: ['EUR', 'BRL'],
  })
  expect(balancesFinding(read)).toMatchObject({ state: 'read' })
})

test('a unit that ISO 4217 does not have is a warning', async () => {
  const { warnings } = await readingOf([accounts('JPY', '5000000'), accounts('KWD', '5000')], cents)
  expect(warnings).toEqual([
    'JPY 5000000 → 50000 JPY; ISO 4217 has no decimals: compare it with what the player sees',
    'KWD 5000 → 50.000 KWD; ISO 4217 has 3 decimals: compare it with what the player sees',
  ])
})

test('whole units, and minor units of their own, are no warning', async () => {
  const byCurrency = { ...cents, minorUnits: new Map([['JPY', 0]]) }
  expect(await readingOf([accounts('JPY', '5000')], byCurrency)).toEqual({
    lines: ['JPY 5000 → 5000 JPY, one of 3 accounts'],
    warnings: [],
    codes: ['JPY'],
  })
  const whole = await readingOf([accounts('JPY', '5000.5')], { ...cents, balanceType: 'numeric' })
  expect(whole.warnings).toEqual([])
})

test.each([
  [accounts('EUR', '5', 2), '2 of EUR with the balance NULL: each call is a fault (500)'],
  [accounts('', '5'), '3 accounts without a currency (NULL or empty): no call can use them'],
  [accounts('ngn', '5'), 'ngn, 3 accounts: in small letters, a call in NGN is refused (INVALID_CURRENCY)'],
  [
    accounts('CHIP', '5'),
    "CHIP is not in ISO 4217: the option minorUnits of the handlers tells its decimals (without it 8), and --minor-units the audit's",
  ],
])('%j: a warning', async (row, warning) => {
  const read = await readingOf([row], { ...cents, balanceType: 'numeric' })
  expect(read.warnings).toEqual([warning])
  expect(balancesFinding(read)).toMatchObject({ state: 'warning', text: warning })
})

test('a currency without minor units: each call is a fault', async () => {
  const read = await readingOf([accounts('CHF', '5')], { ...cents, minorUnits: new Map() })
  expect(read.warnings).toEqual([
    'CHF, 3 accounts: players.minorUnits has no entry, and each call is a fault (500)',
  ])
})
