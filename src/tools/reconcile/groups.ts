/** Sums of differences per bet or per player, of any number of them, in bounded memory. */
import { textOf } from '../numbers/decimal.js'
import { byMagnitude, type DecimalText, difference, Sum } from './amounts.js'
import { groupsBy, Partitions } from './partitions.js'

/** The differences of one bet or player in one currency. */
export interface GroupSum {
  /** betId or playerId; `null`: the report does not say. */
  id: string | null
  /** `null`: unknown. */
  currency: string | null
  /** How many differences name it. */
  count: number
  /** The change of the player's balance that the platform counts in these differences. */
  report: DecimalText
  wallet: DecimalText
  /** What the player has in the wallet more (positive) or less than the report says. */
  difference: DecimalText
}

/** What one side counts of one difference. */
type Part = Pick<GroupSum, 'id' | 'currency' | 'report' | 'wallet'>
type NumberedPart = Part & { difference: number }

export class Groups {
  readonly #parts = new Partitions<NumberedPart>()

  /** @param difference the number of the difference to which the parts belong */
  add(difference: number, parts: readonly Part[]): void {
    for (const part of parts) this.#parts.add(part.id ?? '', { ...part, difference })
  }

  /**
   * The groups with the largest differences.
   *
   * @param max how many are returned; the others are counted
   */
  largest(max: number): { groups: GroupSum[]; omitted: number } {
    let kept: GroupSum[] = []
    let count = 0
    for (const parts of this.#parts) {
      const groups = groupsBy(parts, keyOf).map(sumOf)
      count += groups.length
      kept = [...kept, ...groups].sort(bySize).slice(0, max)
    }
    return { groups: kept, omitted: count - kept.length }
  }

  close(): void {
    this.#parts.close()
  }
}

function sumOf(parts: readonly NumberedPart[]): GroupSum {
  const { id, currency } = parts[0] as NumberedPart
  const [inReport, inWallet] = [new Sum(), new Sum()]
  for (const part of parts) {
    inReport.add(part.report)
    inWallet.add(part.wallet)
  }
  const [report, wallet] = [textOf(inReport.total()), textOf(inWallet.total())]
  const count = new Set(parts.map(part => part.difference)).size
  return { id, currency, count, report, wallet, difference: difference(wallet, report) }
}

const keyOf = ({ id, currency }: Pick<Part, 'id' | 'currency'>) => `${id}\t${currency}`

const bySize = (one: GroupSum, other: GroupSum) =>
  byMagnitude(one.difference, other.difference) || (keyOf(one) < keyOf(other) ? -1 : 1)
