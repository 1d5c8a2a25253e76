/**
 * Many callers, one lone caller, and many callers for one player: the library against hand-written code with
 * prepared statements.
 */

import { inTurn, ratioOf } from '../measure.js'
import type { PartResult, Ratio } from '../report.js'
import { anyPlayer } from '../requests.js'
import { type Placing, tally } from '../tally.js'
import { byHand, checkBooks, type Ground, library, withDatabase } from './ground.js'

function compared(
  title: string,
  placing: Placing,
  ratios: (measured: Awaited<ReturnType<typeof inTurn>>) => Ratio[],
): (ground: Ground) => Promise<PartResult> {
  return ground =>
    withDatabase(ground, async database => {
      const [ours, theirs] = [tally(), tally()]
      const measured = await inTurn(
        [library(database, placing, ours), byHand(database, placing, theirs)],
        ground.options,
      )
      await checkBooks(database, 'bet_wallet', ours.accepted)
      await checkBooks(database, 'hand_written', theirs.accepted)
      return { title, measured, ratios: ratios(measured), notes: [] }
    })
}

export const crowd = compared('64 concurrent callers', { callers: 64, player: anyPlayer }, measured => [
  { name: 'times the placebets per second', value: ratioOf(measured, s => s.perSecond), limit: { least: 7 } },
  { name: 'of the p99', value: ratioOf(measured, s => s.p99Ms), limit: { most: 1 } },
])

export const lone = compared('One lone caller', { callers: 1, player: anyPlayer }, measured => [
  { name: 'of the latency (p50)', value: ratioOf(measured, s => s.p50Ms), limit: { most: 0.7 } },
])

export const hotPlayer = compared(
  'One player alone, 256 concurrent bets',
  { callers: 256, player: () => '1' },
  measured => [
    {
      name: 'times the placebets per second',
      value: ratioOf(measured, s => s.perSecond),
      limit: { least: 0.8 },
    },
  ],
)
