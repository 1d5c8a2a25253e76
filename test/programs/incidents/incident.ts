/** What an incident is made of. */
import type { DatabaseName } from './databases.js'
import type { Scene } from './scene.js'

/** The ids that stand for those of the runbook's commands: b-123, t-1, anna. */
export interface AlarmIds {
  bet?: string
  transaction?: string
  player?: string
}

export interface Incident {
  /** Not shown to the person who solves it. */
  title: string
  /** All that on-call gets. */
  alarm(scene: Scene): string
  /** The symptom in docs/runbook.md that the alarm is about. */
  symptom: string
  ids: AlarmIds
  /** How it arises. */
  arise(scene: Scene): Promise<void>
  /** In the last cell of the row of the runbook that the output leads to. */
  solution: string
  /** Where it cannot arise, with the reason. */
  notOn?: Partial<Record<DatabaseName, string>>
  /** What the solution changes; throws if it does not help. */
  solve?(scene: Scene, output: string): Promise<void>
}
