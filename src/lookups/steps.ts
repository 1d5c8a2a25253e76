/** The recorded calls of a bet in the order in which they changed it, each with its rule. */
import { add, compare, type Decimal, negate } from '../money.js'
import type { BetHistory, RecordedTransaction } from './records.js'
import { type Explanation, explain } from './rules.js'

/** One recorded call in the life of a bet. */
export interface BetStep extends Explanation {
  transaction: RecordedTransaction
  /** `false`: a final refusal. */
  accepted: boolean
}

type BetCalls = Pick<BetHistory, 'bet' | 'transactions'>

/** @returns a step for each transaction, in the order in which they changed the bet */
export const stepsOf = ({ transactions }: BetHistory): BetStep[] =>
  inOrderOfCredits(transactions).map(transaction => ({
    transaction,
    accepted: transaction.refusal === null,
    ...explain(transaction),
  }))

/**
 * `recordedAt` is when a database transaction began: that of a payout may lie before that of a clawback which
 * it followed. A clawback debits the whole live credit, so it stands where the credit has its amount; and a
 * rollback stands after the clawbacks that allowed it (D13).
 */
function inOrderOfCredits(transactions: readonly RecordedTransaction[]): readonly RecordedTransaction[] {
  let ordered = [...transactions]
  for (const clawback of transactions.filter(isClawback)) {
    const recorded = ordered.indexOf(clawback)
    const others = ordered.toSpliced(recorded, 1)
    const [nearest] = Array.from({ length: others.length + 1 }, (_, place) => place)
      .filter(place => debitsAll(clawback, others.slice(0, place)))
      .sort((one, other) => Math.abs(one - recorded) - Math.abs(other - recorded))
    if (nearest !== undefined) ordered = others.toSpliced(nearest, 0, clawback)
  }
  const end = ordered.findLastIndex(isClawback) + 1
  const isRollback = ({ operation }: RecordedTransaction) => operation === 'rollbackbet'
  const until = ordered.slice(0, end)
  return [...until.filter(each => !isRollback(each)), ...until.filter(isRollback), ...ordered.slice(end)]
}

const isClawback = ({ operation, refusal }: RecordedTransaction) =>
  operation === 'unsettlement' && refusal === null

/** Whether these calls leave the live credit that the clawback debits. */
function debitsAll(clawback: RecordedTransaction, before: readonly RecordedTransaction[]): boolean {
  const credited = clawback.type === 'UNVOIDED' ? 'VOIDED' : 'BET_PAID'
  const live = before.reduce<Decimal | null>((sum, { operation, type, delta }) => {
    if (operation === 'settlement' && type === credited) return add(sum ?? '0', delta)
    // A refused one leaves no live credit either (D7).
    return operation === 'unsettlement' && type === clawback.type ? null : sum
  }, null)
  return live !== null && compare(live, negate(clawback.delta)) === 0
}

/** Whether the rollback of the bet came before the bet (D11). */
export const isTombstone = ({ transactions }: BetCalls): boolean =>
  transactions.some(({ reason }) => reason === 'TOMBSTONE_CREATED')

/** Whether the bet came from the legacy integration: no recorded transaction has created it. */
export const isLegacy = (history: BetCalls): boolean =>
  history.bet !== null &&
  !isTombstone(history) &&
  !history.transactions.some(({ operation, refusal }) => operation === 'placebet' && refusal === null)

/** Whether a placebet was refused before the bet was rolled back: the tombstone refuses every later one. */
export const wasRefusedFirst = ({ transactions }: BetCalls): boolean =>
  transactions.some(
    ({ operation, refusal, reason }) =>
      operation === 'placebet' &&
      refusal !== null &&
      reason !== 'BET_ROLLED_BACK' &&
      reason !== 'BET_OF_ANOTHER_PLAYER',
  )
