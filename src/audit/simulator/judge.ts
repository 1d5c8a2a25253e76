/** Judges every answer as soon as it comes, and keeps the books by it. */
import type { Decimal } from '../../money.js'
import { unitsOf } from './amounts.js'
import { type Account, type Bet, type FirstAnswer, setRange, shown, type Transaction } from './books.js'
import { type Reading, shortOf } from './reading.js'
import type { Difference } from './report.js'

/** One way of a call to the wallet and back: what was known when it was sent. */
export interface Delivery {
  readonly transaction: Transaction
  readonly sentAt: number
  readonly low: bigint
  readonly high: bigint
  readonly widenedDown: bigint
  readonly widenedUp: bigint
  readonly ownLow: bigint
  readonly ownHigh: bigint
}

export interface Judge {
  readonly differencesCount: number
  /** The first ones, up to a limit. */
  readonly differences: readonly Difference[]
  readonly counts: JudgeCounts
  /** A call goes out on the line now. */
  sent(transaction: Transaction): Delivery
  /** Its answer, or none. Also where the platform does not hear it: the judge knows more than the platform. */
  answered(delivery: Delivery, reading: Reading): void
  differs(
    about: Transaction | Bet,
    what: Difference['kind'],
    expected: string,
    found: string,
    amount?: bigint,
  ): void
  /** A player's balance was read while nothing was on its way. */
  closingBalance(transaction: Transaction, balance: Decimal): void
}

export interface JudgeCounts {
  replaysAbsorbed: number
  lateBetsRefused: number
  betsRolledBack: number
  /** Balances that could be one amount only, and were it. */
  balancesExact: number
  /** Balances that were between what they could be, while other calls of the player were on their way. */
  balancesInRange: number
}

/** Answers that turn a call away before it is looked at. None of them may happen to a well-formed call of the platform. */
const surface: readonly number[] = [401, 403, 405, 413, 415]
/** What the state of wallet and bet decides. Any other code on a placebet is a refusal of the operator's own, and lawful. */
const neverForBets: readonly string[] = [
  'INVALID_REQUEST',
  'INVALID_PLAYER',
  'INVALID_CURRENCY',
  'INVALID_BET',
  'TRANSACTION_CONFLICT',
  'SETTLEMENT_NOT_FOUND',
  'NOT_FOUND',
]
const recentMax = 12

export function createJudge(settings: {
  differencesMax: number
  step: () => number
  onDifference: (difference: Difference) => void
}): Judge {
  const differences: Difference[] = []
  const counts: JudgeCounts = {
    replaysAbsorbed: 0,
    lateBetsRefused: 0,
    betsRolledBack: 0,
    balancesExact: 0,
    balancesInRange: 0,
  }
  let differencesCount = 0
  let moment = 0

  const judge: Judge = {
    differences,
    counts,
    get differencesCount() {
      return differencesCount
    },

    sent(transaction) {
      moment += 1
      const { operation, account, bet, amount } = transaction
      if (transaction.sentAt === 0) {
        transaction.sentAt = moment
        // A bet whose rollback was answered must take nothing any more, when it comes at last.
        if (operation === 'placebet' && bet.rolledBackAt === 0) setRange(transaction, -amount, 0n)
        if (operation === 'settlement') setRange(transaction, 0n, amount)
        if (operation === 'unsettlement') setRange(transaction, -amount, 0n)
      }
      // Whether it is undone already is not known until a success is heard.
      if (operation === 'rollbackbet' && bet.rolledBackAt === 0 && bet.placed?.first?.ok === true) {
        setRange(bet.placed, -bet.stake, 0n)
      }
      const own = ownerOf(transaction)
      return {
        transaction,
        sentAt: moment,
        low: account.low,
        high: account.high,
        widenedDown: account.widenedDown,
        widenedUp: account.widenedUp,
        ownLow: own.low,
        ownHigh: own.high,
      }
    },

    answered(delivery, reading) {
      moment += 1
      const { transaction } = delivery
      if (reading.kind === 'broken') return
      if (reading.kind === 'fault') {
        if (reading.flaw !== null) {
          judge.differs(transaction, 'unreadable', 'an answer as spec 2 describes it', shortOf(reading))
        }
        return
      }
      if (reading.kind === 'refusal' && reading.errorCode === '') {
        judge.differs(transaction, 'unreadable', 'an errorCode in the body (spec 7.2)', shortOf(reading))
      }
      if (reading.kind === 'refusal' && surface.includes(reading.status)) {
        judge.differs(transaction, 'refused', 'a call that is let in', shortOf(reading))
        return
      }
      if (transaction.first !== null) repeated(delivery, transaction.first, reading)
      else if (reading.kind === 'success') succeeded(delivery, reading)
      else refused(delivery, reading)

      if (reading.kind === 'success') balanceAnswered(delivery, reading)
    },

    differs(about, what, expected, found, amount) {
      differencesCount += 1
      const { account } = about
      const transaction = 'operation' in about ? about : null
      const difference: Difference = {
        kind: what,
        playerId: account.playerId,
        betId: 'operation' in about ? about.bet.betId : about.betId,
        operation: transaction?.operation ?? null,
        transactionId: transaction?.transactionId ?? null,
        expected,
        actual: found,
        amount: amount === undefined ? null : shown(amount, account),
        currency: account.currency,
        step: settings.step(),
        recentTransactions: account.recent.map(nameOf),
      }
      if (differences.length < settings.differencesMax) differences.push(difference)
      settings.onDifference(difference)
    },

    closingBalance(transaction, balance) {
      const { account } = transaction
      account.found = balance
      const units = unitsOf(balance, account.decimals)
      const { low, high } = account
      if (units !== null && units >= low && units <= high) return
      const nearest = units !== null && units > high ? high : low
      judge.differs(
        transaction,
        'closing balance',
        `a balance of ${rangeText(low, high, account)} at the end`,
        `a balance of ${balance}`,
        units === null ? undefined : units - nearest,
      )
    },
  }

  /** D2: every repeat is answered with the first decision. */
  function repeated(
    delivery: Delivery,
    first: FirstAnswer,
    reading: Reading & { kind: 'success' | 'refusal' },
  ): void {
    const { transaction } = delivery
    const ok = reading.kind === 'success'
    const alike =
      ok === first.ok &&
      (ok
        ? reading.reference === first.reference
        : reading.status === first.status && reading.errorCode === first.errorCode)
    if (alike) {
      counts.replaysAbsorbed += 1
      return
    }
    // A refusal that does not stick (D8) may have been decided first, and heard last.
    if (!ok && first.ok && transaction.operation !== 'placebet' && delivery.sentAt < first.at) return
    const text = (status: number, errorCode: string, reference: string | null) =>
      [status, errorCode, reference === null ? '' : `walletTransactionId ${reference}`]
        .filter(Boolean)
        .join(' ')
    judge.differs(
      transaction,
      'repeat',
      `the first answer again: ${text(first.status, first.errorCode, first.reference)}`,
      ok ? text(reading.status, '', reading.reference) : text(reading.status, reading.errorCode, null),
    )
  }

  function decide(transaction: Transaction, reading: Reading & { kind: 'success' | 'refusal' }): void {
    const ok = reading.kind === 'success'
    transaction.first = {
      ok,
      status: reading.status,
      errorCode: ok ? '' : reading.errorCode,
      reference: ok ? reading.reference : null,
      at: moment,
    }
    const { account, operation } = transaction
    if (ok) account.accepted[operation] += 1
    else account.refused[operation] += 1
    account.recent.push(transaction)
    if (account.recent.length > recentMax) account.recent.shift()
  }

  function succeeded(delivery: Delivery, reading: Reading & { kind: 'success' }): void {
    const { transaction } = delivery
    const { operation, bet, amount, account } = transaction
    decide(transaction, reading)
    if (operation === 'placebet') {
      if (bet.rolledBackAt !== 0 && transaction.sentAt > bet.rolledBackAt) {
        // It stays at nothing in the books: the platform gave it up, and was told that it is undone.
        judge.differs(
          transaction,
          'late bet',
          'a refusal: its rollback was answered with success before it was sent (D11)',
          shortOf(reading),
          -amount,
        )
        return
      }
      // Of the first delivery only: another one may repeat what one whose answer was lost has decided, on other funds.
      const most = delivery.high - delivery.ownHigh + (account.widenedUp - delivery.widenedUp)
      if (most < amount && delivery.sentAt === transaction.sentAt && account.drift === 0n) {
        const text = `INSUFFICIENT_FUNDS: a stake of ${shown(amount, account)} on at most ${shown(most, account)}`
        judge.differs(transaction, 'overspent', text, shortOf(reading), most - amount)
      }
      // While a rollback is on its way, it may have been undone already.
      const undone = bet.rolledBackAt !== 0
      const undoing = bet.rollback !== null && bet.rollback.sentAt !== 0
      if (!undone && !undoing) setRange(transaction, -amount, -amount)
    } else if (operation === 'settlement') {
      setRange(transaction, amount, amount)
    } else if (operation === 'unsettlement') {
      setRange(transaction, -amount, -amount)
    } else {
      if (bet.rolledBackAt === 0) {
        bet.rolledBackAt = moment
        if (bet.rollback !== null) counts.betsRolledBack += 1
      }
      if (bet.placed !== null) setRange(bet.placed, 0n, 0n)
    }
  }

  function refused(delivery: Delivery, reading: Reading & { kind: 'refusal' }): void {
    const { transaction } = delivery
    const { operation, bet, amount, account } = transaction
    const { errorCode } = reading

    if (errorCode === 'TRANSACTION_CONFLICT') {
      judge.differs(
        transaction,
        'refused',
        'no conflict: all deliveries of this call are the same',
        shortOf(reading),
      )
      return
    }
    if (operation === 'placebet') {
      decide(transaction, reading) // D6: whatever the code, it sticks
      setRange(transaction, 0n, 0n)
      if (bet.rolledBackAt !== 0 && transaction.sentAt > bet.rolledBackAt) {
        counts.lateBetsRefused += 1
        return
      }
      if (bet.rollback !== null && bet.rollback.sentAt !== 0) return // overtaken by its own rollback, maybe
      if (neverForBets.includes(errorCode)) {
        judge.differs(
          transaction,
          'refused',
          'a new bet is accepted, or refused for funds or by the operator',
          shortOf(reading),
        )
      } else if (errorCode === 'INSUFFICIENT_FUNDS') {
        const least = delivery.low - delivery.ownLow - (account.widenedDown - delivery.widenedDown)
        if (least >= amount && delivery.sentAt === transaction.sentAt && account.drift === 0n) {
          const text = `accepted: a stake of ${shown(amount, account)} on at least ${shown(least, account)}`
          judge.differs(transaction, 'refused', text, shortOf(reading))
        }
      }
    } else if (operation === 'unsettlement' && errorCode === 'INSUFFICIENT_FUNDS') {
      decide(transaction, reading) // D7
      setRange(transaction, 0n, 0n)
    } else {
      // The wallet says that nothing moved. What the player lacks or has too much by it, is told here and not again.
      const missing =
        operation === 'rollbackbet'
          ? bet.placed?.first?.ok === true
            ? -bet.stake
            : undefined
          : operation === 'settlement'
            ? -amount
            : amount
      if (operation === 'rollbackbet') {
        if (bet.placed?.first?.ok === true) setRange(bet.placed, -bet.stake, -bet.stake)
      } else setRange(transaction, 0n, 0n)
      const lawful = operation === 'unsettlement' ? 'success or INSUFFICIENT_FUNDS' : 'success'
      judge.differs(transaction, 'refused', `${lawful}: ${reasonFor(transaction)}`, shortOf(reading), missing)
    }
  }

  function balanceAnswered(delivery: Delivery, reading: Reading & { kind: 'success' }): void {
    const { transaction } = delivery
    const { account, operation, bet } = transaction
    if (reading.balance === null || !account.opened) return
    if (reading.currency !== account.currency) {
      judge.differs(transaction, 'currency', account.currency, reading.currency ?? 'none')
      return
    }
    const units = unitsOf(reading.balance, account.decimals)
    if (units === null) {
      const expected = `a balance of at most ${account.decimals} decimals, as all of the player's amounts have`
      judge.differs(transaction, 'balance', expected, `a balance of ${reading.balance}`)
      return
    }
    let low = delivery.low - (account.widenedDown - delivery.widenedDown)
    let high = delivery.high + (account.widenedUp - delivery.widenedUp)
    // What was decided is in the balance that is answered with it. A placebet may have been undone since.
    const mayBeUndone = operation === 'placebet' && bet.rollback !== null && bet.rollback.sentAt !== 0
    if (!mayBeUndone) {
      const own = ownerOf(transaction)
      low += own.low - delivery.ownLow
      high += own.high - delivery.ownHigh
    }
    const seen = units - account.drift
    if (seen >= low && seen <= high) {
      if (units < 0n && account.opening >= 0n && account.drift === 0n) {
        judge.differs(
          transaction,
          'overspent',
          'a balance of at least 0',
          `a balance of ${reading.balance}`,
          units,
        )
      }
      if (low === high) {
        counts.balancesExact += 1
        account.recent.length = 0
      } else counts.balancesInRange += 1
      return
    }
    const off = seen > high ? seen - high : seen - low
    const text = rangeText(low + account.drift, high + account.drift, account)
    judge.differs(transaction, 'balance', `a balance of ${text}`, `a balance of ${reading.balance}`, off)
    // From here on as if it were right: one fault, one difference. The closing balance is judged without it.
    account.drift += off
    account.recent.length = 0
  }

  return judge
}

/** Whose range a transaction's success decides: a rollback moves what its placebet took. */
function ownerOf(transaction: Transaction): Transaction {
  return transaction.operation === 'rollbackbet' ? (transaction.bet.placed ?? transaction) : transaction
}

function reasonFor({ operation, bet }: Transaction): string {
  if (operation === 'settlement') return 'the bet was accepted'
  if (operation === 'unsettlement') return 'the settlement was credited and not reversed'
  if (bet.placed?.first?.ok === true) return 'the bet was accepted and never settled'
  return 'a bet that is unknown, or was never settled, can be rolled back (spec 4.3)'
}

function rangeText(low: bigint, high: bigint, account: Account): string {
  return low === high ? shown(low, account) : `${shown(low, account)} to ${shown(high, account)}`
}

function nameOf({ operation, type, transactionId, bet, amount, account, first }: Transaction): string {
  const answer = first === null || first.ok ? '' : `: ${first.errorCode}`
  return `${operation}${type === null ? '' : ` ${type}`} ${transactionId} of ${bet.betId}, ${shown(amount, account)}${answer}`
}
