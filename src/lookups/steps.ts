/** Why a recorded transaction was decided as it was, in words, and the rule. */
import { add, compare, type Decimal, isZero, negate } from '../money.js'
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
  /** The reason, in words that support can read to a player; begins in lower case. */
  why: string
}

type Explanation = Omit<BetStep, 'transaction' | 'accepted'>

type BetCalls = Pick<BetHistory, 'bet' | 'transactions'>

/** What was known of the bet before a call. */
interface Before {
  /** The placebet that was accepted. */
  placed: RecordedTransaction | null
  isRolledBack: boolean
  isTombstone: boolean
  /** A placebet was refused. */
  isRefused: boolean
}

/** @returns a step for each transaction, in the order in which they changed the bet */
export function stepsOf(history: BetHistory): BetStep[] {
  const before: Before = { placed: null, isRolledBack: false, isTombstone: false, isRefused: false }
  return inOrderOfCredits(history.transactions).map(transaction => {
    const accepted = transaction.refusal === null
    const step = { transaction, accepted, ...explanationOf(transaction, before, history) }
    if (transaction.operation === 'placebet') {
      if (accepted) before.placed ??= transaction
      else before.isRefused = true
    }
    if (accepted && transaction.operation === 'rollbackbet') {
      before.isTombstone ||= step.rule === 'D11'
      before.isRolledBack = true
    }
    return step
  })
}

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

/** Whether there is a bet, and no recorded placebet has debited its stake. */
const isUnplaced = ({ bet, transactions }: BetCalls): boolean =>
  bet !== null && !transactions.some(({ operation, refusal }) => operation === 'placebet' && refusal === null)

const isStopped = ({ bet }: BetCalls) => bet?.status === 'ROLLED_BACK' && isZero(bet.stake)

/** Whether the bet came from the legacy integration: it has a stake that no recorded placebet has debited. */
export const isLegacy = (history: BetCalls): boolean => isUnplaced(history) && !isStopped(history)

/** Whether the rollback of the bet came before the bet (D11). */
export const isTombstone = (history: BetCalls): boolean => isUnplaced(history) && isStopped(history)

/** Whether a placebet was refused before the bet was rolled back. */
export function wasRefusedFirst({ transactions }: BetCalls): boolean {
  const [first] = transactions.filter(({ operation, refusal }) =>
    operation === 'placebet' ? refusal !== null : operation === 'rollbackbet' && refusal === null,
  )
  return first?.operation === 'placebet'
}

function explanationOf(transaction: RecordedTransaction, before: Before, history: BetHistory): Explanation {
  switch (transaction.operation) {
    case 'placebet':
      return transaction.refusal === null ? placed(transaction) : refusedBet(transaction, before, history)
    case 'settlement':
      return { rule: 'D17', why: settled(transaction) }
    case 'unsettlement':
      return transaction.refusal === null ? reversed(transaction) : uncollected(transaction)
    case 'rollbackbet':
      return rolledBack(transaction, before, history)
  }
}

const placed = ({ amount, currency }: RecordedTransaction): Explanation => {
  const stake = money(amount ?? '', currency)
  return {
    rule: 'spec 4.1',
    why:
      amount !== null && isZero(amount)
        ? `the stake was ${stake}: nothing was debited`
        : `the stake of ${stake} was debited`,
  }
}

const nothing = 'nothing was debited'

function refusedBet(
  { refusal, playerId, amount, currency, balanceAfter }: RecordedTransaction,
  { placed: first, isTombstone, isRolledBack }: Before,
  { bet }: BetHistory,
): Explanation {
  const final = `${nothing}, and the refusal is final`
  if (isRefusal(refusal, finalRefusals.insufficientFunds))
    return {
      rule: 'D6',
      why: `${balanceText(balanceAfter, currency)} did not cover the stake of ${money(amount ?? '', currency)}; ${final}`,
    }
  if (isRefusal(refusal, finalRefusals.currencyMismatch))
    return {
      rule: 'D23',
      why: `the bet was in ${currency}, which is not the currency of the account; ${final}`,
    }
  if (!isRefusal(refusal, finalRefusals.betIdUsed) && !isRefusal(refusal, finalRefusals.betRolledBack))
    return {
      rule: 'D6',
      why: `a rule of the operator refused it: ${refusal && withoutField(refusal)}; ${final}`,
    }
  if (bet !== null && bet.playerId !== playerId)
    return { rule: 'D15', why: `the bet belongs to another player; ${nothing}` }
  if (isTombstone)
    return { rule: 'D11', why: `the platform had rolled the bet back before it arrived; ${nothing}` }
  if (isRolledBack) return { rule: 'D10', why: `the bet had been rolled back before; ${nothing}` }
  const which = first === null ? 'another transaction' : first.transactionId
  return { rule: 'D10', why: `the bet was placed already, by ${which}; ${nothing} again` }
}

/** `amount: below the minimum balance` without the field, which is a term of the interface. */
export const withoutField = ({ description }: NonNullable<Recorded>) =>
  description.replace(
    /^(?:transactionId|playerId|betId|sessionId|amount|currency|odds|betType|type|transactionDate): /,
    '',
  )

const balanceText = (balance: string | null, currency: string | null) =>
  balance === null ? 'the balance' : `the balance of ${money(balance, currency)}`

/** By code and description: a rule of the operator may refuse with the same code. */
const isRefusal = (refusal: Recorded, known: NonNullable<Recorded>) =>
  refusal?.errorCode === known.errorCode && refusal.description === known.description

type Recorded = RecordedTransaction['refusal']

function settled({ amount, currency, type }: RecordedTransaction): string {
  const credited = money(amount ?? '0', currency)
  if (type === 'VOIDED') return `the bet was declared void: ${credited} was returned`
  if (type === 'CASHOUT') return `the bet was cashed out: ${credited} was credited`
  return isZero(amount ?? '0')
    ? 'the bet was settled without a payout'
    : `the bet was settled: the payout of ${credited} was credited`
}

/** Why an unsettlement came, and what it takes back. */
const correctionOf = (type: string | null) =>
  type === 'UNVOIDED'
    ? { reason: 'the platform declared the bet valid again', credit: 'refund' }
    : { reason: 'the platform corrected the result', credit: 'payout' }

function reversed({ delta, type, betCurrency }: RecordedTransaction): Explanation {
  const { reason, credit } = correctionOf(type)
  const amount = money(negate(delta), betCurrency)
  return {
    rule: 'D18',
    why: isZero(delta)
      ? `${reason}; the ${credit} was ${amount}, so nothing was taken back`
      : `${reason}, so the ${credit} of ${amount} was taken back`,
  }
}

function uncollected({ refusal, type, balanceAfter, betCurrency }: RecordedTransaction): Explanation {
  const { reason, credit } = correctionOf(type)
  const owed = `the ${credit} is owed to the platform, which nets it off later winnings`
  return isRefusal(refusal, finalRefusals.clawbacksDisabled)
    ? { rule: 'D20', why: `${reason}, but this wallet cannot take the ${credit} back: ${owed}` }
    : {
        rule: 'D7',
        why: `${reason}, but ${balanceText(balanceAfter, betCurrency)} did not cover the ${credit}: nothing was taken back, and ${owed}`,
      }
}

function rolledBack(transaction: RecordedTransaction, before: Before, history: BetHistory): Explanation {
  const { delta, betCurrency } = transaction
  const returned = money(delta, betCurrency)
  if (!isZero(delta))
    return {
      rule: 'spec 4.3',
      why: `the platform rolled the bet back: the stake of ${returned} was returned`,
    }
  if (before.isRolledBack) return { rule: 'D12', why: 'rolled back already; nothing was left to return' }
  if (before.placed === null && before.isRefused)
    return { rule: 'D11', why: 'the platform rolled the refused bet back: there was no stake to return' }
  if (before.placed === null && !isLegacy(history))
    return {
      rule: 'D11',
      why: 'the platform rolled the bet back before it arrived: no stake was debited, so nothing was returned',
    }
  return { rule: 'spec 4.3', why: `the platform rolled the bet back; its stake was ${returned}` }
}
