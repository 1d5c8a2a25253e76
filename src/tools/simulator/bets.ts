/**
 * The life of a bet on the platform's side. A placebet is never retried but rolled back; every other
 * transaction is retried until it is answered; a 4xx is final.
 */
import type { SettlementType } from '../../store.js'
import { type BetScenario, mistakeOf, type Slice } from './bet-scenarios.js'
import type { Bet, Transaction } from './books.js'
import type { Network } from './network.js'
import type { Outbox } from './outbox.js'
import { type Leg, type Offer, oddsOf, payoutOf } from './payouts.js'
import type { Definite } from './reading.js'
import { moneyFields, placeBetFields, type Transactions, typeField } from './transactions.js'

/** A settlement that is not reversed. `gross` is by the results, before debts were netted off. */
export interface Credit extends Slice {
  readonly settlement: Transaction
}

export type BetState =
  /** Neither the placebet nor its rollback has a definite answer. */
  | { kind: 'placing' }
  /** Accepted; a part of the stake at least is not settled. */
  | { kind: 'open' }
  /** Settlements have no definite answer yet. */
  | { kind: 'crediting' }
  /** `version`: that of the results that the settlements were made from; `null` for a mistake. */
  | { kind: 'credited'; version: number | null }
  /** Unsettlements have no definite answer yet, or wait for another bet of the player. */
  | { kind: 'reversing' }
  | { kind: 'closed'; outcome: 'placed' | 'refused' | 'rolled-back' }

export interface PlacedBet extends Bet {
  legs: readonly Leg[]
  readonly offer: Offer
  /** `plain` after it has had its effect. */
  scenario: BetScenario
  state: BetState
  /** The settlements that were credited and not reversed. */
  credits: Credit[]
  /** A clawback of this bet was refused: the bet cannot be rolled back any more (D13). */
  uncollected: boolean
}

export interface BetCounts {
  bets: number
  multiples: number
  betsAccepted: number
  betsRefused: number
  /** Bets that were rolled back after their settlement was reversed (D13). */
  cancellations: number
  settlements: number
  voids: number
  cashOuts: number
  unsettlements: number
  clawbacksRefused: number
  recoveries: number
}

export interface BetContext {
  readonly counts: BetCounts
  readonly network: Pick<Network, 'happens'>
  readonly outbox: Pick<Outbox, 'sendOnce' | 'sendWithLostAnswer' | 'sendUntilAnswered'>
  readonly transactions: Transactions
  onAccepted(bet: PlacedBet): void
  /** Called once for every bet, at its end. */
  onClosed(bet: PlacedBet, state: BetState & { kind: 'closed' }): void
  /** The player stakes everything on another bet. `then` is called when it is answered, or not possible. */
  spendAll(bet: PlacedBet, then: () => void): void
  /** Returns whether the platform sends the rollback of this bet at the end of the run only. */
  defers(bet: PlacedBet): boolean
}

/**
 * Sends the placebet.
 *
 * @param onAnswer called when it is answered, or its outcome is unknown
 */
export function place(context: BetContext, bet: PlacedBet, onAnswer = () => {}): void {
  const { counts, outbox, transactions } = context
  const fields = placeBetFields(bet, oddsOf(bet.legs), bet.legs.length)
  const placed = transactions.create(bet, 'placebet', { type: null, amount: bet.stake, fields })
  bet.placed = placed
  counts.bets += 1
  if (bet.legs.length > 1) counts.multiples += 1
  const answered = (answer: Definite | null) => {
    if (answer === null) {
      if (!context.defers(bet)) rollBack(context, bet)
    } else if (answer.kind === 'success') {
      counts.betsAccepted += 1
      bet.state = { kind: 'open' }
      context.onAccepted(bet)
    } else {
      counts.betsRefused += 1
      close(context, bet, 'refused')
    }
    onAnswer()
  }
  if (bet.scenario === 'lost-answer') outbox.sendWithLostAnswer(placed, 'misses-answer', answered)
  else if (bet.scenario === 'early-rollback') outbox.sendWithLostAnswer(placed, 'gives-up', answered)
  else outbox.sendOnce(placed, answered)
}

/** Undoes a bet whose placement has an unknown outcome. */
export function rollBack(context: BetContext, bet: PlacedBet): void {
  const { network } = context
  if (bet.scenario === 'lost-answer') {
    // Two processes of the platform roll the bet back at the same time, each under an id of its own.
    sendRollbacks(context, bet, 2)
    return
  }
  sendRollbacks(context, bet, 1, () => {
    // Some platforms send a second rollback under a new id, for example after a restart. It must succeed
    // too, without a change of the balance (D12).
    if (network.happens('duplicated')) sendRollbacks(context, bet, 1)
    else close(context, bet, 'rolled-back')
  })
}

/** @param onAllSucceeded by default the bet is closed */
function sendRollbacks(
  context: BetContext,
  bet: PlacedBet,
  count: number,
  onAllSucceeded = () => close(context, bet, 'rolled-back'),
): void {
  const { outbox, transactions } = context
  const rollbacks = Array.from({ length: count }, () => createRollback(transactions, bet))
  bet.rollback ??= rollbacks[0] as Transaction
  let missing = count
  for (const rollback of rollbacks) {
    outbox.sendUntilAnswered(rollback, answer => {
      missing -= 1
      // The first success decides: a second rollback that is refused is a difference, and changes no result.
      if (answer?.kind !== 'success' && bet.rolledBackAt === 0) {
        if (missing === 0) close(context, bet, 'placed')
      } else if (missing === 0) onAllSucceeded()
    })
  }
}

export function createRollback(transactions: Transactions, bet: Bet): Transaction {
  const type = 'TECHNICAL_ERROR'
  return transactions.create(bet, 'rollbackbet', { type, amount: 0n, fields: typeField(type) })
}

/** Sends the next transactions of a bet, if its matches require some. */
export function advance(context: BetContext, bet: PlacedBet): void {
  const { state, legs, stake, account } = bet
  if (state.kind !== 'open' && state.kind !== 'credited') return
  if (legs.some(({ match }) => match.state === 'running')) return
  const version = legs.reduce((sum, { match }) => sum + match.version, 0)
  if (state.kind === 'credited') {
    if (state.version !== version) correct(context, bet, state.version === null)
    else if (legs.every(({ match }) => match.final)) close(context, bet, 'placed')
    return
  }
  const mistake = mistakeOf(bet.scenario, stake, legs, account)
  const settled = bet.credits.reduce((sum, { part }) => sum + part, 0n)
  const part = stake - settled
  settle(
    context,
    bet,
    mistake ?? [[{ ...payoutOf(part, legs, bet.offer, account), part }]],
    mistake ? null : version,
  )
}

/** Reverses settlements: those of a mistake as the scenario says, and otherwise all that can be reversed. */
function correct(context: BetContext, bet: PlacedBet, isMistake: boolean): void {
  const { scenario } = bet
  bet.scenario = 'plain'
  bet.state = { kind: 'reversing' }
  let types: SettlementType[] = ['BET_PAID', 'VOIDED']
  if (isMistake && scenario === 'part-void') {
    const only = context.counts.unsettlements % 3
    if (only < 2) types = only === 0 ? ['BET_PAID'] : ['VOIDED']
  }
  const reverseNow = () =>
    reverseAll(context, bet, types, () => {
      const canCancel = scenario === 'cancelled' && !bet.uncollected && bet.credits.length === 0
      if (canCancel) cancel(context, bet)
      else resume(context, bet, { kind: 'open' })
    })
  if (isMistake && scenario === 'spent') context.spendAll(bet, reverseNow)
  else reverseNow()
}

/** The bookmaker takes a bet back whose settlement was reversed (D13). */
function cancel(context: BetContext, bet: PlacedBet): void {
  context.counts.cancellations += 1
  sendRollbacks(context, bet, 1)
}

/**
 * Credits settlements: each list together, one list after the other.
 *
 * @param version of the results, or `null` for a mistake
 */
export function settle(
  context: BetContext,
  bet: PlacedBet,
  [slices = [], ...later]: readonly Slice[][],
  version: number | null,
): void {
  bet.state = { kind: 'crediting' }
  let missing = slices.length
  const onCredited = () => {
    missing -= 1
    if (missing > 0 || bet.state.kind === 'closed') return
    if (later.length > 0) settle(context, bet, later, version)
    else if (isCashedOut(bet)) close(context, bet, 'placed')
    else resume(context, bet, { kind: 'credited', version })
  }
  if (slices.length === 1 && later.length === 0 && mayOvertake(bet, slices[0] as Slice)) {
    if (context.network.happens('reordered')) {
      creditOvertaken(context, bet, slices[0] as Slice)
      return
    }
  }
  const credits = slices.map(slice => createCredit(context, bet, slice, onCredited))
  for (const { send } of credits) send()
}

/** The whole stake is cashed out: the result no longer matters. */
function isCashedOut({ credits, stake }: PlacedBet): boolean {
  const cashedOut = credits.filter(({ type }) => type === 'CASHOUT')
  return cashedOut.length > 0 && cashedOut.reduce((sum, { part }) => sum + part, 0n) === stake
}

/**
 * Only the first settlement of its type: an unsettlement that overtakes a later one would find the earlier
 * one reversed, or reverse it.
 */
function mayOvertake({ transactions }: PlacedBet, { type }: Slice): boolean {
  if (type === 'CASHOUT') return false
  return transactions.every(one => one.operation !== 'settlement' || one.type !== type)
}

/** The settlement and its unsettlement are sent together, and may arrive in any order. */
function creditOvertaken(context: BetContext, bet: PlacedBet, slice: Slice): void {
  let missing = 2
  const onAnswered = () => {
    missing -= 1
    if (missing === 0) resume(context, bet, { kind: 'open' })
  }
  const isFirst = context.counts.unsettlements % 2 === 0
  const { credited, send } = createCredit(context, bet, slice, onAnswered)
  if (isFirst) send()
  reverse(context, bet, [credited], onAnswered)
  if (!isFirst) send()
}

/** Creates the settlement of a payout, less the debts of the player (spec 4.2 rule 2). */
function createCredit(
  context: BetContext,
  bet: PlacedBet,
  slice: Slice,
  onCredited: () => void,
): { credited: Credit; send: () => void } {
  const { counts, outbox, transactions } = context
  const { account } = bet
  const { type, gross } = slice
  let recovered = 0n
  if (type === 'VOIDED') counts.voids += 1
  else if (type === 'CASHOUT') counts.cashOuts += 1
  else {
    recovered = gross < account.debt ? gross : account.debt
    if (recovered > 0n) counts.recoveries += 1
    account.debt -= recovered
  }
  const amount = gross - recovered
  const fields = typeField(type) + moneyFields(amount, account)
  const settlement = transactions.create(bet, 'settlement', { type, amount, recovered, fields })
  counts.settlements += 1
  const credited = { ...slice, settlement }
  bet.credits.push(credited)
  const send = () =>
    outbox.sendUntilAnswered(settlement, answer => {
      if (answer?.kind === 'success') {
        onCredited()
        return
      }
      account.debt += settlement.recovered
      remove(bet, [credited])
      close(context, bet, 'placed')
    })
  return { credited, send }
}

/** Reverses all credits of the given types: one unsettlement for each type, all at once. */
function reverseAll(
  context: BetContext,
  bet: PlacedBet,
  types: readonly SettlementType[],
  onReversed: () => void,
): void {
  const groups = types.map(type => bet.credits.filter(credited => credited.type === type))
  const reversible = groups.filter(credits => credits.length > 0)
  let missing = reversible.length
  if (missing === 0) onReversed()
  for (const credits of reversible) {
    reverse(context, bet, credits, () => {
      missing -= 1
      if (missing === 0) onReversed()
    })
  }
}

/**
 * Sends the unsettlement of all credits of one type (D18). `onReversed` is called when they are reversed, or
 * are a debt.
 */
function reverse(
  context: BetContext,
  bet: PlacedBet,
  credits: readonly Credit[],
  onReversed: () => void,
): void {
  const { counts, outbox, transactions } = context
  const { account } = bet
  const sum = (of: (credited: Credit) => bigint) => credits.reduce((total, one) => total + of(one), 0n)
  const type = credits[0]?.type === 'VOIDED' ? 'UNVOIDED' : 'UNSCORED'
  counts.unsettlements += 1
  const amount = sum(({ settlement }) => settlement.amount)
  const unsettlement = transactions.create(bet, 'unsettlement', { type, amount, fields: typeField(type) })
  outbox.sendUntilAnswered(unsettlement, answer => {
    if (bet.state.kind === 'closed') return
    if (answer?.kind === 'success') {
      account.debt += sum(({ settlement }) => settlement.recovered) // withheld for older debts: owed again
    } else if (unsettlement.first?.ok === false) {
      counts.clawbacksRefused += 1
      account.debt += sum(({ gross }) => gross)
      bet.uncollected = true
    } else {
      close(context, bet, 'placed')
      return
    }
    remove(bet, credits)
    onReversed()
  })
}

function remove(bet: PlacedBet, credits: readonly Credit[]): void {
  bet.credits = bet.credits.filter(one => !credits.includes(one))
}

function resume(context: BetContext, bet: PlacedBet, state: BetState): void {
  if (bet.state.kind === 'closed') return
  bet.state = state
  advance(context, bet)
}

/** Ends a bet: its result goes to the books of the player. */
export function close(
  context: BetContext,
  bet: PlacedBet,
  outcome: 'placed' | 'refused' | 'rolled-back',
): void {
  if (bet.state.kind === 'closed') return
  const state = { kind: 'closed', outcome } as const
  bet.state = state
  if (outcome === 'placed')
    bet.account.entitled += bet.credits.reduce((sum, { gross }) => sum + gross, 0n) - bet.stake
  bet.legs = []
  context.onClosed(bet, state)
}
