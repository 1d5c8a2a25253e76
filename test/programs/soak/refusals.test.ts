/** The judge of refusals, on histories of one bet. */
import { describe, expect, it } from 'vitest'
import type { Credit } from './books.js'
import type { Call, PlatformBet } from './platform.js'
import { type BetState, judgeRefusals } from './refusals.js'

const player = { playerId: 'player-1', cents: 500 }
const live = (cents: number): Credit => ({ live: cents, reversed: 0, owed: 0 })

/** Placed from 10 to 20, settled from 50 to 60, and unsettled from 80 to 90, in milliseconds. */
const steps = [
  { operation: 'placebet', sentAt: 10, at: 20, credits: [] },
  { operation: 'settlement', sentAt: 50, at: 60, credits: [['BET_PAID', live(900)]] },
  {
    operation: 'unsettlement',
    sentAt: 80,
    at: 90,
    credits: [['BET_PAID', { live: null, reversed: 900, owed: 0 }]],
  },
] as const
const states: BetState[] = steps.map(({ operation, credits }, index) => ({
  ...{ by: `${operation} transaction-${index}`, status: 'PLACED' },
  credits: new Map(credits as [['BET_PAID', Credit]]),
}))
const balances = [
  { cents: 100, since: 0 },
  { cents: 1_000, since: 1_000 },
  { cents: 2_000, since: 2_000 },
  { cents: 3_000, since: 3_000 },
]

/** The differences for a bet with these steps and one more call, which is refused. */
function judged(
  operation: Call['operation'],
  errorCode: string,
  [sentAt, at]: [number, number],
  type: Call['type'] = null,
): string[] {
  const bet: PlatformBet = { ...player, betId: 'bet-1', calls: [], trace: [], rollbackRequested: false }
  const call = (fields: Pick<Call, 'operation' | 'transactionId' | 'sentAt' | 'answers'>): Call => ({
    ...{ bet, body: {}, cents: player.cents, type, unanswered: 0 },
    ...fields,
  })
  const answer = { status: 200, errorCode: null, cents: null, walletTransactionId: null }
  bet.calls.push(
    ...steps.map(({ operation, sentAt, at }, index) =>
      call({ operation, sentAt, transactionId: `transaction-${index}`, answers: [{ ...answer, at }] }),
    ),
    call({
      ...{ operation, sentAt, transactionId: 'refused' },
      answers: [{ ...answer, status: errorCode === 'INSUFFICIENT_FUNDS' ? 402 : 400, errorCode, at }],
    }),
  )
  const differences: string[] = []
  judgeRefusals(
    [bet],
    { states: new Map([['bet-1', states]]), timelines: [new Map([['player-1', balances]])] },
    difference => differences.push(difference),
  )
  return differences
}

describe('given the history of a bet and of a balance', () => {
  it.each([
    ['a settlement before the placebet', judged('settlement', 'INVALID_BET', [0, 5])],
    ['a settlement during the placebet', judged('settlement', 'INVALID_BET', [15, 30])],
    ['an unsettlement after the unsettlement', judged('unsettlement', 'INVALID_BET', [95, 99], 'UNSCORED')],
    ['a rollback of the settled bet', judged('rollbackbet', 'INVALID_BET', [62, 70])],
    ['a placebet of the same bet', judged('placebet', 'INVALID_BET', [62, 70])],
    ['a stake above the balance', judged('placebet', 'INSUFFICIENT_FUNDS', [10, 20])],
    [
      'a stake above a balance that was being changed',
      judged('placebet', 'INSUFFICIENT_FUNDS', [1_500, 1_600]),
    ],
  ])('when %s is refused, then it is true', (_, differences) => {
    expect(differences).toEqual([])
  })

  it.each([
    ['a settlement of the placed bet', judged('settlement', 'INVALID_BET', [30, 40])],
    ['an unsettlement of the live credit', judged('unsettlement', 'INVALID_BET', [65, 70], 'UNSCORED')],
    ['a rollback of the placed bet', judged('rollbackbet', 'INVALID_BET', [30, 40])],
    ['a stake that every balance covered', judged('placebet', 'INSUFFICIENT_FUNDS', [2_500, 2_600])],
    ['a registered player', judged('placebet', 'INVALID_PLAYER', [30, 40])],
  ])('when %s is refused, then it is a difference', (_, differences) => {
    expect(differences).toEqual([expect.stringMatching(/refused: its refusal \w+ was true at no moment/)])
  })
})
