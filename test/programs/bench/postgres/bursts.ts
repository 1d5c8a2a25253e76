/** All bets of an event are settled, then clawed back, while other players bet. */
import { handlePlaceBet, handleUnsettlement, recordSettlement } from 'bet-wallet'
import { drive, forSeconds, type Measured, ratioOf } from '../measure.js'
import type { PartResult } from '../report.js'
import { anyPlayer, firstStored, placeBetOf, playersCount, settlementOf } from '../requests.js'
import { tally } from '../tally.js'
import { type BenchDatabase, checkBooks, type Ground, loadPast, quieten, withDatabase } from './ground.js'

const burstCallers = 256
const betters = 16
const pauseMs = 10

export function bursts(ground: Ground): Promise<PartResult> {
  const { settlements, rounds, seconds, ids } = ground.options
  return withDatabase(ground, async database => {
    const named = (name: string): Measured => ({ name, samples: [] })
    const measured = {
      alone: named('placebets alone'),
      settling: named('settlements'),
      duringSettling: named('placebets meanwhile'),
      clawing: named('clawbacks'),
      duringClawing: named('placebets meanwhile'),
    }
    const answers = tally()
    const placing = (goesOn: () => boolean) => {
      const { store, serverTime } = database
      return drive({ callers: betters, pauseMs, goesOn, serverTime }, async () => {
        answers.accept(await handlePlaceBet(store, placeBetOf(anyPlayer(), ids)))
      })
    }
    for (let round = 0; round < rounds; round += 1) {
      const first = firstStored + round * settlements
      await loadPast(database, { count: settlements, first })
      await quieten(database, 'bet_wallet')
      await placing(forSeconds(seconds / 4))
      measured.alone.samples.push(await placing(forSeconds(seconds)))

      const operations = [
        ['settling', 'duringSettling', recordSettlement],
        ['clawing', 'duringClawing', handleUnsettlement],
      ] as const
      for (const [burst, during, handle] of operations) {
        await quieten(database, 'bet_wallet')
        let going = true
        const meanwhile = placing(() => going)
        const sample = await burstOf(database, settlements, index => {
          const playerId = String(1 + (index % playersCount))
          const settlement = settlementOf(first + index, playerId, ids)
          return handle(
            database.store,
            handle === handleUnsettlement ? { ...settlement, type: 'UNSCORED' } : settlement,
          ).then(answers.accept.bind(answers))
        }).finally(() => {
          going = false
        })
        measured[burst].samples.push(sample)
        // Processor time is counted for the burst: the two cannot be separated.
        measured[during].samples.push({ ...(await meanwhile), nodeUs: null, serverUs: null })
      }
    }
    await checkBooks(database, 'bet_wallet', rounds * settlements + answers.accepted)
    const { alone, settling, duringSettling, clawing, duringClawing } = measured
    return {
      title: `Bursts: ${settlements.toLocaleString('en')} bets of one event, ${burstCallers} at a time, while ${betters} callers bet with pauses of ${pauseMs} ms`,
      measured: [alone, settling, duringSettling, clawing, duringClawing],
      ratios: [
        {
          name: 'times the p99 of placebets while it is settled',
          value: ratioOf([duringSettling, alone], s => s.p99Ms),
          limit: { most: 1.5 },
        },
        {
          name: 'times the p99 of placebets while it is clawed back',
          value: ratioOf([duringClawing, alone], s => s.p99Ms),
          limit: { most: 1.5 },
        },
      ],
      notes: ['The processor time of a burst includes that of the placebets meanwhile.'],
    }
  })
}

/** Sends every index once. */
function burstOf(
  { serverTime }: BenchDatabase,
  count: number,
  send: (index: number) => Promise<void>,
): ReturnType<typeof drive> {
  let next = 0
  return drive({ callers: burstCallers, goesOn: () => next < count, serverTime }, () => {
    const index = next
    next += 1
    return send(index)
  })
}
