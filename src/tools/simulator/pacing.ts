/**
 * When the next request may be sent in real time: the request rate, and back-off while the wallet does not
 * answer.
 */
import type { SimulatorClock } from './clock.js'

export interface Pacing {
  /** Requests without an answer since the last answer. */
  readonly failures: number
  /** A timer runs; nothing may be sent before it fires. */
  readonly paused: boolean
  /** Counts a request towards the rate. */
  sent(): void
  answered(): void
  /** @returns whether the wallet has not answered for longer than the limit */
  failed(sentAt: number): boolean
  /** Whether a request may be sent now. If not, `onResume` is called when it may. */
  mayRequest(): boolean
}

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

export function createPacing(settings: PacingSettings): Pacing {
  const { clock, ratePerSecond } = settings
  let failures = 0
  let paused = false
  /** Since when no request was answered; `null`: the last one was. */
  let failingSince: number | null = null
  let rateSince = clock.now()
  let requests = 0

  function pause(milliseconds: number): void {
    if (paused) return
    paused = true
    settings.after(milliseconds, () => {
      paused = false
      settings.onResume()
    })
  }

  return {
    get failures() {
      return failures
    },
    get paused() {
      return paused
    },
    sent() {
      requests += 1
    },
    answered() {
      failures = 0
      failingSince = null
    },
    failed(sentAt) {
      failures += 1
      failingSince ??= sentAt
      if (clock.now() - failingSince > settings.giveUpAfterMs) return true
      if (settings.backOffMsMax > 0) pause(backOffMs(failures, settings.backOffMsMax))
      return false
    },
    mayRequest() {
      if (ratePerSecond === null) return true
      const now = clock.now()
      const dueMs = rateSince + (requests * 1000) / ratePerSecond - now
      if (dueMs > 0) {
        pause(dueMs)
        return false
      }
      // Requests that were missed while the wallet was slow or unreachable are not made up for in one burst.
      if (dueMs < -catchUpMsMax) {
        rateSince = now
        requests = 0
      }
      return true
    },
  }
}
