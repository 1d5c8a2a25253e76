/** The faults that the simulated network injects, and their probabilities. */
import { check } from '../wire/checks.js'

/**
 * Probabilities from 0 to 1, for each attempt to deliver a request. At most one of the first five faults
 * occurs.
 */
export interface Chaos {
  /** The request never reaches the wallet. The platform receives no answer. */
  requestLost: number
  /** The wallet answers, and the platform does not receive the answer, or does not wait for it. */
  answerLost: number
  /** The request arrives after the platform has given up: a bet arrives after its own rollback. */
  deliveredLate: number
  /** The request is held back a little while the platform waits: other requests overtake it. */
  delayed: number
  /** The connection is closed after the request was sent, or in the middle of it. */
  disconnected: number
  /**
   * The request is delivered a second time, at once or much later, as from a message queue that was stuck.
   */
  duplicated: number
  /** An unsettlement is sent together with the settlement that it reverses, and may arrive first. */
  reordered: number
}

/** The probabilities at chaos 1. A smaller number scales them down. */
const worst: Readonly<Chaos> = {
  requestLost: 0.1,
  answerLost: 0.12,
  deliveredLate: 0.1,
  delayed: 0.2,
  disconnected: 0.06,
  duplicated: 0.35,
  reordered: 0.5,
}

export const chaosNames = Object.keys(worst) as (keyof Chaos)[]

function each(of: (name: keyof Chaos) => number): Chaos {
  return {
    requestLost: of('requestLost'),
    answerLost: of('answerLost'),
    deliveredLate: of('deliveredLate'),
    delayed: of('delayed'),
    disconnected: of('disconnected'),
    duplicated: of('duplicated'),
    reordered: of('reordered'),
  }
}

/**
 * The probabilities of a number from 0 to 1, or the given ones, and 0 for the others.
 *
 * @throws {AuditError} `INVALID_OPTIONS`
 */
export function chaosOf(chaos: number | Partial<Chaos>): Chaos {
  const isProbability = (value: unknown): value is number =>
    typeof value === 'number' && value >= 0 && value <= 1
  if (typeof chaos === 'number') {
    if (!isProbability(chaos)) check.invalid('chaos must be a number from 0 to 1, or probabilities by name')
    return each(name => worst[name] * chaos)
  }
  if (typeof chaos !== 'object' || chaos === null)
    check.invalid('chaos must be a number from 0 to 1, or probabilities by name')
  for (const [name, value] of Object.entries(chaos)) {
    if (!(name in worst)) check.invalid(`chaos.${name} is not one of ${chaosNames.join(', ')}`)
    if (!isProbability(value)) check.invalid(`chaos.${name} must be a number from 0 to 1`)
  }
  const all = each(name => chaos[name] ?? 0)
  const { requestLost, answerLost, deliveredLate, delayed, disconnected } = all
  if (
    requestLost + answerLost + deliveredLate + disconnected > 0.9 ||
    requestLost + answerLost + deliveredLate + disconnected + delayed > 1
  ) {
    check.invalid('chaos: at least one request of ten must be delivered, or the run would never end')
  }
  return all
}
