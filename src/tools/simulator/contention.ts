/**
 * Finds calls that fail because they meet: locks that are taken in opposite orders (deadlocks), conflicts
 * that are not handled. One failure proves nothing, since every wallet may fail now and then. What counts is
 * whether calls that met another call of their bet fail more often than calls that met none.
 */
import type { Flight, Transaction } from './books.js'
import type { Finding } from './judgements.js'
import { type Reading, shortOf } from './reading.js'

/** The probability that a wallet whose failures have another cause is found by chance. */
const byChanceMax = 1e-6
/** Statuses that say that the wallet is busy: the right answers of a wallet that does not wait for a lock. */
const busyStatuses: readonly number[] = [502, 503, 504]

export class Contention {
  readonly #calls = { met: 0, all: 0 }
  readonly #failed = { met: 0, all: 0 }
  #answers = 0
  #last: { about: Transaction; actual: string } | null = null

  sent(transaction: Transaction): Flight {
    const { bet, transactionId } = transaction
    const { meetings } = bet
    const early = isEarly(transaction)
    if (bet.inFlight > 0 && bet.inFlightId !== transactionId) bet.meetings += 1
    bet.inFlight += 1
    bet.inFlightId = transactionId
    return { meetings, answers: this.#answers, early }
  }

  answered(transaction: Transaction, flight: Flight, reading: Reading): void {
    const { bet } = transaction
    bet.inFlight -= 1
    const hasMet = bet.meetings > flight.meetings
    this.#calls.all += 1
    if (hasMet) this.#calls.met += 1
    if (reading.kind === 'success' || reading.kind === 'refusal') {
      this.#answers += 1
      return
    }
    // While nothing else was answered, the whole wallet failed: a restart, a failover. A call that came too
    // early may be told so with any status.
    if (this.#answers === flight.answers || flight.early || !isFailure(reading)) return
    this.#failed.all += 1
    if (!hasMet) return
    this.#failed.met += 1
    this.#last = { about: transaction, actual: shortOf(reading) }
  }

  /** A difference, if calls failed because they met. Together with the last of these calls. */
  finding(): { about: Transaction; finding: Finding } | null {
    const [calls, failed] = [this.#calls, this.#failed]
    if (this.#last === null || chanceOf(failed.met, failed.all, calls.met / calls.all) > byChanceMax)
      return null
    const { about, actual } = this.#last
    return {
      about,
      finding: {
        kind: 'contention',
        expected: 'calls of one bet that meet wait for each other, or are answered 503',
        actual:
          `${failed.met} of the ${calls.met} calls that met another call of their bet failed, and ` +
          `${failed.all - failed.met} of the ${calls.all - calls.met} others; the last one: ${actual}. ` +
          'Locks in opposite orders (deadlocks)?',
      },
    }
  }
}

/** Whether a settlement or placebet that it follows has no answer yet: the wallet may not know of it. */
function isEarly({ operation, bet: { transactions }, transactionId }: Transaction): boolean {
  if (operation === 'placebet' || operation === 'rollbackbet') return false
  const own = transactions.findIndex(other => other.transactionId === transactionId)
  return transactions.slice(0, own).some(({ first }) => first === null)
}

function isFailure(reading: Reading): boolean {
  if (reading.kind === 'no-answer') return true
  return reading.kind === 'fault' && reading.status >= 500 && !busyStatuses.includes(reading.status)
}

/**
 * At most the probability that `met` or more of `all` failures fall on calls that met, if they fall on any
 * call alike (Chernoff's bound).
 *
 * @param share of the calls that met
 */
export function chanceOf(met: number, all: number, share: number): number {
  const seen = met / all
  if (all === 0 || seen <= share) return 1
  const rest = seen === 1 ? 0 : (1 - seen) * Math.log((1 - seen) / (1 - share))
  return Math.exp(-all * (seen * Math.log(seen / share) + rest))
}
