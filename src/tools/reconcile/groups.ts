/** Sums of differences per bet or per player, of any number of them, in bounded memory. */
import { compare, type DecimalText, magnitudeOf, Sum, subtract } from './amounts.js'
import { linesOf, partitionOf, partitions, Spool } from './spool.js'

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

export class Groups {
  readonly #spool = new Spool()

  add(id: string | null, currency: string | null, report: DecimalText, wallet: DecimalText): void {
    this.#spool.add(partitionOf(id ?? ''), [id ?? '', currency ?? '', report, wallet].join('\t'))
  }

  /**
   * The groups with the largest differences.
   *
   * @param max how many are returned; the others are counted
   */
  largest(max: number): { groups: GroupSum[]; omitted: number } {
    let kept: GroupSum[] = []
    let count = 0
    for (let partition = 0; partition < partitions; partition += 1) {
      const groups = groupsOf(linesOf(this.#spool, partition))
      count += groups.length
      kept = [...kept, ...groups].sort(bySize).slice(0, max)
    }
    return { groups: kept, omitted: count - kept.length }
  }

  close(): void {
    this.#spool.close()
  }
}

function groupsOf(lines: Iterable<string>): GroupSum[] {
  const groups = new Map<string, { id: string; currency: string; count: number; report: Sum; wallet: Sum }>()
  for (const line of lines) {
    const [id = '', currency = '', report = '0', wallet = '0'] = line.split('\t')
    const key = `${id}\t${currency}`
    const group = groups.get(key) ?? { id, currency, count: 0, report: new Sum(), wallet: new Sum() }
    groups.set(key, group)
    group.count += 1
    group.report.add(report)
    group.wallet.add(wallet)
  }
  return [...groups.values()].map(({ id, currency, count, ...sums }) => {
    const [report, wallet] = [sums.report.total(), sums.wallet.total()]
    const difference = subtract(wallet, report)
    return { id: id || null, currency: currency || null, count, report, wallet, difference }
  })
}

function bySize(one: GroupSum, other: GroupSum): number {
  const size = compare(magnitudeOf(other.difference), magnitudeOf(one.difference))
  if (size !== 0) return size
  return `${one.id}\t${one.currency}` < `${other.id}\t${other.currency}` ? -1 : 1
}
