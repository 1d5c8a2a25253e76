/** Calls of the platform, sent through the handlers and traced. */
import type { WalletOptions } from '../options.js'
import type { WalletOutcome } from '../outcomes.js'
import type { Operation, WalletStore } from '../store.js'
import type { CaseContext } from './case-context.js'
import { transactionDate } from './changes.js'
import { handlers, retrySettings } from './platform.js'
import { shown } from './trace.js'

/**
 * An outcome, or the fault that was thrown instead: returned as a value, so that a case can judge a race as a
 * whole.
 */
export type CallResult = WalletOutcome | { ok: false; fault: string }

/** Sends one request to the store through its handler. */
export async function call(
  { trace }: Pick<CaseContext, 'trace'>,
  store: WalletStore,
  operation: Operation,
  fields: {
    transactionId: string
    betId: string
    playerId?: string
    amount?: string
    type?: string
    currency?: string
    transactionDate?: string
  },
  options: WalletOptions = {},
): Promise<CallResult> {
  const defaults = {
    placebet: { sessionId: 's-1', amount: '30', currency: 'EUR', betType: 'SINGLE' },
    unsettlement: { type: 'UNSCORED' },
    rollbackbet: { type: 'TECHNICAL_ERROR' },
    settlement: { type: 'BET_PAID', amount: '60', currency: 'EUR' },
  }[operation]
  const request = { playerId: 'anna', transactionDate, ...defaults, ...fields }
  const named = Object.entries(fields).map(([key, value]) => `${key} ${value}`)
  const subject = `${operation} ${fields.transactionId}, ${fields.betId}`
  const answered = trace.start('platform', `${operation} ${named.join(', ')}`, subject)
  try {
    const outcome = await handlers[operation](store, request, { ...options, ...retrySettings })
    answered(shownCallResult(outcome))
    return outcome
  } catch (error) {
    answered(`fault ${shown(error)}`)
    return { ok: false, fault: shown(error) }
  }
}

function shownCallResult(result: CallResult): string {
  if ('fault' in result) return `fault ${result.fault}`
  return result.ok ? `ok, balance ${result.balance}${result.replayed ? ' (replayed)' : ''}` : result.errorCode
}

/** `5 × ok, 11 × INSUFFICIENT_FUNDS` */
export function shownTally(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([result, count]) => `${count} × ${result}`)
    .join(', ')
}

/** Counts equal results: `{ ok: 5, INSUFFICIENT_FUNDS: 11 }`. */
export function tally(results: readonly CallResult[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const result of results) {
    const key = result.ok ? 'ok' : 'fault' in result ? 'fault' : result.errorCode
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}
