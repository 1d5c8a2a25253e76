/**
 * Time per placebet with many stored transactions, compared with few: both with the indexes of lookups and the
 * outbox.
 */
import { migratePostgres } from 'bet-wallet/postgres'
import { inTurn, ratioOf } from '../measure.js'
import type { PartResult } from '../report.js'
import { anyPlayer } from '../requests.js'
import { tally } from '../tally.js'
import {
  type BenchDatabase,
  checkBooks,
  type Ground,
  library,
  loadPast,
  quieten,
  withDatabase,
  withOutbox,
} from './ground.js'

/** Of the small database, unless the large one has fewer. */
const fewAtMost = 10_000

export function growth(ground: Ground): Promise<PartResult> {
  const { transactions, ids } = ground.options
  const fewTransactions = Math.min(fewAtMost, transactions)
  const random = ids === 'random'
  const placing = { callers: 64, player: anyPlayer }
  const named = (count: number) => `${count.toLocaleString('en')} stored`
  return withDatabase(ground, few =>
    withDatabase(ground, async many => {
      await loadPast(many, { count: transactions, random })
      // After the rows: to create an index is faster than to insert into it.
      for (const { pool } of [many, few]) await migratePostgres(pool, {}, { lookupIndexes: true })
      const [manyOn, fewOn] = [await withOutbox(many), await withOutbox(few)]
      const [ofMany, ofFew] = [tally(), tally()]
      const measured = await inTurn(
        [
          {
            ...library(manyOn, placing, ofMany, named(transactions)),
            async prepare() {
              await delivered(many)
              await quieten(many, 'bet_wallet')
            },
          },
          {
            ...library(fewOn, placing, ofFew, named(fewTransactions)),
            // Removes the bets of the previous round.
            async prepare() {
              await emptied(few)
              await delivered(few)
              ofFew.accepted = 0
              await loadPast(few, { count: fewTransactions, random })
              await quieten(few, 'bet_wallet')
            },
          },
        ],
        ground.options,
      )
      await checkBooks(many, 'bet_wallet', transactions + ofMany.accepted)
      await checkBooks(few, 'bet_wallet', fewTransactions + ofFew.accepted)
      return {
        title: `Growth: 64 concurrent callers, ids ${ids}`,
        measured,
        ratios: [
          {
            name: 'of the time per placebet',
            value: ratioOf(measured, s => 1 / s.perSecond),
            limit: { most: 1.25 },
          },
        ],
        notes: [],
      }
    }),
  )
}

/** As a relay leaves the outbox. */
async function delivered({ pool }: BenchDatabase): Promise<void> {
  await pool.query('TRUNCATE bet_wallet.outbox')
}

async function emptied({ pool }: BenchDatabase): Promise<void> {
  await pool.query(`
    UPDATE bet_wallet.players p SET balance = p.balance - t.moved
    FROM (SELECT player_id, sum(delta) AS moved FROM bet_wallet.transactions GROUP BY player_id) t
    WHERE p.player_id = t.player_id;
    TRUNCATE bet_wallet.bets, bet_wallet.transactions`)
}
