/** How a case of the audit is written down. */
import type { Level } from './report.js'
import type { Stage } from './stage.js'

/** What must be offered for a case to be judged, beside a player with funds. */
export type Need =
  /** A way to settle bets. */
  | 'settle'
  /** A PAM that can deduct. */
  | 'clawbacks'
  /** A second test player. */
  | 'other player'
  /** Calls are authenticated in some way. */
  | 'authentication'

export interface AuditCase {
  /** Never changes its meaning, and is never used again. */
  id: `AU-${number}`
  level: Level
  /** What is promised, in one sentence. */
  title: string
  /** Sections of the specification and decisions. */
  source: string
  /** What a wallet that fails costs in production. */
  impact: string
  needs?: readonly Need[]
  /** Returns when the promise is kept; fails by the stage's judgements. */
  play(stage: Stage): Promise<void>
}
