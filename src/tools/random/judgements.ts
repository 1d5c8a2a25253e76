/** Judges one answer by the books: pure functions that return differences. */
import { textOf, toUnits } from '../numbers/decimal.js'
import {
  type Delivery,
  fundsLeast,
  fundsMost,
  isLate,
  isRollbackSent,
  isUncollected,
  ownerOf,
} from './bookkeeping.js'
import { type Account, shown, shownRange, type Transaction } from './books.js'
import {
  answerText,
  codesUnread,
  type Definite,
  type Fault,
  neverForBets,
  type Refusal,
  type Success,
  shortOf,
} from './reading.js'
import type { Difference } from './report.js'

/** A difference, before it is described for the report. */
export interface Finding {
  kind: Difference['kind']
  expected: string
  actual: string
  /** If it is not that of the transaction. */
  account?: Account
  /** The wallet's surplus over the expected balance, in units; negative for a deficit. */
  units?: bigint
}

/**
 * Statuses of requests that are rejected unread. No well-formed request of the platform may be answered with
 * one of them.
 */
const rejectedUnread: readonly number[] = [401, 403, 405, 413, 415]

export function isRejectedUnread(reading: Definite): boolean {
  if (reading.kind !== 'refusal' || !rejectedUnread.includes(reading.status)) return false
  // Some wallets refuse a bet with 403, and say why in the errorCode: a decision.
  return reading.status === 401 || codesUnread.includes(reading.errorCode)
}

/** Whether an answer has the form of spec 2 and spec 7, and comes from the wallet's operation. */
export function judgeForm(reading: Definite | Fault): Finding[] {
  const actual = shortOf(reading)
  if (reading.kind === 'fault') {
    if (reading.problem === null) return []
    return [{ kind: 'unreadable', expected: 'an answer in the form of spec 2', actual }]
  }
  const findings: Finding[] = []
  if (reading.kind === 'refusal' && reading.errorCode === '')
    findings.push({ kind: 'unreadable', expected: 'an errorCode in the body (spec 7.2)', actual })
  if (isRejectedUnread(reading))
    findings.push({ kind: 'refused', expected: 'an authenticated, well-formed request is processed', actual })
  return findings
}

/**
 * Whether an answer replays the first answer (D2). The status and the code of a refusal may differ: they
 * change no balance, and the audit judges them.
 */
export function isReplay(first: Definite, reading: Definite): boolean {
  if (reading.kind === 'refusal' || first.kind === 'refusal') return reading.kind === first.kind
  return reading.reference === first.reference
}

/** A retry is answered with the first decision (D2). */
export function judgeReplay(
  { transaction, sentAt }: Delivery,
  first: Definite,
  reading: Definite,
): Finding[] {
  if (isReplay(first, reading)) return []
  // A refusal that is not final (D8) may have been decided first, and arrive last.
  const isOlder = sentAt < transaction.firstAt && transaction.operation !== 'placebet'
  if (reading.kind === 'refusal' && isOlder) return []
  const expected = `the first answer again: ${answerText(first)}`
  return [{ kind: 'replay', expected, actual: answerText(reading) }]
}

/** The first success of a transaction: a debit can succeed by mistake. */
export function judgeSuccess(delivery: Delivery, reading: Success): Finding[] {
  const { operation, amount, account, bet } = delivery.transaction
  const actual = shortOf(reading)
  if (operation !== 'placebet' && operation !== 'unsettlement') return []
  if (operation === 'placebet' && isLate(delivery)) {
    const expected = 'a refusal: its rollback was answered with success before it was sent (D11)'
    return [{ kind: 'late-bet', expected, actual, units: -amount }]
  }
  if (operation === 'placebet' && bet.invalid !== null) {
    const { kind, reason } = bet.invalid
    return [{ kind, expected: `a refusal: ${reason}`, actual, units: -amount }]
  }
  const most = fundsMost(delivery)
  // A lost bet is reversed by an unsettlement of 0, whatever the balance is.
  if (most >= amount || amount === 0n || !areFundsJudged(delivery)) return []
  const what = operation === 'placebet' ? 'a stake' : 'a clawback'
  const expected = `INSUFFICIENT_FUNDS: ${what} of ${shown(amount, account)}, and funds of at most ${shown(most, account)}`
  return [{ kind: 'overspent', expected, actual, units: most - amount }]
}

/**
 * Funds are judged by the answer to the first delivery only: a later answer may replay the decision of a
 * delivery whose answer was lost, when the funds were different.
 */
function areFundsJudged({ sentAt, transaction }: Delivery): boolean {
  const { opened, drift } = transaction.account
  return opened && sentAt === transaction.sentAt && drift === 0n
}

/** Whether a bet was refused because the funds do not cover its stake. */
export function isForFunds(delivery: Delivery, { errorCode }: Refusal): boolean {
  const { operation, bet, amount } = delivery.transaction
  if (operation !== 'placebet' || isLate(delivery) || bet.invalid !== null) return false
  return errorCode === 'INSUFFICIENT_FUNDS' || fundsMost(delivery) < amount
}

/** The first refusal of a transaction. */
export function judgeRefusal(delivery: Delivery, reading: Refusal): Finding[] {
  const { transaction } = delivery
  const { operation } = transaction
  const actual = shortOf(reading)
  if (reading.errorCode === 'TRANSACTION_CONFLICT')
    return [{ kind: 'refused', expected: 'no conflict: every delivery has the same body', actual }]
  if (operation === 'placebet') return judgeRefusedBet(delivery, reading)
  if (isUncollected(delivery, reading)) return [] // D7

  return [{ kind: 'refused', actual, ...requiredOf(transaction) }]
}

function judgeRefusedBet(delivery: Delivery, reading: Refusal): Finding[] {
  const { bet, amount, account } = delivery.transaction
  // Expected after its rollback, and possible while the rollback is in flight. Of a stake of 0, no money is
  // refused.
  if (isLate(delivery) || isRollbackSent(bet) || bet.invalid !== null || amount === 0n) return []
  const actual = shortOf(reading)
  if (neverForBets.includes(reading.errorCode)) {
    const expected = 'a new bet is accepted, or refused for funds or by the operator'
    return [{ kind: 'refused', expected, actual }]
  }
  const least = fundsLeast(delivery)
  if (reading.errorCode !== 'INSUFFICIENT_FUNDS' || least < amount || !areFundsJudged(delivery)) return []
  const expected = `accepted: a stake of ${shown(amount, account)}, and funds of at least ${shown(least, account)}`
  return [{ kind: 'refused', expected, actual }]
}

/** Why a call must succeed, and the error of the balance that results from its refusal. */
function requiredOf({ operation, bet, amount }: Transaction): Pick<Finding, 'expected' | 'units'> {
  if (operation === 'settlement') return { expected: 'success: the bet was accepted', units: -amount }
  const credited = 'success or INSUFFICIENT_FUNDS: the settlement was credited and not reversed'
  if (operation === 'unsettlement') return { expected: credited, units: amount }
  if (bet.placed?.first?.kind === 'success')
    return { expected: 'success: the bet was accepted and never settled', units: -bet.stake }
  return { expected: 'success: a bet that is unknown, or was never settled, can be rolled back (spec 4.3)' }
}

/** The balance of a success, after the success was entered into the books. */
export function judgeBalance(delivery: Delivery, reading: Success): BalanceJudgement {
  const { balance, currency } = reading
  const { account, low, high } = answeredAccount(delivery, currency)
  if (balance === null || !account.opened) return { account, result: 'not-judged', off: 0n, findings: [] }
  const wrong = (finding: Finding, off = 0n): BalanceJudgement => ({
    account,
    result: 'wrong',
    off,
    findings: [finding],
  })
  if (currency !== account.currency)
    return wrong({ kind: 'currency', expected: account.currency, actual: currency ?? 'none' })

  const actual = `a balance of ${textOf(balance, account.minorUnits)}`
  const units = toUnits(balance, account.decimals)
  if (units === null) {
    const expected = `a balance of at most ${account.decimals} decimals, like all amounts of the player`
    return wrong({ kind: 'balance', expected, actual })
  }
  const seen = units - account.drift
  if (seen < low || seen > high) {
    const off = seen > high ? seen - high : seen - low
    const expected = `a balance of ${shownRange(low + account.drift, high + account.drift, account)}`
    return wrong({ kind: 'balance', expected, actual, units: off }, off)
  }
  const isOverspent = units < 0n && account.opening >= 0n && account.drift === 0n
  return {
    account,
    result: low === high ? 'exact' : 'in-range',
    off: 0n,
    findings: isOverspent ? [{ kind: 'overspent', expected: 'a balance of at least 0', actual, units }] : [],
  }
}

/** `off`: the balance is wrong by that many units, beyond the errors that are reported already. */
interface BalanceJudgement {
  account: Account
  result: 'not-judged' | 'wrong' | 'in-range' | 'exact'
  off: bigint
  findings: Finding[]
}

/** The account of an answer, and the balances that are possible while its other requests are in flight. */
function answeredAccount(delivery: Delivery, currency: string | null) {
  const { transaction, ownLow, ownHigh } = delivery
  const isKnown = transaction.operation !== 'rollbackbet' || transaction.bet.placed?.first?.kind === 'success'
  const home = isKnown ? undefined : delivery.others.find(other => other.account.currency === currency)
  if (home !== undefined) {
    const { account, least, most } = home
    return { account, low: least - account.widenedDown, high: most + account.widenedUp }
  }
  const [least, most] = [fundsLeast(delivery), fundsMost(delivery)]
  // The answer's balance includes the decision on its own transaction. A placebet may have been undone since.
  const isUndone = transaction.operation === 'placebet' && isRollbackSent(transaction.bet)
  const own = isUndone ? { low: ownLow, high: ownHigh } : ownerOf(transaction)
  return { account: transaction.account, low: least + own.low, high: most + own.high }
}
