/** What the outbox costs a placebet: the same store, with it and without. */
import { inTurn, ratioOf } from '../measure.js'
import type { PartResult } from '../report.js'
import { anyPlayer } from '../requests.js'
import { tally } from '../tally.js'
import { checkBooks, type Ground, library, withDatabase, withOutbox } from './ground.js'

export function outbox(ground: Ground): Promise<PartResult> {
  const placing = { callers: 64, player: anyPlayer }
  return withDatabase(ground, plain =>
    withDatabase(ground, async database => {
      const on = await withOutbox(database)
      const [ofWith, ofWithout] = [tally(), tally()]
      const measured = await inTurn(
        [library(on, placing, ofWith, 'with the outbox'), library(plain, placing, ofWithout, 'without it')],
        ground.options,
      )
      await checkBooks(on, 'bet_wallet', ofWith.accepted)
      await checkBooks(plain, 'bet_wallet', ofWithout.accepted)
      const { rows } = await database.pool.query<{ events: number }>(
        'SELECT count(*)::integer AS events FROM bet_wallet.outbox',
      )
      if (rows[0]?.events !== ofWith.accepted)
        throw new Error(`${rows[0]?.events} events of ${ofWith.accepted} placebets`)
      return {
        title: 'The outbox: 64 concurrent callers',
        measured,
        ratios: [
          {
            name: 'times the placebets per second',
            value: ratioOf(measured, s => s.perSecond),
            limit: { least: 0.9 },
          },
        ],
        notes: [],
      }
    }),
  )
}
