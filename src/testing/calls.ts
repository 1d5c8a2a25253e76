/** The platform's calls through the handlers, told. */
import type { WalletOutcome } from '../outcomes.js'
import type { Operation, WalletStore } from '../store.js'
import { transactionDate } from './changes.js'
import { handlers, retrySettings } from './platform.js'
import type { Stage } from './stage.js'
import { shown } from './story.js'

/** A fault where an outcome should be: shown instead of thrown, so that a race can be judged as a whole. */
export type Answer = WalletOutcome | { ok: false; fault: string }

/** Sends a call to the store through its handler. */
export async function call(
  stage: Stage,
  store: WalletStore,
  operation: Operation,
  fields: {
    transactionId: string
    betId: string
    playerId?: string
    amount?: string
    type?: string
    currency?: string
  },
): Promise<Answer> {
  const defaults = {
    placebet: { sessionId: 's-1', amount: '30', currency: 'EUR', betType: 'SINGLE' },
    unsettlement: { type: 'UNSCORED' },
    rollbackbet: { type: 'TECHNICAL_ERROR' },
    settlement: { type: 'BET_PAID', amount: '60', currency: 'EUR' },
  }[operation]
  const request = { playerId: 'anna', transactionDate, ...defaults, ...fields }
  const told = Object.entries({ ...fields }).map(([key, value]) => `${key} ${value}`)
  const what = `${operation} ${told.join(', ')}`
  const ended = stage.story.ask('platform', what, `${operation} ${fields.transactionId}, ${fields.betId}`)
  try {
    const outcome = await handlers[operation](store, request, retrySettings)
    ended(shownAnswer(outcome))
    return outcome
  } catch (error) {
    ended(`fault ${shown(error)}`)
    return { ok: false, fault: shown(error) }
  }
}

export function shownAnswer(answer: Answer): string {
  if ('fault' in answer) return `fault ${answer.fault}`
  return answer.ok ? `ok, balance ${answer.balance}${answer.replayed ? ' (replayed)' : ''}` : answer.errorCode
}

/** `5 × ok, 11 × INSUFFICIENT_FUNDS` */
export function shownTally(counts: Record<string, number>): string {
  const told = Object.entries(counts).map(([answer, count]) => `${count} × ${answer}`)
  return told.join(', ')
}

/** How many answers say what: `{ ok: 5, INSUFFICIENT_FUNDS: 11 }`. */
export function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const answer of answers) {
    const key = answer.ok ? 'ok' : 'fault' in answer ? 'fault' : answer.errorCode
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}
