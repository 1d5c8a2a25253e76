/** The clock of the database goes back: what is due at a time of the future is delivered, in order, and looks late. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { handlePlaceBet, recordSettlement } from '../../src/index.js'
import { placeBet, settlement } from '../fixtures.js'
import { databases, relayOf, type Wallet } from './databases.js'

const hour = 3_600_000

describe.each(databases.filter(({ skipped }) => skipped === null))('on $name', ({ open }) => {
  let wallet: Wallet
  beforeAll(async () => {
    wallet = await open()
  })
  afterAll(() => wallet.close())
  beforeEach(async () => {
    await wallet.rows('DELETE FROM OUTBOX')
  })

  let bets = 0
  async function events(count: number): Promise<string[]> {
    bets += 1
    const betId = `bet-${bets}`
    const ids = Array.from({ length: count }, (_, n) => `t-${bets}-${n}`)
    for (const [n, transactionId] of ids.entries()) {
      const own = { betId, transactionId, amount: '0' }
      if (n === 0) await handlePlaceBet(wallet.store, placeBet(own))
      // Recorded refusals (D10).
      else await recordSettlement(wallet.store, settlement(own))
    }
    return ids
  }
  /** As if the clock had been ahead by so many hours when these times were written. */
  const clockGoesBack = (hours: number) =>
    wallet.rows(
      `UPDATE OUTBOX SET due_at = ${wallet.inHoursSql(hours)}, recorded_at = ${wallet.inHoursSql(hours)}`,
    )
  const claimedIds = async (leaseMs = 600_000) =>
    (await wallet.outbox.claim(10, leaseMs)).claimed.map(({ event }) => event.transactionId)

  it.each([1, 48])(
    'given a clock that goes back by %i hours, then all events are delivered at once, those of a bet in order',
    async hours => {
      const all = [await events(2), await events(2), await events(2)]
      // One is leased, by a relay that is no more.
      await wallet.outbox.claim(1, 60_000)
      await clockGoesBack(hours)
      const delivered: string[] = []
      const relay = relayOf(wallet.outbox, {
        inFlightMax: 2,
        deliver: async ({ transactionId }) => delivered.push(transactionId),
      })
      await relay.start()
      while ((await relay.stats()).queued > 0) await new Promise(resolve => setTimeout(resolve, 5))
      await relay.stop()
      expect([...delivered].sort()).toEqual(all.flat().sort())
      for (const ids of all) expect(delivered.filter(id => ids.includes(id))).toEqual(ids)
    },
  )

  it('given a clock that goes back, then the age of the oldest event is positive, and more than that', async () => {
    await events(1)
    await clockGoesBack(2)
    const { oldestMs } = await wallet.outbox.stats()
    expect(oldestMs).toBeGreaterThan(2 * hour - 60_000)
    expect(oldestMs).toBeLessThan(2 * hour + 60_000)
  })

  it('given the longest lease and the longest pause, then no relay takes the event meanwhile', async () => {
    const [first] = await events(2)
    // timeoutMs of 14 minutes, and the margin.
    expect(await claimedIds(870_000)).toEqual([first])
    expect(await claimedIds()).toEqual([])
    await wallet.passTime()
    const { claimed } = await wallet.outbox.claim(1, 60_000)
    await wallet.outbox.postpone(
      claimed.map(each => ({ ...each, failures: 1, pauseMs: 840_000, problem: 'no' })),
    )
    expect(await claimedIds()).toEqual([])
  })

  it('given an event that fails for ever, then its pauses stay below the bound', async () => {
    await events(1)
    const pauses: (number | null)[] = []
    const relay = relayOf(
      {
        ...wallet.outbox,
        postpone(failed) {
          pauses.push(...failed.map(({ pauseMs }) => pauseMs))
          return wallet.outbox.postpone(failed)
        },
      },
      { attemptsMax: 14, deliver: () => Promise.reject(new Error('no')) },
    )
    await relay.start()
    while ((await relay.stats()).dead === 0) {
      await wallet.passTime()
      // PGlite answers without a turn of the event loop.
      await new Promise(resolve => setTimeout(resolve, 2))
    }
    await relay.stop()
    expect(pauses.slice(0, -1)).toEqual(
      [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 840, 840, 840].map(s => s * 1_000),
    )
    expect(pauses.at(-1)).toBe(null)
  })

  it('given an event behind one of another clock, then it waits for its lease, and not until that time', async () => {
    const [first] = await events(2)
    expect(await claimedIds()).toEqual([first])
    await wallet.rows(`UPDATE OUTBOX SET due_at = ${wallet.inHoursSql(2)} WHERE attempts > 0`)
    await wallet.rows(`UPDATE OUTBOX SET due_at = ${wallet.inHoursSql(-1)} WHERE attempts = 0`)
    // What is due comes before what only looks so.
    const { claimed } = await wallet.outbox.claim(1, 600_000)
    expect(claimed).toEqual([])
    const [blocked] = await wallet.rows(`SELECT ${wallet.pauseSql} AS pause FROM OUTBOX WHERE attempts = 0`)
    // Otherwise it would be due again at once.
    expect(Number(blocked?.pause)).toBeGreaterThan(0)
    expect(Number(blocked?.pause)).toBeLessThanOrEqual(600)
    expect(await claimedIds()).toEqual([first])
  })
})

it('given a time limit of more than 14 minutes, then it is refused: its lease would look like one of another clock', () => {
  const table = {} as Wallet['outbox']
  expect(() => relayOf(table, { deliver: async () => {}, timeoutMs: 840_001 })).toThrow(
    'timeoutMs must be a whole number from 1 to 840000',
  )
  relayOf(table, { deliver: async () => {}, timeoutMs: 840_000 })
})
