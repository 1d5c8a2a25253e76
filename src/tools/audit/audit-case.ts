/** The form of an audit case: all that is known of it. */

import type { CaseContext } from './case-context.js'
import type { Sentence } from './interface-sentences.js'
import type { FailureKind, Level } from './report.js'

/** A condition without which a case is skipped. */
export type Need =
  /** The option `settle`. */
  | 'settle'
  /** The option `clawbacks` is not `false`. */
  | 'clawbacks'
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

/** A failure by its kind; of a wrong balance, by its direction. */
type Described = Exclude<FailureKind, 'balance'> | 'too-much' | 'too-little'

/** How a case fails. `executed`: a call that must change nothing was accepted, or changed the balance. */
export type Symptom =
  | 'too-much'
  | 'too-little'
  | 'accepted'
  | 'refused'
  | 'executed'
  | 'fault'
  | 'form'
  | 'other'

type CaseId = `AU-${number}`

export interface AuditCase {
  /** Its meaning never changes, and it is never reused. */
  id: CaseId
  level: Level
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
   * The failures whose damage `impact` describes. Of any other, the report says only what was found: a text
   * that warns of a stake debited twice says nothing about a stake that was not debited.
   */
  describes?: readonly Described[]
  /** By symptom: what the wallet probably does wrong, in one sentence. */
  causes?: Partial<Record<Symptom, string>>
  /**
   * The cases whose cause explains a failure of this one too, if both fail in the same direction; of several
   * that failed, the first. `AU-201 refused`: if that case fails by this symptom, whatever the direction.
   */
  follows?: readonly (CaseId | `${CaseId} ${Symptom}`)[]
  /**
   * What else a failure means for those of other cases.
   *
   * - `basic`: one of the plainest calls. If it fails, causes that other cases show are doubtful.
   * - `sums`: shows balances that are wrong by fractions of the smallest unit best.
   * - `books`: compares what all cases have left.
   */
  role?: 'basic' | 'sums' | 'books'
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
