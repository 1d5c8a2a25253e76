/**
 * One plan per bet: which calls bring the wallet to what the platform counts, in which order, given what the
 * bet is now. A later reconciliation knows these calls by their ids, and does not find them as differences of
 * their own.
 */

import type { RecordedTransaction } from '../../lookups/records.js'
import type { Operation, SettlementType } from '../../store.js'
import { add, compare, type DecimalText, isNegative, isZero, moneyText, negate, subtract } from './amounts.js'
import { type BetCall, type BetView, creditOf, isRepair, repairId, reversalOf } from './bet-state.js'
import type { DifferenceKind, Judgement, Planned, Repair, RepairCall } from './difference.js'
import { type Entry, isDebit, keyOf, type ReportRow, type WalletRecord } from './entry.js'
import { callOf, callOfRow, noRepair, operator, platform, repairOf, texts } from './repairs.js'
import { sendingOrder } from './sending-order.js'

/** What only people can clear up: until then, no call for the bet is right. */
const unclear: readonly DifferenceKind[] = [
  'duplicate-in-wallet',
  'other-player',
  'other-bet',
  'other-currency',
  'other-operation',
  'conflicting-in-report',
]
/** What the wallet counts and the platform does not, or otherwise. */
const correctable: readonly DifferenceKind[] = [
  'missing-in-report',
  'refused-by-platform',
  'other-amount',
  'other-type',
]
const toBeSent: readonly DifferenceKind[] = ['never-arrived', 'lost-refusal']

export const needsBet = ({ kind }: Judgement) => correctable.includes(kind) || toBeSent.includes(kind)

/** What planning needs to know of the reconciliation. */
export interface PlanContext {
  /** The start of the range: the date of a call for a row without one. */
  from: string
  isInRange(date: string): boolean
  /** A refusal that the platform has and the wallet need not have. */
  refusalAlone(): void
}

/** @param judgements all of one bet */
export function planBet(judgements: readonly Judgement[], view: BetView, context: PlanContext): Planned[] {
  return new BetPlan(judgements, view, context).planned()
}

type Credits = Map<SettlementType, DecimalText>

class BetPlan {
  readonly #judgements: readonly Judgement[]
  readonly #view: BetView
  readonly #context: PlanContext
  /** In the order of sending. */
  readonly #calls: RepairCall[] = []
  readonly #repairs = new Map<Judgement, Repair>()
  /** What the player has from each kind of credit more (positive) or less than the platform counts. */
  readonly #surplus: Credits = new Map()
  /** Of the records that the judgements or the report have. */
  readonly #found: ReadonlySet<string>
  #numberOfRepairs: number
  /** What differs is repaired by calls of earlier reconciliations. */
  #isRepaired = false
  /** Half of the calls would not repair it. */
  #isIncomplete = false

  constructor(judgements: readonly Judgement[], view: BetView, context: PlanContext) {
    this.#judgements = judgements
    this.#view = view
    this.#context = context
    const records = judgements.flatMap(({ record }) => record ?? [])
    this.#found = new Set([...records, ...view.agreed].map(keyOf))
    this.#numberOfRepairs = view.repairs.length
  }

  planned(): Planned[] {
    const isUnclear = this.#judgements.some(({ kind }) => unclear.includes(kind))
    const toSend = this.#judgements.filter(({ kind }) => toBeSent.includes(kind)).sort(bySending)
    const isRollback = ({ row }: Judgement) => row?.operation === 'rollbackbet'
    const rollbacks = toSend.filter(isRollback)
    for (const each of toSend) if (!isRollback(each)) this.#send(each, isUnclear)
    const differing = this.#judgements.filter(({ kind }) => correctable.includes(kind))
    const sentAlone = this.#calls.length
    const correction = isUnclear ? unclearRepair : this.#correction(differing, rollbacks.length > 0)
    // Calls of its own, or all calls of the bet under one difference: their order is the plan.
    const holder = this.#calls.length > sentAlone ? differing[0] : undefined
    for (const each of rollbacks) this.#send(each, isUnclear)
    return this.#judgements.flatMap(each => {
      const own = this.#repairs.get(each)
      if (own === notRecorded) {
        this.#context.refusalAlone()
        return []
      }
      if (each === holder) {
        return { ...each, repair: { ...correction, calls: this.#isIncomplete ? [] : this.#calls } }
      }
      const isDiffering = correctable.includes(each.kind)
      const isPart = isDiffering || (own !== undefined && own.calls.length > 0)
      if (holder !== undefined && isPart) return { ...each, repair: elsewhere(holder) }
      const kind = isDiffering && this.#isRepaired ? 'repaired' : each.kind
      const repair = own ?? (isDiffering ? correction : repairOf(each, this.#context.from))
      return { ...each, kind, repair }
    })
  }

  /** Plans a call of the platform that never arrived, if the wallet would take it now. */
  #send(judgement: Judgement, isUnclear: boolean): void {
    const row = judgement.row as ReportRow
    const { state } = this.#view
    const repair = callOfRow(row, this.#context.from)
    if (isUnclear || repair.calls.length === 0) {
      this.#repairs.set(judgement, isUnclear ? unclearRepair : operator(texts.notStated))
      return
    }
    const isRefused = judgement.kind === 'lost-refusal'
    if (isRefused && (state === null || this.#isCreditedAfter(row))) {
      const text = state === null ? texts.notLookedUp : texts.creditedSince
      this.#repairs.set(judgement, operator(text))
      return
    }
    const call: BetCall = { ...row, isRefused }
    const delta = state === null ? null : state.send(call)
    if (state !== null && delta === null) this.#repairs.set(judgement, this.#stuck(judgement))
    else {
      this.#repairs.set(judgement, repair)
      this.#calls.push(...repair.calls)
    }
    const credit = creditOf(row.operation, row.type)
    if (delta !== null && credit !== null && row.accepted && row.amount !== null) {
      this.#add(credit, subtract(delta, signedAmount(row)))
    }
  }

  /** Whether a credit of the same kind is dated later: a call that closes all live ones would be wrong. */
  #isCreditedAfter({ operation, type, transactionDate }: ReportRow): boolean {
    const settledAt = this.#view.facts?.settledAt.get(creditOf(operation, type)) ?? ''
    return transactionDate !== null && settledAt > transactionDate
  }

  #stuck({ row, kind }: Judgement): Repair {
    const { status, live } = this.#view.state as NonNullable<BetView['state']>
    const { operation, type } = row as ReportRow
    if (kind === 'lost-refusal') return notRecorded
    if (operation === 'placebet') return platform(texts.betExists)
    if (status === 'rolled-back') return platform(texts.rolledBack)
    if (status === 'none')
      return this.#view.facts?.hasPlacebet ? platform(texts.betRefused) : operator(texts.betUnknown)
    if (operation === 'rollbackbet') return operator(texts.settledRollback)
    const credit = creditOf(operation, type)
    return credit !== null && live.has(credit)
      ? platform(texts.reversedBefore)
      : operator(texts.creditUnknown)
  }

  #add(credit: SettlementType, amount: DecimalText): void {
    this.#surplus.set(credit, add(this.#surplus.get(credit) ?? '0', amount))
  }

  /** Plans the calls for what differs. @returns what is said of all of it */
  #correction(differing: readonly Judgement[], willRollBack: boolean): Repair {
    if (differing.length === 0) return noRepair('')
    const { state, outside, repairs } = this.#view
    if (state === null) return operator(texts.notLookedUp)
    const otherDay = differing.find(
      ({ row, record }) => row === null && this.#isOfOtherDay(record as WalletRecord),
    )
    if (otherDay !== undefined) return operator(texts.otherDay)
    if (repairs.length > 0 && outside.length > 0) return this.#repairedElsewhere(differing)
    const isMissing = differing.some(({ row, record }) => record?.operation === 'placebet' && !row?.accepted)
    if (isMissing) return this.#withoutBet(differing)
    if (differing.some(isReturned)) return operator(texts.returned)
    for (const { row, record } of differing) {
      this.#addSide(record, 1)
      if (row?.accepted) this.#addSide({ ...row, type: row.type ?? (record as WalletRecord).type }, -1)
    }
    for (const each of repairs) if (each.refusal === null && !this.#isFound(each)) this.#addRepair(each)
    return this.#credits(differing, willRollBack)
  }

  #isOfOtherDay = (record: WalletRecord) =>
    !this.#context.isInRange(record.transactionDate) && !isRepair(record)

  #isFound = (transaction: RecordedTransaction) => this.#found.has(keyOf(transaction))

  #addSide(entry: Entry | null, sign: 1 | -1): void {
    const credit = entry === null ? null : creditOf(entry.operation, entry.type)
    if (entry === null || credit === null || entry.amount === null || isZero(entry.amount)) return
    const amount = signedAmount(entry)
    this.#add(credit, sign === 1 ? amount : negate(amount))
  }

  #addRepair({ operation, type, delta }: RecordedTransaction): void {
    const credit = creditOf(operation, type)
    if (credit !== null) this.#add(credit, delta)
  }

  /** The bet is placed on both sides: its credits are brought to what the platform counts. */
  #credits(differing: readonly Judgement[], willRollBack: boolean): Repair {
    const { state, repairs } = this.#view
    const surplus = [...this.#surplus].filter(([, amount]) => !isZero(amount))
    const isCredit = ({ record }: Judgement) =>
      creditOf(record?.operation ?? 'placebet', record?.type ?? null)
    if (surplus.length === 0 && differing.every(isCredit)) {
      return this.#repaired() ?? noRepair(texts.evenOut)
    }
    if (surplus.length === 0) return noCall(differing)
    const more = surplus.filter(([, amount]) => !isNegative(amount))
    const less = surplus.filter(([, amount]) => isNegative(amount))
    const live = (credit: SettlementType) => state?.live.get(credit) ?? null
    const isLive = ([credit, amount]: [SettlementType, DecimalText]) =>
      reversalOf(credit) !== null && compare(live(credit) ?? '0', amount) >= 0
    if (state?.status !== 'placed' || !more.every(isLive)) return byHand(differing, repairs)
    const steps: string[] = []
    for (const [credit, amount] of more) {
      const rest = subtract(live(credit) ?? '0', amount)
      steps.push(this.#repair(differing, 'unsettlement', reversalOf(credit), null))
      if (!isZero(rest)) steps.push(this.#repair(differing, 'settlement', credit, rest))
    }
    for (const [credit, amount] of less) {
      steps.push(this.#repair(differing, 'settlement', credit, negate(amount)))
    }
    if (willRollBack && this.#isWithoutCredit()) this.#reverseAll(differing, steps)
    return operator(plan(steps))
  }

  /** The platform does not count the placebet: it does not know the bet, or its report is incomplete. */
  #withoutBet(differing: readonly Judgement[]): Repair {
    const { state, agreed, outside, repairs } = this.#view
    const isCounted = this.#judgements.some(({ row }) => row?.accepted)
    if (agreed.length > 0 || isCounted) return platform(texts.incomplete)
    const moved = [...differing.flatMap(({ record }) => (record ? [signedAmount(record)] : []))]
    for (const each of repairs) if (each.refusal === null && !this.#isFound(each)) moved.push(each.delta)
    const kept = moved.reduce((sum, amount) => add(sum, amount), '0')
    if (state?.status === 'rolled-back') {
      if (!isZero(kept)) return byHand(differing, repairs)
      return this.#repaired() ?? noRepair(texts.undone)
    }
    if (outside.length > 0) return operator(widerText(outside))
    const cashedOut = state?.live.get('CASHOUT') ?? null
    if (state === null || state.isOwed || cashedOut !== null) return byHand(differing, repairs)
    const steps: string[] = []
    this.#reverseAll(differing, steps)
    steps.push(this.#repair(differing, 'rollbackbet', 'TECHNICAL_ERROR', null))
    return operator(`If the platform does not know the bet: ${plan(steps)}`)
  }

  /** Whether calls can reverse all that is live without changing a balance: the platform counts no credit. */
  #isWithoutCredit(): boolean {
    const live = [...(this.#view.state?.live ?? [])]
    return live.every(
      ([credit, amount]) => amount === null || (isZero(amount) && reversalOf(credit) !== null),
    )
  }

  /** A bet with a live credit cannot be rolled back, not even with one of 0. */
  #reverseAll(differing: readonly Judgement[], steps: string[]): void {
    for (const [credit, live] of this.#view.state?.live ?? []) {
      if (live !== null) steps.push(this.#repair(differing, 'unsettlement', reversalOf(credit), null))
    }
  }

  /** @returns the call in words */
  #repair(
    differing: readonly Judgement[],
    operation: Operation,
    type: string | null,
    amount: DecimalText | null,
  ): string {
    const { record } = differing[0] as Judgement
    const { state } = this.#view
    const { betId, playerId, currency, recordedAt } = record as WalletRecord
    const delta = state?.send({ operation, type, amount }) ?? '0'
    this.#numberOfRepairs += 1
    const ids = { transactionId: repairId(betId, this.#numberOfRepairs), betId, playerId }
    const call = callOf(`/${operation}` as RepairCall['path'], ids, {
      ...(type !== null && { type }),
      ...(amount !== null && { amount, currency }),
      transactionDate: recordedAt,
    })
    if (call === null) this.#isIncomplete = true
    else this.#calls.push(call)
    const money = moneyText({ amount: isNegative(delta) ? negate(delta) : delta, currency })
    if (operation === 'rollbackbet') return `return the stake of ${money}`
    return operation === 'settlement' ? `credit ${money} as ${type}` : `debit ${money} (${type})`
  }

  /** @returns `null`: no call has repaired it */
  #repaired(): Repair | null {
    const { repairs } = this.#view
    const last = repairs.at(-1)
    if (last === undefined || repairs.every(({ refusal }) => refusal !== null)) return null
    this.#isRepaired = true
    return noRepair(`Repaired by ${last.transactionId} at ${last.recordedAt}: ${texts.inSum}`)
  }

  #repairedElsewhere(differing: readonly Judgement[]): Repair {
    this.#isRepaired = differing.every(
      ({ record, row }) => row === null && record !== null && isRepair(record),
    )
    return this.#isRepaired
      ? noRepair(texts.repairOfOtherRange)
      : operator(widerText([...this.#view.outside, ...this.#view.repairs]))
  }
}

const signedAmount = (entry: Entry): DecimalText => {
  const amount = entry.amount ?? '0'
  return isDebit(entry.operation) && !isZero(amount) ? negate(amount) : amount
}

/** The wallet has returned a stake that the platform still counts. */
const isReturned = ({ row, record }: Judgement) =>
  record?.operation === 'rollbackbet' && !row?.accepted && !isZero(record.amount ?? '0')

/** A bet must be there first; otherwise by date. */
function bySending({ row: one }: Judgement, { row: other }: Judgement): number {
  const isBet = (row: ReportRow | null) => Number(row?.operation === 'placebet')
  return isBet(other) - isBet(one) || sendingOrder(one, other)
}

/** The wallet refused it for another reason than funds, and such a refusal is not recorded (D8). */
const notRecorded = noRepair('')
const unclearRepair = operator(texts.unclear)
const elsewhere = ({ record }: Judgement): Repair =>
  operator(`The calls of the whole bet are listed with its ${record?.operation} ${record?.transactionId}.`)

const plan = (steps: readonly string[]) =>
  `${texts.askPlatform} If it is right, send the calls in this order: ${steps.join('; ')}.${
    steps.some(step => step.startsWith('debit')) ? ` ${texts.fundsMayLack}` : ''
  }`

const byHand = (differing: readonly Judgement[], repairs: readonly RecordedTransaction[]): Repair =>
  operator(repairs.some(({ refusal }) => refusal !== null) ? texts.repairRefused : noCall(differing).text)

function noCall(differing: readonly Judgement[]): Repair {
  const is = (operation: Operation) => differing.some(({ record }) => record?.operation === operation)
  if (is('placebet')) return operator(texts.otherStake)
  if (is('rollbackbet')) return operator(texts.otherReturn)
  if (differing.some(({ record }) => record?.type === 'CASHOUT')) return operator(texts.cashOut)
  return operator(texts.byHand)
}

function widerText(transactions: readonly RecordedTransaction[]): string {
  const days = transactions.map(({ recordedAt }) => recordedAt).sort()
  return `The bet has transactions from ${days[0]} to ${days.at(-1)}. Compare a range with all of them (--from, --to), and the platform's report of it: then the calls are known.`
}
