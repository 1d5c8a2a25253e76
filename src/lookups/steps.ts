/** Why a recorded transaction was decided as it was: the rule, in words. */
import { isZero } from '../money.js'
import { finalRefusals } from '../outcomes.js'
import { money } from './money-text.js'
import type { BetHistory, RecordedTransaction } from './records.js'

/** One recorded call in the life of a bet. */
export interface BetStep {
  transaction: RecordedTransaction
  /** `false`: a final refusal. */
  accepted: boolean
  /** The decision of docs/decisions.md, or the section of the interface: `"D11"`, `"spec 4.1"`. */
  rule: string
  /** The rule in words. */
  why: string
}

type Explanation = Omit<BetStep, 'transaction' | 'accepted'>

/** What was known of the bet before a call. */
interface Before {
  /** The placebet that was accepted. */
  placed: RecordedTransaction | null
  isRolledBack: boolean
  isTombstone: boolean
}

/** @returns a step for each transaction, in order */
export function stepsOf(history: BetHistory): BetStep[] {
  const before: Before = { placed: null, isRolledBack: false, isTombstone: false }
  return history.transactions.map(transaction => {
    const accepted = transaction.refusal === null
    const step = { transaction, accepted, ...explanationOf(transaction, before, history) }
    if (accepted && transaction.operation === 'placebet') before.placed ??= transaction
    if (accepted && transaction.operation === 'rollbackbet') {
      before.isTombstone ||= step.rule === 'D11'
      before.isRolledBack = true
    }
    return step
  })
}

/** Whether there is a bet, and no recorded placebet has debited its stake. */
const isUnplaced = ({ bet, transactions }: BetHistory): boolean =>
  bet !== null && !transactions.some(({ operation, refusal }) => operation === 'placebet' && refusal === null)

const isStopped = ({ bet }: BetHistory) => bet?.status === 'ROLLED_BACK' && isZero(bet.stake)

/** Whether the bet came from the legacy integration: it has a stake that no recorded placebet has debited. */
export const isLegacy = (history: BetHistory): boolean => isUnplaced(history) && !isStopped(history)

/** Whether the rollback of the bet came before the bet (D11). */
export const isTombstone = (history: BetHistory): boolean => isUnplaced(history) && isStopped(history)

function explanationOf(transaction: RecordedTransaction, before: Before, history: BetHistory): Explanation {
  switch (transaction.operation) {
    case 'placebet':
      return transaction.refusal === null ? placed(transaction) : refusedBet(transaction, before, history)
    case 'settlement':
      return { rule: 'D17', why: `credited as ${transaction.type}` }
    case 'unsettlement':
      return transaction.refusal === null ? reversed(transaction) : uncollected(transaction)
    case 'rollbackbet':
      return rolledBack(transaction, before, history)
  }
}

const placed = ({ amount }: RecordedTransaction): Explanation => ({
  rule: 'spec 4.1',
  why:
    amount !== null && isZero(amount) ? 'a new bet with a stake of 0' : 'a new bet, and the funds sufficed',
})

function refusedBet(
  { refusal, playerId, amount, currency }: RecordedTransaction,
  { placed: first, isTombstone, isRolledBack }: Before,
  { bet }: BetHistory,
): Explanation {
  if (isRefusal(refusal, finalRefusals.insufficientFunds))
    return {
      rule: 'D6',
      why: `the balance was lower than the stake of ${money(amount ?? '', currency)}; final, nothing was debited`,
    }
  if (isRefusal(refusal, finalRefusals.currencyMismatch))
    return { rule: 'D23', why: `${currency} is not the currency of the player; final, nothing was debited` }
  if (!isRefusal(refusal, finalRefusals.betIdUsed) && !isRefusal(refusal, finalRefusals.betRolledBack))
    return {
      rule: 'D6',
      why: `refused by a rule of the operator: ${refusal?.description}; final, nothing was debited`,
    }
  if (bet !== null && bet.playerId !== playerId)
    return { rule: 'D15', why: 'the betId belongs to a bet of another player; nothing was debited' }
  if (isTombstone)
    return { rule: 'D11', why: 'the rollback of this bet had come first (tombstone); nothing was debited' }
  if (isRolledBack)
    return { rule: 'D10', why: 'the betId belongs to a bet that was rolled back; nothing was debited' }
  const which = first === null ? 'another transaction' : first.transactionId
  return { rule: 'D10', why: `one bet, one placebet: the betId belongs to ${which}; nothing was debited` }
}

/** By code and description: a rule of the operator may refuse with the same code. */
const isRefusal = (refusal: Recorded, known: NonNullable<Recorded>) =>
  refusal?.errorCode === known.errorCode && refusal.description === known.description

type Recorded = RecordedTransaction['refusal']

const creditOf = (type: string | null) => (type === 'UNVOIDED' ? 'VOIDED' : 'BET_PAID')

const reversed = ({ delta, type }: RecordedTransaction): Explanation => ({
  rule: 'D18',
  why: isZero(delta)
    ? `reversed the ${creditOf(type)} credit, which was 0`
    : `debited the whole live ${creditOf(type)} credit`,
})

function uncollected({ refusal, type }: RecordedTransaction): Explanation {
  const owed = `the ${creditOf(type)} credit stays with the player and is owed to the platform; final`
  return isRefusal(refusal, finalRefusals.clawbacksDisabled)
    ? { rule: 'D20', why: `clawbacks were not possible: ${owed} (D7)` }
    : { rule: 'D7', why: `the funds did not cover the clawback: ${owed}` }
}

function rolledBack(transaction: RecordedTransaction, before: Before, history: BetHistory): Explanation {
  if (!isZero(transaction.delta)) return { rule: 'spec 4.3', why: 'the stake was returned' }
  if (before.isRolledBack) return { rule: 'D12', why: 'rolled back already; nothing was left to return' }
  if (before.placed === null && !isLegacy(history))
    return { rule: 'D11', why: 'the bet was unknown: a tombstone now stops it, nothing was returned' }
  return { rule: 'spec 4.3', why: 'the stake of 0 was returned' }
}
