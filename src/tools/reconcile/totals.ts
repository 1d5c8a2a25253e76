/** Totals per day, operation and currency, of both sides. */

import type { Operation } from '../../store.js'
import { add, type DecimalText, isZero, negate, Sum, subtract } from './amounts.js'
import { type Entry, isDebit, operationOrder } from './entry.js'

export interface SideTotal {
  /** Transactions that moved money, or would have: a lost bet settled with 0 is one. */
  count: number
  /** The sum of their amounts, at least 0. */
  amount: DecimalText
  /** Refusals, which moved nothing. */
  refused: number
}

/** One operation in one currency on one day. */
export interface Total {
  /** `2026-11-22`; empty if the platform's report has no dates: then all days are one. */
  day: string
  operation: Operation
  /** `null`: unknown. */
  currency: string | null
  report: SideTotal
  wallet: SideTotal
  /** The wallet's amount minus that of the report. */
  difference: DecimalText
}

interface Counter {
  entry: Pick<Entry, 'day' | 'operation' | 'currency'>
  count: number
  refused: number
  sum: Sum
}

export class SideTotals {
  readonly #counters = new Map<string, Counter>()
  /** The same counters: by day, then by operation, then by currency. A joined key for every entry is slow. */
  readonly #byDay = new Map<string, Record<Operation, Map<string | null, Counter>>>()

  /** Only of entries within the range. */
  add(entry: Entry): void {
    this.#count(entry, 1)
  }

  /** Counts as it is now what was counted as it was before. */
  replace(before: Entry, now: Entry): void {
    this.#count(before, -1)
    this.#count(now, 1)
  }

  #count(entry: Entry, times: 1 | -1): void {
    const { day, operation, currency, amount } = entry
    const counter = this.#byDay.get(day)?.[operation].get(currency) ?? this.#create(day, operation, currency)
    if (!entry.accepted) counter.refused += times
    else {
      counter.count += times
      if (amount !== null) counter.sum.add(times === 1 || isZero(amount) ? amount : negate(amount))
    }
  }

  #create(day: string, operation: Operation, currency: string | null): Counter {
    const counter = { entry: { day, operation, currency }, count: 0, refused: 0, sum: new Sum() }
    let ofDay = this.#byDay.get(day)
    if (ofDay === undefined) {
      ofDay = { placebet: new Map(), settlement: new Map(), unsettlement: new Map(), rollbackbet: new Map() }
      this.#byDay.set(day, ofDay)
    }
    ofDay[operation].set(currency, counter)
    this.#counters.set(`${day}\t${operation}\t${currency ?? ''}`, counter)
    return counter
  }

  get counters(): ReadonlyMap<string, Counter> {
    return this.#counters
  }
}

const none: SideTotal = { count: 0, amount: '0', refused: 0 }

function sideOf(counter: Counter | undefined): SideTotal {
  if (counter === undefined) return none
  return { count: counter.count, amount: counter.sum.total(), refused: counter.refused }
}

const isEmpty = ({ count, refused }: SideTotal) => count + refused === 0

export function totalsOf(report: SideTotals, wallet: SideTotals): Total[] {
  const keys = new Set([...report.counters.keys(), ...wallet.counters.keys()])
  const totals = [...keys].map((key): Total => {
    const counters = [report.counters.get(key), wallet.counters.get(key)] as const
    const { entry } = (counters[0] ?? counters[1]) as Counter
    const { day, operation, currency } = entry
    const sides = { report: sideOf(counters[0]), wallet: sideOf(counters[1]) }
    return {
      day,
      operation,
      currency,
      ...sides,
      difference: subtract(sides.wallet.amount, sides.report.amount),
    }
  })
  const rank = ({ day, operation, currency }: Total) =>
    `${day}\t${operationOrder.indexOf(operation)}\t${currency ?? ''}`
  const counted = totals.filter(({ report, wallet }) => !isEmpty(report) || !isEmpty(wallet))
  return counted.sort((one, other) => (rank(one) < rank(other) ? -1 : 1))
}

/** A change of the players' balances in one currency, as each side counts it. */
export interface CurrencyTotal {
  currency: string | null
  /** Positive: the players got more than they paid. */
  report: DecimalText
  wallet: DecimalText
  /** What the players have in the wallet more (positive) or less than the report says. */
  difference: DecimalText
}

/** All operations of a currency together. */
export function currencyTotalsOf(totals: readonly Total[]): CurrencyTotal[] {
  const currencies = [...new Set(totals.map(({ currency }) => currency))]
  return currencies.map(currency => {
    const ofIt = totals.filter(total => total.currency === currency)
    const net = (side: 'report' | 'wallet') =>
      ofIt.reduce((sum, total) => add(sum, changeOf(total.operation, total[side].amount)), '0')
    const [report, wallet] = [net('report'), net('wallet')]
    return { currency, report, wallet, difference: subtract(wallet, report) }
  })
}

const changeOf = (operation: Operation, amount: DecimalText) =>
  isDebit(operation) && !isZero(amount) ? negate(amount) : amount

/** Whether it counts more than refusals. */
export const isCounted = ({ report, wallet }: Total) => report.count + wallet.count > 0

/** Of those in which more than refusals is counted. */
export function countedCurrencies({
  currencies,
  totals,
}: {
  currencies: readonly CurrencyTotal[]
  totals: readonly Total[]
}): CurrencyTotal[] {
  const counted = new Set(totals.filter(isCounted).map(({ currency }) => currency))
  return currencies.filter(({ currency }) => counted.has(currency))
}
