/** Sends transactions, and keeps those that have no definite answer yet. */
import type { Transaction } from './books.js'
import type { Judge } from './judge.js'
import type { Network } from './network.js'
import { type Definite, type Reading, shortOf } from './reading.js'

interface OutboxSettings {
  network: Pick<Network, 'attempt' | 'retry' | 'loseAnswer'>
  judge: Pick<Judge, 'report'>
  now: () => number
  giveUpAfterMs: number
}

/** A transaction is given up after at least this number of faults, and after `giveUpAfterMs`. */
const faultsMax = 60

/** A settlement that the wallet has lost is never found, however long the limit is. */
const notFoundMsMax = 60_000

const isDefinite = (reading: Reading | null): reading is Definite =>
  reading?.kind === 'success' || reading?.kind === 'refusal'

export class Outbox {
  readonly #settings: OutboxSettings
  readonly #pending = new Set<Transaction>()

  constructor(settings: OutboxSettings) {
    this.#settings = settings
  }

  /** Transactions without a definite answer. */
  get pending(): ReadonlySet<Transaction> {
    return this.#pending
  }

  /** Sends once. `onAnswer` is called with `null` if the outcome is unknown. */
  sendOnce(transaction: Transaction, onAnswer: (answer: Definite | null) => void): void {
    this.#pending.add(transaction)
    this.#settings.network.attempt(transaction, reading => {
      this.#pending.delete(transaction)
      onAnswer(isDefinite(reading) ? reading : null)
    })
  }

  /** Sends once; the platform does not receive the answer. `onAnswer` is called with `null`. */
  sendWithLostAnswer(
    transaction: Transaction,
    platform: 'misses-answer' | 'gives-up',
    onAnswer: (answer: null) => void,
  ): void {
    this.#pending.add(transaction)
    this.#settings.network.loseAnswer(transaction, platform, () => {
      this.#pending.delete(transaction)
      onAnswer(null)
    })
  }

  /**
   * Retries until the answer is definite. `onAnswer` is called with `null` if the transaction is given up.
   */
  sendUntilAnswered(transaction: Transaction, onAnswer: (answer: Definite | null) => void): void {
    const { network, judge, now, giveUpAfterMs } = this.#settings
    this.#pending.add(transaction)
    let firstFaultAt = 0
    const onReading = (reading: Reading | null): void => {
      if (isDefinite(reading)) {
        this.#pending.delete(transaction)
        onAnswer(reading)
        return
      }
      if (reading === null) {
        network.attempt(transaction, onReading)
        return
      }
      transaction.faults += 1
      if (transaction.faults === 1) firstFaultAt = now()
      const isNotFound = reading.kind === 'fault' && reading.errorCode === 'SETTLEMENT_NOT_FOUND'
      const limitMs = isNotFound ? Math.min(notFoundMsMax, giveUpAfterMs) : giveUpAfterMs
      const isExhausted = transaction.faults >= faultsMax && now() - firstFaultAt >= limitMs
      if (reading.kind === 'fault' && isExhausted) {
        this.#pending.delete(transaction)
        const actual = `${transaction.faults} times no definite answer, the last one: ${shortOf(reading)}`
        judge.report(transaction, { kind: 'unanswered', expected: 'a definite answer', actual })
        onAnswer(null)
        return
      }
      network.retry(transaction, onReading)
    }
    network.attempt(transaction, onReading)
  }
}
