/** The processor time of each operation: how many a server of n cores carries. */
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
  type WalletOutcome,
} from 'bet-wallet'
import { median } from '../load.js'
import { drive, forSeconds, type Measured, type Sample } from '../measure.js'
import type { PartResult } from '../report.js'
import {
  anyPlayer,
  firstStored,
  nextId,
  type PlaceBet,
  placeBetOf,
  playersCount,
  settlementOf,
} from '../requests.js'
import { tally } from '../tally.js'
import { type BenchDatabase, checkBooks, type Ground, loadPast, quieten, withDatabase } from './ground.js'

const callers = 64

export function operations(ground: Ground): Promise<PartResult> {
  const { settlements, rounds, seconds } = ground.options
  return withDatabase(ground, async database => {
    const kinds = ['placebet', 'rollback', 'settlement', 'unsettlement'] as const
    const measured = kinds.map((name): Measured => ({ name, samples: [] }))
    const answers = tally()
    for (let round = 0; round < rounds; round += 1) {
      const first = firstStored + round * settlements
      await loadPast(database, { count: settlements, first })
      const send = sendersOf(database, first)
      let settled = 0
      for (const [index, kind] of kinds.entries()) {
        // Each placed bet is rolled back once, and each settled one unsettled once.
        const { length: placed } = send.placed
        const most = {
          ...{ placebet: Number.POSITIVE_INFINITY, rollback: placed },
          ...{ settlement: settlements, unsettlement: settled },
        }[kind]
        let next = 0
        const during = (time: number) => {
          const goesOn = forSeconds(time)
          const { serverTime } = database
          return drive({ callers, goesOn: () => goesOn() && next < most, serverTime }, async () => {
            next += 1
            answers.accept(await send[kind](next - 1))
          })
        }
        await quieten(database, 'bet_wallet')
        await during(seconds / 4)
        measured[index]?.samples.push(await during(seconds))
        if (kind === 'settlement') settled = next
      }
    }
    await checkBooks(database, 'bet_wallet', rounds * settlements + answers.accepted)
    return {
      title: `Processor time per operation, ${callers} callers`,
      measured,
      ratios: measured.map(({ name, samples }) => ({
        name: `${name}s per second and core, PostgreSQL and Node.js together`,
        value: median(samples.map(perCore)),
      })),
      notes:
        database.serverTime === null
          ? ['The processes of PostgreSQL are not visible: the time is that of Node.js alone.']
          : [],
    }
  })
}

/** Sends the request of an index: placebets of new bets, rollbacks of these, settlements of the bets of the past. */
function sendersOf({ store, options: { ids } }: BenchDatabase, first: number) {
  const placed: PlaceBet[] = []
  const past = (index: number) => settlementOf(first + index, String(1 + (index % playersCount)), ids)
  return {
    placed,
    async placebet(): Promise<WalletOutcome> {
      const bet = placeBetOf(anyPlayer(), ids)
      const outcome = await handlePlaceBet(store, bet)
      placed.push(bet)
      return outcome
    },
    rollback: (index: number) =>
      handleRollbackBet(store, { ...placed[index], transactionId: nextId(ids), type: 'TECHNICAL_ERROR' }),
    settlement: (index: number) => recordSettlement(store, past(index)),
    unsettlement: (index: number) => handleUnsettlement(store, { ...past(index), type: 'UNSCORED' }),
  }
}

const perCore = ({ nodeUs, serverUs }: Sample) => 1_000_000 / ((nodeUs ?? 0) + (serverUs ?? 0))
