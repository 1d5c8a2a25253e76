/** Collects differences: counts all, keeps the largest of each kind, and sums them per bet and player. */
import { compare, textOf } from '../numbers/decimal.js'
import {
  addTo,
  byMagnitude,
  type DecimalText,
  difference as differenceBetween,
  isZero,
  magnitudeOf,
  Sum,
} from './amounts.js'
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
import { type GroupSum, largestGroups, type Part } from './groups.js'
import { differingFields } from './pairs.js'
import { Partitions } from './partitions.js'

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

class OfKind {
  count = 0
  /** Of their magnitudes, in any currency. */
  readonly gross = new Sum()
  readonly sums = new Map<string | null, Sum>()
  kept: Difference[] = []
}

/** Of bets, and of players. */
const groupsMax = 100

export class Collection {
  readonly #kinds = new Map(differenceKinds.map(kind => [kind, new OfKind()]))
  readonly #bets = new Partitions<Part>()
  readonly #players = new Partitions<Part>()
  #count = 0

  /**
   * @param max how many differences are kept of each kind: the largest
   * @param each is called with every difference
   */
  constructor(
    readonly max: number,
    readonly each: (difference: Difference) => Promise<unknown>,
  ) {}

  async add(judged: Judgement): Promise<void> {
    const inWallet = inWalletOf(judged)
    const difference = differenceOf(judged, inWallet)
    await this.each(difference)
    const ofKind = this.#kinds.get(difference.kind) as OfKind
    ofKind.count += 1
    for (const { currency, amount } of difference.effects) {
      ofKind.gross.add(magnitudeOf(amount))
      addTo(ofKind.sums, currency, amount)
    }
    ofKind.kept.push(difference)
    if (ofKind.kept.length >= 2 * this.max) ofKind.kept = largest(ofKind.kept, this.max)
    this.#count += 1
    for (const part of partsOf('betId', judged, inWallet)) this.#bets.add(part.id ?? '', part)
    for (const part of partsOf('playerId', judged, inWallet)) this.#players.add(part.id ?? '', part)
  }

  result(): Collected {
    const kinds = [...this.#kinds].filter(([, { count }]) => count > 0)
    kinds.sort(([, one], [, other]) => compare(other.gross.total(), one.gross.total()))
    const differences = kinds.flatMap(([, { kept }]) => largest(kept, this.max))
    const bets = largestGroups(this.#bets, groupsMax)
    const players = largestGroups(this.#players, groupsMax)
    return {
      kinds: kinds.map(([kind, { count, sums }]) => ({
        kind,
        title: kindTitles[kind],
        sentence: kindSentences[kind],
        count,
        effects: [...sums].map(([currency, sum]) => ({ currency, amount: textOf(sum.total()) })),
      })),
      differences,
      differencesOmitted: this.#count - differences.length,
      bets: bets.groups,
      betsOmitted: bets.omitted,
      players: players.groups,
      playersOmitted: players.omitted,
    }
  }

  close(): void {
    this.#bets.close()
    this.#players.close()
  }
}

/** What the wallet counts: of a duplicate, it has counted the first one. */
function inWalletOf({ kind, row, record, credited }: Judgement): Entry | null {
  if (kind === 'duplicate-in-report' || kind === 'conflicting-in-report') return null
  return row !== null && credited !== null ? { ...row, amount: credited } : record
}

function differenceOf(judged: Judgement, inWallet: Entry | null): Difference {
  const { kind, row, record, credited, bet } = judged
  const fields = row === null || record === null ? [] : differingFields(row, record)
  return {
    kind,
    report: row,
    wallet: record,
    fields,
    effects: effectsOf(row, inWallet),
    explanation: explanationOf(judged, fields),
    credited,
    bet,
  }
}

/** What the wallet counts minus what the report counts. */
function effectsOf(row: Entry | null, inWallet: Entry | null): Difference['effects'] {
  const currencies = new Set([row, inWallet].flatMap(side => (side === null ? [] : [side.currency])))
  return [...currencies]
    .map(currency => {
      const of = (side: Entry | null) => (side?.currency === currency ? countedOf(side) : '0')
      return { currency, amount: differenceBetween(of(inWallet), of(row)) }
    })
    .filter(({ amount }) => !isZero(amount))
}

/** What each side counts of its bet or player: the sides may name different ones. */
function partsOf(field: 'betId' | 'playerId', { row, record }: Judgement, inWallet: Entry | null): Part[] {
  const id = row?.[field] ?? record?.[field] ?? null
  const currency = row?.currency ?? inWallet?.currency ?? null
  const other = { id: inWallet?.[field] ?? id, currency: inWallet?.currency ?? currency }
  const [report, wallet] = [countedOf(row), countedOf(inWallet)]
  if (other.id === id && other.currency === currency) return [{ id, currency, report, wallet }]
  return [
    { id, currency, report, wallet: '0' },
    { ...other, report: '0', wallet },
  ]
}

/** The largest effects first; among equals, in the order of their ids. */
function largest(differences: readonly Difference[], max: number): Difference[] {
  const ranked = differences.map(difference => ({
    difference,
    size: difference.effects.map(({ amount }) => amount).sort(byMagnitude)[0] ?? '0',
    key: keyOf(difference),
  }))
  ranked.sort((one, other) => byMagnitude(one.size, other.size) || (one.key < other.key ? -1 : 1))
  return ranked.slice(0, max).map(({ difference }) => difference)
}

const keyOf = ({ report, wallet }: Difference) =>
  `${(report ?? wallet)?.operation}\t${(report ?? wallet)?.transactionId}\t${report?.line ?? ''}`
