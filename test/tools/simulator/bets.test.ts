/** The life of a bet, with an outbox whose answers the test gives. */
import { describe, expect, test } from 'vitest'
import type { BetScenario } from '../../../src/tools/simulator/bet-scenarios.js'
import {
  advance,
  type BetContext,
  type BetCounts,
  type Credit,
  type PlacedBet,
  place,
  settle,
} from '../../../src/tools/simulator/bets.js'
import { recordDelivery, recordRefusal } from '../../../src/tools/simulator/bookkeeping.js'
import { createBet, type Transaction } from '../../../src/tools/simulator/books.js'
import type { Match } from '../../../src/tools/simulator/matches.js'
import type { Offer } from '../../../src/tools/simulator/payouts.js'
import type { Definite } from '../../../src/tools/simulator/reading.js'
import { Transactions } from '../../../src/tools/simulator/transactions.js'
import { openedAccount, refusal, success } from './objects.js'

function newMatch(): Match {
  return { goals: { home: 1, away: 0 }, state: 'running', version: 0, final: false }
}

function finish(match: Match, goals = match.goals, final = true): void {
  Object.assign(match, { goals, state: 'finished', version: match.version + 1, final })
}

/** A bet of 10.00 on the home side at 2.00, not placed yet. */
function newGame({
  happening = [] as string[],
  offer = 'none' as Offer,
  scenario = 'plain' as BetScenario,
} = {}) {
  const sent: { transaction: Transaction; onAnswer: (answer: Definite | null) => void }[] = []
  const closed: { outcome: string; credits: readonly Credit[] }[] = []
  const spent: string[] = []
  const send = (transaction: Transaction, onAnswer: (answer: Definite | null) => void) => {
    sent.push({ transaction, onAnswer })
  }
  const counts: BetCounts = {
    ...{ bets: 0, multiples: 0, betsAccepted: 0, betsRefused: 0, settlements: 0, voids: 0 },
    ...{ cancellations: 0, cashOuts: 0, unsettlements: 0, clawbacksRefused: 0, recoveries: 0 },
  }
  const context: BetContext = {
    counts,
    network: { happens: kind => happening.includes(kind) },
    outbox: {
      sendOnce: send,
      sendWithLostAnswer: (one, _, onLost) => send(one, () => onLost(null)),
      sendUntilAnswered: send,
    },
    transactions: new Transactions('run', () => 0),
    onAccepted: () => {},
    onClosed: (one, { outcome }) => closed.push({ outcome, credits: one.credits }),
    spendAll: (one, then) => {
      spent.push(one.betId)
      then()
    },
    defers: () => false,
  }
  const match = newMatch()
  const account = openedAccount('100.00')
  const bet: PlacedBet = {
    ...createBet('b', account, 10_00n),
    legs: [{ match, selection: 'home', odds: 200 }],
    offer,
    scenario,
    state: { kind: 'placing' },
    credits: [],
    uncollected: false,
  }
  const answer = (index: number, definite: Definite | null) => {
    const { transaction, onAnswer } = sent[index] as (typeof sent)[number]
    if (definite?.kind === 'refusal') recordRefusal(recordDelivery(transaction, 1), definite, 2)
    onAnswer(definite)
  }
  const requests = () =>
    sent.map(({ transaction: { operation, type, amount } }) => [operation, type, amount].join(' '))
  return { account, answer, bet, closed, context, counts, match, requests, spent }
}

/** As {@link newGame}, after the placebet was accepted. */
function openGame(options: Parameters<typeof newGame>[0] = {}) {
  const game = newGame(options)
  place(game.context, game.bet)
  game.answer(0, success())
  return game
}

describe('a placebet', () => {
  test('that is accepted makes an open bet', () => {
    const { bet, counts, requests } = openGame()
    expect(bet.state).toEqual({ kind: 'open' })
    expect(requests()).toEqual(['placebet  1000'])
    expect(counts).toMatchObject({ bets: 1, betsAccepted: 1, multiples: 0 })
  })

  test('that is refused closes the bet', () => {
    const { account, answer, bet, closed, context, counts } = newGame()
    place(context, bet)
    answer(0, refusal('INSUFFICIENT_FUNDS', 402))
    expect(closed).toEqual([{ outcome: 'refused', credits: [] }])
    expect([counts.betsRefused, account.entitled]).toEqual([1, 0n])
  })

  test('without a definite answer is rolled back', () => {
    const { account, answer, bet, closed, context, requests } = newGame()
    place(context, bet)
    answer(0, null)
    expect(requests()).toEqual(['placebet  1000', 'rollbackbet TECHNICAL_ERROR 0'])
    answer(1, success())
    expect(closed).toEqual([{ outcome: 'rolled-back', credits: [] }])
    expect(account.entitled).toBe(0n)
  })

  test('can be rolled back twice, under two ids (D12)', () => {
    const { answer, bet, closed, context } = newGame({ happening: ['duplicated'] })
    place(context, bet)
    answer(0, null)
    answer(1, success())
    expect(closed).toEqual([])
    answer(2, success())
    expect(closed).toMatchObject([{ outcome: 'rolled-back' }])
    const ids = bet.transactions.map(({ transactionId }) => transactionId)
    expect(new Set(ids).size).toBe(3)
  })
})

describe('an open bet', () => {
  test('waits for the end of its match', () => {
    const { bet, context, requests } = openGame()
    advance(context, bet)
    expect(requests()).toHaveLength(1)
  })

  test('that wins is credited its odds, and closed when the result is final', () => {
    const { account, answer, bet, closed, context, match, requests } = openGame()
    finish(match)
    advance(context, bet)
    expect(requests().at(-1)).toBe('settlement BET_PAID 2000')
    answer(1, success())
    expect(closed).toMatchObject([{ outcome: 'placed', credits: [{ type: 'BET_PAID', gross: 20_00n }] }])
    expect(account.entitled).toBe(10_00n)
  })

  test('stays credited while the result can be corrected', () => {
    const { answer, bet, closed, context, match } = openGame()
    finish(match, match.goals, false)
    advance(context, bet)
    answer(1, success())
    expect([bet.state.kind, closed.length]).toEqual(['credited', 0])
  })

  test('whose result is corrected is unsettled and settled again', () => {
    const { answer, bet, context, match, requests } = openGame()
    // Given a credited win
    finish(match, match.goals, false)
    advance(context, bet)
    answer(1, success())
    // When the goal is taken back
    finish(match, { home: 0, away: 0 })
    advance(context, bet)
    // Then the win is reversed, and the bet is settled as lost
    expect(requests().at(-1)).toBe('unsettlement UNSCORED 2000')
    answer(2, success())
    expect(requests().at(-1)).toBe('settlement BET_PAID 0')
  })

  test('on an abandoned match is voided', () => {
    const { bet, context, counts, match, requests } = openGame()
    Object.assign(match, { state: 'abandoned', version: 1, final: true })
    advance(context, bet)
    expect(requests().at(-1)).toBe('settlement VOIDED 1000')
    expect(counts.voids).toBe(1)
  })

  test('that is cashed out is closed without waiting for the result', () => {
    const { answer, bet, closed, context, requests } = openGame()
    settle(context, bet, [[{ type: 'CASHOUT', gross: 7_00n, part: 10_00n }]], 0)
    expect(requests().at(-1)).toBe('settlement CASHOUT 700')
    answer(1, success())
    expect(closed).toMatchObject([{ outcome: 'placed', credits: [{ type: 'CASHOUT' }] }])
  })

  test('whose settlement is refused is closed without a credit', () => {
    const { account, answer, bet, closed, context, match } = openGame()
    account.debt = 5_00n
    finish(match)
    advance(context, bet)
    answer(1, refusal('INVALID_BET'))
    expect(closed).toMatchObject([{ outcome: 'placed', credits: [] }])
    expect([account.entitled, account.debt]).toEqual([-10_00n, 5_00n])
  })
})

describe('an uncollected clawback', () => {
  test('is a debt, netted off the next win (spec 4.2 rule 2)', () => {
    const { account, answer, bet, context, counts, match, requests } = openGame()
    // Given a win whose unsettlement is refused for lack of funds
    finish(match, match.goals, false)
    advance(context, bet)
    answer(1, success())
    finish(match, { home: 0, away: 0 }, false)
    advance(context, bet)
    answer(2, refusal('INSUFFICIENT_FUNDS', 402))
    expect([account.debt, counts.clawbacksRefused]).toEqual([20_00n, 1])
    // When the bet loses and then wins after all
    answer(3, success())
    finish(match, { home: 3, away: 0 }, false)
    advance(context, bet)
    answer(4, success())
    // Then the debt is withheld from the win
    expect(requests().at(-1)).toBe('settlement BET_PAID 0')
    expect([account.debt, counts.recoveries]).toEqual([0n, 1])
    // And owed again if that win is reversed, too
    answer(5, success())
    finish(match, { home: 0, away: 0 })
    advance(context, bet)
    answer(6, success())
    expect(account.debt).toBe(20_00n)
  })
})

describe('an unsettlement that overtakes its settlement', () => {
  const game = () => {
    const game = openGame({ happening: ['reordered'] })
    finish(game.match)
    advance(game.context, game.bet)
    return game
  }

  test('is sent together with it', () => {
    const { requests } = game()
    expect(requests().slice(1)).toEqual(['settlement BET_PAID 2000', 'unsettlement UNSCORED 2000'])
  })

  test.each([
    ['the settlement', 1, 2],
    ['the unsettlement', 2, 1],
  ])('leaves an open bet, which is settled again: %s is answered first', (_, first, second) => {
    const { answer, bet, requests } = game()
    answer(first, success())
    expect(requests()).toHaveLength(3)
    answer(second, success())
    expect(requests().slice(3)).toEqual(['settlement BET_PAID 2000'])
    expect(bet.state.kind).toBe('crediting')
  })

  test('that is never answered closes the bet with its credit, once', () => {
    const { answer, closed } = game()
    answer(2, null)
    answer(1, success())
    expect(closed).toMatchObject([{ outcome: 'placed', credits: [{ gross: 20_00n }] }])
  })
})

describe('a scenario', () => {
  const game = (scenario: BetScenario) => {
    const played = openGame({ scenario })
    finish(played.match)
    advance(played.context, played.bet)
    return played
  }

  test('payouts: a win in three settlements at once, reversed by one unsettlement (D18)', () => {
    const { answer, requests } = game('payouts')
    expect(requests().slice(1)).toEqual([
      'settlement BET_PAID 0',
      'settlement BET_PAID 1000',
      'settlement BET_PAID 1000',
    ])
    for (const index of [3, 1, 2]) answer(index, success())
    expect(requests().slice(4)).toEqual(['unsettlement UNSCORED 2000'])
    // And the bet is settled by its result
    answer(4, success())
    expect(requests().slice(5)).toEqual(['settlement BET_PAID 2000'])
  })

  test.each([
    [0, 'UNSCORED 1334', 'BET_PAID 1334'],
    [1, 'UNVOIDED 333', 'BET_PAID 666'],
  ])('part-void: one of both is reversed, and that part is settled again (%i)', (count, reversal, again) => {
    const { answer, bet, closed, context, counts, match, requests } = openGame({ scenario: 'part-void' })
    counts.unsettlements = count
    finish(match)
    advance(context, bet)
    expect(requests().slice(1)).toEqual(['settlement VOIDED 333'])
    answer(1, success())
    expect(requests().slice(2)).toEqual(['settlement BET_PAID 1334'])
    answer(2, success())
    expect(requests().slice(3)).toEqual([`unsettlement ${reversal}`])
    answer(3, success())
    expect(requests().slice(4)).toEqual([`settlement ${again}`])
    answer(4, success())
    expect(closed).toMatchObject([{ outcome: 'placed', credits: [{}, {}] }])
  })

  test('part-void: both are reversed at once', () => {
    const { answer, bet, context, counts, match, requests } = openGame({ scenario: 'part-void' })
    counts.unsettlements = 2
    finish(match)
    advance(context, bet)
    answer(1, success())
    answer(2, success())
    expect(requests().slice(3)).toEqual(['unsettlement UNSCORED 1334', 'unsettlement UNVOIDED 333'])
    answer(4, success())
    expect(requests()).toHaveLength(5)
    answer(3, success())
    expect(requests().slice(5)).toEqual(['settlement BET_PAID 2000'])
  })

  test('voids: two voids are reversed by one unsettlement', () => {
    const { answer, requests } = game('voids')
    expect(requests().slice(1)).toEqual(['settlement VOIDED 333', 'settlement VOIDED 667'])
    answer(1, success())
    answer(2, success())
    expect(requests().slice(3)).toEqual(['unsettlement UNVOIDED 1000'])
  })

  test('cancelled: the bet is rolled back after its void was reversed (D13)', () => {
    const { account, answer, closed, counts, requests } = game('cancelled')
    answer(1, success())
    answer(2, success())
    expect(requests().slice(1)).toEqual([
      'settlement VOIDED 1000',
      'unsettlement UNVOIDED 1000',
      'rollbackbet TECHNICAL_ERROR 0',
    ])
    answer(3, success())
    expect(closed).toEqual([{ outcome: 'rolled-back', credits: [] }])
    expect([account.entitled, counts.cancellations]).toEqual([0n, 1])
  })

  test('cancelled: not after a clawback that was refused, since the rollback must be refused then (D13)', () => {
    const { account, answer, counts, requests } = game('cancelled')
    answer(1, success())
    answer(2, refusal('INSUFFICIENT_FUNDS', 402))
    expect(requests().at(-1)).toBe('settlement BET_PAID 1000')
    expect([account.debt, counts.cancellations]).toEqual([0n, 0])
  })

  test('part-cash-out: the cash-out stays when the win is reversed', () => {
    const { answer, closed, requests } = game('part-cash-out')
    for (const index of [1, 2, 3, 4]) answer(index, success())
    expect(requests().slice(1)).toEqual([
      'settlement CASHOUT 500',
      'settlement BET_PAID 1000',
      'unsettlement UNSCORED 1000',
      'settlement BET_PAID 1000',
    ])
    expect(closed).toMatchObject([{ credits: [{ type: 'CASHOUT' }, { type: 'BET_PAID' }] }])
  })

  test('spent: the player stakes everything before the win is reversed', () => {
    const { answer, bet, requests, spent } = game('spent')
    expect(spent).toEqual([])
    answer(1, success())
    expect(spent).toEqual([bet.betId])
    expect(requests().at(-1)).toBe('unsettlement UNSCORED 2000')
  })

  test('lost-answer: two rollbacks under two ids at once', () => {
    const { answer, bet, closed, context, requests } = newGame({ scenario: 'lost-answer' })
    place(context, bet)
    answer(0, null)
    expect(requests().slice(1)).toEqual(['rollbackbet TECHNICAL_ERROR 0', 'rollbackbet TECHNICAL_ERROR 0'])
    answer(2, success())
    expect(closed).toEqual([])
    answer(1, success())
    expect(closed).toMatchObject([{ outcome: 'rolled-back' }])
  })
})
