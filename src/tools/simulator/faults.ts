/** Fault injection: draws how one attempt to deliver a request ends. */
import type { Random } from '../numbers/random.js'
import type { Chaos } from './chaos.js'
import type { SendMode } from './http-connection.js'

type FaultKind = Exclude<keyof Chaos, 'duplicated' | 'reordered'>

interface DeliveryPlan {
  fault: FaultKind | null
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
  const falls = (kind: FaultKind) => {
    left -= chaos[kind]
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
