/** Names each finding, by lookups of its bet and of what the range does not show. */
import { fieldOf, textOf } from '../../foreign-values.js'
import type { RecordedTransaction, WalletLookups } from '../../lookups/records.js'
import { type DecimalText, isZero } from './amounts.js'
import { BetFacts } from './bet-facts.js'
import type { DifferenceKind, Finding, Judgement } from './difference.js'
import type { ReportRow, WalletRecord } from './entry.js'
import { type AgreedCounts, differingFields, fillRow } from './pairs.js'
import type { Totals } from './totals.js'

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
  counts: AgreedCounts
  totals: Totals
  recordOf(transaction: RecordedTransaction): WalletRecord
}

/** The bet of some findings, which is looked up once. */
type LookBet = () => Promise<BetFacts | null>

/** A finding whose kind is known. */
type Judged = Finding & Pick<Judgement, 'kind'>

/** Kinds about which the whole bet says more. */
const kindsWithStory: readonly DifferenceKind[] = [
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
  for (const finding of findings) judged.push(...(await judge(finding, lookBet, context)))
  const seen = judged.some(({ kind }) => kindsWithStory.includes(kind)) ? await lookBet() : null
  return withBet(judged, seen, context)
}

/** Takes off what the bet explains, and adds the story of the bet to the rest. */
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
    return [{ ...each, kind: known, credited: amount, bet: seen?.story ?? null }]
  })
}

/** @returns none for a refusal that both sides have */
async function judge(finding: Finding, lookBet: LookBet, context: JudgeContext): Promise<Judged[]> {
  const { shape, row, record } = finding
  switch (shape) {
    case 'twice-in-wallet':
      return [{ ...finding, kind: 'duplicate-in-wallet' }]
    case 'twice': {
      const isSameContent = differingFields(row as ReportRow, record as WalletRecord).length === 0
      return [{ ...finding, kind: isSameContent ? 'duplicate-in-report' : 'conflicting-in-report' }]
    }
    case 'pair':
      return [{ ...finding, kind: await kindOfPair(row as ReportRow, record as WalletRecord, lookBet) }]
    case 'row':
      return await judgeRow(finding, row as ReportRow, lookBet, context)
    case 'record':
      return [{ ...finding, kind: await kindOfRecord(record as WalletRecord, lookBet) }]
  }
}

const kindOfField = {
  playerId: 'other-player',
  betId: 'other-bet',
  currency: 'other-currency',
  amount: 'other-amount',
  type: 'other-type',
} as const satisfies Record<string, DifferenceKind>

async function kindOfPair(row: ReportRow, record: WalletRecord, lookBet: LookBet): Promise<DifferenceKind> {
  if (row.accepted && !record.accepted) {
    if (record.operation === 'unsettlement') return 'uncollected-clawback'
    return (await isTombstoned(row, record, lookBet)) ? 'tombstone' : 'refused-by-wallet'
  }
  if (!row.accepted && record.accepted) return 'refused-by-platform'
  const [differing] = differingFields(row, record)
  const kind = differing && kindOfField[differing.field]
  if (kind === 'other-amount' && record.operation === 'rollbackbet' && isZero(record.amount ?? '0')) {
    return (await kindOfEmptyRollback(record, lookBet)) ?? kind
  }
  return kind ?? 'out-of-range'
}

async function judgeRow(
  finding: Finding,
  row: ReportRow,
  lookBet: LookBet,
  context: JudgeContext,
): Promise<Judged[]> {
  const recorded = await context.lookups.transaction(row.transactionId)
  const elsewhere = recorded.find(({ operation }) => operation === row.operation)
  if (elsewhere !== undefined) {
    const record = { ...context.recordOf(elsewhere), inRange: false }
    fillRow(row, record, context.totals)
    if (!row.accepted && !record.accepted) {
      context.counts.refusedAlone += 1
      return []
    }
    return [{ shape: 'pair', row, record, kind: await kindOfPair(row, record, lookBet) }]
  }
  if (!row.accepted) return [{ ...finding, kind: 'lost-refusal' }]
  return [{ ...finding, kind: (await isTombstoned(row, null, lookBet)) ? 'tombstone' : 'never-arrived' }]
}

async function kindOfRecord(record: WalletRecord, lookBet: LookBet): Promise<DifferenceKind> {
  if (record.operation !== 'rollbackbet' || !isZero(record.amount ?? '0')) return 'missing-in-report'
  return (await kindOfEmptyRollback(record, lookBet)) ?? 'missing-in-report'
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
 * @returns `null`: the bet had no stake, or it is not known
 */
async function kindOfEmptyRollback(record: WalletRecord, lookBet: LookBet): Promise<DifferenceKind | null> {
  const facts = await lookBet()
  if (facts === null) return null
  if (!facts.isPlaced) return 'tombstone'
  const others = facts.rollbacks.size - Number(facts.rollbacks.has(record.transactionId))
  return others > 0 ? 'rolled-back-twice' : null
}
