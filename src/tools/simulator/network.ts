/**
 * The network between the platform and the wallet: loses, delays, duplicates and reorders requests in
 * simulated time, on top of the real network.
 *
 * Simulated time is counted in steps and not in seconds. It advances with every bet that is placed, so that
 * nothing ever waits for it.
 */

import type { Random } from '../platform/random.js'
import type { Transaction } from './books.js'
import { type Chaos, chaosNames } from './chaos.js'
import type { SimulatorClock } from './clock.js'
import { createDueQueue, type DueQueue } from './due-queue.js'
import { drawDelivery, drawDuplicateSteps } from './faults.js'
import type { SendMode } from './http-connection.js'
import type { Judge } from './judge.js'
import { backOffMs, createPacing, type Pacing } from './pacing.js'
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

export interface Network {
  /** The simulated time. */
  readonly step: number
  readonly requests: number
  readonly faultsInjected: Readonly<Record<keyof Chaos, number>>
  readonly walletUnreachable: boolean
  /** Advances the simulated time by one step. */
  advance(): void
  /** Sends a transaction once, with the faults of the network. */
  attempt(transaction: Transaction, onReading: OnReading): void
  /** Sends a transaction again; the platform ignores the answer. */
  sendAgain(transaction: Transaction, afterSteps: number): void
  /** Attempts a transaction again after a real failure and a pause. */
  retry(transaction: Transaction, onReading: OnReading): void
  /** Sends a transaction once, and loses the answer: a fault that is counted. */
  loseAnswer(transaction: Transaction, platform: 'misses-answer' | 'gives-up', onLost: () => void): void
  /** Draws whether a fault of this kind occurs now. Counted if it does. */
  happens(kind: keyof Chaos): boolean
  /** Whether faults of this kind occur at all. */
  has(kind: keyof Chaos): boolean
  at(afterSteps: number, run: () => void): void
  /** Sets the faults from now on; `null`: none. Requests that are held back still arrive. */
  setChaos(chaos: Chaos | null): void
  /** Sends nothing any more. */
  stop(): void
  /** Sends all that is due. Safe to call at any time. */
  sendDue(): void
}

interface NetworkState {
  readonly settings: NetworkSettings
  readonly queue: DueQueue
  readonly pacing: Pacing
  readonly faultsInjected: Record<keyof Chaos, number>
  chaos: Chaos | null
  step: number
  inFlight: number
  requests: number
  /** Retries whose pause has not ended. */
  pausedRetries: number
  pumping: boolean
  ended: boolean
}

export function createNetwork(settings: NetworkSettings): Network {
  const state: NetworkState = {
    settings,
    queue: createDueQueue(),
    pacing: createPacing({
      clock: settings.clock,
      ratePerSecond: settings.ratePerSecond,
      backOffMsMax: settings.backOffMsMax,
      get giveUpAfterMs() {
        return settings.giveUpAfterMs
      },
      after: (milliseconds, run) => after(state, milliseconds, run),
      onResume: () => sendDue(state),
    }),
    faultsInjected: Object.fromEntries(chaosNames.map(name => [name, 0])) as Record<keyof Chaos, number>,
    chaos: null,
    step: 0,
    inFlight: 0,
    requests: 0,
    pausedRetries: 0,
    pumping: false,
    ended: false,
  }
  return {
    get step() {
      return state.step
    },
    get requests() {
      return state.requests
    },
    get walletUnreachable() {
      return state.pacing.failures > 0
    },
    faultsInjected: state.faultsInjected,
    advance() {
      state.step += 1
    },
    attempt: (transaction, onReading) => attempt(state, transaction, onReading),
    sendAgain: (transaction, afterSteps) => enqueue(state, transaction, 'complete', null, afterSteps),
    retry: (transaction, onReading) => retry(state, transaction, onReading),
    loseAnswer: (transaction, platform, onLost) => loseAnswer(state, transaction, platform, onLost),
    happens: kind => happens(state, kind),
    has: kind => (state.chaos?.[kind] ?? 0) > 0,
    at: (afterSteps, run) => state.queue.push(state.step + afterSteps, run),
    setChaos(chaos) {
      state.chaos = chaos
    },
    stop: () => end(state),
    sendDue: () => safely(state, () => sendDue(state)),
  }
}

function happens(state: NetworkState, kind: keyof Chaos): boolean {
  const { chaos, settings } = state
  if (chaos === null || !settings.random.chance(chaos[kind])) return false
  state.faultsInjected[kind] += 1
  return true
}

function attempt(state: NetworkState, transaction: Transaction, onReading: OnReading): void {
  const { chaos, settings } = state
  if (chaos === null) {
    enqueue(state, transaction, 'complete', onReading, 0)
    return
  }
  if (happens(state, 'duplicated'))
    enqueue(state, transaction, 'complete', null, drawDuplicateSteps(settings.random))
  const { fault, mode, afterSteps, platform } = drawDelivery(settings.random, chaos)
  if (fault !== null) state.faultsInjected[fault] += 1
  if (mode !== null) {
    const listener =
      platform === 'receives-answer' ? onReading : platform === 'misses-answer' ? () => onReading(null) : null
    enqueue(state, transaction, mode, listener, afterSteps)
  }
  if (platform === 'gives-up') state.queue.push(state.step, () => onReading(null))
}

function loseAnswer(
  state: NetworkState,
  transaction: Transaction,
  platform: 'misses-answer' | 'gives-up',
  onLost: () => void,
): void {
  state.faultsInjected.answerLost += 1
  enqueue(state, transaction, 'complete', platform === 'misses-answer' ? onLost : null, 0)
  if (platform === 'gives-up') state.queue.push(state.step, onLost)
}

/** Later in both times: the cause of the failure may need simulated time to pass. */
function retry(state: NetworkState, transaction: Transaction, onReading: OnReading): void {
  const steps = Math.min(64, 2 ** Math.min(transaction.faults, 6))
  const milliseconds = backOffMs(transaction.faults, state.settings.backOffMsMax)
  const again = () => attempt(state, transaction, onReading)
  if (milliseconds === 0) {
    state.queue.push(state.step + steps, again)
    return
  }
  state.pausedRetries += 1
  after(state, milliseconds, () => {
    state.pausedRetries -= 1
    if (!state.ended) state.queue.push(state.step + steps, again)
    sendDue(state)
  })
}

function enqueue(
  state: NetworkState,
  transaction: Transaction,
  mode: SendMode,
  onReading: OnReading | null,
  afterSteps: number,
): void {
  state.queue.push(state.step + afterSteps, () => send(state, transaction, mode, onReading))
}

function send(
  state: NetworkState,
  transaction: Transaction,
  mode: SendMode,
  onReading: OnReading | null,
): void {
  const { settings, pacing } = state
  state.inFlight += 1
  state.requests += 1
  pacing.sent()
  const delivery = settings.judge.sent(transaction)
  const sentAt = settings.clock.now()
  settings.post(transaction, mode, reading =>
    safely(state, () => {
      state.inFlight -= 1
      if (mode === 'complete') {
        if (reading.kind !== 'no-answer') pacing.answered()
        else if (pacing.failed(sentAt)) giveUp(state)
        settings.onAnswered(transaction, reading, settings.clock.now() - sentAt)
        settings.judge.answered(delivery, reading)
      }
      if (!state.ended) onReading?.(reading)
      sendDue(state)
    }),
  )
}

/** Around all code that runs on an event: an uncaught error would end the process. */
function safely(state: NetworkState, run: () => void): void {
  try {
    run()
  } catch (error) {
    state.pumping = false
    state.settings.onError(error)
  }
}

function after(state: NetworkState, milliseconds: number, run: () => void): void {
  state.settings.clock.after(milliseconds, () => safely(state, run))
}

function giveUp(state: NetworkState): void {
  if (state.ended) return
  end(state)
  state.settings.onGivenUp()
}

function end(state: NetworkState): void {
  state.ended = true
  state.queue.clear()
}

function sendDue(state: NetworkState): void {
  if (state.pumping) return
  state.pumping = true
  const { queue, pacing, settings } = state
  while (!state.ended && !pacing.paused) {
    // While the wallet does not answer, one request after the other is tried.
    const inFlightMax = pacing.failures === 0 ? settings.concurrency : 1
    if (state.inFlight >= inFlightMax || !pacing.mayRequest()) break
    const due = queue.popDue(state.step)
    if (due !== null) {
      due()
      continue
    }
    if (settings.onIdle()) continue
    // No more bets: simulated time advances to the next event.
    const next = queue.nextStep()
    if (next === null) break
    state.step = next
  }
  state.pumping = false
  const isQueueEmpty = state.ended || queue.size === 0
  if (state.inFlight === 0 && state.pausedRetries === 0 && !pacing.paused && isQueueEmpty)
    settings.onDrained()
}
