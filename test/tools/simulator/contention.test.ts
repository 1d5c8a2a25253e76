/** Calls that fail because they meet. */
import { describe, expect, test } from 'vitest'
import type { Bet, Transaction } from '../../../src/tools/simulator/books.js'
import { Contention, chanceOf } from '../../../src/tools/simulator/contention.js'
import type { Reading } from '../../../src/tools/simulator/reading.js'
import { fault, newBet, openedAccount, success, transactionOf } from './objects.js'

/** Plays bets: each `pair` has a placebet and a rollback in flight at once, the others one after the other. */
function play({ bets = 400, pairEvery = 20, met = success() as Reading, alone = success() as Reading }) {
  const contention = new Contention()
  const account = openedAccount()
  const call = (transaction: Transaction, reading: Reading) => {
    const flight = contention.sent(transaction)
    // Another call is answered meanwhile: the wallet works.
    const other = newBet(account, 1n).placed
    contention.answered(other, contention.sent(other), success())
    return () => contention.answered(transaction, flight, reading)
  }
  const rollbackOf = (bet: Bet) => transactionOf(bet, 'rollbackbet')
  for (let index = 0; index < bets; index += 1) {
    const { bet, placed } = newBet(account, 1n)
    if (index % pairEvery === 0) {
      const [first, second] = [call(placed, met), call(rollbackOf(bet), success())]
      first()
      second()
    } else {
      call(placed, alone)()
      call(rollbackOf(bet), success())()
    }
  }
  return contention.finding()
}

describe('contention', () => {
  test('is found if calls that meet fail, and others do not', () => {
    const found = play({ met: fault(500) })
    expect(found?.finding).toMatchObject({
      kind: 'contention',
      actual: expect.stringMatching(
        /^20 of the 40 calls that met another call of their bet failed, and 0 of the/,
      ),
    })
    expect(found?.about.operation).toBe('placebet')
  })

  test('is found if the answers are lost', () => {
    expect(play({ met: { kind: 'no-answer', reason: 'timed out' } })).not.toBeNull()
  })

  test.each([
    ['no call fails', {}],
    ['calls that meet are answered 503', { met: fault(503) }],
    ['calls fail whether they meet or not', { met: fault(500), alone: fault(500) }],
    ['calls fail that met none', { alone: fault(500) }],
    ['one failure proves nothing', { bets: 20, met: fault(500) }],
  ])('is not found if %s', (_, options) => {
    expect(play(options)).toBeNull()
  })

  test('does not count failures while nothing is answered: the whole wallet failed', () => {
    const contention = new Contention()
    for (let index = 0; index < 100; index += 1) {
      const { bet, placed } = newBet(openedAccount(), 1n)
      const rollback = transactionOf(bet, 'rollbackbet')
      const flights = [contention.sent(placed), contention.sent(rollback)] as const
      contention.answered(placed, flights[0], fault(500))
      contention.answered(rollback, flights[1], fault(500))
    }
    expect(contention.finding()).toBeNull()
  })

  const answer = { ok: true, status: 200, errorCode: '', reference: null, at: 1 }
  test.each([
    ['is not found if unsettlements fail before their settlement is answered', null, undefined],
    ['is found if they fail after that', answer, 'contention'],
  ])('%s', (_, first, kind) => {
    const contention = new Contention()
    const account = openedAccount()
    for (let index = 0; index < 400; index += 1) {
      const { bet, placed } = newBet(account, 1n)
      placed.first = answer
      const settlement = Object.assign(transactionOf(bet, 'settlement'), { first })
      const unsettlement = transactionOf(bet, 'unsettlement')
      const isPair = index % 20 === 0
      const flight = contention.sent(unsettlement)
      const other = isPair ? settlement : newBet(account, 1n).placed
      contention.answered(other, contention.sent(other), success())
      contention.answered(unsettlement, flight, isPair ? fault(500) : success())
    }
    expect(contention.finding()?.finding.kind).toBe(kind)
  })

  test('does not take the duplicates of one transaction for a meeting', () => {
    const contention = new Contention()
    const { placed } = newBet(openedAccount(), 1n)
    const [one, two] = [contention.sent(placed), contention.sent(placed)]
    expect([one.meetings, two.meetings, placed.bet.meetings]).toEqual([0, 0, 0])
  })

  test.each([
    [0, 0, 0.5, 1],
    [1, 2, 0.5, 1],
    [10, 10, 0.1, 1e-10],
    [2, 2, 0.5, 0.25],
  ])('%i of %i failures at a share of %d: a chance of %d', (met, all, share, chance) => {
    expect(chanceOf(met, all, share)).toBeCloseTo(chance, 12)
  })
})
