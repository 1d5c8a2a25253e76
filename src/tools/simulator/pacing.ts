/**
 * When the next request may be sent in real time: the request rate, and back-off while the wallet does not
 * answer.
 */
import type { SimulatorClock } from './clock.js'

export interface PacingSettings {
  ratePerSecond: number | null
  backOffMsMax: number
  readonly giveUpAfterMs: number
  clock: Pick<SimulatorClock, 'now'>
  after(milliseconds: number, run: () => void): void
  onResume(): void
}

const backOffMsFirst = 5
const catchUpMsMax = 250

/** Exponential back-off, from 5 ms up to the limit. */
export function backOffMs(failures: number, most: number): number {
  return Math.min(most, backOffMsFirst * 2 ** Math.min(failures, 20))
}

export class Pacing {
  readonly #settings: PacingSettings
  #failures = 0
  #paused = false
  /** Since when no request was answered; `null`: the last one was. */
  #failingSince: number | null = null
  #rateSince: number
  #requests = 0

  constructor(settings: PacingSettings) {
    this.#settings = settings
    this.#rateSince = settings.clock.now()
  }

  /** Requests without an answer since the last answer. */
  get failures(): number {
    return this.#failures
  }

  /** A timer runs; nothing may be sent before it fires. */
  get paused(): boolean {
    return this.#paused
  }

  /** Counts a request towards the rate. */
  sent(): void {
    this.#requests += 1
  }

  answered(): void {
    this.#failures = 0
    this.#failingSince = null
  }

  /** @returns whether the wallet has not answered for longer than the limit */
  failed(sentAt: number): boolean {
    const { clock, giveUpAfterMs, backOffMsMax } = this.#settings
    this.#failures += 1
    this.#failingSince ??= sentAt
    if (clock.now() - this.#failingSince > giveUpAfterMs) return true
    if (backOffMsMax > 0) this.#pause(backOffMs(this.#failures, backOffMsMax))
    return false
  }

  /** Whether a request may be sent now. If not, `onResume` is called when it may. */
  mayRequest(): boolean {
    const { clock, ratePerSecond } = this.#settings
    if (ratePerSecond === null) return true
    const now = clock.now()
    const dueMs = this.#rateSince + (this.#requests * 1000) / ratePerSecond - now
    if (dueMs > 0) {
      this.#pause(dueMs)
      return false
    }
    // Requests that were missed while the wallet was slow or unreachable are not made up for in one burst.
    if (dueMs < -catchUpMsMax) {
      this.#rateSince = now
      this.#requests = 0
    }
    return true
  }

  #pause(milliseconds: number): void {
    if (this.#paused) return
    this.#paused = true
    this.#settings.after(milliseconds, () => {
      this.#paused = false
      this.#settings.onResume()
    })
  }
}
