/** Names each finding, by lookups of its bet and of what the range does not show. */
import { fieldOf, textOf } from '../../foreign-values.js'
import type { RecordedTransaction, WalletLookups } from '../../lookups/records.js'
import { type DecimalText, isZero } from './amounts.js'
import { BetFacts } from './bet-facts.js'
import type { DifferenceKind, Finding, Judgement } from './difference.js'
import type { ReportRow, WalletRecord } from './entry.js'
import { differingFields, fillRow } from './pairs.js'
import type { RowCounts, Totals } from './totals.js'

const indexMissing = 'LOOKUP_INDEX_MISSING'

type SingleLookups = Partial<Pick<WalletLookups, 'transaction' | 'bet'>>

/**
 * @param max how often the wallet is asked at most
 * @param note is called once per reason why a lookup is left out
 */
export function limitedLookups(lookups: SingleLookups, max: number, note: (sentence: string) => void) {
  let count = 0
  let lacksIndex = false
  const isAllowed = () => {
    count += 1
    if (count === max + 1) {
      note(`After ${max} lookups, differences were explained from the range alone.`)
    }
    return count <= max
  }
  return {
    transaction: async (id: string) =>
      lookups.transaction && isAllowed() ? await lookups.transaction(id) : [],
    /** `null`: not looked up. */
    async bet(id: string): Promise<BetFacts | null> {
      if (lookups.bet === undefined || lacksIndex || !isAllowed()) return null
      try {
        return new BetFacts((await lookups.bet(id)) ?? { betId: id, bet: null, transactions: [] })
      } catch (error) {
        if (fieldOf(error, 'code') !== indexMissing) throw error
        lacksIndex = true
        note(`Bets were not looked up: ${textOf(error)}`)
        return null
      }
    },
  }
}

/** What a judge needs to know of the reconciliation. */
export interface JudgeContext {
  lookups: ReturnType<typeof limitedLookups>
  counts: RowCounts
  totals: Totals
  recordOf(transaction: RecordedTransaction): WalletRecord
}

/** The bet of some findings, which is looked up once. */
type LookBet = () => Promise<BetFacts | null>

/** A finding whose kind is known. */
type Judged = Finding & Pick<Judgement, 'kind'>

/** Kinds about which the whole bet says more. */
const kindsWithHistory: readonly DifferenceKind[] = [
  ...(['never-arrived', 'lost-refusal', 'missing-in-report', 'refused-by-platform'] as const),
  ...(['other-amount', 'other-type'] as const),
]

/** @param findings all of one bet */
export async function judgeBet(findings: readonly Finding[], context: JudgeContext): Promise<Judgement[]> {
  const betId = (findings[0]?.row ?? findings[0]?.record)?.betId ?? ''
  let looked: Promise<BetFacts | null> | undefined
  const lookBet: LookBet = () => {
    looked ??= context.lookups.bet(betId)
    return looked
  }
  const judged: Judged[] = []
  for (const finding of findings) {
    const known = await located(finding, context)
    if (known !== null) judged.push({ ...known, kind: await kindOf(known, lookBet) })
  }
  const seen = judged.some(({ kind }) => kindsWithHistory.includes(kind)) ? await lookBet() : null
  return withBet(judged, seen, context)
}

/**
 * A row alone may have its record outside of what was read.
 *
 * @returns `null`: both sides have refused it
 */
async function located(finding: Finding, context: JudgeContext): Promise<Finding | null> {
  const { row } = finding
  if (row === null || finding.record !== null) return finding
  const recorded = await context.lookups.transaction(row.transactionId)
  const elsewhere = recorded.find(({ operation }) => operation === row.operation)
  if (elsewhere === undefined) return finding
  const record = { ...context.recordOf(elsewhere), inRange: false }
  fillRow(row, record, context.totals)
  if (row.accepted || record.accepted) return { row, record, isTwice: false }
  context.counts.refusedAlone += 1
  return null
}

/** Takes off what the bet explains, and adds the history of the bet to the rest. */
function withBet(judged: readonly Judged[], seen: BetFacts | null, context: JudgeContext): Judgement[] {
  const lost = judged.flatMap(({ kind, row }) =>
    kind === 'never-arrived' && row?.operation === 'settlement' ? [row] : [],
  )
  const credited = seen?.creditedOf(lost) ?? new Map<ReportRow, DecimalText>()
  for (const [row, amount] of credited) context.totals.add('wallet', { ...row, amount })
  return judged.flatMap((each): Judgement[] => {
    const { kind, row } = each
    const amount = (row && credited.get(row)) ?? null
    if (amount !== null && amount === row?.amount) {
      context.counts.creditedByOwnCode += 1
      return []
    }
    // A refusal for another reason than funds is not recorded (D8).
    const mayBeRecorded = lost.length > 0 || seen === null || seen.mayReverse(row?.type ?? null)
    if (kind === 'lost-refusal' && !mayBeRecorded) {
      context.counts.refusedAlone += 1
      return []
    }
    const known = amount === null ? kind : 'credited-in-part'
    return [{ ...each, kind: known, credited: amount, bet: seen?.history ?? null }]
  })
}

const kindOfField = {
  playerId: 'other-player',
  betId: 'other-bet',
  currency: 'other-currency',
  amount: 'other-amount',
  type: 'other-type',
} as const

async function kindOf({ row, record, isTwice }: Finding, lookBet: LookBet): Promise<DifferenceKind> {
  if (row === null) {
    return isTwice
      ? 'duplicate-in-wallet'
      : ((await kindOfEmptyRollback(record, lookBet)) ?? 'missing-in-report')
  }
  if (record === null && !row.accepted) return 'lost-refusal'
  if (record === null) return (await isTombstoned(row, null, lookBet)) ? 'tombstone' : 'never-arrived'
  const [differing] = differingFields(row, record)
  if (isTwice) return differing === undefined ? 'duplicate-in-report' : 'conflicting-in-report'
  if (row.accepted && !record.accepted) {
    if (record.operation === 'unsettlement') return 'uncollected-clawback'
    return (await isTombstoned(row, record, lookBet)) ? 'tombstone' : 'refused-by-wallet'
  }
  if (!row.accepted && record.accepted) return 'refused-by-platform'
  if (differing === undefined) return 'out-of-range'
  const ofRollback = differing.field === 'amount' ? await kindOfEmptyRollback(record, lookBet) : null
  return ofRollback ?? kindOfField[differing.field]
}

/** Whether this placebet is one that was rolled back before it arrived (D11). */
async function isTombstoned(row: ReportRow, record: WalletRecord | null, lookBet: LookBet): Promise<boolean> {
  if (row.operation !== 'placebet') return false
  // A late placebet is refused with INVALID_BET; any other refusal has a reason of its own.
  if (record !== null && record.errorCode !== 'INVALID_BET') return false
  return (await lookBet())?.isTombstone ?? false
}

/**
 * A rollback that moved nothing: its bet never came (D11), or was rolled back before (D12).
 *
 * @returns `null`: it is none, the bet had no stake, or it is not known
 */
async function kindOfEmptyRollback(
  record: WalletRecord | null,
  lookBet: LookBet,
): Promise<DifferenceKind | null> {
  if (record?.operation !== 'rollbackbet' || !isZero(record.amount ?? '0')) return null
  const facts = await lookBet()
  if (facts === null) return null
  if (!facts.isPlaced) return 'tombstone'
  const others = facts.rollbacks.size - Number(facts.rollbacks.has(record.transactionId))
  return others > 0 ? 'rolled-back-twice' : null
}
