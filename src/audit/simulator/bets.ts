/**
 * The life of a bet on the platform's side. A placebet is never retried but rolled back; every other
 * transaction is retried until it is answered; a 4xx is final.
 */
import type { SettlementType } from '../../store.js'
import type { Bet, Transaction } from './books.js'
import type { Network } from './network.js'
import type { Outbox } from './outbox.js'
import { type Leg, type Offer, oddsOf, type Payout, payoutOf } from './payouts.js'
import { moneyFields, placeBetFields, type Transactions, typeField } from './transactions.js'

/** A settlement that is not reversed. */
export interface Credit {
  readonly settlement: Transaction
  readonly type: SettlementType
  /** By the results, before debts were netted off. */
  readonly gross: bigint
  /** The version of the results that it was made from. */
  readonly version: number
}

export type BetState =
  /** Neither the placebet nor its rollback has a definite answer. */
  | { kind: 'placing' }
  /** Accepted, without a credit. */
  | { kind: 'open' }
  /** The settlement has no definite answer yet. */
  | { kind: 'crediting' }
  | { kind: 'credited'; credit: Credit }
  /** The unsettlement has no definite answer yet. */
  | { kind: 'reversing' }
  | { kind: 'closed'; outcome: 'placed' | 'refused' | 'rolled-back'; credit: Credit | null }

export interface PlacedBet extends Bet {
  legs: readonly Leg[]
  readonly offer: Offer
  state: BetState
}

export interface BetCounts {
  bets: number
  multiples: number
  betsAccepted: number
  betsRefused: number
  settlements: number
  voids: number
  cashOuts: number
  unsettlements: number
  clawbacksRefused: number
  recoveries: number
}

/** The dependencies of a bet's life. */
export interface BetContext {
  readonly counts: BetCounts
  readonly network: Pick<Network, 'happens'>
  readonly outbox: Outbox
  readonly transactions: Transactions
  /** Called when a placebet was accepted. */
  onAccepted(bet: PlacedBet): void
  /** Called once for every bet, at its end. */
  onClosed(bet: PlacedBet, state: BetState & { kind: 'closed' }): void
}

/** Sends the placebet. */
export function place(context: BetContext, bet: PlacedBet): void {
  const { counts, outbox, transactions } = context
  const fields = placeBetFields(bet.stake, oddsOf(bet.legs), bet.legs.length, bet.account)
  const placed = transactions.create(bet, 'placebet', { type: null, amount: bet.stake, fields })
  bet.placed = placed
  counts.bets += 1
  if (bet.legs.length > 1) counts.multiples += 1
  outbox.sendOnce(placed, answer => {
    if (answer === null) rollBack(context, bet)
    else if (answer.kind === 'success') {
      counts.betsAccepted += 1
      bet.state = { kind: 'open' }
      context.onAccepted(bet)
    } else {
      counts.betsRefused += 1
      close(context, bet, 'refused')
    }
  })
}

function rollBack(context: BetContext, bet: PlacedBet): void {
  const { network, outbox, transactions } = context
  const rollback = createRollback(transactions, bet)
  bet.rollback = rollback
  outbox.sendUntilAnswered(rollback, answer => {
    if (answer?.kind !== 'success') close(context, bet, 'placed')
    else if (network.happens('duplicated')) {
      // Some platforms send a second rollback under a new id, for example after a restart. It must succeed
      // too, without a change of the balance (D12).
      outbox.sendUntilAnswered(createRollback(transactions, bet), () => close(context, bet, 'rolled-back'))
    } else close(context, bet, 'rolled-back')
  })
}

export function createRollback(transactions: Transactions, bet: Bet): Transaction {
  const type = 'TECHNICAL_ERROR'
  return transactions.create(bet, 'rollbackbet', { type, amount: 0n, fields: typeField(type) })
}

/** Sends the next transaction of a bet, if its matches require one. */
export function advance(context: BetContext, bet: PlacedBet): void {
  const { state, legs } = bet
  if (state.kind !== 'open' && state.kind !== 'credited') return
  if (legs.some(({ match }) => match.state === 'running')) return
  const version = legs.reduce((sum, { match }) => sum + match.version, 0)
  if (state.kind === 'open') settle(context, bet, payoutOf(bet.stake, legs, bet.offer, bet.account), version)
  else if (state.credit.version !== version) {
    bet.state = { kind: 'reversing' }
    reverse(context, bet, state.credit, () => resume(context, bet, { kind: 'open' }))
  } else if (legs.every(({ match }) => match.final)) close(context, bet, 'placed', state.credit)
}

/** Credits a payout, less the debts of the player (spec 4.2 rule 2). */
export function settle(context: BetContext, bet: PlacedBet, { type, gross }: Payout, version: number): void {
  const { counts, transactions } = context
  const { account } = bet
  let recovered = 0n
  if (type === 'VOIDED') counts.voids += 1
  else if (type === 'CASHOUT') counts.cashOuts += 1
  else {
    recovered = gross < account.debt ? gross : account.debt
    if (recovered > 0n) counts.recoveries += 1
    account.debt -= recovered
  }
  const isFirst = bet.transactions.every(({ operation }) => operation !== 'settlement')
  const amount = gross - recovered
  const settlement = transactions.create(bet, 'settlement', {
    type,
    amount,
    recovered,
    fields: typeField(type) + moneyFields(amount, account),
  })
  counts.settlements += 1
  credit(context, bet, { settlement, type, gross, version }, isFirst)
}

function credit(context: BetContext, bet: PlacedBet, credited: Credit, isFirst: boolean): void {
  const { network, outbox } = context
  const { settlement, type } = credited
  bet.state = { kind: 'crediting' }
  // Only the first settlement of a bet: an unsettlement that overtakes a later one would find the earlier one
  // reversed.
  const isOvertaken = isFirst && type !== 'CASHOUT' && network.happens('reordered')
  let missing = isOvertaken ? 2 : 1
  const answered = () => {
    missing -= 1
    if (missing > 0) return
    if (isOvertaken) resume(context, bet, { kind: 'open' })
    else if (type === 'CASHOUT') close(context, bet, 'placed', credited)
    else resume(context, bet, { kind: 'credited', credit: credited })
  }
  outbox.sendUntilAnswered(settlement, answer => {
    if (answer?.kind === 'success') answered()
    else {
      bet.account.debt += settlement.recovered
      close(context, bet, 'placed')
    }
  })
  if (isOvertaken) reverse(context, bet, credited, answered)
}

/** Sends the unsettlement of a credit. `onReversed` is called when the credit is reversed, or is a debt. */
function reverse(context: BetContext, bet: PlacedBet, credited: Credit, onReversed: () => void): void {
  const { counts, outbox, transactions } = context
  const { account } = bet
  const { settlement, gross } = credited
  const type = credited.type === 'VOIDED' ? 'UNVOIDED' : 'UNSCORED'
  counts.unsettlements += 1
  const content = { type, amount: settlement.amount, fields: typeField(type) } as const
  outbox.sendUntilAnswered(transactions.create(bet, 'unsettlement', content), answer => {
    if (bet.state.kind === 'closed') return
    if (answer?.kind === 'success') {
      account.debt += settlement.recovered // withheld from this settlement for older debts: owed again
    } else if (answer?.errorCode === 'INSUFFICIENT_FUNDS') {
      counts.clawbacksRefused += 1
      account.debt += gross
    } else {
      close(context, bet, 'placed', credited)
      return
    }
    onReversed()
  })
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
  credit: Credit | null = null,
): void {
  if (bet.state.kind === 'closed') return
  const state = { kind: 'closed', outcome, credit } as const
  bet.state = state
  if (outcome === 'placed') bet.account.entitled += (credit?.gross ?? 0n) - bet.stake
  bet.legs = []
  context.onClosed(bet, state)
}
