/**
 * Between the platform and the wallet: a network that loses, delays, doubles and reorders calls in simulated time, on
 * top of the real one, which does what it does.
 *
 * The simulated time is counted in steps and not in seconds: it moves on with every bet that is made, so that nothing
 * ever waits for it.
 */

import type { Random } from '../random.js'
import type { Transaction } from './books.js'
import { type Chaos, chaosNames } from './chaos.js'
import { createDueQueue } from './due-queue.js'
import type { Judge } from './judge.js'
import type { Sending } from './line.js'
import type { Reading } from './reading.js'

/** Time, to be replaced in tests. */
export interface SimulatorClock {
  /** Milliseconds from any start, never going back. */
  now(): number
  /** Milliseconds since 1970. */
  date(): number
  /** Calls back once, after so many milliseconds. */
  after(milliseconds: number, run: () => void): void
}

export const systemClock: SimulatorClock = {
  now: () => performance.now(),
  date: () => Date.now(),
  after: (milliseconds, run) => {
    setTimeout(run, milliseconds)
  },
}

export interface NetworkSettings {
  concurrency: number
  ratePerSecond: number | null
  backOffMsMax: number
  giveUpAfterMs: number
  clock: SimulatorClock
  random: Random
  judge: Judge
  /** Sends a call. Calls back exactly once, later. */
  post(transaction: Transaction, sending: Sending, answered: (reading: Reading) => void): void
  /** Nothing is due and there is room for more. Gives false where there is nothing to do either. */
  idle(): boolean
  /** Nothing waits and nothing is on its way. May make new work. */
  done(): void
  /** The wallet has not answered for `giveUpAfterMs`. */
  gaveUp(): void
  answered(transaction: Transaction, reading: Reading, milliseconds: number): void
  /** Something threw that must not: a hook of the operator's, or a fault in here. */
  broke(error: unknown): void
}

/** What the platform hears of one attempt. `null`: nothing, by a fault that was injected. */
export type Heard = (reading: Reading | null) => void

export interface Network {
  /** The simulated time. */
  readonly step: number
  readonly inFlight: number
  readonly requests: number
  readonly faultsInjected: Readonly<Record<keyof Chaos, number>>
  readonly walletUnreachable: boolean
  /** Lets the simulated time go on by one. */
  advance(): void
  /** Sends a transaction once, or what the network makes of it. */
  attempt(transaction: Transaction, heard: Heard): void
  /** Sends a transaction again, and nobody listens. */
  repeat(transaction: Transaction, afterSteps: number): void
  /** Sends it again after a real failure, not before a pause. */
  retry(transaction: Transaction, heard: Heard): void
  /** Whether something of this kind happens now, by the chaos. Counted if it does. */
  happens(kind: keyof Chaos): boolean
  at(afterSteps: number, run: () => void): void
  /** From here on it behaves like this; `null`: nothing is lost any more. What hangs on the line still arrives. */
  disturb(chaos: Chaos | null): void
  /** Nothing is sent any more. */
  stop(): void
  /** Goes to work. Harmless where it is at work already. */
  pump(): void
}

/** The longest that a call hangs on the line or comes again, in steps: mostly few, now and then many. */
const lateDoublings = 8
const delayStepsMax = 4
const backOffMsFirst = 5
const catchUpMsMax = 250

export function createNetwork(settings: NetworkSettings): Network {
  const { clock, random, judge } = settings
  const queue = createDueQueue()
  const faultsInjected = Object.fromEntries(chaosNames.map(name => [name, 0])) as Record<keyof Chaos, number>
  let chaos: Chaos | null = null
  let step = 0
  let inFlight = 0
  let requests = 0
  /** Retries that wait for real time to pass. */
  let waiting = 0
  let failures = 0
  let paused = false
  let pumping = false
  let ended = false
  /** Since when no call was answered; `null`: the last one was. */
  let failingSince: number | null = null
  let rateSince = clock.now()
  let requestsPaced = 0

  const lateSteps = () => Math.floor(2 ** (random.next() * lateDoublings))

  function wire(transaction: Transaction, sending: Sending, heard: Heard | null): void {
    inFlight += 1
    requests += 1
    requestsPaced += 1
    const delivery = judge.sent(transaction)
    const sentAt = clock.now()
    settings.post(transaction, sending, reading => safely(() => heardFrom(reading)))

    function heardFrom(reading: Reading): void {
      inFlight -= 1
      const now = clock.now()
      if (sending === 'whole') {
        if (reading.kind === 'broken') failed(sentAt, now)
        else {
          failures = 0
          failingSince = null
        }
        settings.answered(transaction, reading, now - sentAt)
        judge.answered(delivery, reading)
      }
      if (!ended) heard?.(reading)
      pump()
    }
  }

  /** Where the world calls in. What throws here would else end the process. */
  function safely(run: () => void): void {
    try {
      run()
    } catch (error) {
      pumping = false
      settings.broke(error)
    }
  }

  const later = (milliseconds: number, run: () => void) => clock.after(milliseconds, () => safely(run))

  /** No answer: the wallet may be down. Then one call after the other tries, with growing pauses, until one is answered. */
  function failed(sentAt: number, now: number): void {
    failures += 1
    failingSince ??= sentAt
    if (now - failingSince > settings.giveUpAfterMs) {
      giveUp()
      return
    }
    if (paused || settings.backOffMsMax === 0) return
    paused = true
    later(Math.min(settings.backOffMsMax, backOffMsFirst * 2 ** Math.min(failures, 20)), () => {
      paused = false
      pump()
    })
  }

  function giveUp(): void {
    if (ended) return
    ended = true
    queue.clear()
    settings.gaveUp()
  }

  /** Whether a further request keeps to the rate; else it is tried again when it does. */
  function mayRequest(): boolean {
    if (settings.ratePerSecond === null) return true
    const now = clock.now()
    const dueMs = rateSince + (requestsPaced * 1000) / settings.ratePerSecond - now
    if (dueMs <= 0) {
      // What was missed while the wallet was away, or slow, is not made up for in one rush.
      if (dueMs < -catchUpMsMax) {
        rateSince = now
        requestsPaced = 0
      }
      return true
    }
    if (!paused) {
      paused = true
      later(dueMs, () => {
        paused = false
        pump()
      })
    }
    return false
  }

  function pump(): void {
    if (pumping) return
    pumping = true
    for (;;) {
      if (ended || paused) break
      if (inFlight >= (failures === 0 ? settings.concurrency : 1) || !mayRequest()) break
      const due = queue.popDue(step)
      if (due !== null) {
        due()
        continue
      }
      if (settings.idle()) continue
      // No more bets: the time goes on to what is next.
      const next = queue.nextStep()
      if (next === null) break
      step = next
    }
    pumping = false
    if (inFlight === 0 && waiting === 0 && !paused && (ended || queue.size === 0)) settings.done()
  }

  const network: Network = {
    get step() {
      return step
    },
    get inFlight() {
      return inFlight
    },
    get requests() {
      return requests
    },
    get walletUnreachable() {
      return failures > 0
    },
    faultsInjected,

    advance() {
      step += 1
    },

    attempt(transaction, heard) {
      const now = (sending: Sending, listener: Heard | null, afterSteps = 0) =>
        queue.push(step + afterSteps, () => wire(transaction, sending, listener))
      const nothingHeard = () => queue.push(step, () => heard(null))
      if (chaos === null) {
        now('whole', heard)
        return
      }
      if (network.happens('duplicated')) network.repeat(transaction, random.chance(0.5) ? 0 : lateSteps())

      let left = random.next()
      const falls = (kind: keyof Chaos) => {
        left -= (chaos as Chaos)[kind]
        if (left >= 0) return false
        faultsInjected[kind] += 1
        return true
      }
      if (falls('requestLost')) {
        nothingHeard()
      } else if (falls('answerLost')) {
        if (random.chance(0.5)) now('whole', () => heard(null))
        else {
          // It gives up while the wallet is still at work.
          now('whole', null)
          nothingHeard()
        }
      } else if (falls('deliveredLate')) {
        now('whole', null, lateSteps())
        nothingHeard()
      } else if (falls('disconnected')) {
        now(random.chance(0.5) ? 'cut after' : 'cut within', () => heard(null))
      } else if (falls('delayed')) {
        now('whole', heard, random.between(1, delayStepsMax))
      } else now('whole', heard)
    },

    repeat(transaction, afterSteps) {
      queue.push(step + afterSteps, () => wire(transaction, 'whole', null))
    },

    retry(transaction, heard) {
      const again = () => network.attempt(transaction, heard)
      // Later in both times: what it waits for may have to happen in the simulated one.
      const steps = Math.min(64, 2 ** Math.min(transaction.faults, 6))
      const milliseconds = Math.min(
        settings.backOffMsMax,
        backOffMsFirst * 2 ** Math.min(transaction.faults, 20),
      )
      if (milliseconds === 0) {
        queue.push(step + steps, again)
        return
      }
      waiting += 1
      later(milliseconds, () => {
        waiting -= 1
        if (!ended) queue.push(step + steps, again)
        pump()
      })
    },

    happens(kind) {
      if (chaos === null || !random.chance(chaos[kind])) return false
      faultsInjected[kind] += 1
      return true
    },

    at(afterSteps, run) {
      queue.push(step + afterSteps, run)
    },

    disturb(next) {
      chaos = next
    },

    stop() {
      ended = true
      queue.clear()
    },

    pump: () => safely(pump),
  }
  return network
}
