/** Reports each transaction once, as soon as the wallet has accepted or finally refused it. */
import { shown, type Transaction } from './books.js'
import type { DecidedTransaction } from './report.js'

export class Decisions {
  readonly #onTransaction: (transaction: DecidedTransaction) => void
  readonly #undecided = new Set<Transaction>()

  constructor(onTransaction: (transaction: DecidedTransaction) => void) {
    this.#onTransaction = onTransaction
  }

  sent(transaction: Transaction): void {
    // The wallet does not know the player of an overspent bet, and records nothing of it (D16).
    if (transaction.first === null && transaction.bet.invalid?.kind !== 'overspent')
      this.#undecided.add(transaction)
  }

  answered(transaction: Transaction): void {
    if (transaction.first === null || !this.#undecided.delete(transaction)) return
    this.#onTransaction(decided(transaction, transaction.first.ok))
  }

  /** Placebets without an answer whose bet was rolled back: whether they have arrived is not known. */
  undecidedBets(): Transaction[] {
    return [...this.#undecided].filter(
      ({ operation, bet }) => operation === 'placebet' && bet.rolledBackAt !== 0,
    )
  }
}

function decided(transaction: Transaction, accepted: boolean): DecidedTransaction {
  const { operation, transactionId, bet, account, amount, type, body } = transaction
  const { currency = account.currency, transactionDate } = JSON.parse(body)
  return {
    operation,
    transactionId,
    betId: bet.betId,
    playerId: account.playerId,
    type: type === 'TECHNICAL_ERROR' ? null : type,
    amount: operation === 'rollbackbet' ? null : shown(amount, account),
    currency: currency === '' ? null : currency,
    accepted,
    transactionDate,
  }
}
