/** Collects differences: counts all, keeps the first of each kind, and sums them per bet and player. */
import { createHash } from 'node:crypto'
import { addTo, compare, type DecimalText, isZero, magnitudeOf, Sum, subtract } from './amounts.js'
import {
  type Difference,
  type DifferenceKind,
  differenceKinds,
  kindTitles,
  type Planned,
  type Span,
} from './difference.js'
import { countedOf } from './entry.js'
import { explanationOf } from './explanations.js'
import { type GroupSum, Groups } from './groups.js'
import { differingFields } from './pairs.js'
import type { Patterns } from './patterns.js'
import { texts } from './repairs.js'
import { sendingOrder } from './sending-order.js'

export interface KindTotal {
  kind: DifferenceKind
  title: string
  count: number
  /** How many of them need an action. */
  open: number
  /** Per currency, the sum of their effects. */
  effects: readonly { currency: string | null; amount: DecimalText }[]
}

/** A time for which one side has nothing, and what it lacks. */
export interface Gap extends Span {
  /** The side that has nothing. */
  of: 'report' | 'wallet'
  /** How many differences it explains. */
  count: number
  /** Per currency, the sum of their effects. */
  effects: KindTotal['effects']
}

/** Differences that were known before. They are in the totals, and in no list. */
export interface Known {
  count: number
  /** Per currency, the sum of their effects. */
  effects: KindTotal['effects']
  /** Ids that no difference has: they are outside of this range, or cleared up. */
  missing: string[]
}

export interface Collected {
  known: Known
  /** In their order. */
  gaps: Gap[]
  kinds: KindTotal[]
  differences: Difference[]
  /** How many differences are counted, but not in the list. */
  differencesOmitted: number
  bets: GroupSum[]
  betsOmitted: number
  players: GroupSum[]
  playersOmitted: number
}

export interface CollectionOptions {
  /** How many differences are kept of each kind: the largest; of what never arrived, the first to be sent. */
  max: number
  /** The ids of known differences. An id that is there twice leaves out two. */
  known: readonly string[]
  patterns: Patterns
  /** Is called with every difference that is not known. */
  each(difference: Difference): void
}

type Effects = Map<string | null, Sum>

const noDifferences = () => ({
  count: 0,
  open: 0,
  gross: new Sum(),
  sums: new Map() as Effects,
  kept: [] as Difference[],
})

/** Of bets, and of players. */
const groupsMax = 100

export class Collection {
  readonly #options: CollectionOptions
  /** Per known id, how many of its differences have not been found yet. */
  readonly #known = new Map<string, number>()
  readonly #leftOut = { count: 0, sums: new Map() as Effects }
  readonly #kinds = new Map<DifferenceKind, ReturnType<typeof noDifferences>>()
  readonly #gaps = new Map<string, Span & { of: Gap['of']; count: number; sums: Effects }>()
  readonly #bets = new Groups()
  readonly #players = new Groups()

  constructor(options: CollectionOptions) {
    this.#options = options
    for (const id of options.known) this.#known.set(id, (this.#known.get(id) ?? 0) + 1)
  }

  add(planned: Planned): void {
    const difference = differenceOf(planned, this.#options.patterns)
    if (this.#leaveOut(difference)) return
    this.#options.each(difference)
    this.#addToKind(difference)
    this.#addToGap(difference)
    group(this.#bets, difference, 'betId')
    group(this.#players, difference, 'playerId')
  }

  #leaveOut({ id, effects }: Difference): boolean {
    const left = this.#known.get(id) ?? 0
    if (left === 0) return false
    this.#known.set(id, left - 1)
    this.#leftOut.count += 1
    for (const { currency, amount } of effects) addTo(this.#leftOut.sums, currency, amount)
    return true
  }

  #addToKind(difference: Difference): void {
    const { kind, effects, repair } = difference
    const { max } = this.#options
    const total = this.#kinds.get(kind) ?? noDifferences()
    this.#kinds.set(kind, total)
    total.count += 1
    if (repair.by !== 'none') total.open += 1
    for (const { currency, amount } of effects) {
      total.gross.add(magnitudeOf(amount))
      addTo(total.sums, currency, amount)
    }
    total.kept.push(difference)
    if (total.kept.length >= 2 * max) total.kept = firstOf(kind, total.kept, max)
  }

  #addToGap({ kind, gap, effects }: Difference): void {
    if (gap === null) return
    const of = kind === 'never-arrived' ? 'wallet' : 'report'
    const key = `${gap.from} ${of}`
    const sum = this.#gaps.get(key) ?? { of, ...gap, count: 0, sums: new Map() }
    this.#gaps.set(key, sum)
    sum.count += 1
    for (const { currency, amount } of effects) addTo(sum.sums, currency, amount)
  }

  result(): Collected {
    const kinds = differenceKinds.flatMap(kind => {
      const { sums, gross, ...total } = this.#kinds.get(kind) ?? noDifferences()
      if (total.count === 0) return []
      return [{ kind, title: kindTitles[kind], ...total, effects: effectsIn(sums), gross: gross.total() }]
    })
    kinds.sort((one, other) => compare(other.gross, one.gross))
    const differences = kinds.flatMap(({ kind, kept }) => firstOf(kind, kept, this.#options.max))
    const count = kinds.reduce((sum, kind) => sum + kind.count, 0)
    const [bets, players] = [this.#bets.largest(groupsMax), this.#players.largest(groupsMax)]
    return {
      known: {
        count: this.#leftOut.count,
        effects: effectsIn(this.#leftOut.sums),
        missing: [...this.#known].flatMap(([id, left]) => Array<string>(left).fill(id)),
      },
      gaps: [...this.#gaps.values()]
        .sort((one, other) => (one.from < other.from ? -1 : 1))
        .map(({ sums, ...gap }) => ({ ...gap, effects: effectsIn(sums) })),
      kinds: kinds.map(({ gross, kept, ...kind }) => kind),
      differences,
      differencesOmitted: count - differences.length,
      bets: bets.groups,
      betsOmitted: bets.omitted,
      players: players.groups,
      playersOmitted: players.omitted,
    }
  }

  /** Per currency, the sum of the effects of all differences, known ones too. */
  effects(): ReadonlyMap<string | null, Sum> {
    const sums: Effects = new Map()
    for (const { sums: each } of [...this.#kinds.values(), this.#leftOut]) {
      for (const [currency, sum] of each) addTo(sums, currency, sum.total())
    }
    return sums
  }

  close(): void {
    this.#bets.close()
    this.#players.close()
  }
}

const effectsIn = (sums: ReadonlyMap<string | null, Sum>) =>
  [...sums].map(([currency, sum]) => ({ currency, amount: sum.total() }))

function differenceOf(planned: Planned, patterns: Patterns): Difference {
  const { kind, row, record } = planned
  const gap = patterns.gapOf(planned)
  const repair =
    gap === null || kind !== 'missing-in-report'
      ? planned.repair
      : { ...planned.repair, text: `${texts.incompleteReport} ${planned.repair.text}` }
  return {
    id: idOf(planned),
    kind,
    report: row,
    wallet: record,
    fields: row === null || record === null ? [] : differingFields(row, record),
    effects: effectsOf(row, isDuplicate(kind) ? null : record),
    explanation: explanationOf(planned, patterns),
    repair,
    gap,
  }
}

const isDuplicate = (kind: DifferenceKind) =>
  kind === 'duplicate-in-report' || kind === 'conflicting-in-report'

/** What the wallet counts minus what the report counts; of a duplicate, it has counted the first one. */
function effectsOf(row: Difference['report'], record: Difference['wallet']): Difference['effects'] {
  const currencies = [...new Set([row, record].flatMap(side => (side === null ? [] : [side.currency])))]
  return currencies
    .map(currency => {
      const of = (side: Difference['report'] | Difference['wallet']) =>
        side === null || side.currency !== currency ? '0' : countedOf(side)
      return { currency, amount: subtract(of(record), of(row)) }
    })
    .filter(({ amount }) => !isZero(amount))
}

/** Adds a difference to its bet or player; to both of them, if the sides name different ones. */
function group(groups: Groups, { kind, report, wallet }: Difference, field: 'betId' | 'playerId'): void {
  const record = isDuplicate(kind) ? null : wallet
  const inReport = { id: report?.[field] ?? wallet?.[field] ?? null, currency: report?.currency ?? null }
  const inWallet = { id: record?.[field] ?? inReport.id, currency: record?.currency ?? inReport.currency }
  const isOne = inReport.id === inWallet.id && (inReport.currency ?? inWallet.currency) === inWallet.currency
  if (isOne) groups.add(inWallet.id, inWallet.currency, countedOf(report), countedOf(record))
  else {
    groups.add(inReport.id, inReport.currency, countedOf(report), '0')
    groups.add(inWallet.id, inWallet.currency, '0', countedOf(record))
  }
}

/** Calls that are sent again are listed in the order of sending; everything else by its effect. */
const firstOf = (kind: DifferenceKind, differences: Difference[], max: number): Difference[] =>
  kind === 'never-arrived'
    ? differences.sort(({ report: one }, { report: other }) => sendingOrder(one, other)).slice(0, max)
    : largest(differences, max)

/** What no gap explains, the largest effects first; among equals, in the order of their ids. */
function largest(differences: readonly Difference[], max: number): Difference[] {
  const ranked = differences.map(difference => ({
    difference,
    size: sizeOf(difference),
    key: keyOf(difference),
    inGap: Number(difference.gap !== null),
  }))
  ranked.sort(
    (one, other) =>
      one.inGap - other.inGap || compare(other.size, one.size) || (one.key < other.key ? -1 : 1),
  )
  return ranked.slice(0, max).map(({ difference }) => difference)
}

const sizeOf = ({ effects }: Difference): DecimalText =>
  effects.reduce(
    (most, { amount }) => (compare(magnitudeOf(amount), most) > 0 ? magnitudeOf(amount) : most),
    '0',
  )

const keyOf = ({ report, wallet }: Difference) =>
  `${(report ?? wallet)?.operation}\t${(report ?? wallet)?.transactionId}\t${report?.line ?? ''}`

/** Of all that makes it this difference: another amount is another one. Not of the line, which may change. */
function idOf({ kind, row, record }: Planned): string {
  const sides = [row, record].map(
    side =>
      side && [
        ...[side.operation, side.transactionId, side.betId, side.playerId, side.type],
        ...[side.accepted, side.amount, side.currency, side.inRange],
      ],
  )
  const digest = createHash('sha256')
    .update(JSON.stringify([kind, ...sides]))
    .digest('hex')
  // Not a number to a spreadsheet.
  return `d-${digest.slice(0, 16)}`
}

export const isDifferenceId = (value: unknown) => typeof value === 'string' && /^d-[0-9a-f]{16}$/.test(value)
