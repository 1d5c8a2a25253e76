/** Collects differences: counts all of them, keeps the first of each kind, and sums them per bet and player. */
import { addTo, compare, type DecimalText, isZero, magnitudeOf, Sum, subtract } from './amounts.js'
import {
  type Difference,
  type DifferenceKind,
  differenceKinds,
  kindTitles,
  type Planned,
} from './difference.js'
import { countedOf } from './entry.js'
import { explanationOf } from './explanations.js'
import { createGroups, type GroupSum } from './groups.js'
import { differingFields } from './pairs.js'
import { sendingOrder } from './sending-order.js'

/** All differences of one kind. */
export interface KindTotal {
  kind: DifferenceKind
  title: string
  count: number
  /** How many of them need an action. */
  open: number
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

export interface Collection {
  add(planned: Planned): void
  result(): Collected
  /** Per currency, the sum of the effects of all differences. */
  effects(): ReadonlyMap<string | null, Sum>
  close(): void
}

/** Of bets, and of players. */
const groupsMax = 100

/**
 * @param max how many differences are kept of each kind: the largest, and of what never arrived the first to be sent
 * @param each is called with every difference
 */
export function createCollection(max: number, each: (difference: Difference) => void): Collection {
  const kept = new Map<DifferenceKind, Difference[]>()
  const counts = new Map<
    DifferenceKind,
    { count: number; open: number; gross: Sum; sums: Map<string | null, Sum> }
  >()
  const bets = createGroups()
  const players = createGroups()
  return {
    add(planned) {
      const difference = differenceOf(planned)
      const { kind, effects } = difference
      each(difference)
      const total = counts.get(kind) ?? { count: 0, open: 0, gross: new Sum(), sums: new Map() }
      total.count += 1
      if (difference.repair.by !== 'none') total.open += 1
      for (const { currency, amount } of effects) {
        total.gross.add(magnitudeOf(amount))
        addTo(total.sums, currency, amount)
      }
      counts.set(kind, total)
      group(bets, difference, 'betId')
      group(players, difference, 'playerId')
      const list = kept.get(kind) ?? []
      list.push(difference)
      kept.set(kind, list.length >= 2 * max ? firstOf(kind, list, max) : list)
    },
    result() {
      const kinds = differenceKinds.flatMap((kind): KindTotal[] => {
        const total = counts.get(kind)
        if (total === undefined) return []
        const effects = [...total.sums].map(([currency, sum]) => ({ currency, amount: sum.total() }))
        return [{ kind, title: kindTitles[kind], count: total.count, open: total.open, effects }]
      })
      const gross = ({ kind }: KindTotal) => counts.get(kind)?.gross.total() ?? '0'
      kinds.sort((one, other) => compare(gross(other), gross(one)))
      const differences = kinds.flatMap(({ kind }) => firstOf(kind, kept.get(kind) ?? [], max))
      const count = kinds.reduce((sum, kind) => sum + kind.count, 0)
      const [ofBets, ofPlayers] = [bets.largest(groupsMax), players.largest(groupsMax)]
      return {
        ...{ kinds, differences, differencesOmitted: count - differences.length },
        ...{ bets: ofBets.groups, betsOmitted: ofBets.omitted },
        ...{ players: ofPlayers.groups, playersOmitted: ofPlayers.omitted },
      }
    },
    effects() {
      const sums = new Map<string | null, Sum>()
      for (const { sums: ofKind } of counts.values()) {
        for (const [currency, sum] of ofKind) addTo(sums, currency, sum.total())
      }
      return sums
    },
    close() {
      bets.close()
      players.close()
    },
  }
}

function differenceOf(planned: Planned): Difference {
  const { kind, row, record, repair } = planned
  return {
    kind,
    report: row,
    wallet: record,
    fields: row === null || record === null ? [] : differingFields(row, record),
    effects: effectsOf(row, isDuplicate(kind) ? null : record),
    explanation: explanationOf(planned),
    repair,
  }
}

const isDuplicate = (kind: DifferenceKind) =>
  kind === 'duplicate-in-report' || kind === 'conflicting-in-report'

/** What the wallet counts minus what the report counts; of a duplicate, the wallet has counted the first one. */
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
function group(
  groups: ReturnType<typeof createGroups>,
  { kind, report, wallet }: Difference,
  field: 'betId' | 'playerId',
): void {
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

/** The largest effects first; among equals, in the order of their ids. */
function largest(differences: readonly Difference[], max: number): Difference[] {
  const ranked = differences.map(difference => ({
    difference,
    size: sizeOf(difference),
    id: idOf(difference),
  }))
  ranked.sort((one, other) => compare(other.size, one.size) || (one.id < other.id ? -1 : 1))
  return ranked.slice(0, max).map(({ difference }) => difference)
}

const sizeOf = ({ effects }: Difference): DecimalText =>
  effects.reduce(
    (most, { amount }) => (compare(magnitudeOf(amount), most) > 0 ? magnitudeOf(amount) : most),
    '0',
  )

const idOf = ({ report, wallet }: Difference) =>
  `${(report ?? wallet)?.operation}\t${(report ?? wallet)?.transactionId}\t${report?.line ?? ''}`
