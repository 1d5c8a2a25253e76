/** The wallet's transactions as records that can be compared. */

import type { RecordedTransaction } from '../../lookups/records.js'
import { decimalOf, isNegative } from './amounts.js'
import { isId, operationOrder, type WalletRecord } from './entry.js'
import { ReconcileError, shown } from './errors.js'
import type { Settings } from './options.js'

const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** @throws {ReconcileError} `INVALID_RECORDS`: the lookups are not those of this library's stores, say */
export function recordOf(
  transaction: RecordedTransaction,
  { isInRange, dayOf, sentenceOf }: Pick<Settings, 'isInRange' | 'dayOf' | 'sentenceOf'>,
): WalletRecord {
  const { operation, transactionId, betId, playerId, type, delta, refusal, recordedAt } = transaction
  // A debit is negative.
  const moved = decimalOf(String(delta).replace(/^-/, ''))
  const isRecord =
    moved !== null &&
    !isNegative(moved) &&
    operationOrder.includes(operation) &&
    time.test(recordedAt) &&
    [transactionId, betId, playerId].every(isId)
  if (!isRecord) {
    throw new ReconcileError(
      'INVALID_RECORDS',
      `The lookups returned a transaction that is none of the wallet's: operation ${shown(operation)}, ` +
        `transactionId ${shown(transactionId)}, delta ${shown(delta)}, recordedAt ${shown(recordedAt)}`,
    )
  }
  const accepted = refusal === null
  return {
    operation,
    transactionId,
    betId,
    playerId,
    // The type of a rollback is its reason.
    type: operation === 'settlement' || operation === 'unsettlement' ? type : null,
    accepted,
    amount: accepted ? moved : null,
    currency: transaction.currency ?? transaction.accountCurrency,
    day: dayOf(recordedAt),
    inRange: isInRange(recordedAt),
    recordedAt,
    transactionDate: transaction.transactionDate,
    errorCode: refusal?.errorCode ?? null,
    why: accepted ? '' : sentenceOf(transaction),
    walletTransactionId: transaction.walletTransactionId,
  }
}
