/** Names each finding: with the other findings of its bet, and with look-ups of what the range does not show. */
import type { BetHistory, RecordedTransaction, WalletLookups } from '../lookups/records.js'
import { isZero } from '../money.js'
import type { DifferenceKind, Finding } from './difference.js'
import type { ReportRow, WalletRecord } from './entry.js'
import { differingFields } from './pairs.js'
import type { Judgement } from './repairs.js'

/** The look-ups that a judge uses, with the limit and the missing index behind them. */
export interface JudgeLookups {
  /** `null`: not looked up. */
  transaction(transactionId: string): Promise<readonly RecordedTransaction[] | null>
  bet(betId: string): Promise<BetHistory | null>
}

const indexMissing = 'LOOKUP_INDEX_MISSING'

/**
 * @param max how often the wallet is asked at most
 * @param note is called once per reason why a look-up is left out
 */
export function limitedLookups(
  lookups: Partial<Pick<WalletLookups, 'transaction' | 'bet'>>,
  max: number,
  note: (sentence: string) => void,
): JudgeLookups {
  let count = 0
  let lacksIndex = false
  const isAllowed = () => {
    count += 1
    if (count === max + 1) {
      note(`After ${max} look-ups, differences were explained from the range alone.`)
    }
    return count <= max
  }
  return {
    transaction: async id => (lookups.transaction && isAllowed() ? await lookups.transaction(id) : null),
    async bet(id) {
      if (lookups.bet === undefined || lacksIndex || !isAllowed()) return null
      try {
        return await lookups.bet(id)
      } catch (error) {
        if ((error as { code?: unknown } | null)?.code !== indexMissing) throw error
        lacksIndex = true
        note(`Bets were not looked up: ${(error as Error).message}`)
        return null
      }
    },
  }
}

/** What a judge needs to know of the reconciliation. */
export interface JudgeContext {
  lookups: JudgeLookups
  isInRange(date: string): boolean
  recordOf(transaction: RecordedTransaction): WalletRecord
}

/** @param findings all of one bet */
export async function judgeBet(findings: readonly Finding[], context: JudgeContext): Promise<Judgement[]> {
  const { paired, others } = pairByContent(findings)
  const judged: Judgement[] = [...paired]
  for (const finding of others) judged.push(await judge(finding, others, context))
  return judged
}

const isCountedThere = ({ shape, row, record }: Finding) =>
  shape === 'row' || (shape === 'pair' && row?.accepted === true && record?.accepted === false)

/** A row that the wallet did not execute, and a record that the report does not have: the same but for the id. */
function pairByContent(findings: readonly Finding[]): { paired: Judgement[]; others: Finding[] } {
  const paired: Judgement[] = []
  const others: Finding[] = []
  const free = findings.filter(({ shape }) => shape === 'record')
  for (const finding of findings) {
    if (finding.shape === 'record') continue
    const row = finding.row as ReportRow
    const index = isCountedThere(finding)
      ? free.findIndex(({ record }) => isSame(row, record as WalletRecord))
      : -1
    const [same] = index === -1 ? [] : free.splice(index, 1)
    if (same === undefined) others.push(finding)
    else paired.push({ shape: 'pair', row, record: same.record, kind: 'other-transaction-id' })
  }
  return { paired, others: [...others, ...free] }
}

const isSame = (row: ReportRow, record: WalletRecord) =>
  row.operation === record.operation && row.amount !== null && differingFields(row, record).length === 0

async function judge(
  finding: Finding,
  others: readonly Finding[],
  context: JudgeContext,
): Promise<Judgement> {
  const { shape, row, record } = finding
  switch (shape) {
    case 'twice-in-wallet':
      return { ...finding, kind: 'duplicate-in-wallet' }
    case 'operation':
      return { ...finding, kind: 'other-operation' }
    case 'twice': {
      const isSameContent = differingFields(row as ReportRow, record as WalletRecord).length === 0
      return { ...finding, kind: isSameContent ? 'duplicate-in-report' : 'conflicting-in-report' }
    }
    case 'pair':
      return { ...finding, kind: await kindOfPair(row as ReportRow, record as WalletRecord, others, context) }
    case 'row':
      return await judgeRow(finding, row as ReportRow, others, context)
    case 'record':
      return { ...finding, kind: await kindOfRecord(record as WalletRecord, others, context) }
  }
}

/** By value, the most important first: a wrong player is no matter of the amount. */
const kindOfField: readonly (readonly [field: string, kind: DifferenceKind])[] = [
  ['playerId', 'other-player'],
  ['betId', 'other-bet'],
  ['currency', 'other-currency'],
  ['amount', 'other-amount'],
  ['type', 'other-type'],
]

async function kindOfPair(
  row: ReportRow,
  record: WalletRecord,
  others: readonly Finding[],
  context: JudgeContext,
): Promise<DifferenceKind> {
  if (row.accepted && !record.accepted) {
    if (record.operation === 'unsettlement') return 'uncollected-clawback'
    return (await isTombstoned(row, record, others, context)) ? 'tombstone' : 'refused-by-wallet'
  }
  if (!row.accepted && record.accepted) return 'refused-by-platform'
  const fields = differingFields(row, record).map(({ field }) => field)
  const [, kind] = kindOfField.find(([field]) => fields.includes(field as (typeof fields)[number])) ?? []
  if (kind === 'other-amount' && record.operation === 'rollbackbet' && isZero(record.amount ?? '0')) {
    return (await kindOfEmptyRollback(record, others, context)) ?? kind
  }
  return kind ?? 'out-of-range'
}

async function judgeRow(
  finding: Finding,
  row: ReportRow,
  others: readonly Finding[],
  context: JudgeContext,
): Promise<Judgement> {
  const recorded = (await context.lookups.transaction(row.transactionId)) ?? []
  const elsewhere = recorded.find(({ operation }) => operation === row.operation)
  if (elsewhere !== undefined) {
    const record = { ...context.recordOf(elsewhere), inRange: false }
    return { shape: 'pair', row, record, kind: await kindOfPair(row, record, others, context) }
  }
  return {
    ...finding,
    kind: (await isTombstoned(row, null, others, context)) ? 'tombstone' : 'never-arrived',
  }
}

async function kindOfRecord(
  record: WalletRecord,
  others: readonly Finding[],
  context: JudgeContext,
): Promise<DifferenceKind> {
  if (!context.isInRange(record.transactionDate)) return 'out-of-range'
  if (record.operation === 'rollbackbet' && isZero(record.amount ?? '0')) {
    return (await kindOfEmptyRollback(record, others, context)) ?? 'missing-in-report'
  }
  return 'missing-in-report'
}

/** Whether this placebet is one that was rolled back before it arrived (D11). */
async function isTombstoned(
  row: ReportRow,
  record: WalletRecord | null,
  others: readonly Finding[],
  { lookups }: JudgeContext,
): Promise<boolean> {
  if (row.operation !== 'placebet') return false
  // A late placebet is refused with INVALID_BET; any other refusal has a reason of its own.
  if (record !== null && record.errorCode !== 'INVALID_BET') return false
  const isEmptyRollback = ({ record: other }: Finding) =>
    other?.operation === 'rollbackbet' && other.accepted && isZero(other.amount ?? '0')
  return others.some(isEmptyRollback) || isTombstone(await lookups.bet(row.betId))
}

function isTombstone(history: BetHistory | null): boolean {
  if (history === null || history.bet === null || history.bet.status !== 'ROLLED_BACK') return false
  return isZero(history.bet.stake) && !history.transactions.some(isTakenBet)
}

const isTakenBet = ({ operation, refusal }: RecordedTransaction) =>
  operation === 'placebet' && refusal === null

/**
 * A rollback that moved nothing: its bet never came (D11), or was rolled back before (D12).
 *
 * @returns `null`: the bet had no stake, or it is not known
 */
async function kindOfEmptyRollback(
  record: WalletRecord,
  others: readonly Finding[],
  { lookups }: JudgeContext,
): Promise<DifferenceKind | null> {
  const history = await lookups.bet(record.betId)
  if (history !== null) {
    if (!history.transactions.some(isTakenBet)) return 'tombstone'
    const isOther = ({ operation, refusal, transactionId }: RecordedTransaction) =>
      operation === 'rollbackbet' && refusal === null && transactionId !== record.transactionId
    return history.transactions.some(isOther) ? 'rolled-back-twice' : null
  }
  // Without the bet: a placebet that the platform counts and the wallet did not take says that it never came.
  const isStake = (finding: Finding) => isCountedThere(finding) && finding.row?.operation === 'placebet'
  return others.some(isStake) ? 'tombstone' : null
}
