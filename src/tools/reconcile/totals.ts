/** Totals per day, operation and currency, of both sides. */

import type { Operation } from '../../store.js'
import { subtract, textOf } from '../numbers/decimal.js'
import { type DecimalText, difference, negate, Sum, sumOf } from './amounts.js'
import { type Entry, isDebit, operationOrder } from './entry.js'

/** How many rows and transactions there are, and how many of them are no difference. */
export interface RowCounts {
  /** Rows of the report that are within the range. */
  report: number
  /** Rows that the mapping ignores. */
  ignored: number
  /** Rows whose date is outside of the range. */
  outside: number
  /** Transactions of the wallet within the range. */
  wallet: number
  /** Rows and transactions that agree. */
  equal: number
  /** Refused by one side and missing on the other: no money moved. */
  refusedAlone: number
  /** Settlements that no transaction records, and that the bet holds: your own code has credited them. */
  creditedByOwnCode: number
}

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

type Side = 'report' | 'wallet'

class Counter {
  count = 0
  refused = 0
  readonly sum = new Sum()

  total = (): SideTotal => ({ count: this.count, amount: textOf(this.sum.total()), refused: this.refused })
}

export class Totals {
  readonly #counters = new Map<
    string,
    Pick<Total, 'day' | 'operation' | 'currency'> & Record<Side, Counter>
  >()

  /** Only of entries within the range. */
  add(side: Side, entry: Entry, times: 1 | -1 = 1): void {
    const { day, operation, currency, amount, accepted } = entry
    const key = `${day}\t${operationOrder.indexOf(operation)}\t${currency ?? ''}`
    let counters = this.#counters.get(key)
    if (counters === undefined) {
      counters = { day, operation, currency, report: new Counter(), wallet: new Counter() }
      this.#counters.set(key, counters)
    }
    const counter = counters[side]
    if (!accepted) counter.refused += times
    else {
      counter.count += times
      if (amount !== null) counter.sum.add(times === 1 ? amount : negate(amount))
    }
  }

  /** Counts as it is now what was counted as it was before. */
  replace(side: Side, before: Entry, now: Entry): void {
    this.add(side, before, -1)
    this.add(side, now)
  }

  /** Those that count anything, by day, operation and currency. */
  list(): Total[] {
    const sorted = [...this.#counters].sort(([one], [other]) => (one < other ? -1 : 1))
    return sorted
      .map(([, { report, wallet, ...key }]) => ({
        ...key,
        report: report.total(),
        wallet: wallet.total(),
        difference: textOf(subtract(wallet.sum.total(), report.sum.total())),
      }))
      .filter(total => isCounted(total) || total.report.refused + total.wallet.refused > 0)
  }
}

/** Whether it counts more than refusals. */
export const isCounted = ({ report, wallet }: Total) => report.count + wallet.count > 0

/** A change of the players' balances in one currency, as each side counts it. */
export interface CurrencyTotal {
  /** `null`: unknown. */
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
    const ofCurrency = totals.filter(total => total.currency === currency)
    const net = (side: Side) =>
      sumOf(
        ofCurrency.map(({ operation, [side]: { amount } }) => (isDebit(operation) ? negate(amount) : amount)),
      )
    const [report, wallet] = [net('report'), net('wallet')]
    return { currency, report, wallet, difference: difference(wallet, report) }
  })
}
