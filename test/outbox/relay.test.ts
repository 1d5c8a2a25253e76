/** The relay: at least once, in the order of each bet, with pauses, dead letters and several relays. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { handlePlaceBet, recordSettlement } from '../../src/index.js'
import type { RecordedTransaction } from '../../src/lookups/index.js'
import type { OutboxTable } from '../../src/stores/database/outbox.js'
import type { Delivery, Relay, RelayOptions } from '../../src/stores/database/relay.js'
import { placeBet, settlement } from '../fixtures.js'
import { until } from '../until.js'
import { databases, relayOf, type Wallet, withLongPauses } from './databases.js'

/** A consumer that ends each delivery when the test says so. */
class HeldConsumer {
  readonly calls: { event: RecordedTransaction; delivery: Delivery; end(error?: Error): void }[] = []
  readonly deliver: RelayOptions['deliver'] = (event, delivery) =>
    new Promise<void>((resolve, reject) => {
      this.calls.push({ event, delivery, end: error => (error === undefined ? resolve() : reject(error)) })
    })
  /** The transactionIds of all calls so far. */
  get ids() {
    return this.calls.map(({ event }) => event.transactionId)
  }
  async call(count: number) {
    await until(() => this.calls.length >= count)
    return this.calls[count - 1] as (typeof this.calls)[number]
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

  let bets = 0
  /** A bet with two events: `p-<n>` and `s-<n>`. */
  async function twoEvents(): Promise<[placed: string, settled: string]> {
    bets += 1
    const betId = `bet-${bets}`
    await handlePlaceBet(wallet.store, placeBet({ betId, transactionId: `p-${bets}`, amount: '1' }))
    await recordSettlement(wallet.store, settlement({ betId, transactionId: `s-${bets}`, amount: '1' }))
    return [`p-${bets}`, `s-${bets}`]
  }
  async function running(options: RelayOptions, outbox: OutboxTable = wallet.outbox): Promise<Relay> {
    const relay = relayOf(outbox, options)
    await relay.start()
    return relay
  }
  const emptied = () => until(async () => (await wallet.outbox.stats()).oldestMs === null)

  it('given two bets, then the second event of a bet waits for its first, and not for the other bet', async () => {
    const [placed, settled] = await twoEvents()
    const [otherPlaced, otherSettled] = await twoEvents()
    const consumer = new HeldConsumer()
    const relay = await running({ deliver: consumer.deliver })
    await consumer.call(2)
    expect(consumer.ids.sort()).toEqual([placed, otherPlaced])
    consumer.calls.find(({ event }) => event.transactionId === otherPlaced)?.end()
    await consumer.call(3)
    expect(consumer.ids[2]).toBe(otherSettled)
    expect(consumer.calls[2]?.delivery.attempt).toBe(1)
    for (const { end } of consumer.calls) end()
    const last = await consumer.call(4)
    expect(last.event.transactionId).toBe(settled)
    last.end()
    await relay.stop()
    expect(await wallet.outbox.stats()).toEqual({ queued: 0, oldestMs: null, dead: 0 })
  })

  it('given a consumer that rejects, then the event comes again after growing pauses, and its bet waits', async () => {
    const [placed, settled] = await twoEvents()
    const errors: unknown[] = []
    const consumer = new HeldConsumer()
    const pauses: (number | null)[] = []
    const relay = await running(
      {
        deliver: consumer.deliver,
        onError: (error, event) => errors.push([(error as Error).message, event?.transactionId]),
      },
      {
        ...wallet.outbox,
        postpone(failed) {
          pauses.push(...failed.map(({ pauseMs }) => pauseMs))
          return withLongPauses(wallet.outbox).postpone(failed)
        },
      },
    )
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const call = await consumer.call(attempt)
      expect(call.delivery.attempt).toBe(attempt)
      call.end(new Error(`answered 500, \0 ${attempt}`))
      await until(async () => (await rowOf(placed)).problem === `answered 500,  ${attempt}`)
      await wallet.passTime()
    }
    ;(await consumer.call(4)).end()
    ;(await consumer.call(5)).end()
    await emptied()
    await relay.stop()
    expect(consumer.ids).toEqual([placed, placed, placed, placed, settled])
    expect(errors).toEqual([1, 2, 3].map(attempt => [`answered 500, \0 ${attempt}`, placed]))
    expect(pauses).toEqual([1_000, 2_000, 4_000])
  })

  /** The row of the first event of a bet that is not delivered. */
  async function rowOf(placed: string): Promise<Record<string, unknown>> {
    const [row] = await wallet.rows(
      `SELECT problem, attempts, ${wallet.pauseSql} AS pause FROM OUTBOX
        WHERE bet_id = 'bet-${placed.slice(2)}' ORDER BY event_number LIMIT 1`,
    )
    return row ?? {}
  }

  it('given a delivery that has failed, then the event is due after its pause', async () => {
    const [placed] = await twoEvents()
    const { claimed } = await wallet.outbox.claim(1, 60_000)
    await wallet.outbox.postpone(
      claimed.map(each => ({ ...each, failures: 1, pauseMs: 900_000, problem: 'no' })),
    )
    const seconds = Number((await rowOf(placed)).pause)
    expect(seconds).toBeLessThanOrEqual(900)
    expect(seconds).toBeGreaterThan(600)
  })

  it('given an event that fails too often, then it is a dead letter, blocks its bet alone, and can be retried', async () => {
    const [placed, settled] = await twoEvents()
    const [otherPlaced, otherSettled] = await twoEvents()
    let broken = true
    const delivered: string[] = []
    const attempts: number[] = []
    const relay = await running({
      attemptsMax: 2,
      async deliver({ transactionId }, { attempt }) {
        if (transactionId === placed) attempts.push(attempt)
        if (broken && transactionId === placed) throw new Error('no')
        delivered.push(transactionId)
      },
    })
    await until(async () => {
      await wallet.passTime()
      return (await relay.stats()).dead === 1 && delivered.length === 2
    })
    await wallet.passTime()
    expect(await relay.stats()).toMatchObject({ queued: 1, dead: 1, oldestMs: expect.any(Number) })
    expect(delivered).toEqual([otherPlaced, otherSettled])
    broken = false
    expect(await relay.retryDeadLetters()).toBe(1)
    await emptied()
    await relay.stop()
    expect(delivered).toEqual([otherPlaced, otherSettled, placed, settled])
    expect(attempts).toEqual([1, 2, 3])
  })

  it('given two relays, then each event is delivered once, and those of a bet in order', async () => {
    const ids: string[] = []
    for (let n = 0; n < 20; n += 1) ids.push(...(await twoEvents()))
    const seen: string[] = []
    const errors: unknown[] = []
    const options: RelayOptions = {
      async deliver({ transactionId }) {
        // Not `setImmediate`: PGlite works in this process, so the pauses of two relays and of `emptied` may
        // follow each other without an end of their phase of the event loop.
        await new Promise(resolve => setTimeout(resolve))
        seen.push(transactionId)
      },
      inFlightMax: 3,
      onError: error => errors.push(error),
    }
    const relays = [await running(options), await running(options)]
    await emptied()
    await Promise.all(relays.map(relay => relay.stop()))
    expect(errors).toEqual([])
    expect([...seen].sort()).toEqual([...ids].sort())
    for (const id of ids.filter(id => id.startsWith('p-')))
      expect(seen.indexOf(id)).toBeLessThan(seen.indexOf(id.replace('p', 's')))
  })

  it('given a consumer that hangs, then its signal is aborted, the attempt has failed, and others go on', async () => {
    const [placed] = await twoEvents()
    const [otherPlaced, otherSettled] = await twoEvents()
    const hanging: AbortSignal[] = []
    const delivered: string[] = []
    const relay = await running({
      timeoutMs: 20,
      deliver: ({ transactionId }, { signal }) => {
        if (transactionId === placed) {
          hanging.push(signal)
          return new Promise(() => {})
        }
        delivered.push(transactionId)
        return Promise.resolve()
      },
    })
    await until(
      async () => (await rowOf(placed)).problem === 'No answer within 20 ms' && delivered.length === 2,
    )
    await relay.stop()
    // On a busy machine it has been delivered again.
    expect(hanging[0]?.aborted).toBe(true)
    expect(delivered).toEqual([otherPlaced, otherSettled])
  })

  it('given a consumer that accepts after the lease, then the event is removed, and the later one comes once', async () => {
    const [placed, settled] = await twoEvents()
    const [slow, other] = [new HeldConsumer(), new HeldConsumer()]
    const slowRelay = await running({ deliver: slow.deliver, inFlightMax: 1 })
    const late = await slow.call(1)
    await wallet.passTime()
    const otherRelay = await running({ deliver: other.deliver, inFlightMax: 1 })
    const duplicate = await other.call(1)
    expect([late, duplicate].map(({ event, delivery }) => [event.transactionId, delivery.attempt])).toEqual([
      [placed, 1],
      [placed, 2],
    ])
    late.end()
    const last = await slow.call(2)
    expect(last.event.transactionId).toBe(settled)
    duplicate.end()
    last.end()
    await emptied()
    await Promise.all([slowRelay.stop(), otherRelay.stop()])
    expect([...slow.ids, ...other.ids].sort()).toEqual([placed, placed, settled].sort())
  })

  it('given an event that is accepted a second time, then the lease of the next one stands', async () => {
    const [placed, settled] = await twoEvents()
    const claimed = async () => (await wallet.outbox.claim(10, 600_000)).claimed
    const first = await claimed()
    await wallet.outbox.remove(first)
    const second = await claimed()
    expect([first, second].map(([each]) => each?.event.transactionId)).toEqual([placed, settled])
    await wallet.outbox.remove(first)
    expect(await claimed()).toEqual([])
  })

  it('given a consumer that rejects after the lease, then the claim of the other relay stands', async () => {
    const [placed] = await twoEvents()
    const [slow, other] = [new HeldConsumer(), new HeldConsumer()]
    const slowRelay = await running({ deliver: slow.deliver, inFlightMax: 1 })
    const late = await slow.call(1)
    await wallet.passTime()
    const otherRelay = await running({ deliver: other.deliver, inFlightMax: 1 })
    const duplicate = await other.call(1)
    const stopping = slowRelay.stop()
    late.end(new Error('late'))
    await stopping
    const row = await rowOf(placed)
    expect(row).toMatchObject({ problem: null, attempts: 2 })
    expect(Number(row.pause)).toBeGreaterThan(15) // the lease, not the pause after a first failure
    const stoppingOther = otherRelay.stop()
    duplicate.end()
    await stoppingOther
    expect(await wallet.outbox.stats()).toMatchObject({ queued: 1, dead: 0 })
  })

  it('given a database that fails, then the relay reports it, goes on, and delivers', async () => {
    const [placed, settled] = await twoEvents()
    let failed = false
    const failing: OutboxTable = {
      ...wallet.outbox,
      async claim(limit, leaseMs) {
        if (failed) return await wallet.outbox.claim(limit, leaseMs)
        failed = true
        throw new Error('no connection')
      },
    }
    const errors: unknown[] = []
    const delivered: string[] = []
    const relay = await running(
      {
        deliver: async ({ transactionId }) => delivered.push(transactionId),
        onError: (error, event) => errors.push([error, event]),
      },
      failing,
    )
    await emptied()
    await relay.stop()
    expect(errors).toEqual([[new Error('no connection'), null]])
    expect(delivered).toEqual([placed, settled])
  })

  it('given deliveries when it is stopped, then it claims no more and waits for them', async () => {
    const [placed] = await twoEvents()
    const consumer = new HeldConsumer()
    let claims = 0
    const counting: OutboxTable = {
      ...wallet.outbox,
      claim: (...parameters) => {
        claims += 1
        return wallet.outbox.claim(...parameters).finally(() => {
          claims -= 1
        })
      },
    }
    const relay = await running({ deliver: consumer.deliver }, counting)
    const call = await consumer.call(1)
    let stopped = false
    const stopping = relay.stop().then(() => {
      stopped = true
    })
    // One that was under way may still claim.
    await until(() => claims === 0)
    await wallet.passTime()
    await until(async () => (await wallet.outbox.stats()).queued === 2)
    expect(stopped).toBe(false)
    call.end()
    await stopping
    expect(consumer.ids).toEqual([placed])
    expect(await wallet.outbox.stats()).toMatchObject({ queued: 1 })
    const again = await running({ deliver: async () => {} })
    await emptied()
    await again.stop()
  })
})
