/** Small parts of the random run. */
import { describe, expect, test } from 'vitest'
import { type Decimal, parseDecimal, textOfUnits, toUnits } from '../../../src/tools/numbers/decimal.js'
import { createRandom } from '../../../src/tools/numbers/random.js'
import { chaosNames, chaosOf } from '../../../src/tools/random/chaos.js'
import { Histogram } from '../../../src/tools/random/histogram.js'
import { numberedPlayers } from '../../../src/tools/random/index.js'
import { readingOf, shortOf } from '../../../src/tools/random/reading.js'

describe('amounts', () => {
  test.each([
    ['70.50', 2, 7050n],
    ['70.500', 2, 7050n],
    ['0', 0, 0n],
    ['-0.05', 2, -5n],
    ['-12', 3, -12000n],
    ['123456789012345678901234567890.12', 2, 12345678901234567890123456789012n],
    ['0.005', 2, null],
    ['1.5', 0, null],
  ])('%s with %i decimals is %s', (text, decimals, units) => {
    expect(toUnits(parseDecimal(text) as Decimal, decimals)).toBe(units)
  })

  test.each([
    [7050n, 2, '70.50'],
    [-5n, 2, '-0.05'],
    [5n, 0, '5'],
    [0n, 3, '0.000'],
    [-12345n, 3, '-12.345'],
  ])('%s units with %i decimals are %s', (units, decimals, text) => {
    expect(textOfUnits(units, decimals, decimals)).toBe(text)
    expect(toUnits(parseDecimal(text) as Decimal, decimals)).toBe(units)
  })

  test('are shown with the decimals of their currency, and with further ones that are not zero', () => {
    expect([textOfUnits(705000n, 4, 2), textOfUnits(705001n, 4, 2), textOfUnits(7n, 0, 0)]).toEqual([
      '70.50',
      '70.5001',
      '7',
    ])
  })
})

describe('the random numbers', () => {
  test('are the same for the same seed and stream, and different for another one', () => {
    const numbers = (seed: number, stream: number) => {
      const random = createRandom(seed, stream)
      return Array.from({ length: 20 }, () => random.next())
    }
    expect(numbers(1, 1)).toEqual(numbers(1, 1))
    expect(
      new Set([numbers(1, 1), numbers(1, 2), numbers(2, 1), numbers(2 ** 40 + 1, 1)].map(all => all[0])).size,
    ).toBe(4)
  })

  test('are evenly distributed within their limits', () => {
    const random = createRandom(42, 1)
    const counts = [0, 0, 0, 0, 0, 0]
    for (let roll = 0; roll < 60_000; roll += 1) {
      const die = random.between(0, 5)
      counts[die] = (counts[die] ?? 0) + 1
    }
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500)
    expect(counts).toHaveLength(6)
  })
})

describe('the histogram', () => {
  test('returns percentiles within 2 %, and the maximum exactly', () => {
    const histogram = new Histogram()
    for (let value = 1; value <= 10_000; value += 1) histogram.record(value / 100)
    const { p50, p90, p99, max } = histogram.latency() ?? { p50: 0, p90: 0, p99: 0, max: 0 }
    for (const [found, exact] of [
      [p50, 50],
      [p90, 90],
      [p99, 99],
    ] as const) {
      expect(Math.abs(found / exact - 1)).toBeLessThan(0.02)
    }
    expect(max).toBe(100)
  })

  test('records nothing, 0 ms, and days', () => {
    const histogram = new Histogram()
    expect(histogram.latency()).toBeNull()
    histogram.record(0)
    histogram.record(1e9)
    expect(histogram.latency()?.max).toBe(1e9)
    expect(histogram.latency()?.p50).toBeLessThan(0.002)
  })
})

describe('chaos', () => {
  test('is a number, or probabilities by name', () => {
    expect(Object.values(chaosOf(0))).toEqual(chaosNames.map(() => 0))
    expect(chaosOf(0.5).duplicated).toBe(chaosOf(1).duplicated / 2)
    expect(chaosOf({ deliveredLate: 0.25 })).toEqual({ ...chaosOf(0), deliveredLate: 0.25 })
  })
})

describe('an answer', () => {
  const of = (status: number, body: string, balanceRequired = true) =>
    readingOf({ status, head: '', body }, balanceRequired)

  test('of success has a balance, a currency and a reference', () => {
    expect(of(200, '{"balance":70.50,"currency":"EUR","walletTransactionId":"W1"}')).toMatchObject({
      kind: 'success',
      balance: { units: 705n, scale: 1 },
      reference: 'W1',
    })
    expect(of(201, '{"balance":12345678901234567.89,"currency":"EUR"}')).toMatchObject({
      balance: { units: 1234567890123456789n, scale: 2 },
      reference: null,
    })
  })

  test('to a settlement may be 2xx with a refusal in it, of recordSettlement', () => {
    const refused = '{"ok":false,"errorCode":"INVALID_BET","description":"x"}'
    expect(of(200, refused, false)).toEqual({ kind: 'refusal', status: 200, errorCode: 'INVALID_BET' })
  })

  test.each([
    ['nothing', '', 'the body is not a JSON object'],
    ['no balance', '{"currency":"EUR"}', 'balance is not a decimal'],
    ['a balance of words', '{"balance":"much","currency":"EUR"}', 'balance is not a decimal'],
    ['no currency', '{"balance":1}', 'currency is missing'],
    [
      'a reference that is a number',
      '{"balance":1,"currency":"EUR","walletTransactionId":1}',
      'walletTransactionId is not a string',
    ],
  ])('of success with %s is unreadable', (_, body, problem) => {
    expect(of(200, body)).toEqual({ kind: 'fault', status: 200, errorCode: '', problem })
  })

  test('to a settlement may have any form', () => {
    expect(of(202, 'accepted', false)).toMatchObject({ kind: 'success', balance: null })
    expect(of(200, '{"balance":1.5,"currency":"EUR"}', false)).toMatchObject({
      balance: { units: 15n, scale: 1 },
    })
    expect(of(200, '{"balance":"all of it"}', false)).toMatchObject({ kind: 'success', balance: null })
  })

  test('is definite with 4xx, except for the statuses that ask for a retry', () => {
    const kinds = [400, 402, 404, 409, 408, 425, 429, 301, 500, 503].map(
      status => of(status, '{"errorCode":"X"}').kind,
    )
    expect(kinds).toEqual([...Array(4).fill('refusal'), ...Array(6).fill('fault')])
  })

  test('has a short name', () => {
    expect(shortOf(of(402, '{"errorCode":"INSUFFICIENT_FUNDS"}'))).toBe('402 INSUFFICIENT_FUNDS')
    expect(shortOf(of(502, '<html>'))).toBe('502')
    expect(shortOf(of(200, '<html>'))).toBe('200, unreadable: the body is not a JSON object')
    expect(shortOf(readingOf({ error: 'timed out' }, true))).toBe('no answer: timed out')
  })
})

test('numbered players', () => {
  expect(numberedPlayers(3, 'sim-')).toEqual(['sim-1', 'sim-2', 'sim-3'])
})
