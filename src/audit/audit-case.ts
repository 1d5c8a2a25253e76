/** The form of an audit case. */
import type { Level } from './report.js'
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
  needs?: readonly Need[]
  /** Returns if the requirement is met; otherwise throws by an expectation of the stage. */
  play(stage: Stage): Promise<void>
}
