/**
 * A platform that sends more than the wallet can take. Bets arrive by the clock, however slow the answers are.
 * At most `connections` calls are outstanding: a bet that finds none free is rejected by the platform
 * itself and never sent. The rollback of a placebet that failed is sent before any further bet, and again
 * until it succeeds.
 */
import { nextId } from '../requests.js'

/** Sends one call; resolves to the status code, or to 0 if the connection broke. */
export type Send = (path: '/placebet' | '/rollbackbet', body: string) => Promise<number>

/** A stretch of time at one rate of arrivals. */
export interface Phase {
  /** Bets that arrived, sent or not. */
  arrived: number
  /** Bets that found no free connection. */
  turnedAway: number
  /** Latency of accepted placebets in milliseconds, by their arrival. */
  acceptedMs: number[]
  /** Placebets that were answered 5xx, or not at all. */
  failed: number
  /** Rollbacks that were sent, again too. */
  rollbacksSent: number
  /** Rollbacks that were answered 5xx, or not at all; each is sent again. */
  rollbacksFailed: number
  /** From the failure of a placebet to the success of its rollback, in milliseconds. */
  rolledBackMs: number[]
  /** The longest time from a call to its answer, in milliseconds. */
  slowestMs: number
}

export interface Platform {
  /** The phase that new arrivals belong to. */
  begin(perSecond: number): Phase
  /** Ends the arrivals. Resolves when no call and no rollback is outstanding. */
  end(): Promise<void>
  /** Calls that are not answered yet. */
  outstanding(): number
  /** The stake of every bet. */
  readonly stake: number
  /** By player: the number of accepted bets. */
  readonly accepted: ReadonlyMap<string, number>
  /** The bets whose placebet failed and whose rollback succeeded. */
  readonly rolledBack: readonly string[]
}

interface Rollback {
  body: string
  betId: string
  failedAt: number
  attempts: number
  phase: Phase
}

const tickMs = 2
/** A rollback that failed is sent again after this time, then twice, four times … as long. */
const retryMs = 1_000
const retryMsMax = 8_000

export function createPlatform(sendCall: Send, connections: number, playersCount: number): Platform {
  const accepted = new Map<string, number>()
  const rolledBack: string[] = []
  const due = createQueue<Rollback>()
  let phase = newPhase()
  let perSecond = 0
  let busy = 0
  let waiting = 0
  let arrivals = 0
  let last = performance.now()
  let onIdle: () => void = () => {}

  const send: Send = async (path, body) => {
    const of = phase
    const sentAt = performance.now()
    const status = await sendCall(path, body)
    of.slowestMs = Math.max(of.slowestMs, performance.now() - sentAt)
    return status
  }

  async function placeBet(arrivedAt: number, of: Phase): Promise<void> {
    const betId = nextId('rising')
    const playerId = String(1 + Math.floor(Math.random() * playersCount))
    const status = await send('/placebet', placeBetBody(betId, playerId))
    if (status === 200) {
      of.acceptedMs.push(performance.now() - arrivedAt)
      accepted.set(playerId, (accepted.get(playerId) ?? 0) + 1)
    } else if (status >= 500 || status === 0) {
      of.failed += 1
      const body = rollbackBody(betId, playerId)
      due.push({ body, betId, failedAt: performance.now(), attempts: 0, phase: of })
    } else throw new Error(`A placebet was answered ${status}`)
  }

  async function rollBack(rollback: Rollback): Promise<void> {
    phase.rollbacksSent += 1
    const status = await send('/rollbackbet', rollback.body)
    if (status === 200) {
      rollback.phase.rolledBackMs.push(performance.now() - rollback.failedAt)
      rolledBack.push(rollback.betId)
    } else if (status >= 500 || status === 0) {
      const pauseMs = Math.min(retryMs * 2 ** rollback.attempts, retryMsMax) * (0.5 + Math.random())
      rollback.attempts += 1
      phase.rollbacksFailed += 1
      waiting += 1
      setTimeout(() => {
        waiting -= 1
        due.push(rollback)
        sendDue()
      }, pauseMs)
    } else throw new Error(`A rollbackbet was answered ${status}`)
  }

  function call(work: () => Promise<void>): void {
    busy += 1
    // An unexpected answer is a bug: the rejection ends the process.
    void work().finally(() => {
      busy -= 1
      sendDue()
      if (isIdle()) onIdle()
    })
  }

  function sendDue(): void {
    while (busy < connections) {
      const rollback = due.take()
      if (rollback === undefined) return
      call(() => rollBack(rollback))
    }
  }

  function tick(): void {
    const now = performance.now()
    arrivals += ((now - last) * perSecond) / 1_000
    last = now
    for (; arrivals >= 1; arrivals -= 1) {
      const of = phase
      of.arrived += 1
      if (busy < connections) call(() => placeBet(now, of))
      else of.turnedAway += 1
    }
  }

  const isIdle = () => busy + waiting + due.length() === 0
  const timer = setInterval(tick, tickMs)
  return {
    stake,
    accepted,
    rolledBack,
    outstanding: () => busy,
    begin(rate) {
      tick()
      phase = newPhase()
      perSecond = rate
      return phase
    },
    async end() {
      clearInterval(timer)
      if (!isIdle()) await new Promise<void>(resolve => (onIdle = resolve))
    },
  }
}

/** First in, first out. Not an array's shift(): it moves all others, and there may be 100,000. */
function createQueue<T>() {
  let items: T[] = []
  let taken = 0
  return {
    push: (item: T) => items.push(item),
    length: () => items.length - taken,
    take(): T | undefined {
      if (taken === items.length) return undefined
      const item = items[taken]
      taken += 1
      if (taken > 10_000) {
        items = items.slice(taken)
        taken = 0
      }
      return item
    },
  }
}

function newPhase(): Phase {
  return {
    ...{ arrived: 0, turnedAway: 0, acceptedMs: [], failed: 0 },
    ...{ rollbacksSent: 0, rollbacksFailed: 0, rolledBackMs: [], slowestMs: 0 },
  }
}

const stake = 2.5
const transactionDate = '2026-11-21T10:00:00.000Z'

export function placeBetBody(betId: string, playerId: string): string {
  const sessionId = '7d0f9c1e-5b1a-4f0e-9f53-2f6f0b1d6a11'
  return JSON.stringify({
    ...{ transactionId: betId, betId, playerId, sessionId, amount: stake, currency: 'EUR', odds: 1.85 },
    ...{ betType: 'SINGLE', transactionDate },
  })
}

function rollbackBody(betId: string, playerId: string): string {
  return JSON.stringify({
    ...{ transactionId: `rollback-${betId}`, betId, playerId, type: 'TECHNICAL_ERROR', transactionDate },
  })
}
