/** Judges every answer when it arrives, and keeps the books, the counts and the differences. */
import { type Decimal, textOf, toUnits } from '../numbers/decimal.js'
import {
  type Delivery,
  isLate,
  recordDelivery,
  recordMisuse,
  recordRefusal,
  recordSuccess,
} from './bookkeeping.js'
import { type Account, shown, shownRange, type Transaction } from './books.js'
import {
  type Finding,
  isForFunds,
  isRejectedUnread,
  isReplay,
  judgeBalance,
  judgeForm,
  judgeRefusal,
  judgeReplay,
  judgeSuccess,
} from './judgements.js'
import type { Definite, Reading } from './reading.js'
import type { Difference } from './report.js'
import type { SimulationCounts } from './tally.js'

interface JudgeSettings {
  differencesMax: number
  onDifference: (difference: Difference) => void
  /** Called once for each transaction, when its decision is known. */
  onDecided?: (transaction: Transaction) => void
}

export class Judge {
  /** The first ones, up to a limit. */
  readonly differences: Difference[] = []
  differencesCount = 0
  /** The caller compares retries with their first answers, and the balances before and after each. */
  isRetrying = false
  #moment = 0

  constructor(
    readonly settings: JudgeSettings,
    readonly counts: SimulationCounts,
  ) {}

  sent(transaction: Transaction): Delivery {
    this.#moment += 1
    return recordDelivery(transaction, this.#moment)
  }

  /**
   * Its answer arrived, or none will. Also if the platform does not receive it: the judge sees every answer.
   */
  answered(delivery: Delivery, reading: Reading): void {
    this.#moment += 1
    if (reading.kind === 'no-answer') return
    const { transaction } = delivery
    const { first, bet } = transaction
    for (const finding of judgeForm(reading)) this.report(transaction, finding)
    if (reading.kind === 'fault' || isRejectedUnread(reading)) return
    const findings = enter(this.counts, delivery, reading, this.#moment)
    // The wallet does not know the player of an overspent bet, and records nothing of it (D16).
    if (first === null && transaction.first !== null && bet.invalid?.kind !== 'overspent')
      this.settings.onDecided?.(transaction)
    let explained: Account | null = null
    if (reading.kind === 'success') {
      const judged = judgeBalance(delivery, reading)
      findings.push(...judged.findings.map(finding => ({ ...finding, account: judged.account })))
      if (judged.result === 'in-range') this.counts.balancesInRange += 1
      if (judged.result === 'exact') this.counts.balancesExact += 1
      // An error is reported once: later balances are judged as if it were correct. Only the closing balance
      // includes it.
      judged.account.drift += judged.off
      if (judged.result === 'exact' || judged.off !== 0n) explained = judged.account
    }
    if (!this.isRetrying) for (const finding of findings) this.report(transaction, finding)
    if (explained !== null) explained.recent.length = 0
  }

  report(transaction: Transaction, finding: Finding): void {
    const { differencesMax, onDifference } = this.settings
    this.differencesCount += 1
    const difference = differenceOf(transaction, finding)
    if (this.differences.length < differencesMax) this.differences.push(difference)
    onDifference(difference)
  }

  /** A player's balance was read while no other request was in flight. */
  closingBalance(transaction: Transaction, balance: Decimal): void {
    const { account } = transaction
    const { low, high, decimals, minorUnits } = account
    account.actual = balance
    const units = toUnits(balance, decimals)
    if (units !== null && units >= low && units <= high) return
    this.report(transaction, {
      kind: 'closing-balance',
      expected: `a balance of ${shownRange(low, high, account)} at the end`,
      actual: `a balance of ${textOf(balance, minorUnits)}`,
      ...(units !== null && { units: units - (units > high ? high : low) }),
    })
  }
}

/** Judges a definite answer, and then enters it into the books and the counts. */
function enter(counts: SimulationCounts, delivery: Delivery, reading: Definite, moment: number): Finding[] {
  const { transaction } = delivery
  const { operation, first, bet, changesBalance } = transaction
  if (!changesBalance) {
    recordMisuse(delivery, reading, moment)
    return []
  }
  if (first !== null) {
    if (isReplay(first, reading)) counts.replaysAbsorbed += 1
    return judgeReplay(delivery, first, reading)
  }
  if (reading.kind === 'refusal') {
    const findings = judgeRefusal(delivery, reading)
    if (operation === 'placebet' && isLate(delivery) && findings.length === 0) counts.lateBetsRefused += 1
    if (isForFunds(delivery, reading)) counts.betsRefusedForFunds += 1
    if (operation === 'placebet' && bet.invalid !== null) counts.invalidBetsRefused += 1
    recordRefusal(delivery, reading, moment)
    return findings
  }
  const findings = judgeSuccess(delivery, reading)
  if (operation === 'rollbackbet' && bet.rolledBackAt === 0 && bet.rollback !== null)
    counts.betsRolledBack += 1
  recordSuccess(delivery, reading, moment)
  return findings
}

function differenceOf(transaction: Transaction, finding: Finding): Difference {
  const { bet, operation, transactionId } = transaction
  const { kind, expected, actual, units, account = transaction.account } = finding
  const { playerId, currency } = account
  return {
    kind,
    playerId,
    betId: bet.betId,
    operation,
    transactionId,
    expected,
    actual,
    amount: units === undefined ? null : shown(units, account),
    currency,
    recentTransactions: account.recent.map(nameOf),
  }
}

function nameOf({ operation, type, transactionId, bet, amount, account, first }: Transaction): string {
  const answer = first?.kind === 'refusal' ? `: ${first.errorCode}` : ''
  return `${operation}${type === null ? '' : ` ${type}`} ${transactionId} of ${bet.betId}, ${shown(amount, account)}${answer}`
}
