/** How badly the network behaves. */
import { invalid } from '../checks.js'

/** Probabilities from 0 to 1, each per attempt to deliver a call. The first five exclude each other. */
export interface Chaos {
  /** The call never reaches the wallet; the platform hears nothing. */
  requestLost: number
  /** The wallet answers, and the platform does not hear it; or it gives up and goes on while the wallet still works. */
  answerLost: number
  /** The call hangs on the line until the platform has given up and gone on: a bet arrives after its own rollback. */
  deliveredLate: number
  /** The call is held up a little while the platform waits: others overtake it. */
  delayed: number
  /** The connection is cut after the call was written, or in the middle of it. */
  disconnected: number
  /** The call is delivered a second time, at once or much later, also days later as from a stuck queue. */
  duplicated: number
  /** An unsettlement is sent together with the settlement that it reverses, and may be there first. */
  reordered: number
}

/** What the number 1 stands for: nothing is spared. Smaller numbers are shares of it. */
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

/** The probabilities of a number from 0 to 1, or those given, and 0 for the others. @throws {AuditError} naming the flaw */
export function chaosOf(chaos: number | Partial<Chaos>): Chaos {
  const isProbability = (value: unknown): value is number =>
    typeof value === 'number' && value >= 0 && value <= 1
  if (typeof chaos === 'number') {
    if (!isProbability(chaos)) invalid('chaos must be a number from 0 to 1, or probabilities by name')
    return each(name => worst[name] * chaos)
  }
  if (typeof chaos !== 'object' || chaos === null)
    invalid('chaos must be a number from 0 to 1, or probabilities by name')
  for (const [name, value] of Object.entries(chaos)) {
    if (!(name in worst)) invalid(`chaos.${name} is not one of ${chaosNames.join(', ')}`)
    if (!isProbability(value)) invalid(`chaos.${name} must be a number from 0 to 1`)
  }
  const all = each(name => chaos[name] ?? 0)
  const { requestLost, answerLost, deliveredLate, delayed, disconnected } = all
  if (
    requestLost + answerLost + deliveredLate + disconnected > 0.9 ||
    requestLost + answerLost + deliveredLate + disconnected + delayed > 1
  ) {
    invalid('chaos: at least one call of ten must get through, or nothing would ever end')
  }
  return all
}
