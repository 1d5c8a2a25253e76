/**
 * The faults that the network injects: their probabilities, and the draw for one attempt to deliver a call.
 */
import type { Random } from '../numbers/random.js'
import { check } from '../wire/checks.js'
import type { SendMode } from './transport.js'

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

export const eachFault = (of: (name: keyof Chaos) => number) =>
  Object.fromEntries(chaosNames.map(name => [name, of(name)])) as Record<keyof Chaos, number>

/**
 * The probabilities of a number from 0 to 1, or the given ones, and 0 for the others.
 *
 * @throws {AuditError} `INVALID_OPTIONS`
 */
export function chaosOf(chaos: number | Partial<Chaos>): Chaos {
  const scale = typeof chaos === 'number' ? probabilityOf('chaos', chaos) : 1
  const given: Partial<Chaos> = typeof chaos === 'number' ? worst : chaos
  check.names(given, chaosNames, 'chaos.')
  const all = eachFault(name => probabilityOf(`chaos.${name}`, (given[name] ?? 0) * scale))
  const { requestLost, answerLost, deliveredLate, delayed, disconnected } = all
  const lost = requestLost + answerLost + deliveredLate + disconnected
  if (lost > 0.9 || lost + delayed > 1)
    check.invalid('chaos: at least one request of ten must be delivered, or the run would never end')
  return all
}

function probabilityOf(name: string, value: number): number {
  return value >= 0 && value <= 1 ? value : check.invalid(`${name} must be a number from 0 to 1`)
}

interface DeliveryPlan {
  fault: Exclude<keyof Chaos, 'duplicated' | 'reordered'> | null
  /** `null`: the request is never sent. */
  mode: SendMode | null
  afterSteps: number
  /**
   * What the platform receives: the answer; nothing, at the time of the answer; or nothing, because it gives
   * up before the request is answered.
   */
  platform: 'receives-answer' | 'misses-answer' | 'gives-up'
}

/** The longest delay of a late request or duplicate is 2 to this power, in steps. Most are short. */
const lateDoublings = 8
const delayStepsMax = 4

const delivered: DeliveryPlan = { fault: null, mode: 'complete', afterSteps: 0, platform: 'receives-answer' }

/** Draws at most one fault. */
export function drawDelivery(random: Random, chaos: Chaos): DeliveryPlan {
  let left = random.next()
  const falls = (fault: keyof Chaos) => {
    left -= chaos[fault]
    return left < 0
  }
  if (falls('requestLost')) return { ...delivered, fault: 'requestLost', mode: null, platform: 'gives-up' }
  if (falls('answerLost'))
    return { ...delivered, fault: 'answerLost', platform: random.chance(0.5) ? 'misses-answer' : 'gives-up' }
  if (falls('deliveredLate'))
    return { ...delivered, fault: 'deliveredLate', afterSteps: drawLateSteps(random), platform: 'gives-up' }
  if (falls('disconnected')) {
    const mode = random.chance(0.5) ? 'cut-after' : 'cut-within'
    return { ...delivered, fault: 'disconnected', mode, platform: 'misses-answer' }
  }
  if (falls('delayed'))
    return { ...delivered, fault: 'delayed', afterSteps: random.between(1, delayStepsMax) }
  return delivered
}

/** After how many steps a duplicate is sent: at once, soon, or much later. */
export function drawDuplicateSteps(random: Random): number {
  return random.chance(0.5) ? 0 : drawLateSteps(random)
}

function drawLateSteps(random: Random): number {
  return Math.floor(2 ** (random.next() * lateDoublings))
}
