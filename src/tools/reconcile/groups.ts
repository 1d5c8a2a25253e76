/** Sums of differences per bet or per player, of any number of them, in bounded memory. */
import { byMagnitude, difference, sumOf } from './amounts.js'
import { groupsBy } from './partitions.js'
import type { CurrencyTotal } from './totals.js'

/** The differences of one bet or player in one currency, and what each side counts in these. */
export interface GroupSum extends CurrencyTotal {
  /** betId or playerId; `null`: the report does not say. */
  id: string | null
  /** How many differences name it. */
  count: number
}

/** What the sides count of one difference, under the bet or player that they name. */
export type Part = Pick<GroupSum, 'id' | 'currency' | 'report' | 'wallet'>

/**
 * The groups with the largest differences.
 *
 * @param partitions the parts of a bet or player are in the same one
 * @param max how many are returned; the others are counted
 */
export function largestGroups(partitions: Iterable<Part[]>, max: number) {
  let groups: GroupSum[] = []
  let count = 0
  for (const parts of partitions) {
    const found = groupsBy(parts, keyOf).map(groupOf)
    count += found.length
    groups = [...groups, ...found].sort(bySize).slice(0, max)
  }
  return { groups, omitted: count - groups.length }
}

function groupOf(parts: readonly Part[]): GroupSum {
  const { id, currency } = parts[0] as Part
  const report = sumOf(parts.map(part => part.report))
  const wallet = sumOf(parts.map(part => part.wallet))
  return { id, currency, count: parts.length, report, wallet, difference: difference(wallet, report) }
}

const keyOf = ({ id, currency }: Pick<Part, 'id' | 'currency'>) => `${id}\t${currency}`

const bySize = (one: GroupSum, other: GroupSum) =>
  byMagnitude(one.difference, other.difference) || (keyOf(one) < keyOf(other) ? -1 : 1)
