/** The form of an audit case: all that is known of it. */

import type { CaseContext } from './case-context.js'
import type { Sentence } from './interface-sentences.js'

/** A condition without which a case is skipped. */
export type Need =
  /** The option `settle`. */
  | 'settle'
  /** The option `clawbacks` is not `false`. */
  | 'clawbacks'
  /** The option `accounts`. Without it, the case is not part of an audit. */
  | 'accounts'
  /** The option `otherPlayerId`. */
  | 'other-player'
  /** Calls are authenticated: the option `credentials`, `headers` or `sign`. */
  | 'authentication'
  /** The option `pauseMs`. */
  | 'pause'
  /** The option `restart`. */
  | 'restart'

/** What lies between the two parts of a case: a long pause, or a restart of the wallet. */
export type BetweenParts = 'pause' | 'restart'

type CaseId = `AU-${number}`

export interface AuditCase {
  /** Its meaning never changes, and it is never reused. */
  id: CaseId
  /** Without one, the case is a MUST. */
  level?: 'SHOULD'
  /** The requirement, in one sentence. */
  name: string
  /** `spec 4.1`: docs/interface.md; `D6`: docs/decisions.md; `A01`: its cases by example; or another page. */
  source: string
  /**
   * The sentence of docs/interface.md that a failing wallet breaks. A MUST without one is a case in which
   * money is lost or made where the interface is silent.
   */
  quote?: Sentence
  /** The damage in production if a wallet fails. */
  impact: string
  /**
   * What a failure means for those of other cases.
   *
   * - `sums`: shows balances that are wrong by fractions of the smallest unit best.
   * - `form`: shows answers that are not in the form of the interface best.
   * - `books`: compares what all cases have left.
   */
  role?: 'sums' | 'form' | 'books'
  needs?: readonly Need[]
  /** Of a case in two parts. */
  between?: BetweenParts
  /** Its amounts may leave a balance by which no other case can be judged. */
  runLast?: true
  /** How many answers it waits for, one after the other, if many more than usual. */
  answers?: number
  /**
   * Returns if the requirement is met; otherwise throws by an expectation. A case in two parts returns the
   * second one.
   */
  run(context: CaseContext): Promise<void | (() => Promise<void>)>
}

/** Cases by their ids. */
export const casesOf = (byId: Readonly<Record<CaseId, Omit<AuditCase, 'id'>>>): readonly AuditCase[] =>
  Object.entries(byId).map(([id, item]) => ({ id: id as CaseId, ...item }))

/** Of a case, what each report says of it. */
export function factsOf({ id, level, name, source }: AuditCase) {
  return { id, level: level ?? ('MUST' as const), name, source }
}
