/** The damage of a failure: what was found, and what the case guards against. */

import { type Decimal, times, zero } from '../numbers/decimal.js'
import { signOf } from './balance-changes.js'
import type { AuditExchange, FailureKind } from './report.js'

/**
 * @param guarded the impact of the failed case; `null` if only a step that prepares it has failed
 * @param exchange the call that failed, if it is a single one
 * @param difference the wrong balance minus the right one, or what an accepted call changed
 * @param money writes an amount with the currency
 */
export function impactOf(
  guarded: string | null,
  kind: FailureKind,
  exchange: AuditExchange | undefined,
  difference: Decimal | null,
  money: (amount: Decimal) => string,
): string {
  const found = foundText(kind, exchange, difference ?? zero, money)
  const about = guarded === null ? 'The case could not judge what it is about.' : guarded
  const texts = [found, found === null || guarded === null ? about : `The case guards against this: ${about}`]
  return texts.filter(text => text !== null).join(' ')
}

function foundText(
  kind: FailureKind,
  exchange: AuditExchange | undefined,
  difference: Decimal,
  money: (amount: Decimal) => string,
): string | null {
  const sign = signOf(difference)
  const size = money(times(difference, sign))
  const answer = exchange?.status ?? 'none'
  switch (kind) {
    case 'balance':
      return `The player has ${size} too ${sign > 0 ? 'much' : 'little'}.`
    case 'stale-balance':
      return 'No money moves: the balance is right. But the answer shows another one than the current balance, and so does the sportsbook.'
    case 'accepted':
      if (sign === 0)
        return 'A success where a refusal was expected: the platform believes that the call was executed.'
      return `A success where a refusal was expected: ${size} ${sign < 0 ? 'were debited' : 'were credited'}.`
    case 'refused':
      return `A refusal (${answer}) where a success was expected: ${refusedText(exchange)}`
    case 'other-refusal':
      return `The call was refused, as it must be, but not as agreed (${answer}): the platform may react as to another refusal.`
    case 'fault':
      return `A fault (${answer}) where a definite answer was expected: the platform cannot know what was done, and retries or rolls back.`
    case 'no-answer':
      return 'No answer: the platform cannot know what was done, and retries or rolls back.'
    case 'form':
      return `The answer (${answer}) is not in the form of the interface: the platform may not be able to read it.`
    case 'other':
      return null
  }
}

/** What the platform does with a refusal. */
function refusedText(exchange: AuditExchange | undefined): string {
  if (exchange?.path === '/rollbackbet') return 'the stake of a cancelled bet stays where it is.'
  if (exchange?.path === '/unsettlement') return 'the payout is not collected.'
  return 'the sportsbook shows the player that the bet was refused.'
}
