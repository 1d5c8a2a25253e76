/** What the indexes of lookups cost a placebet: the same store, with them and without. */
import { migratePostgres } from 'bet-wallet/postgres'
import { inTurn, ratioOf } from '../measure.js'
import type { PartResult } from '../report.js'
import { anyPlayer } from '../requests.js'
import { tally } from '../tally.js'
import { checkBooks, type Ground, library, loadPast, withDatabase } from './ground.js'

/** So many that the indexes have their usual depth. Fewer with a small `--transactions`. */
const storedAtMost = 200_000

export function lookupIndexes(ground: Ground): Promise<PartResult> {
  const { ids, transactions } = ground.options
  const storedTransactions = Math.min(storedAtMost, transactions)
  const placing = { callers: 64, player: anyPlayer }
  const past = { count: storedTransactions, random: ids === 'random' }
  return withDatabase(ground, plain =>
    withDatabase(ground, async indexed => {
      await migratePostgres(indexed.pool, {}, { lookupIndexes: true })
      await loadPast(indexed, past)
      await loadPast(plain, past)
      const [ofWith, ofWithout] = [tally(), tally()]
      const measured = await inTurn(
        [
          library(indexed, placing, ofWith, 'with the indexes of lookups'),
          library(plain, placing, ofWithout, 'without them'),
        ],
        ground.options,
      )
      await checkBooks(indexed, 'bet_wallet', storedTransactions + ofWith.accepted)
      await checkBooks(plain, 'bet_wallet', storedTransactions + ofWithout.accepted)
      return {
        title: `The indexes of lookups: 64 concurrent callers, ids ${ids}`,
        measured,
        ratios: [
          {
            name: 'times the placebets per second',
            value: ratioOf(measured, s => s.perSecond),
            limit: { least: 0.95 },
          },
        ],
        notes: [],
      }
    }),
  )
}
