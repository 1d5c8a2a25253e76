/** A relay that dies at each point of its work, and interleavings of two relays: no event is lost or overtakes. */
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { handlePlaceBet, recordSettlement } from '../../src/index.js'
import type { RecordedTransaction } from '../../src/lookups/index.js'
import type { Claimed, OutboxTable } from '../../src/stores/database/outbox.js'
import { placeBet, settlement } from '../fixtures.js'
import { databases, relayOf, type Wallet } from './databases.js'

/** The outbox of a process that is killed at its n-th call: before the database has it, or after. */
function dyingAt(outbox: OutboxTable, point: number, when: 'before' | 'after'): OutboxTable {
  let calls = 0
  const call =
    <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      calls += 1
      if (calls > point || (calls === point && when === 'before')) throw new Error('killed')
      const result = await method(...args)
      if (calls >= point) throw new Error('killed')
      return result
    }
  return {
    ...outbox,
    claim: call(outbox.claim),
    remove: call(outbox.remove),
    postpone: call(outbox.postpone),
  }
}

describe.each(databases.filter(({ skipped }) => skipped === null))('on $name', ({ open }) => {
  let wallet: Wallet
  beforeAll(async () => {
    wallet = await open()
  })
  afterAll(() => wallet.close())
  beforeEach(async () => {
    await wallet.rows('DELETE FROM OUTBOX')
  })

  let count = 0
  let runs = 0
  /** Commits the next event of a bet. */
  async function commit(betId: string, isFirst: boolean): Promise<void> {
    count += 1
    const transactionId = `t-${count}`
    const outcome = isFirst
      ? await handlePlaceBet(wallet.store, placeBet({ betId, transactionId, amount: '0' }))
      : await recordSettlement(wallet.store, settlement({ betId, transactionId, amount: '1' }))
    expect(outcome.ok).toBe(true)
  }
  const queued = async () => (await wallet.outbox.stats()).queued

  it.each(['before', 'after'] as const)(
    'given a relay that is killed %s each of its calls, then the next one delivers all, in order, and again only what was in delivery',
    async when => {
      for (let point = 1; point <= 9; point += 1) {
        const bets = ['a', 'b', 'c'].map(name => `${name}-${when}-${point}`)
        for (const betId of bets) await commit(betId, true)
        for (const betId of bets) await commit(betId, false)
        const delivered: RecordedTransaction[] = []
        let rejections = 0
        const deliver = async (event: RecordedTransaction) => {
          rejections += 1
          if (rejections === 2) throw new Error('once')
          delivered.push(event)
        }
        let isKilled = false
        const onError = (error: unknown) => {
          isKilled ||= (error as Error).message === 'killed'
        }
        const killed = relayOf(dyingAt(wallet.outbox, point, when), { inFlightMax: 2, deliver, onError })
        await killed.start()
        while (!isKilled && (await queued()) > 0) await wallet.passTime()
        await killed.stop()
        const survivor = relayOf(wallet.outbox, { deliver })
        await survivor.start()
        while ((await queued()) > 0) await wallet.passTime()
        await survivor.stop()

        const ids = delivered.map(({ walletTransactionId }) => walletTransactionId)
        expect(new Set(ids).size).toBe(6)
        expect(ids.length - 6).toBeLessThanOrEqual(isKilled ? 2 : 0)
        for (const betId of bets) {
          const first = new Set(
            delivered.filter(event => event.betId === betId).map(({ operation }) => operation),
          )
          expect([...first]).toEqual(['placebet', 'settlement'])
        }
      }
    },
  )

  const command = fc.oneof(
    fc.record({ do: fc.constant('commit' as const), bet: fc.nat({ max: 2 }) }),
    fc.record({
      do: fc.constant('claim' as const),
      relay: fc.nat({ max: 1 }),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
    fc.record({
      do: fc.constantFrom('accept' as const, 'fail' as const),
      relay: fc.nat({ max: 1 }),
      nth: fc.nat(),
    }),
    fc.record({ do: fc.constant('expire' as const) }),
  )

  it('given any interleaving of two relays, then no event is claimed before the earlier ones of its bet are accepted', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 10, maxLength: 40 }), async commands => {
        await wallet.rows('DELETE FROM OUTBOX')
        runs += 1
        const run = runs
        /** The events of each bet in order, and which the consumer has. */
        const committed = new Map<string, string[]>()
        const accepted = new Set<string>()
        const held: [Claimed[], Claimed[]] = [[], []]
        /** Bets with a claim whose lease has not ended. */
        const leased = new Set<string>()

        async function claim(relay: number, limit: number): Promise<number> {
          const { claimed } = await wallet.outbox.claim(limit, 600_000)
          for (const each of claimed) {
            const { betId, transactionId } = each.event
            const ofBet = committed.get(betId) ?? []
            const earlier = ofBet.slice(0, ofBet.indexOf(transactionId))
            expect(earlier.filter(id => !accepted.has(id))).toEqual([])
            expect(leased.has(betId)).toBe(false)
            leased.add(betId)
            held[relay]?.push(each)
          }
          return claimed.length
        }

        async function end(relay: number, nth: number, isAccepted: boolean): Promise<void> {
          const own = held[relay] ?? []
          const [claimed] = own.splice(nth % Math.max(1, own.length), 1)
          if (claimed === undefined) return
          const { betId, transactionId } = claimed.event
          if (isAccepted) {
            // Late, it ends the lease of another relay's duplicate too: the event is gone.
            if (!accepted.has(transactionId)) leased.delete(betId)
            accepted.add(transactionId)
            await wallet.outbox.remove([claimed])
          } else {
            await wallet.outbox.postpone([{ ...claimed, failures: 1, pauseMs: 600_000, problem: 'no' }])
          }
        }

        for (const each of commands) {
          if (each.do === 'commit') {
            const betId = `run-${run}-${each.bet}`
            const ofBet = committed.get(betId) ?? []
            await commit(betId, ofBet.length === 0)
            committed.set(betId, [...ofBet, `t-${count}`])
          } else if (each.do === 'claim') await claim(each.relay, each.limit)
          else if (each.do === 'expire') {
            await wallet.passTime()
            leased.clear()
          } else await end(each.relay, each.nth, each.do === 'accept')
        }
        while ((await queued()) > 0) {
          await wallet.passTime()
          leased.clear()
          await claim(0, 3)
          while ((held[0]?.length ?? 0) > 0) await end(0, 0, true)
        }
        expect([...accepted].sort()).toEqual([...committed.values()].flat().sort())
      }),
      { numRuns: 25 },
    )
  })
})
