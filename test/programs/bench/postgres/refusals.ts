/** Final refusals: what the proof costs that the server is the primary, against the same store without it. */
import { recordSettlement, type WalletStore } from 'bet-wallet'
import { type Contestant, drive, forSeconds, inTurn, ratioOf } from '../measure.js'
import type { PartResult } from '../report.js'
import { anyPlayer, firstStored, settlementOf } from '../requests.js'
import { type BenchDatabase, type Ground, quieten, withDatabase } from './ground.js'

export function refusals(ground: Ground): Promise<PartResult> {
  return withDatabase(ground, async database => {
    const results = []
    for (const callers of [64, 1]) {
      const measured = await inTurn(
        [
          refused(database, callers, database.store, `${callers} callers, confirmed`),
          refused(database, callers, withoutProof(database.store), `${callers} callers, not confirmed`),
        ],
        ground.options,
      )
      const latency = ratioOf(measured, sample => sample.p50Ms)
      results.push({ measured, ratio: { name: `of the latency (p50), ${callers} callers`, value: latency } })
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

function refused(database: BenchDatabase, callers: number, store: WalletStore, name: string): Contestant {
  const { serverTime, options } = database
  return {
    name,
    prepare: () => quieten(database, 'bet_wallet'),
    run: seconds =>
      drive({ callers, goesOn: forSeconds(seconds), serverTime }, async () => {
        const settlement = settlementOf(firstStored - 1, anyPlayer(), options.ids)
        const outcome = await recordSettlement(store, settlement)
        if (outcome.ok || outcome.errorCode !== 'INVALID_BET') throw new Error(JSON.stringify(outcome))
      }),
  }
}
