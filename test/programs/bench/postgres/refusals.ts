/**
 * Final refusals: what the proof costs that the server is the primary, against the same store without it. Alone, and
 * beside placebets, whose commits flush the same log.
 */
import { handlePlaceBet, recordSettlement, type WalletStore } from 'bet-wallet'
import { type Contestant, drive, forSeconds, inTurn, ratioOf } from '../measure.js'
import type { PartResult } from '../report.js'
import { anyPlayer, firstStored, placeBetOf, settlementOf } from '../requests.js'
import { type BenchDatabase, type Ground, quieten, withDatabase } from './ground.js'

export function refusals(ground: Ground): Promise<PartResult> {
  return withDatabase(ground, async database => {
    const results = []
    for (const [callers, placing] of [
      [64, 0],
      [1, 0],
      [32, 32],
    ] as const) {
      const name = `${callers} callers${placing === 0 ? '' : ` beside ${placing} who place bets`}`
      const loads = { callers, placing }
      const measured = await inTurn(
        [
          refused(database, loads, database.store, `${name}, confirmed`),
          refused(database, loads, withoutProof(database.store), `${name}, not confirmed`),
        ],
        ground.options,
      )
      const latency = ratioOf(measured, sample => sample.p50Ms)
      const ratio = { name: `of the latency (p50), ${name}`, value: latency }
      results.push({ measured, ratio: callers === 1 ? ratio : { ...ratio, limit: { most: 1.5 } } })
    }
    return {
      title: 'Settlements of unknown bets: refused',
      measured: results.flatMap(({ measured }) => measured),
      ratios: results.map(({ ratio }) => ratio),
      notes: [],
    }
  })
}

function withoutProof({ contractVersion, load, commit }: WalletStore): WalletStore {
  return { contractVersion, load, commit }
}

function refused(
  database: BenchDatabase,
  { callers, placing }: { callers: number; placing: number },
  store: WalletStore,
  name: string,
): Contestant {
  const { serverTime, options } = database
  const refuse = async () => {
    const outcome = await recordSettlement(store, settlementOf(firstStored - 1, anyPlayer(), options.ids))
    if (outcome.ok || outcome.errorCode !== 'INVALID_BET') throw new Error(JSON.stringify(outcome))
  }
  const place = async () => {
    const outcome = await handlePlaceBet(store, placeBetOf(anyPlayer(), options.ids))
    if (!outcome.ok) throw new Error(JSON.stringify(outcome))
  }
  return {
    name,
    prepare: () => quieten(database, 'bet_wallet'),
    async run(seconds) {
      const goesOn = forSeconds(seconds)
      const [measured] = await Promise.all([
        drive({ callers, goesOn, serverTime }, refuse),
        drive({ callers: placing, goesOn, serverTime: null }, place),
      ])
      return measured
    },
  }
}
