/** Totals of a day, for platforms that ask the operator for them. */
import { isoMinorUnits } from '../currencies.js'
import type { Route } from '../http/options.js'
import { add, type Decimal, format, isNegative, JsonNumber, negate } from '../money.js'
import type { Operation } from '../store.js'
import type { WalletLookups } from './records.js'
import { microsecondsOf } from './times.js'

const dayMs = 86_400_000
/** A commit that began within the day may still be running: its time is the one at which it began. */
const settleMs = 60_000

const invalid = (description: string) =>
  ({ ok: false, replayed: false, errorCode: 'INVALID_REQUEST', description }) as const

/**
 * Creates a path for `routes` of `createHttpHandler`: `{ '/daily-totals': dailyTotals(lookups) }`. It takes
 * `{ "date": "2026-11-22" }`, a day in UTC that is over, and answers with counts and sums per operation and
 * currency:
 *
 * ```json
 * {"date":"2026-11-22","totals":[{"operation":"placebet","currency":"EUR","count":2,"amount":40.00,"refused":1}]}
 * ```
 *
 * It reads every transaction of the day. Calls for the same day at the same time share one reading.
 */
export function dailyTotals(lookups: Pick<WalletLookups, 'transactions'>): Route {
  const running = new Map<string, Promise<object>>()
  return async body => {
    const date = typeof body === 'object' && body !== null ? (body as { date?: unknown }).date : undefined
    if (typeof date !== 'string' || !isDay(date))
      return invalid('date: must be a day in UTC, such as 2026-11-22')
    if (Date.parse(date) + dayMs + settleMs > Date.now()) return invalid('date: the day is not over')
    let reading = running.get(date)
    if (reading === undefined) {
      reading = totalsOfDay(lookups, date).finally(() => running.delete(date))
      running.set(date, reading)
    }
    return { json: await reading }
  }
}

/** A day that the calendar has. */
const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && microsecondsOf(text) !== null

const operations: readonly Operation[] = ['placebet', 'settlement', 'unsettlement', 'rollbackbet']

async function totalsOfDay(lookups: Pick<WalletLookups, 'transactions'>, date: string): Promise<object> {
  const from = `${date}T00:00:00.000Z`
  const to = new Date(Date.parse(from) + dayMs).toISOString()
  const totals = new Map<string, Total>()
  for await (const { operation, delta, refusal, ...each } of lookups.transactions({ from, to })) {
    const currency = each.currency ?? each.accountCurrency
    const key = `${operations.indexOf(operation)} ${currency ?? ''}`
    const total = totals.get(key) ?? { operation, currency, count: 0, sum: '0', refused: 0 }
    totals.set(key, total)
    if (refusal !== null) total.refused += 1
    else {
      total.count += 1
      total.sum = add(total.sum, delta)
    }
  }
  const inOrder = [...totals].sort(([one], [other]) => (one < other ? -1 : 1))
  return { date, totals: inOrder.map(([, total]) => rowOf(total)) }
}

interface Total {
  operation: Operation
  currency: string | null
  count: number
  sum: Decimal
  refused: number
}

function rowOf({ operation, currency, count, sum, refused }: Total) {
  const amount = isNegative(sum) ? negate(sum) : sum
  const text = currency === null ? amount : format(amount, isoMinorUnits(currency))
  return { operation, currency, count, amount: new JsonNumber(text), refused }
}
