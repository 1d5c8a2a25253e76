/** Runs the operator's commands, which stop servers of the wallet and repair them, while bets are placed. */

import type { Mask } from '../wire/secrets.js'
import type { Transaction } from './books.js'
import type { SimulatorClock } from './clock.js'
import { costsOf } from './costs.js'
import { isRejectedUnread } from './judgements.js'
import type { Reading } from './reading.js'
import type { SimulationFaults } from './report.js'
import { type Answered, sendAgain } from './sent-again.js'
import type { Transport } from './transport.js'

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
  readonly #faults: FaultCommands
  readonly #clock: SimulatorClock
  readonly #mask: Mask
  readonly #answered = new Map<Transaction, number>()
  readonly injected: SimulationFaults['injected'] = []
  /** When each command had ended. */
  readonly #ends: number[] = []
  #lastAt = 0
  #stopped: string | null = null
  #isOver = false
  #hasEnded = false
  #over = () => {}
  #running: Promise<void> = Promise.resolve()

  /** @param mask of the run's secrets: commands may have them in their lines */
  constructor(faults: FaultCommands, clock: SimulatorClock, mask: Mask) {
    this.#faults = faults
    this.#clock = clock
    this.#mask = mask
  }

  /** Called with every answer, and with every call that has none. */
  record(transaction: Transaction, reading: Reading): void {
    if (!transaction.moves || !isDecision(reading)) return
    const now = this.#clock.date()
    const fault = this.injected.at(-1)
    if (fault !== undefined) fault.silentMs = Math.max(fault.silentMs, now - this.#lastAt)
    this.#lastAt = now
    if (!this.#answered.has(transaction)) this.#answered.set(transaction, now)
  }

  /**
   * Runs the commands in turn, from now until {@link stop}.
   *
   * @param difference in the answers; `null`: none
   */
  start(difference: () => string | null): void {
    this.#running = this.#run(difference)
  }

  /** No further command is run. */
  stop(): void {
    this.#hasEnded = true
    this.#over()
  }

  /** Resolves when the last command has ended: it repairs at its end. */
  async end(): Promise<void> {
    this.stop()
    await this.#running
  }

  /** No fault follows: bets must end. */
  get isOver(): boolean {
    return this.#isOver
  }

  async #run(difference: () => string | null): Promise<void> {
    const { commands, everyMs, repeat } = this.#faults
    for (let index = 0; this.#stopped === null && !this.#hasEnded; index += 1) {
      await new Promise<void>(resolve => {
        this.#over = resolve
        this.#clock.after(everyMs, resolve)
      })
      if (this.#hasEnded) return
      if (index >= commands.length && !repeat) break
      const wrong = index === 0 ? difference() : null
      if (wrong !== null)
        this.#stopped = `the answers were wrong before the first fault (${wrong}): none was injected`
      else await this.#inject(commands[index % commands.length] as string)
    }
    this.#isOver = true
  }

  async #inject(line: string): Promise<void> {
    const command = this.#mask(line)
    this.#faults.onEvent(`fault ${this.injected.length + 1}: ${command}`)
    const startedAt = new Date(this.#clock.date()).toISOString()
    this.injected.push({ command, startedAt, silentMs: 0, lost: 0 })
    try {
      await this.#faults.runCommand(line, this.#mask)
    } catch (error) {
      this.#stopped = `the fault ${command} failed: ${(error as Error).message}`
      this.#faults.onEvent(this.#stopped)
    }
    this.#ends.push(this.#clock.date())
  }

  /** A call is lost by the first fault that had ended after its answer. */
  #faultOf(at: number): SimulationFaults['injected'][number] | undefined {
    const index = this.#ends.findIndex(end => at <= end)
    return this.injected.at(index)
  }

  /** Sends every answered call again: after the bets are settled, and the last command has ended. */
  async conclude(transport: Transport, giveUpAfterMs: number): Promise<SimulationFaults> {
    await this.end()
    this.#faults.onEvent('the faults are over: every answered call is sent again')
    const answered: Answered[] = [...this.#answered].map(([transaction, at]) => ({ transaction, at }))
    const limits = { transport, clock: this.#clock, giveUpAfterMs }
    const { lost, ...retries } = await sendAgain(answered, limits)
    for (const { at } of lost) {
      const fault = this.#faultOf(at)
      if (fault !== undefined) fault.lost += 1
    }
    const accounts = [...new Set(answered.map(({ transaction }) => transaction.account))]
    const missing = this.#faults.commands[this.injected.length]
    return {
      stopped:
        this.#stopped ??
        (missing === undefined
          ? null
          : `the run ended before the fault ${this.#mask(missing)}: it was not injected`),
      injected: this.injected,
      ...retries,
      lost: lost.map(({ at, ...call }) => call),
      costsAfter: costsOf(accounts),
    }
  }
}

/** A success, or a refusal by the wallet itself: a proxy without a wallet behind it answers 404 too. */
function isDecision(reading: Reading): boolean {
  if (reading.kind !== 'refusal') return reading.kind === 'success'
  return reading.errorCode !== '' && !isRejectedUnread(reading)
}
