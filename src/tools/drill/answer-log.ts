/** What the wallet has answered under load, and how long it was silent. */
import type { Transaction } from '../simulator/books.js'
import type { SimulatorClock } from '../simulator/clock.js'
import { isRejectedUnread } from '../simulator/judgements.js'
import type { Reading } from '../simulator/reading.js'

/** A transaction that the wallet has decided. */
export interface Answered {
  transaction: Transaction
  /** Milliseconds since 1970. */
  at: number
}

/** `silent`: no call was answered for the given time. */
export type Waited = 'answered' | 'silent' | 'stopped'

interface Waiting {
  until: number
  silentMsMax: number
  since: number
  resolve(waited: Waited): void
}

export class AnswerLog {
  readonly #clock: SimulatorClock
  readonly #answered = new Map<Transaction, number>()
  #decided = 0
  #lastAt: number
  #silentMs = 0
  #silentUntil = 0
  #waiting: Waiting | null = null
  #stopped = false

  constructor(clock: SimulatorClock) {
    this.#clock = clock
    this.#lastAt = clock.now()
  }

  readonly record = (transaction: Transaction, reading: Reading): void => {
    if (!isDecision(reading)) return
    const now = this.#clock.now()
    this.#decided += 1
    if (now - this.#lastAt >= this.#silentMs) {
      this.#silentMs = now - this.#lastAt
      this.#silentUntil = this.#clock.date()
    }
    this.#lastAt = now
    if (!this.#answered.has(transaction)) this.#answered.set(transaction, this.#clock.date())
    if (this.#waiting !== null && this.#decided >= this.#waiting.until) this.#end('answered')
  }

  /** Each transaction once, in the order of their first answers. */
  answered(): Answered[] {
    return [...this.#answered].map(([transaction, at]) => ({ transaction, at }))
  }

  /** From here on, {@link silence} counts. */
  mark(): void {
    this.#silentMs = 0
  }

  /** The longest time without an answer since `mark`, from the last answer before it, and when it ended. */
  silence(): { silentMs: number; until: number } {
    const silentMs = this.#clock.now() - this.#lastAt
    if (silentMs > this.#silentMs) return { silentMs, until: this.#clock.date() }
    return { silentMs: this.#silentMs, until: this.#silentUntil }
  }

  /** Resolves when this number of further calls is answered, or after a silence. One caller at a time. */
  wait(count: number, silentMsMax = Number.POSITIVE_INFINITY): Promise<Waited> {
    if (this.#stopped) return Promise.resolve('stopped')
    return new Promise(resolve => {
      this.#waiting = { until: this.#decided + count, silentMsMax, since: this.#clock.now(), resolve }
      if (silentMsMax !== Number.POSITIVE_INFINITY) this.#watch(this.#waiting)
    })
  }

  /** There will be no further answers, or nobody waits for them any more. */
  stop(): void {
    this.#stopped = true
    this.#end('stopped')
  }

  #watch(waiting: Waiting): void {
    const silentMs = this.#clock.now() - Math.max(this.#lastAt, waiting.since)
    this.#clock.after(Math.max(1, waiting.silentMsMax - silentMs), () => {
      if (this.#waiting !== waiting) return
      const since = Math.max(this.#lastAt, waiting.since)
      if (this.#clock.now() - since >= waiting.silentMsMax) this.#end('silent')
      else this.#watch(waiting)
    })
  }

  #end(waited: Waited): void {
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.resolve(waited)
  }
}

/** A success, or a refusal by the wallet itself: a proxy without a wallet behind it answers 404 too. */
function isDecision(reading: Reading): boolean {
  if (reading.kind !== 'refusal') return reading.kind === 'success'
  return reading.errorCode !== '' && !isRejectedUnread(reading)
}
