/** Collects differences: counts all, keeps the largest of each kind, and sums them per bet and player. */
import { addTo, compare, type DecimalText, isZero, magnitudeOf, Sum, subtract } from './amounts.js'
import {
  type Difference,
  type DifferenceKind,
  differenceKinds,
  type Judgement,
  kindSentences,
  kindTitles,
} from './difference.js'
import { countedOf, type Entry } from './entry.js'
import { explanationOf } from './explanations.js'
import { type GroupSum, Groups } from './groups.js'
import { differingFields } from './pairs.js'

export interface KindTotal {
  kind: DifferenceKind
  title: string
  /** What the kind means. */
  sentence: string
  count: number
  /** Per currency, the sum of their effects. */
  effects: readonly { currency: string | null; amount: DecimalText }[]
}

export interface Collected {
  kinds: KindTotal[]
  differences: Difference[]
  /** How many differences are counted, but not in the list. */
  differencesOmitted: number
  bets: GroupSum[]
  betsOmitted: number
  players: GroupSum[]
  playersOmitted: number
}

type Effects = Map<string | null, Sum>

const noDifferences = () => ({
  count: 0,
  gross: new Sum(),
  sums: new Map() as Effects,
  kept: [] as Difference[],
})

/** Of bets, and of players. */
const groupsMax = 100

export class Collection {
  readonly #max: number
  readonly #each: (difference: Difference) => Promise<unknown>
  readonly #kinds = new Map<DifferenceKind, ReturnType<typeof noDifferences>>()
  readonly #bets = new Groups()
  readonly #players = new Groups()

  /**
   * @param max how many differences are kept of each kind: the largest
   * @param each is called with every difference
   */
  constructor(max: number, each: (difference: Difference) => Promise<unknown>) {
    this.#max = max
    this.#each = each
  }

  async add(judged: Judgement): Promise<void> {
    const inWallet = inWalletOf(judged)
    const difference = differenceOf(judged, inWallet)
    await this.#each(difference)
    this.#addToKind(difference)
    group(this.#bets, judged.row, inWallet, difference, 'betId')
    group(this.#players, judged.row, inWallet, difference, 'playerId')
  }

  #addToKind(difference: Difference): void {
    const { kind, effects } = difference
    const total = this.#kinds.get(kind) ?? noDifferences()
    this.#kinds.set(kind, total)
    total.count += 1
    for (const { currency, amount } of effects) {
      total.gross.add(magnitudeOf(amount))
      addTo(total.sums, currency, amount)
    }
    total.kept.push(difference)
    if (total.kept.length >= 2 * this.#max) total.kept = largest(total.kept, this.#max)
  }

  result(): Collected {
    const kinds = differenceKinds.flatMap(kind => {
      const { sums, gross, ...total } = this.#kinds.get(kind) ?? noDifferences()
      if (total.count === 0) return []
      const texts = { title: kindTitles[kind], sentence: kindSentences[kind] }
      return [{ kind, ...texts, ...total, effects: effectsIn(sums), gross: gross.total() }]
    })
    kinds.sort((one, other) => compare(other.gross, one.gross))
    const differences = kinds.flatMap(({ kept }) => largest(kept, this.#max))
    const count = kinds.reduce((sum, kind) => sum + kind.count, 0)
    const [bets, players] = [this.#bets.largest(groupsMax), this.#players.largest(groupsMax)]
    return {
      kinds: kinds.map(({ gross, kept, ...kind }) => kind),
      differences,
      differencesOmitted: count - differences.length,
      bets: bets.groups,
      betsOmitted: bets.omitted,
      players: players.groups,
      playersOmitted: players.omitted,
    }
  }

  /** Per currency, the sum of the effects of all differences. */
  effects(): ReadonlyMap<string | null, Sum> {
    const sums: Effects = new Map()
    for (const { sums: each } of this.#kinds.values()) {
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

/** What the wallet counts: of a duplicate, it has counted the first one. */
function inWalletOf({ kind, row, record, credited }: Judgement): Entry | null {
  if (kind === 'duplicate-in-report' || kind === 'conflicting-in-report') return null
  return row !== null && credited !== null ? { ...row, amount: credited } : record
}

function differenceOf(judged: Judgement, inWallet: Entry | null): Difference {
  const { kind, row, record, credited, bet } = judged
  return {
    kind,
    report: row,
    wallet: record,
    fields: row === null || record === null ? [] : differingFields(row, record),
    effects: effectsOf(row, inWallet),
    explanation: explanationOf(judged),
    credited,
    bet,
  }
}

/** What the wallet counts minus what the report counts. */
function effectsOf(row: Entry | null, inWallet: Entry | null): Difference['effects'] {
  const currencies = [...new Set([row, inWallet].flatMap(side => (side === null ? [] : [side.currency])))]
  return currencies
    .map(currency => {
      const of = (side: Entry | null) => (side === null || side.currency !== currency ? '0' : countedOf(side))
      return { currency, amount: subtract(of(inWallet), of(row)) }
    })
    .filter(({ amount }) => !isZero(amount))
}

/** Adds a difference to its bet or player; to both of them, if the sides name different ones. */
function group(
  groups: Groups,
  row: Entry | null,
  inWallet: Entry | null,
  { wallet }: Difference,
  field: 'betId' | 'playerId',
): void {
  const one = { id: row?.[field] ?? wallet?.[field] ?? null, currency: row?.currency ?? null }
  const other = { id: inWallet?.[field] ?? one.id, currency: inWallet?.currency ?? one.currency }
  const isOne = one.id === other.id && (one.currency ?? other.currency) === other.currency
  if (isOne) groups.add(other.id, other.currency, countedOf(row), countedOf(inWallet))
  else {
    groups.add(one.id, one.currency, countedOf(row), '0')
    groups.add(other.id, other.currency, '0', countedOf(inWallet))
  }
}

/** The largest effects first; among equals, in the order of their ids. */
function largest(differences: readonly Difference[], max: number): Difference[] {
  const ranked = differences.map(difference => ({
    difference,
    size: sizeOf(difference),
    key: keyOf(difference),
  }))
  ranked.sort((one, other) => compare(other.size, one.size) || (one.key < other.key ? -1 : 1))
  return ranked.slice(0, max).map(({ difference }) => difference)
}

const sizeOf = ({ effects }: Difference): DecimalText =>
  effects.reduce(
    (most, { amount }) => (compare(magnitudeOf(amount), most) > 0 ? magnitudeOf(amount) : most),
    '0',
  )

const keyOf = ({ report, wallet }: Difference) =>
  `${(report ?? wallet)?.operation}\t${(report ?? wallet)?.transactionId}\t${report?.line ?? ''}`
