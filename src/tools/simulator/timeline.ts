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
  /** As they were answered, in this order: of each part the lowest, the highest and the last. */
  balances: { atMs: number; balance: DecimalText }[]
}

type Totals = Pick<TimelinePart, 'failedCalls' | 'faultsInjected' | 'differences'>

const partsMax = 240
const firstPartMs = 10
const playersMax = 50

interface Part extends Totals {
  calls: number
  refusals: number
  latencies: Histogram | null
}

interface Answered {
  atMs: number
  balance: Decimal
  /** For comparisons only. */
  value: number
}

interface Balances {
  lowest: Answered
  highest: Answered
  last: Answered
}

export class Timeline {
  #partMs = firstPartMs
  #parts: Part[] = []
  #totals: Totals = { failedCalls: 0, faultsInjected: 0, differences: 0 }
  /** By part; parts without an answer for the player are missing. */
  readonly #players: Map<Account, Map<number, Balances>>

  constructor(accounts: readonly Account[]) {
    this.#players = new Map(accounts.slice(0, playersMax).map(account => [account, new Map()]))
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
    part.latencies ??= new Histogram()
    part.latencies.record(latencyMs)
    if (reading.kind === 'success' && reading.balance !== null) this.#see(atMs, account, reading.balance)
  }

  /** Counts in the current part what has been added since the last call. */
  count(atMs: number, totals: Totals): Part {
    while (atMs >= partsMax * this.#partMs) this.#widen()
    const index = this.#indexOf(atMs)
    while (this.#parts.length <= index) this.#parts.push(createPart())
    const part = this.#parts[index] as Part
    for (const name of ['failedCalls', 'faultsInjected', 'differences'] as const)
      part[name] += totals[name] - this.#totals[name]
    this.#totals = totals
    return part
  }

  read(): SimulationTimeline {
    return {
      partMs: this.#partMs,
      parts: this.#parts.map(({ latencies, ...part }) => ({
        ...part,
        latencyMs: latencies?.latency() ?? null,
      })),
      balances: [...this.#players].map(([{ playerId, currency, minorUnits }, parts]) => ({
        playerId,
        currency,
        balances: [...parts.values()]
          .flatMap(({ lowest, highest, last }) => [...new Set([lowest, highest, last])])
          .sort((one, other) => one.atMs - other.atMs)
          .map(({ atMs, balance }) => ({ atMs, balance: textOf(balance, minorUnits) })),
      })),
    }
  }

  #indexOf(atMs: number): number {
    return Math.floor(Math.max(0, atMs) / this.#partMs)
  }

  #see(atMs: number, account: Account, balance: Decimal): void {
    const parts = this.#players.get(account)
    if (parts === undefined) return
    const seen = { atMs, balance, value: Number(balance.units) / 10 ** balance.scale }
    merge(parts, this.#indexOf(atMs), { lowest: seen, highest: seen, last: seen })
  }

  /** Twice the width: every two parts become one. */
  #widen(): void {
    this.#partMs *= 2
    const parts = this.#parts
    this.#parts = []
    for (const [index, part] of parts.entries()) {
      const into = this.#parts[index >> 1]
      if (into === undefined) this.#parts.push(part)
      else addPart(into, part)
    }
    for (const ofPlayer of this.#players.values()) {
      const all = [...ofPlayer]
      ofPlayer.clear()
      for (const [index, balances] of all) merge(ofPlayer, index >> 1, balances)
    }
  }
}

const createPart = (): Part => ({
  calls: 0,
  refusals: 0,
  failedCalls: 0,
  faultsInjected: 0,
  differences: 0,
  latencies: null,
})

function addPart(into: Part, { latencies, ...counts }: Part): void {
  for (const name of Object.keys(counts) as (keyof typeof counts)[]) into[name] += counts[name]
  if (into.latencies === null) into.latencies = latencies
  else if (latencies !== null) into.latencies.add(latencies)
}

function merge(parts: Map<number, Balances>, index: number, { lowest, highest, last }: Balances): void {
  const known = parts.get(index)
  if (known === undefined) {
    parts.set(index, { lowest, highest, last })
    return
  }
  if (lowest.value < known.lowest.value) known.lowest = lowest
  if (highest.value > known.highest.value) known.highest = highest
  known.last = last
}
