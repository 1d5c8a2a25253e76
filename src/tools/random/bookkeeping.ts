/** Enters deliveries and answers into the books. */
import { type Account, type Bet, setRange, type Transaction } from './books.js'
import { type Definite, neverForBets, type Refusal } from './reading.js'

/** One request in flight: what was known when it was sent. */
export type Delivery = ReturnType<typeof recordDelivery>

const recentMax = 12

/** The transaction whose range a success decides: a rollback undoes the change of its placebet. */
export function ownerOf(transaction: Transaction): Transaction {
  const { operation, bet, changesBalance } = transaction
  return operation === 'rollbackbet' && changesBalance ? (bet.placed ?? transaction) : transaction
}

/** Whether the answer to the bet's rollback may be decided already. */
export function isRollbackSent({ rollback }: Bet): boolean {
  return rollback !== null && rollback.sentAt !== 0
}

/** Whether this delivery's placebet was first sent after its rollback had succeeded (D11). */
export function isLate({ transaction: { bet, sentAt } }: Delivery): boolean {
  return bet.rolledBackAt !== 0 && sentAt > bet.rolledBackAt
}

/** Widens the range of the transaction: from now on the wallet may have executed it. */
export function recordDelivery(transaction: Transaction, moment: number) {
  const { account } = transaction
  if (transaction.changesBalance) widen(transaction, moment)
  const own = ownerOf(transaction)
  return {
    transaction,
    sentAt: moment,
    ownLow: own.low,
    ownHigh: own.high,
    ...endsOf(account, own),
    /** Where the bet may be unknown, the wallet may answer another account: the home account (D28). */
    others: account.others.map(other => ({ account: other, ...endsOf(other, { low: 0n, high: 0n }) })),
  }
}

/** What an end was shifted outwards is subtracted from and added to, as long as a request is in flight. */
const endsOf = (account: Account, own: Pick<Transaction, 'low' | 'high'>) => ({
  least: account.low - own.low + account.widenedDown,
  most: account.high - own.high - account.widenedUp,
})

function widen(transaction: Transaction, moment: number): void {
  const { operation, bet, amount } = transaction
  if (transaction.sentAt === 0) {
    transaction.sentAt = moment
    // A placebet must not debit anything once its rollback was answered.
    if (operation === 'placebet' && bet.rolledBackAt === 0) setRange(transaction, -amount, 0n)
    if (operation === 'settlement') setRange(transaction, 0n, amount)
    if (operation === 'unsettlement') setRange(transaction, -amount, 0n)
  }
  // Whether the bet is undone already is unknown until a success arrives.
  if (operation === 'rollbackbet' && bet.rolledBackAt === 0 && bet.placed?.first?.kind === 'success') {
    setRange(bet.placed, -bet.stake, 0n)
  }
}

/** The least funds that the wallet may have seen for this delivery, without its own effect. */
export function fundsLeast({ transaction: { account }, least }: Delivery): bigint {
  return least - account.widenedDown
}

/** The most. */
export function fundsMost({ transaction: { account }, most }: Delivery): bigint {
  return most + account.widenedUp
}

/** Enters the first success of a transaction. */
export function recordSuccess(delivery: Delivery, answer: Definite, moment: number): void {
  const { transaction } = delivery
  const { operation, bet, amount } = transaction
  recordFirst(transaction, answer, moment)
  if (operation === 'placebet') {
    // A late bet must not debit anything. A bet whose rollback is in flight may be undone already.
    if (bet.rolledBackAt === 0 && !isRollbackSent(bet)) setRange(transaction, -amount, -amount)
  } else if (operation === 'settlement') setRange(transaction, amount, amount)
  else if (operation === 'unsettlement') setRange(transaction, -amount, -amount)
  else {
    if (bet.rolledBackAt === 0) bet.rolledBackAt = moment
    if (bet.placed !== null) setRange(bet.placed, 0n, 0n)
  }
}

/** Codes that say something else than that funds are missing. */
const otherThanFunds: readonly string[] = [...neverForBets, '']

/**
 * Whether the refusal of an unsettlement says that the clawback stays uncollected (D7). A wallet that cannot
 * debit answers INSUFFICIENT_FUNDS always; another code is accepted where the funds may have been missing.
 * For a retry they may: the wallet repeats what it decided when the funds were different.
 */
export function isUncollected(delivery: Delivery, { errorCode }: Refusal): boolean {
  const { operation, amount, sentAt } = delivery.transaction
  if (operation !== 'unsettlement') return false
  if (errorCode === 'INSUFFICIENT_FUNDS') return true
  if (otherThanFunds.includes(errorCode)) return false
  return delivery.sentAt !== sentAt || fundsLeast(delivery) < amount
}

/** Enters a refusal: the balance did not change. Final refusals (D6, D7) are remembered for replays. */
export function recordRefusal(delivery: Delivery, answer: Refusal, moment: number): void {
  const { transaction } = delivery
  const { operation, bet } = transaction
  if (answer.errorCode === 'TRANSACTION_CONFLICT') return
  if (operation === 'placebet' || isUncollected(delivery, answer)) recordFirst(transaction, answer, moment)
  if (operation !== 'rollbackbet') setRange(transaction, 0n, 0n)
  else if (bet.placed?.first?.kind === 'success') setRange(bet.placed, -bet.stake, -bet.stake)
}

/** Enters the answer to a call that must change nothing: the balances that follow show whether it did. */
export function recordMisuse({ transaction }: Delivery, answer: Definite, moment: number): void {
  const isRecorded = answer.kind === 'success' || transaction.operation === 'placebet'
  if (transaction.first === null && isRecorded) recordFirst(transaction, answer, moment)
}

function recordFirst(transaction: Transaction, answer: Definite, moment: number): void {
  const { account, operation } = transaction
  transaction.first = answer
  transaction.firstAt = moment
  account[answer.kind === 'success' ? 'accepted' : 'refused'][operation] += 1
  account.recent.push(transaction)
  if (account.recent.length > recentMax) account.recent.shift()
}
