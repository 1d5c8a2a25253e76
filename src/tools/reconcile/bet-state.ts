/** What a bet is in the wallet, and what a call would make of it: to plan calls, never to judge one. */

import type { BetHistory, RecordedTransaction } from '../../lookups/records.js'
import type { Operation, SettlementType } from '../../store.js'
import { add, type DecimalText, isZero, negate } from './amounts.js'

/** Of unsettlements: the settlement type that each of them reverses. */
const reversed: Record<string, SettlementType> = { UNSCORED: 'BET_PAID', UNVOIDED: 'VOIDED' }
const settlementTypes: readonly string[] = ['BET_PAID', 'VOIDED', 'CASHOUT']

/** The credit that a settlement or an unsettlement changes; `null`: it has none, or its type is not known. */
export function creditOf(operation: Operation, type: string | null): SettlementType | null {
  if (operation === 'unsettlement') return reversed[type ?? ''] ?? null
  return operation === 'settlement' && settlementTypes.includes(type ?? '') ? (type as SettlementType) : null
}

/** The type that reverses this credit; a cash-out has none. */
export const reversalOf = (credit: SettlementType) =>
  ({ BET_PAID: 'UNSCORED', VOIDED: 'UNVOIDED', CASHOUT: null })[credit]

/** A call to a bet, as far as the bet's state decides it. */
export interface BetCall {
  operation: Operation
  type: string | null
  amount: DecimalText | null
  /** A clawback that the platform knows as refused: it is sent to a wallet that refuses all of them. */
  isRefused?: boolean
}

/** A bet that calls change, one after the other. Funds are not known here. */
export class BetState {
  status: 'none' | 'placed' | 'rolled-back' = 'none'
  stake: DecimalText = '0'
  /** Per type that was ever credited: what is live; `null`: nothing. */
  readonly live = new Map<SettlementType, DecimalText | null>()
  /** Whether an uncollected clawback is owed to the platform: the bet can then not be rolled back. */
  isOwed = false

  constructor({ bet }: Pick<BetHistory, 'bet'>) {
    if (bet === null) return
    this.status = bet.status === 'PLACED' ? 'placed' : 'rolled-back'
    this.stake = bet.stake
    for (const [type, credit] of Object.entries(bet.credits)) {
      this.live.set(type as SettlementType, credit.live)
      if (!isZero(credit.owed)) this.isOwed = true
    }
  }

  /** @returns what the call changes the balance by; `null`: the wallet would refuse it */
  send({ operation, type, amount, isRefused = false }: BetCall): DecimalText | null {
    if (operation === 'placebet') return this.#place(amount ?? '0')
    if (operation === 'rollbackbet') return this.#rollBack()
    const credit = creditOf(operation, type)
    if (this.status !== 'placed' || credit === null) return null
    const live = this.live.get(credit) ?? null
    if (operation === 'settlement') {
      this.live.set(credit, add(live ?? '0', amount ?? '0'))
      return amount
    }
    if (live === null || (isRefused && isZero(live))) return null
    this.live.set(credit, null)
    if (isRefused) this.isOwed = true
    return isRefused || isZero(live) ? '0' : negate(live)
  }

  #place(amount: DecimalText): DecimalText | null {
    if (this.status !== 'none') return null
    this.status = 'placed'
    this.stake = amount
    return isZero(amount) ? '0' : negate(amount)
  }

  #rollBack(): DecimalText | null {
    const isSettled = [...this.live.values()].some(live => live !== null)
    if (this.status === 'placed' && (isSettled || this.isOwed)) return null
    const returned = this.status === 'placed' ? this.stake : '0'
    this.status = 'rolled-back'
    return returned
  }
}

/** The id of the nth call that repairs a bet, which no platform uses. */
export const repairId = (betId: string, number: number) => `repair-${betId}-${number}`

/** Whether a call of an earlier reconciliation made it. */
export function isRepair({ transactionId, betId }: { transactionId: string; betId: string }): boolean {
  const start = `repair-${betId}-`
  return transactionId.startsWith(start) && /^[1-9][0-9]*$/.test(transactionId.slice(start.length))
}

/** What a bet's transactions show together, read once: a bet may have any number of differences. */
export class BetFacts {
  hasPlacebet = false
  /** Whether one was accepted. */
  isPlaced = false
  /** Ids of those that were accepted. */
  readonly rollbacks = new Set<string>()
  /** Per type of its settlements, the latest date. */
  readonly settledAt = new Map<string | null, string>()
  /** Whether the bet was rolled back before it arrived (D11). */
  readonly isTombstone: boolean

  constructor({ bet, transactions }: BetHistory) {
    for (const { operation, transactionId, type, refusal, transactionDate } of transactions) {
      if (operation === 'placebet') this.hasPlacebet = true
      if (refusal !== null) continue
      if (operation === 'placebet') this.isPlaced = true
      if (operation === 'rollbackbet') this.rollbacks.add(transactionId)
      if (operation === 'settlement' && transactionDate > (this.settledAt.get(type) ?? ''))
        this.settledAt.set(type, transactionDate)
    }
    this.isTombstone = bet?.status === 'ROLLED_BACK' && isZero(bet.stake) && !this.isPlaced
  }
}

/** A bet as it was looked up. */
export interface LookedUp {
  /** `null`: no transaction names it. */
  history: BetHistory | null
  facts: BetFacts | null
}

/** A bet as the planning sees it. */
export interface BetView {
  /** `null`: not known. */
  facts: BetFacts | null
  /** `null`: the bet was not looked up, or its transactions are recorded without it. */
  state: BetState | null
  /** Accepted, in the range, and the report has them too: the platform knows the bet. */
  agreed: readonly RecordedTransaction[]
  /** Accepted, out of the range: what the platform has of them is not known. */
  outside: readonly RecordedTransaction[]
  /** By calls of earlier reconciliations, refusals included. */
  repairs: readonly RecordedTransaction[]
}

/**
 * @param looked what was looked up; `null`: nothing was
 * @param found whether a difference is about the transaction
 */
export function viewOf(
  looked: LookedUp | null,
  found: (transaction: RecordedTransaction) => boolean,
  isInRange: (date: string) => boolean,
): BetView {
  const history = looked?.history ?? null
  const accepted = (history?.transactions ?? []).filter(({ refusal }) => refusal === null)
  const isKnown = looked !== null && (history === null || history.bet !== null || accepted.length === 0)
  const others = accepted.filter(each => !found(each))
  return {
    facts: looked?.facts ?? null,
    state: isKnown ? new BetState(history ?? { bet: null }) : null,
    agreed: others.filter(({ recordedAt }) => isInRange(recordedAt)),
    outside: others.filter(each => !isInRange(each.recordedAt) && !isRepair(each)),
    repairs: (history?.transactions ?? []).filter(isRepair),
  }
}
