/** A run over time, in a bounded number of parts of equal width: memory does not grow with its length. */
import { type Decimal, type DecimalText, textOf } from '../numbers/decimal.js'
import type { Account } from './books.js'
import { Histogram, type Latency } from './histogram.js'
import type { Reading } from './reading.js'

/** A run over time. */
export interface SimulationTimeline {
  /** The width of a part, in milliseconds. */
  partMs: number
  /** At most 240, from the start of the run. */
  parts: TimelinePart[]
  /** Of the first 50 players. */
  balances: PlayerTimeline[]
}

export interface TimelinePart {
  /** Calls that ended: with an answer, or with a failure of the real network. */
  calls: number
  refusals: number
  /** 5xx or no answer, without injected faults. */
  failedCalls: number
  faultsInjected: number
  differences: number
  /** Of the answers; `null`: there was none. */
  latencyMs: Latency | null
}

export interface PlayerTimeline {
  playerId: string
  currency: string
  /** The last one that was answered in each part. */
  balances: { atMs: number; balance: DecimalText }[]
}

type Totals = Pick<TimelinePart, 'failedCalls' | 'faultsInjected' | 'differences'>

interface Part extends Totals {
  calls: number
  refusals: number
  latencies: Histogram
  balances: Map<Account, { atMs: number; balance: Decimal }>
}

const partsMax = 240
const firstPartMs = 10
const playersMax = 50
const counted = ['failedCalls', 'faultsInjected', 'differences'] as const

export class Timeline {
  #partMs = firstPartMs
  #parts: Part[] = []
  #totals: Totals = { failedCalls: 0, faultsInjected: 0, differences: 0 }
  readonly #accounts: readonly Account[]

  constructor(accounts: readonly Account[]) {
    this.#accounts = accounts.slice(0, playersMax)
  }

  /**
   * A call has ended.
   *
   * @param atMs since the start of the run
   * @param totals of the run so far
   */
  record(atMs: number, account: Account, reading: Reading, latencyMs: number, totals: Totals): void {
    const part = this.count(atMs, totals)
    part.calls += 1
    if (reading.kind === 'no-answer') return
    if (reading.kind === 'refusal') part.refusals += 1
    part.latencies.record(latencyMs)
    if (reading.kind === 'success' && reading.balance !== null)
      part.balances.set(account, { atMs, balance: reading.balance })
  }

  /** Counts in the current part what has been added since the last call. */
  count(atMs: number, totals: Totals): Part {
    while (atMs >= partsMax * this.#partMs) this.#widen()
    const index = Math.floor(Math.max(0, atMs) / this.#partMs)
    while (this.#parts.length <= index) this.#parts.push(createPart())
    const part = this.#parts[index] as Part
    for (const name of counted) part[name] += totals[name] - this.#totals[name]
    this.#totals = totals
    return part
  }

  read(): SimulationTimeline {
    return {
      partMs: this.#partMs,
      parts: this.#parts.map(({ latencies, balances, ...part }) => ({
        ...part,
        latencyMs: latencies.latency(),
      })),
      balances: this.#accounts.map(account => ({
        playerId: account.playerId,
        currency: account.currency,
        balances: this.#parts.flatMap(({ balances }) => {
          const seen = balances.get(account)
          return seen === undefined ? [] : [{ ...seen, balance: textOf(seen.balance, account.minorUnits) }]
        }),
      })),
    }
  }

  /** Twice the width: every two parts become one. */
  #widen(): void {
    this.#partMs *= 2
    this.#parts = this.#parts.filter((part, index) => {
      const next = this.#parts[index + 1]
      if (index % 2 === 0 && next !== undefined) addPart(part, next)
      return index % 2 === 0
    })
  }
}

const createPart = (): Part => ({
  calls: 0,
  refusals: 0,
  failedCalls: 0,
  faultsInjected: 0,
  differences: 0,
  latencies: new Histogram(),
  balances: new Map(),
})

function addPart(into: Part, other: Part): void {
  for (const name of ['calls', 'refusals', ...counted] as const) into[name] += other[name]
  into.latencies.add(other.latencies)
  for (const [account, seen] of other.balances) into.balances.set(account, seen)
}
