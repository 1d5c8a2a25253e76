/**
 * The network between the platform and the wallet: loses, delays, duplicates and reorders requests, on top of
 * the real network.
 *
 * Its time is counted in steps, one for each call of the platform, so that nothing ever waits for it. When
 * the platform makes no more calls, all that was held back is sent.
 */
import type { Random } from '../numbers/random.js'
import type { SimulatedOperation, Transaction } from './books.js'
import { type Chaos, drawDelivery, drawDuplicateSteps, eachFault } from './chaos.js'
import type { Judge } from './judge.js'
import type { Settings } from './options.js'
import { type Definite, isDefinite, isNotFound, type Reading, shortOf } from './reading.js'
import type { SendMode, Transport } from './transport.js'

type Used = 'concurrency' | 'ratePerSecond' | 'backOffMsMax' | 'clock' | 'faults'

interface NetworkSettings extends Pick<Settings, Used> {
  /**
   * A transaction is given up after at least this number of faults, and this time.
   *
   * @param operation `null`: for any answer at all
   */
  limitsFor(operation: SimulatedOperation | null): { faults: number; milliseconds: number }
  random: Random
  judge: Pick<Judge, 'sent' | 'answered' | 'report'>
  transport: Pick<Transport, 'post'>
  /** Called with every answer to a request that was not cut. */
  onAnswered(transaction: Transaction, reading: Reading, milliseconds: number): void
}

const backOffMsFirst = 5
const catchUpMsMax = 250
/** A settlement that the wallet has lost is never found, however long the limit is. */
const notFoundMsMax = 60_000
/**
 * No further calls while there are more transactions than this in a pause before their retry, for each
 * connection.
 */
const pausedPerConnectionMax = 8

export class Network {
  readonly faultsInjected = eachFault(() => 0)
  /** Transactions without a definite answer. */
  readonly pending = new Set<Transaction>()
  /**
   * Resolves when the wallet has not answered for too long, and rejects with any error. Then nothing
   * is sent.
   */
  readonly over: Promise<void>
  requests = 0
  chaos: Chaos | null = null
  #end = { resolve() {}, reject(_error: unknown) {} }
  #ended = false
  #step = 0
  readonly #held: { step: number; release(): void }[] = []
  /** How many calls with their retries are not finished, and how many of them pause before a retry. */
  #open = 0
  #paused = 0
  /** Called when the next of them ends. */
  readonly #ends: (() => void)[] = []
  readonly #waiting: (() => void)[] = []
  #inFlight = 0
  /** Requests without an answer since the last answer, and since when. */
  #failures = 0
  #failingSince = 0
  #isPaused = false
  #isDraining = false
  #rated = { since: 0, requests: 0 }

  constructor(readonly settings: NetworkSettings) {
    this.over = new Promise((resolve, reject) => {
      this.#end = { resolve, reject }
    })
    this.#rated.since = settings.clock.now()
  }

  get isUnreachable(): boolean {
    return this.#failures > 0
  }

  /** Whether a fault that the platform makes itself happens now. Counts it. */
  happens(fault: 'duplicated' | 'reordered'): boolean {
    if (this.chaos === null || !this.settings.random.chance(this.chaos[fault])) return false
    this.faultsInjected[fault] += 1
    return true
  }

  has(fault: keyof Chaos): boolean {
    return this.chaos !== null && this.chaos[fault] > 0
  }

  /** Makes a call of the platform as soon as a request may be sent. */
  async turn(call: () => void): Promise<void> {
    const { concurrency } = this.settings
    while (this.#paused >= concurrency * pausedPerConnectionMax) await this.#nextEnd()
    await this.#slot()
    this.#inFlight -= 1
    this.#isDraining = false
    this.#step += 1
    this.#release(({ step }) => step <= this.#step)
    call()
    this.#serve()
  }

  /** {@link drained} waits for this work, and its error ends the run. */
  start(work: Promise<unknown>): void {
    this.#open += 1
    work.then(
      () => {
        this.#open -= 1
        this.#wake()
      },
      error => this.fail(error),
    )
  }

  /** Resolves when nothing is held back or in flight, and this work is done. */
  async drained(works: readonly Promise<unknown>[] = []): Promise<void> {
    for (const work of works) this.start(work)
    this.#isDraining = true
    this.#release(() => true)
    while (this.#open > 0) await this.#nextEnd()
  }

  /** Ends the run with this error. */
  fail(error: unknown): void {
    this.stop()
    this.#end.reject(error)
  }

  /** Sends nothing any more. */
  stop(): void {
    this.#ended = true
  }

  /** Sends once, with the faults of the network. `null`: no definite answer. */
  async once(transaction: Transaction): Promise<Definite | null> {
    this.pending.add(transaction)
    const reading = await this.#attempt(transaction)
    this.pending.delete(transaction)
    return isDefinite(reading) ? reading : null
  }

  /** Sends once, and loses the answer: the platform waits for it, or gives up at once. */
  async losingAnswer(transaction: Transaction, waits: boolean): Promise<null> {
    this.faultsInjected.answerLost += 1
    const delivered = this.deliver(transaction)
    if (waits) await delivered
    else this.start(delivered)
    return null
  }

  /**
   * Retries until the answer is definite. `null`: the transaction is given up, or is pointless.
   *
   * @param isPointless whether the platform itself gives up after a fault
   */
  async untilAnswered(
    transaction: Transaction,
    isPointless: (reading: Reading) => boolean = () => false,
  ): Promise<Definite | null> {
    const { clock, limitsFor, judge, faults: commands } = this.settings
    const earlyMsMax = Math.max(notFoundMsMax, commands?.everyMs ?? 0)
    this.pending.add(transaction)
    let [faults, since] = [0, 0]
    let reading = await this.#attempt(transaction)
    while (!isDefinite(reading)) {
      if (reading !== null) {
        if (isPointless(reading)) break
        if (faults === 0) since = clock.now()
        faults += 1
        const isEarly = isNotFound(reading)
        const { faults: faultsMax, milliseconds } = limitsFor(transaction.operation)
        const limitMs = Math.min(isEarly ? earlyMsMax : Infinity, milliseconds)
        if (reading.kind === 'fault' && faults >= faultsMax && clock.now() - since >= limitMs) {
          const actual = `${faults} times no definite answer, the last one: ${shortOf(reading)}`
          judge.report(transaction, { kind: 'unanswered', expected: 'a definite answer', actual })
          break
        }
        await this.#backOff(faults, isEarly)
      }
      reading = await this.#attempt(transaction)
    }
    this.pending.delete(transaction)
    return isDefinite(reading) ? reading : null
  }

  /** Sends a transaction again; the platform ignores the answer. */
  sendAgain(transaction: Transaction, afterSteps = 0): void {
    this.start(this.#after(afterSteps).then(() => this.deliver(transaction)))
  }

  /** `null`: the platform receives no answer, because of an injected fault. */
  async #attempt(transaction: Transaction): Promise<Reading | null> {
    const { random } = this.settings
    if (this.chaos === null) return await this.deliver(transaction)
    if (this.happens('duplicated')) this.sendAgain(transaction, drawDuplicateSteps(random))
    const { fault, mode, afterSteps, platform } = drawDelivery(random, this.chaos)
    if (fault !== null) this.faultsInjected[fault] += 1
    if (mode === null) return null
    const delivered =
      afterSteps === 0
        ? this.deliver(transaction, mode)
        : this.#after(afterSteps).then(() => this.deliver(transaction, mode))
    if (platform === 'gives-up') {
      this.start(delivered)
      return null
    }
    const reading = await delivered
    return platform === 'receives-answer' ? reading : null
  }

  /** Sends once, without a fault of this network. */
  async deliver(transaction: Transaction, mode: SendMode = 'complete'): Promise<Reading> {
    const { clock, judge, transport, onAnswered } = this.settings
    await this.#slot()
    this.requests += 1
    this.#rated.requests += 1
    const delivery = judge.sent(transaction)
    const sentAt = clock.now()
    const reading = await transport.post(transaction, mode)
    this.#inFlight -= 1
    if (this.#ended) return await new Promise(() => {}) // nothing follows any more
    if (mode === 'complete') {
      if (reading.kind === 'no-answer') this.#failed(sentAt)
      else this.#failures = 0
      onAnswered(transaction, reading, clock.now() - sentAt)
      judge.answered(delivery, reading)
    }
    this.#serve()
    return reading
  }

  /** Resolves when a request may be sent, and counts it as in flight. */
  #slot(): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push(resolve)
      this.#serve()
    })
  }

  #serve(): void {
    while (this.#waiting.length > 0 && this.#mayRequest()) {
      this.#inFlight += 1
      this.#waiting.shift()?.()
    }
  }

  #mayRequest(): boolean {
    const { clock, concurrency, ratePerSecond } = this.settings
    // While the wallet does not answer, one request after the other is tried.
    if (this.#ended || this.#isPaused || this.#inFlight >= (this.#failures === 0 ? concurrency : 1))
      return false
    if (ratePerSecond === null) return true
    const now = clock.now()
    const dueMs = this.#rated.since + (this.#rated.requests * 1000) / ratePerSecond - now
    if (dueMs > 0) this.#pause(dueMs)
    // Requests that were missed while the wallet was slow or unreachable are not made up for in one burst.
    else if (dueMs < -catchUpMsMax) this.#rated = { since: now, requests: 0 }
    return dueMs <= 0
  }

  #failed(sentAt: number): void {
    const { clock, limitsFor, backOffMsMax } = this.settings
    if (this.#failures === 0) this.#failingSince = sentAt
    this.#failures += 1
    if (clock.now() - this.#failingSince > limitsFor(null).milliseconds) {
      this.stop()
      this.#end.resolve()
    } else if (backOffMsMax > 0) this.#pause(backOffMs(this.#failures, backOffMsMax))
  }

  #pause(milliseconds: number): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.settings.clock.after(milliseconds, () => {
      this.#isPaused = false
      this.#serve()
    })
  }

  /** @param needsSteps the cause of the fault ends by a call of the platform, not by itself */
  async #backOff(faults: number, needsSteps: boolean): Promise<void> {
    const { clock, backOffMsMax } = this.settings
    const milliseconds = backOffMs(faults, backOffMsMax)
    if (milliseconds === 0 || (needsSteps && !this.#isDraining))
      return await this.#after(Math.min(64, 2 ** faults))
    this.#paused += 1
    await new Promise<void>(resolve => clock.after(milliseconds, resolve))
    this.#paused -= 1
    this.#wake()
  }

  /** A race of all that is open would keep a reaction on each of them, again and again. */
  #nextEnd(): Promise<void> {
    return new Promise(resolve => this.#ends.push(resolve))
  }

  #wake(): void {
    for (const end of this.#ends.splice(0)) end()
  }

  async #after(steps: number): Promise<void> {
    if (this.#isDraining) return
    await new Promise<void>(release => this.#held.push({ step: this.#step + steps, release }))
  }

  /** In the order of their steps. */
  #release(isReady: (held: { step: number }) => boolean): void {
    const ready = this.#held.filter(isReady).sort((one, other) => one.step - other.step)
    for (const held of ready) {
      this.#held.splice(this.#held.indexOf(held), 1)
      held.release()
    }
  }
}

/** Exponential back-off, from 5 ms up to the limit. */
function backOffMs(failures: number, most: number): number {
  return Math.min(most, backOffMsFirst * 2 ** Math.min(failures, 20))
}
