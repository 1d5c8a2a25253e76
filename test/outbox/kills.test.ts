/** The program that kills wallets and relays, briefly; `test/programs/outbox/kills.ts` has the long run. */
import { describe, expect, it } from 'vitest'
import { noServer } from '../mysql/engine.js'
import { noServerOfOurOwn } from '../postgres/server.js'
import { runKills } from '../programs/outbox/kills.js'

describe.each([
  ['postgres', noServerOfOurOwn],
  ['mysql', noServer],
] as const)('given a few kills on %s', (engine, skipped) => {
  it.skipIf(skipped !== null)(
    `when the last relay has ended, then consumer and tables agree${skipped === null ? '' : ` (skipped: ${skipped})`}`,
    async () => {
      const { kills, problems } = await runKills(engine, 4)
      expect(problems).toEqual([])
      expect(kills.wallet + kills.relay).toBeGreaterThanOrEqual(4)
    },
  )
})
