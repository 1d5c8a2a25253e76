/**
 * Whether each refusal was true: the platform never asks again, so a refusal by a server with an older state
 * costs the player or the operator money. A refusal is true if a state that justifies it may have existed between the first time
 * that its call was sent and the answer.
 */
import type { Credit } from './books.js'
import { type Answer, type Call, type PlatformBet, reverses, type SettlementType } from './platform.js'

/** A bet after one of its transactions. */
export interface BetState {
  /** `settlement transaction-7` */
  by: string
  status: 'PLACED' | 'ROLLED_BACK'
  credits: ReadonlyMap<SettlementType, Credit>
}

/** A balance, and the earliest time at which it can have existed, in milliseconds since 1970. */
export interface BalanceState {
  cents: number
  since: number
}

/** All states in the order of the commits. */
export interface States {
  states: ReadonlyMap<string, readonly BetState[]>
  /** More than one if servers lost commits. */
  timelines: readonly ReadonlyMap<string, readonly BalanceState[]>[]
}

interface Span {
  from: number
  to: number
}

/** Clocks are read in milliseconds. */
const clockMs = 2

export function judgeRefusals(
  bets: readonly PlatformBet[],
  all: States,
  reportDifference: (difference: string, betId?: string) => void,
): void {
  for (const bet of bets) {
    for (const call of bet.calls) {
      for (const answer of call.answers) {
        if (answer.errorCode === null || answer.status >= 500) continue
        const during = { from: (call.sentAt ?? 0) - clockMs, to: answer.at + clockMs }
        if (!isTrue(call, answer, during, all))
          reportDifference(
            `${call.operation} ${call.transactionId}: its refusal ${answer.errorCode} was true at no moment of the call`,
            bet.betId,
          )
      }
    }
  }
}

function isTrue(call: Call, { errorCode }: Answer, during: Span, all: States): boolean {
  if (errorCode === 'INSUFFICIENT_FUNDS') return balancesDuring(call, during, all).some(isBelow(call, all))
  // Every player is registered before the first bet.
  if (errorCode !== 'INVALID_BET') return false
  return betsDuring(call, during, all).some(state => isInvalid(call, state))
}

/** Whether the rules refuse the call of a bet in this state; `null`: no such bet. */
function isInvalid({ operation, type }: Call, bet: BetState | null): boolean {
  if (operation === 'placebet') return bet !== null
  if (bet === null) return operation !== 'rollbackbet'
  const credits = [...bet.credits.values()]
  if (operation === 'rollbackbet') return credits.some(({ live, owed }) => live !== null || owed !== 0)
  if (bet.status === 'ROLLED_BACK') return true
  const credit = operation === 'unsettlement' ? bet.credits.get(reversed(type)) : undefined
  return credit !== undefined && credit.live === null
}

/** The states that the bet may have had in this time. Each lasts at most until the next one was answered. */
function betsDuring({ bet }: Call, during: Span, all: States): (BetState | null)[] {
  const states = [null, ...(all.states.get(bet.betId) ?? [])]
  const calls = new Map(bet.calls.map(call => [`${call.operation} ${call.transactionId}`, call]))
  return states.filter((state, index) => {
    const next = states[index + 1]
    const from = state === null ? 0 : (calls.get(state.by)?.sentAt ?? 0)
    const answers = next ? (calls.get(next.by)?.answers ?? []) : []
    const to = Math.min(...answers.filter(({ status }) => status < 500).map(({ at }) => at))
    return from <= during.to && to >= during.from
  })
}

/** A change of a balance takes its time before its commit, and so after the end of the previous balance. */
function balancesDuring({ bet }: Call, during: Span, all: States): number[] {
  return all.timelines.flatMap(timeline => {
    const balances = timeline.get(bet.playerId) ?? []
    return balances
      .filter(({ since }, index) => {
        const to = balances[index + 2]?.since ?? Number.POSITIVE_INFINITY
        return since <= during.to && to >= during.from
      })
      .map(({ cents }) => cents)
  })
}

/** Whether a balance does not cover the stake, or any amount that an unsettlement may have had to debit. */
function isBelow(call: Call, all: States): (cents: number) => boolean {
  if (call.operation === 'placebet') return cents => cents < (call.cents ?? 0)
  const name = `unsettlement ${call.transactionId}`
  const states = all.states.get(call.bet.betId) ?? []
  const before = states[states.findIndex(({ by }) => by === name) - 1]
  return cents => cents < (before?.credits.get(reversed(call.type))?.live ?? 0)
}

const reversed = (type: Call['type']): SettlementType => reverses[type as keyof typeof reverses]
