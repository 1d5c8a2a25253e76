/** Injects the faults under load, one after the other, and repairs what they have broken. */
import { durationText } from '../html/figures.js'
import type { AnswerLog, Waited } from './answer-log.js'
import type { Durability, Fault, FaultReport } from './report.js'

export interface FaultRunSettings {
  faults: readonly Fault[]
  /** How many calls must be answered before each fault, after it, and after its repair. */
  callsPerFault: number
  /** A silence after which a fault is repaired. */
  repairAfterMs: number
  /** A silence after a repair, after which the wallet is given up. */
  giveUpAfterMs: number
  log: AnswerLog
  /** Milliseconds since 1970. */
  date: () => number
  /** What the answers of the wallet differ by, before the first fault; `null`: nothing. */
  differenceSoFar: () => string | null
  /** Rejects if the command fails. `kind` a fault's command is ended by Ctrl+C, and a repair is not. */
  runCommand(command: string, kind: 'fault' | 'repair'): Promise<void>
  readDurability: (() => Promise<Durability>) | null
  onEvent(text: string): void
  /** Called when a fault has begun, and when it is repaired: the faults whose repair is due. */
  onRepairsDue(faults: readonly Fault[]): void
}

/** How a fault ended without reaching the next one; `null`: it is over. */
type Stop = string | null

export class FaultRun {
  readonly #settings: FaultRunSettings
  readonly #due = new Set<Fault>()
  readonly reports: FaultReport[] = []
  /** When the calls were answered again after each fault, in milliseconds since 1970. */
  readonly ends: number[] = []
  #stopped: string | null = null

  constructor(settings: FaultRunSettings) {
    this.#settings = settings
  }

  /** Why not all faults were injected; `null`: all were. */
  get stopped(): string | null {
    return this.#stopped
  }

  /** Never rejects. Whatever happens, every repair that is due was run at the end. */
  async run(): Promise<void> {
    const { faults, callsPerFault, log, differenceSoFar, onEvent } = this.#settings
    try {
      onEvent(`load: waiting for ${callsPerFault} answered calls`)
      this.#stopped = await this.#healthy(await log.wait(callsPerFault), differenceSoFar())
      for (const [index, fault] of faults.entries()) {
        if (this.#stopped !== null) return
        onEvent(`fault ${index + 1} of ${faults.length}, ${fault.name}: ${fault.command}`)
        this.#stopped = await this.#inject(fault)
      }
    } finally {
      for (const fault of this.#due) await this.#repair(fault, this.reports.at(-1)?.problems ?? [])
    }
  }

  async #healthy(waited: Waited, difference: string | null): Promise<Stop> {
    if (difference !== null)
      return `the wallet's answers were wrong before the first fault (${difference}): no fault was injected`
    return waited === 'answered' ? null : 'the load ended before the first fault: no fault was injected'
  }

  async #inject(fault: Fault): Promise<Stop> {
    const { callsPerFault, repairAfterMs, giveUpAfterMs, log, date, onEvent, runCommand } = this.#settings
    const report: FaultReport = {
      ...{ name: fault.name, startedAt: new Date(date()).toISOString(), silentMs: 0, lost: 0 },
      ...{ answeredAgain: null, before: await this.#durability(), after: null, problems: [] },
    }
    this.reports.push(report)
    log.mark()
    if (fault.repair !== null) this.#setDue(fault, true)
    try {
      await runCommand(fault.command, 'fault')
    } catch (error) {
      report.problems.push(`the command failed: ${(error as Error).message}`)
      return `the command of the fault ${fault.name} failed`
    }
    let waited = await log.wait(callsPerFault, fault.repair === null ? giveUpAfterMs : repairAfterMs)
    report.answeredAgain = waited === 'answered' ? 'by itself' : 'never'
    report.after = await this.#durability()
    if (fault.repair !== null && waited !== 'stopped') {
      const isRepaired = await this.#repair(fault, report.problems)
      const silentBefore = waited === 'silent'
      waited = await log.wait(callsPerFault, giveUpAfterMs)
      if (silentBefore && waited === 'answered') report.answeredAgain = 'after the repair'
      if (!isRepaired) waited = 'stopped'
    }
    const { silentMs, until } = log.silence()
    report.silentMs = silentMs
    this.ends.push(until)
    const { answeredAgain } = report
    const how = answeredAgain === 'never' ? 'not answered again' : `answered again ${answeredAgain}`
    onEvent(`${fault.name}: ${how}, silent for ${durationText(silentMs)}`)
    if (waited === 'answered') return null
    return waited === 'silent'
      ? `the wallet was silent for ${durationText(giveUpAfterMs)} after the fault ${fault.name}`
      : `stopped during the fault ${fault.name}`
  }

  /** @returns whether it was repaired */
  async #repair(fault: Fault, problems: string[]): Promise<boolean> {
    this.#settings.onEvent(`repair, ${fault.name}: ${fault.repair}`)
    try {
      await this.#settings.runCommand(fault.repair ?? '', 'repair')
      this.#setDue(fault, false)
      return true
    } catch (error) {
      const problem = `the repair failed: ${(error as Error).message}`
      this.#settings.onEvent(`${fault.name}: ${problem}`)
      problems.push(problem)
      return false
    }
  }

  #setDue(fault: Fault, isDue: boolean): void {
    if (isDue) this.#due.add(fault)
    else this.#due.delete(fault)
    this.#settings.onRepairsDue([...this.#due])
  }

  async #durability(): Promise<Durability | null> {
    return (await this.#settings.readDurability?.()) ?? null
  }
}
