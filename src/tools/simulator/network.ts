/**
 * The network between the platform and the wallet: loses, delays, duplicates and reorders requests in
 * simulated time, on top of the real network.
 *
 * Simulated time is counted in steps and not in seconds. It advances with every bet that is placed, so that
 * nothing ever waits for it.
 */

import type { Random } from '../numbers/random.js'
import type { Transaction } from './books.js'
import { type Chaos, chaosNames } from './chaos.js'
import type { SimulatorClock } from './clock.js'
import { DueQueue } from './due-queue.js'
import { drawDelivery, drawDuplicateSteps } from './faults.js'
import type { SendMode } from './http-connection.js'
import type { Judge } from './judge.js'
import { backOffMs, Pacing } from './pacing.js'
import type { Reading } from './reading.js'

export interface NetworkSettings {
  concurrency: number
  ratePerSecond: number | null
  backOffMsMax: number
  readonly giveUpAfterMs: number
  clock: SimulatorClock
  random: Random
  judge: Pick<Judge, 'sent' | 'answered'>
  /** Sends a request. Calls back exactly once, and not before it returns. */
  post(transaction: Transaction, mode: SendMode, onReading: (reading: Reading) => void): void
  /** Called when nothing is due and a further request may be sent. Returns whether it added work. */
  onIdle(): boolean
  /** Called when nothing is queued or in flight. May add work. */
  onDrained(): void
  /** Called once, when the wallet has not answered for `giveUpAfterMs`. */
  onGivenUp(): void
  /** Called with every answer to a request that was not cut. */
  onAnswered(transaction: Transaction, reading: Reading, milliseconds: number): void
  /** Called with every error that a hook or the simulator throws. */
  onError(error: unknown): void
}

/** Called with the platform's view of one attempt. `null`: no answer, because of an injected fault. */
export type OnReading = (reading: Reading | null) => void

export class Network {
  readonly #settings: NetworkSettings
  readonly #queue = new DueQueue()
  readonly #pacing: Pacing
  readonly #faultsInjected: Record<keyof Chaos, number>
  #chaos: Chaos | null = null
  #step = 0
  #inFlight = 0
  #requests = 0
  /** Retries whose pause has not ended. */
  #pausedRetries = 0
  #sending = false
  #ended = false

  constructor(settings: NetworkSettings) {
    this.#settings = settings
    this.#pacing = new Pacing({
      clock: settings.clock,
      ratePerSecond: settings.ratePerSecond,
      backOffMsMax: settings.backOffMsMax,
      get giveUpAfterMs() {
        return settings.giveUpAfterMs
      },
      after: (milliseconds, run) => this.#after(milliseconds, run),
      onResume: () => this.#sendDue(),
    })
    const counts = Object.fromEntries(chaosNames.map(name => [name, 0]))
    this.#faultsInjected = counts as Record<keyof Chaos, number>
  }

  /** The simulated time. */
  get step(): number {
    return this.#step
  }

  get requests(): number {
    return this.#requests
  }

  get faultsInjected(): Readonly<Record<keyof Chaos, number>> {
    return this.#faultsInjected
  }

  get walletUnreachable(): boolean {
    return this.#pacing.failures > 0
  }

  /** Advances the simulated time by one step. */
  advance(): void {
    this.#step += 1
  }

  at(afterSteps: number, run: () => void): void {
    this.#queue.push(this.#step + afterSteps, run)
  }

  /** Sets the faults from now on; `null`: none. Requests that are held back still arrive. */
  setChaos(chaos: Chaos | null): void {
    this.#chaos = chaos
  }

  /** Whether faults of this kind occur at all. */
  has(kind: keyof Chaos): boolean {
    return (this.#chaos?.[kind] ?? 0) > 0
  }

  /** Draws whether a fault of this kind occurs now. Counted if it does. */
  happens(kind: keyof Chaos): boolean {
    if (this.#chaos === null || !this.#settings.random.chance(this.#chaos[kind])) return false
    this.#faultsInjected[kind] += 1
    return true
  }

  /** Sends a transaction once, with the faults of the network. */
  attempt(transaction: Transaction, onReading: OnReading): void {
    const { random } = this.#settings
    if (this.#chaos === null) {
      this.#enqueue(transaction, 'complete', onReading, 0)
      return
    }
    if (this.happens('duplicated')) this.sendAgain(transaction, drawDuplicateSteps(random))
    const { fault, mode, afterSteps, platform } = drawDelivery(random, this.#chaos)
    if (fault !== null) this.#faultsInjected[fault] += 1
    if (mode !== null) {
      const listener =
        platform === 'receives-answer'
          ? onReading
          : platform === 'misses-answer'
            ? () => onReading(null)
            : null
      this.#enqueue(transaction, mode, listener, afterSteps)
    }
    if (platform === 'gives-up') this.at(0, () => onReading(null))
  }

  /** Sends a transaction again; the platform ignores the answer. */
  sendAgain(transaction: Transaction, afterSteps: number): void {
    this.#enqueue(transaction, 'complete', null, afterSteps)
  }

  /** Sends a transaction once, and loses the answer: a fault that is counted. */
  loseAnswer(transaction: Transaction, platform: 'misses-answer' | 'gives-up', onLost: () => void): void {
    this.#faultsInjected.answerLost += 1
    this.#enqueue(transaction, 'complete', platform === 'misses-answer' ? onLost : null, 0)
    if (platform === 'gives-up') this.at(0, onLost)
  }

  /**
   * Attempts a transaction again after a real failure and a pause. Later in both times: the cause of the
   * failure may need simulated time to pass.
   */
  retry(transaction: Transaction, onReading: OnReading): void {
    const steps = Math.min(64, 2 ** Math.min(transaction.faults, 6))
    const milliseconds = backOffMs(transaction.faults, this.#settings.backOffMsMax)
    const again = () => this.attempt(transaction, onReading)
    if (milliseconds === 0) {
      this.at(steps, again)
      return
    }
    this.#pausedRetries += 1
    this.#after(milliseconds, () => {
      this.#pausedRetries -= 1
      if (!this.#ended) this.at(steps, again)
      this.#sendDue()
    })
  }

  /** Sends nothing any more. */
  stop(): void {
    this.#ended = true
    this.#queue.clear()
  }

  /** Sends all that is due. Safe to call at any time. */
  readonly sendDue = (): void => this.#safely(() => this.#sendDue())

  #enqueue(transaction: Transaction, mode: SendMode, onReading: OnReading | null, afterSteps: number): void {
    this.at(afterSteps, () => this.#send(transaction, mode, onReading))
  }

  #send(transaction: Transaction, mode: SendMode, onReading: OnReading | null): void {
    const { clock, judge, post, onAnswered } = this.#settings
    this.#inFlight += 1
    this.#requests += 1
    this.#pacing.sent()
    const delivery = judge.sent(transaction)
    const sentAt = clock.now()
    post(transaction, mode, reading =>
      this.#safely(() => {
        this.#inFlight -= 1
        if (mode === 'complete') {
          if (reading.kind !== 'no-answer') this.#pacing.answered()
          else if (this.#pacing.failed(sentAt)) this.#giveUp()
          onAnswered(transaction, reading, clock.now() - sentAt)
          judge.answered(delivery, reading)
        }
        if (!this.#ended) onReading?.(reading)
        this.#sendDue()
      }),
    )
  }

  /** Around all code that runs on an event: an uncaught error would end the process. */
  #safely(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#sending = false
      this.#settings.onError(error)
    }
  }

  #after(milliseconds: number, run: () => void): void {
    this.#settings.clock.after(milliseconds, () => this.#safely(run))
  }

  #giveUp(): void {
    if (this.#ended) return
    this.stop()
    this.#settings.onGivenUp()
  }

  #sendDue(): void {
    if (this.#sending) return
    this.#sending = true
    const { concurrency, onIdle, onDrained } = this.#settings
    while (!this.#ended && !this.#pacing.paused) {
      // While the wallet does not answer, one request after the other is tried.
      const inFlightMax = this.#pacing.failures === 0 ? concurrency : 1
      if (this.#inFlight >= inFlightMax || !this.#pacing.mayRequest()) break
      const due = this.#queue.popDue(this.#step)
      if (due !== null) {
        due()
        continue
      }
      if (onIdle()) continue
      // No more bets: simulated time advances to the next event.
      const next = this.#queue.nextStep()
      if (next === null) break
      this.#step = next
    }
    this.#sending = false
    const isQueueEmpty = this.#ended || this.#queue.size === 0
    if (this.#inFlight === 0 && this.#pausedRetries === 0 && !this.#pacing.paused && isQueueEmpty) onDrained()
  }
}
