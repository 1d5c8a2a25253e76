/** The form of an audit case. */
import type { FailureKind, Level } from './report.js'
import type { Stage } from './stage.js'

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
  /** The option `patienceMs`. */
  | 'patience'
  /** The option `restart`. */
  | 'restart'

/** What lies between the two acts of a case: a long pause, or a restart of the wallet. */
export type Later = 'patience' | 'restart'

/** A failure by its kind; of a wrong balance, by its direction. */
export type Described = Exclude<FailureKind, 'balance'> | 'too much' | 'too little'

export interface AuditCase {
  /** Its meaning never changes, and it is never reused. */
  id: `AU-${number}`
  level: Level
  /** The requirement, in one sentence. */
  title: string
  /** `spec 4.1`: docs/interface.md; `D6`: docs/decisions.md; `A01`: docs/scenarios.md; or another page. */
  source: string
  /**
   * The sentence of docs/interface.md that a failing wallet breaks, without its marks. A MUST without one is a
   * case in which money is lost or made where the interface is silent.
   */
  quote?: string
  /** The damage in production if a wallet fails. */
  impact: string
  /** The failures whose damage `impact` describes. Of any other, the report says only what was found. */
  describes?: readonly Described[]
  needs?: readonly Need[]
  /** Of a case in two acts. */
  later?: Later
  /**
   * Returns if the requirement is met; otherwise throws by an expectation of the stage. A case in two acts returns
   * the second one.
   */
  play(stage: Stage): Promise<void | (() => Promise<void>)>
}
