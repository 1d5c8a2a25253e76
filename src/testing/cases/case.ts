/** How a case is written down. */
import type { StoreHarness } from '../harness.js'
import type { Stage } from '../stage.js'

export interface CaseDefinition {
  id: `WS-${string}`
  level: 'MUST' | 'SHOULD'
  /** The promise, in words. */
  name: string
  /** The hooks without which it cannot be judged. */
  needs?: readonly (keyof StoreHarness)[]
  play(stage: Stage): Promise<void>
}
