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
}

class PartCounts {
  /** Calls that ended: with an answer, or with a failure of the real network. */
  calls = 0
  refusals = 0
  /** 5xx or no answer, without injected faults. */
  failedCalls = 0
  faultsInjected = 0
  differences = 0
}

export interface TimelinePart extends PartCounts {
  /** Of the answers; `null`: there was none. */
  latencyMs: Latency | null
  /** The last one that was answered, of the first 50 players: by id, or by `anna EUR` of several accounts. */
  balances: Record<string, DecimalText>
}

const partsMax = 240
const firstPartMs = 10
const playersMax = 50

class Part extends PartCounts {
  readonly latencies = new Histogram()
  readonly balances = new Map<Account, Decimal>()
}

const counted = ['failedCalls', 'faultsInjected', 'differences'] as const
type Totals = Pick<Part, (typeof counted)[number]>

export class Timeline {
  #partMs = firstPartMs
  #parts: Part[] = []
  #totals: Totals = new Part()
  readonly #accounts: ReadonlySet<Account>

  constructor(accounts: readonly Account[]) {
    this.#accounts = new Set(accounts.slice(0, playersMax))
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
    if (reading.kind !== 'success' || reading.balance === null || !this.#accounts.has(account)) return
    if (account.others.length === 0 || reading.currency === account.currency)
      part.balances.set(account, reading.balance)
  }

  /** Counts in the current part what has been added since the last call. */
  count(atMs: number, totals: Totals): Part {
    while (atMs >= partsMax * this.#partMs) this.#widen()
    const index = Math.floor(Math.max(0, atMs) / this.#partMs)
    while (this.#parts.length <= index) this.#parts.push(new Part())
    const part = this.#parts[index] as Part
    for (const name of counted) part[name] += totals[name] - this.#totals[name]
    this.#totals = totals
    return part
  }

  read(): SimulationTimeline {
    const parts = this.#parts.map(({ latencies, balances, ...part }) => {
      const texts = [...balances].map(([account, balance]) => [
        account.name,
        textOf(balance, account.minorUnits),
      ])
      return { ...part, latencyMs: latencies.latency(), balances: Object.fromEntries(texts) }
    })
    return { partMs: this.#partMs, parts }
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

function addPart(into: Part, other: Part): void {
  for (const name of ['calls', 'refusals', ...counted] as const) into[name] += other[name]
  into.latencies.add(other.latencies)
  for (const [account, balance] of other.balances) into.balances.set(account, balance)
}
