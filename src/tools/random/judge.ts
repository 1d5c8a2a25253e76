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
import { type Account, type Bet, shown, shownRange, type Transaction } from './books.js'
import type { Decisions } from './decisions.js'
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

interface JudgeCounts {
  betsRefusedForFunds: number
  invalidBetsRefused: number
  replaysAbsorbed: number
  lateBetsRefused: number
  betsRolledBack: number
  /** Balances that could have one value only, and had it. */
  balancesExact: number
  /** Balances within the range that other requests of the player in flight allow. */
  balancesInRange: number
}

interface JudgeSettings {
  differencesMax: number
  onDifference: (difference: Difference) => void
  /** Follows which transactions are decided. `null` or not given: they are not followed. */
  decisions?: Decisions | null
}

export class Judge {
  readonly #settings: JudgeSettings
  readonly #differences: Difference[] = []
  readonly #counts: JudgeCounts = {
    betsRefusedForFunds: 0,
    invalidBetsRefused: 0,
    replaysAbsorbed: 0,
    lateBetsRefused: 0,
    betsRolledBack: 0,
    balancesExact: 0,
    balancesInRange: 0,
  }
  #differencesCount = 0
  #moment = 0

  constructor(settings: JudgeSettings) {
    this.#settings = settings
  }

  get differencesCount(): number {
    return this.#differencesCount
  }

  /** The first ones, up to a limit. */
  get differences(): readonly Difference[] {
    return this.#differences
  }

  get counts(): Readonly<JudgeCounts> {
    return this.#counts
  }

  sent(transaction: Transaction): Delivery {
    this.#moment += 1
    this.#settings.decisions?.sent(transaction)
    return recordDelivery(transaction, this.#moment)
  }

  /**
   * Its answer arrived, or none will. Also if the platform does not receive it: the judge sees every answer.
   */
  answered(delivery: Delivery, reading: Reading): void {
    this.#moment += 1
    if (reading.kind === 'no-answer') return
    const { transaction } = delivery
    const counts = this.#counts
    for (const finding of judgeForm(reading)) this.report(transaction, finding)
    if (reading.kind === 'fault' || isRejectedUnread(reading)) return
    for (const finding of enter(counts, delivery, reading, this.#moment)) this.report(transaction, finding)
    this.#settings.decisions?.answered(transaction)
    if (reading.kind !== 'success') return
    const { result, off, findings } = judgeBalance(delivery, reading)
    for (const finding of findings) this.report(transaction, finding)
    if (result === 'in-range') counts.balancesInRange += 1
    if (result === 'exact') counts.balancesExact += 1
    // An error is reported once: later balances are judged as if it were correct. Only the closing balance
    // includes it.
    transaction.account.drift += off
    if (result === 'exact' || off !== 0n) transaction.account.recent.length = 0
  }

  report(about: Transaction | Bet, finding: Finding): void {
    const { differencesMax, onDifference } = this.#settings
    this.#differencesCount += 1
    const difference = differenceOf(about, finding)
    if (this.#differences.length < differencesMax) this.#differences.push(difference)
    onDifference(difference)
  }

  /** A player's balance was read while no other request was in flight. */
  closingBalance(transaction: Transaction, balance: Decimal): void {
    transaction.account.actual = balance
    for (const finding of judgeClosing(transaction.account, balance)) this.report(transaction, finding)
  }
}

/** Judges a definite answer, and then enters it into the books and the counts. */
function enter(counts: JudgeCounts, delivery: Delivery, reading: Definite, moment: number): Finding[] {
  const { transaction } = delivery
  const { operation, first, bet, moves } = transaction
  if (!moves) {
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

function judgeClosing(account: Account, balance: Decimal): Finding[] {
  const { low, high, decimals, minorUnits } = account
  const units = toUnits(balance, decimals)
  if (units !== null && units >= low && units <= high) return []
  const nearest = units !== null && units > high ? high : low
  return [
    {
      kind: 'closing-balance',
      expected: `a balance of ${shownRange(low, high, account)} at the end`,
      actual: `a balance of ${textOf(balance, minorUnits)}`,
      ...(units === null ? {} : { units: units - nearest }),
    },
  ]
}

function differenceOf(about: Transaction | Bet, finding: Finding): Difference {
  const { kind, expected, actual, units } = finding
  const { account } = about
  const transaction = 'operation' in about ? about : null
  return {
    kind,
    playerId: account.playerId,
    betId: 'operation' in about ? about.bet.betId : about.betId,
    operation: transaction?.operation ?? null,
    transactionId: transaction?.transactionId ?? null,
    expected,
    actual,
    amount: units === undefined ? null : shown(units, account),
    currency: account.currency,
    recentTransactions: account.recent.map(nameOf),
  }
}

function nameOf({ operation, type, transactionId, bet, amount, account, first }: Transaction): string {
  const answer = first === null || first.ok ? '' : `: ${first.errorCode}`
  return `${operation}${type === null ? '' : ` ${type}`} ${transactionId} of ${bet.betId}, ${shown(amount, account)}${answer}`
}
