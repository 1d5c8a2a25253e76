/** Runs the operator's commands, which stop servers of the wallet and repair them, while bets are placed. */
import type { Mask } from '../wire/secrets.js'
import type { Transaction } from './books.js'
import type { SimulatorClock } from './clock.js'
import { isRejectedUnread } from './judgements.js'
import type { Reading } from './reading.js'
import type { InjectedFault, SimulationFaults } from './report.js'

export interface FaultCommands {
  /** Shell commands, run in turn. Each breaks the system, repairs it, and ends when it is whole again. */
  commands: readonly string[]
  /** Before each, and after the last one, in milliseconds. */
  everyMs: number
  /**
   * They begin again after the last one, until the run is over. Otherwise the run is over after the last one.
   */
  repeat: boolean
  /** Rejects if the command fails, with a text that is masked. */
  runCommand(command: string, mask: Mask): Promise<void>
  onEvent(text: string): void
}

export class FaultRun {
  readonly injected: InjectedFault[] = []
  /** Decided calls, with the time of the first answer: ISO 8601. */
  readonly answered = new Map<Transaction, string>()
  /** Answered calls that had no definite answer at the end. */
  notRetried = 0
  /** Retries with the first answer whose balance could not be read. */
  notCompared = 0
  /** No fault follows: bets must end. */
  isOver = false
  #lastAt = 0
  #stopped: string | null = null
  #isEnding = false
  #isMeasuring = true
  #wake = () => {}
  #running: Promise<void> = Promise.resolve()

  /** @param mask of the run's secrets: commands may have them in their lines */
  constructor(
    readonly faults: FaultCommands,
    readonly clock: SimulatorClock,
    readonly mask: Mask,
  ) {}

  /** Called with every answer, and with every call that has none. */
  record(transaction: Transaction, reading: Reading): void {
    if (!transaction.changesBalance || !isDecision(reading)) return
    this.#measureSilence()
    if (!this.answered.has(transaction)) this.answered.set(transaction, this.#isoNow())
  }

  /** All calls are answered or given up: what follows is no silence of the wallet. */
  endOfCalls(): void {
    this.#measureSilence()
    this.#isMeasuring = false
  }

  #measureSilence(): void {
    const now = this.clock.date()
    const fault = this.injected.at(-1)
    if (fault !== undefined && this.#isMeasuring)
      fault.silentMs = Math.max(fault.silentMs, now - this.#lastAt)
    this.#lastAt = now
  }

  /**
   * Runs the commands in turn, from now until {@link end}.
   *
   * @param difference in the answers; `null`: none
   */
  start(difference: () => string | null): void {
    this.#running = this.#run(difference)
  }

  /** No further command is run. Resolves when the last one has ended: it repairs at its end. */
  async end(): Promise<void> {
    this.#isEnding = true
    this.#wake()
    await this.#running
  }

  async #run(difference: () => string | null): Promise<void> {
    const { commands, everyMs, repeat } = this.faults
    for (let index = 0; this.#stopped === null && !this.#isEnding; index += 1) {
      await new Promise<void>(resolve => {
        this.#wake = resolve
        this.clock.after(everyMs, resolve)
      })
      if (this.#isEnding) return
      if (index >= commands.length && !repeat) break
      const wrong = index === 0 ? difference() : null
      if (wrong !== null)
        this.#stopped = `the answers were wrong before the first fault (${wrong}): none was injected`
      else await this.#inject(commands[index % commands.length] as string)
    }
    this.isOver = true
  }

  async #inject(line: string): Promise<void> {
    const command = this.mask(line)
    this.faults.onEvent(`fault ${this.injected.length + 1}: ${command}`)
    const fault: InjectedFault = { command, startedAt: this.#isoNow(), endedAt: null, silentMs: 0, lost: 0 }
    this.injected.push(fault)
    try {
      await this.faults.runCommand(line, this.mask)
    } catch (error) {
      this.#stopped = `the fault ${command} failed: ${(error as Error).message}`
      this.faults.onEvent(this.#stopped)
    }
    fault.endedAt = this.#isoNow()
  }

  readonly #isoNow = () => new Date(this.clock.date()).toISOString()

  /** A call is lost by the first fault that had ended after its answer. */
  countLost(transaction: Transaction): void {
    const at = this.answered.get(transaction) ?? ''
    const fault = this.injected.find(({ endedAt }) => at <= (endedAt ?? '')) ?? this.injected.at(-1)
    if (fault !== undefined) fault.lost += 1
  }

  result(): SimulationFaults {
    const missing = this.faults.commands[this.injected.length]
    const early = missing && `the run ended before the fault ${this.mask(missing)}: it was not injected`
    const { injected, notRetried, notCompared } = this
    return { stopped: this.#stopped ?? early ?? null, injected, notRetried, notCompared }
  }
}

/** A success, or a refusal by the wallet itself: a proxy without a wallet behind it answers 404 too. */
function isDecision(reading: Reading): boolean {
  if (reading.kind !== 'refusal') return reading.kind === 'success'
  return reading.errorCode !== '' && !isRejectedUnread(reading)
}
