import { describe, expect, test } from 'vitest'
import { debtsOf } from '../../../src/tools/simulator/build-report.js'
import { checkBooks } from '../../../src/tools/simulator/simulation.js'
import { Tally } from '../../../src/tools/simulator/tally.js'
import { fault, openedAccount, refusal, success } from './objects.js'

describe('the uncollected clawbacks', () => {
  test('are summed by currency, whatever the decimals of the balances', () => {
    const accounts = [
      { ...openedAccount('100.00'), debt: 5_50n },
      { ...openedAccount('100.0005'), debt: 5_0000n },
      { ...openedAccount('100.00'), debt: 0n },
      { ...openedAccount('100', 'JPY', 0), debt: 7n },
    ]
    expect(debtsOf(accounts)).toEqual({ EUR: '10.50', JPY: '7' })
  })
})

describe('the check of the books', () => {
  test('passes if results and transactions add up to the same balance', () => {
    const account = { ...openedAccount('100.00'), entitled: 20_00n, debt: 5_00n, low: 125_00n, high: 125_00n }
    expect(checkBooks(account)).toEqual([])
  })

  test('otherwise is an error of the simulator', () => {
    const account = { ...openedAccount('100.00'), entitled: 20_00n }
    expect(checkBooks(account)).toEqual([
      {
        kind: 'books',
        expected: '120.00 by the results of all bets',
        actual: '100.00 by all transactions',
        units: -20_00n,
      },
    ])
  })
})

describe('the tally', () => {
  test('counts answers by operation, failed calls, and early unsettlements (D19)', () => {
    const tally = new Tally()
    expect(tally.hasAnswered).toBe(false)
    tally.record('placebet', { kind: 'no-answer', reason: 'timed out' }, 5)
    expect(tally.hasAnswered).toBe(false)
    tally.record('placebet', success('1'), 5)
    tally.record('placebet', refusal('LIMIT'), 5)
    tally.record('unsettlement', { ...fault(503), errorCode: 'SETTLEMENT_NOT_FOUND' }, 5)
    tally.record('settlement', { ...fault(503), errorCode: 'SETTLEMENT_NOT_FOUND' }, 5)
    expect(tally).toMatchObject({ hasAnswered: true, failedCalls: 2, earlyUnsettlements: 1 })
    expect(tally.answers()).toEqual({
      placebet: { 'no answer: timed out': 1, '200': 1, '400 LIMIT': 1 },
      settlement: { '503 SETTLEMENT_NOT_FOUND': 1 },
      unsettlement: { '503 SETTLEMENT_NOT_FOUND': 1 },
      rollbackbet: {},
    })
    expect(tally.latency().max).toBe(5)
  })

  test('keeps at most 50 different answers, and counts the rest together', () => {
    const tally = new Tally()
    for (let code = 0; code < 200; code += 1) tally.record('placebet', refusal(`CODE_${code}`), 1)
    const { placebet } = tally.answers()
    expect(Object.keys(placebet)).toHaveLength(51)
    expect(placebet.others).toBe(150)
  })
})
