/**
 * Load shedding: which requests are shed, which are not, and that every request is answered without a
 * needless wait.
 */
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
} from '../../../src/handlers.js'
import { createHttpHandler } from '../../../src/http/index.js'
import { faultOf, placeBet, rollbackBet, settlement, unsettlement } from '../../fixtures.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { until } from '../../until.js'
import {
  endOf,
  expectBooksToBalance,
  idle,
  openWallet,
  placing,
  settling,
  type Wallet,
  type WalletSetup,
} from './wallet.js'

const { url, pool: admin, drop } = await freshDatabase({ pool: { max: 20 } })
const opened: Wallet[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const each of opened.splice(0)) await each.close()
})
afterAll(drop)

const players = Array.from({ length: 12 }, (_, i) => `p${i}`)

/** One statement at a time; time limits that no test reaches by accident. */
async function wallet(setup: Partial<WalletSetup> & { queueMax?: number } = {}): Promise<Wallet> {
  const { queueMax = 8, ...rest } = setup
  const made = await openWallet({
    admin,
    url,
    players: ['alice', ...players],
    ...rest,
    options: {
      timeoutMs: 120_000,
      lockTimeoutMs: 120_000,
      connectionsMax: 1,
      queueMax,
      ...rest.options,
    },
  })
  opened.push(made)
  return made
}

/** A wallet whose only slot for commits is taken by a placebet of alice that does not end. */
async function blocked(setup: Parameters<typeof wallet>[0] = {}) {
  const made = await wallet(setup)
  const stop = await made.stopCommitsOf('alice')
  const first = made.store.commit(placing({ n: 1000 }))
  await stop.reached()
  expect(made.store.stats.commits).toEqual({ queued: 0, inFlight: 1, shed: 0 })
  return { made, stop, first }
}

const done = expect.objectContaining({ status: 'committed' })
const shed = { status: 'unavailable' }
const bets = (count: number) =>
  Array.from({ length: count }, (_, n) => placing({ playerId: `p${n % 12}`, n, amount: '1' }))

describe('while commits are blocked', () => {
  it('placebets are shed at once from half of queueMax on, and take no room from settlements', async () => {
    const { made, stop, first } = await blocked()
    const accepted = bets(4).map(each => made.store.commit(each))
    const rejected = bets(6)
      .slice(4)
      .map(each => made.store.commit(each))
    // Answered while the database is still blocked.
    expect(await Promise.all(rejected)).toEqual([shed, shed])
    expect(made.store.stats.commits).toEqual({ queued: 4, inFlight: 1, shed: 2 })

    const settle = (n: number) =>
      made.store.commit({ ...settling({ playerId: `p${n % 12}`, n, amount: '5' }), bet: null })
    const priority = Array.from({ length: 8 }, (_, n) => settle(6 + n))
    expect(made.store.stats.commits).toEqual({ queued: 12, inFlight: 1, shed: 2 })
    // Now the queue is full for all operations.
    expect(await settle(14)).toEqual(shed)
    expect(await made.store.commit(placing({ playerId: 'p11', n: 15 }))).toEqual(shed)
    expect(made.store.stats.commits).toEqual({ queued: 12, inFlight: 1, shed: 4 })

    await stop.release()
    expect(await Promise.all([first, ...accepted, ...priority])).toEqual(Array(13).fill(done))
    expect(made.store.stats.commits).toEqual({ queued: 0, inFlight: 0, shed: 4 })
    expect(await made.recorded()).toHaveLength(13)
    await expectBooksToBalance(made)
    await idle(made.pool)
  })

  it('through the handlers: rollbacks, settlements and unsettlements succeed where placebets are 503', async () => {
    const made = await wallet()
    // A bet to roll back, a bet to settle, and a settled bet to unsettle.
    for (const n of [0, 1, 2]) {
      const ids = { playerId: `p${n}`, betId: `bet-${n}` }
      expect(
        await handlePlaceBet(made.store, placeBet({ ...ids, transactionId: `place-${n}` })),
      ).toMatchObject({ ok: true })
    }
    await recordSettlement(
      made.store,
      settlement({ playerId: 'p2', betId: 'bet-2', transactionId: 'settle-2' }),
    )
    const stop = await made.stopCommitsOf('alice')
    const first = handlePlaceBet(made.store, placeBet({ transactionId: 'place-a', betId: 'bet-a' }))
    await stop.reached()

    const place = (n: number) =>
      placeBet({ playerId: `p${n}`, transactionId: `place-${n}`, betId: `bet-${n}`, amount: '1' })
    const waiting = [3, 4, 5, 6].map(n => handlePlaceBet(made.store, place(n)))
    await until(() => made.store.stats.commits.queued === 4)
    expect(await faultOf(handlePlaceBet(made.store, place(7)))).toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
    })
    const http = createHttpHandler(made.store, { authenticate: () => true, onError: () => {} })
    const response = await http({
      method: 'POST',
      path: '/placebet',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(place(8)),
    })
    expect(response.status).toBe(503)
    expect(JSON.parse(response.body)).toMatchObject({ errorCode: 'UNAVAILABLE' })

    const priority = [
      handleRollbackBet(made.store, rollbackBet({ playerId: 'p0', betId: 'bet-0', transactionId: 'r-0' })),
      // The rollback that the platform sends for the shed placebet.
      handleRollbackBet(made.store, rollbackBet({ playerId: 'p7', betId: 'bet-7', transactionId: 'r-7' })),
      recordSettlement(made.store, settlement({ playerId: 'p1', betId: 'bet-1', transactionId: 's-1' })),
      handleUnsettlement(made.store, unsettlement({ playerId: 'p2', betId: 'bet-2', transactionId: 'u-2' })),
    ]
    await until(() => made.store.stats.commits.queued === 8)
    await stop.release()
    expect(await Promise.all([first, ...waiting, ...priority])).toMatchObject(
      Array(9).fill({ ok: true, replayed: false }),
    )
    expect(made.store.stats.commits).toMatchObject({ queued: 0, inFlight: 0, shed: 2 })
    expect(await handlePlaceBet(made.store, place(7))).toMatchObject({ ok: false, errorCode: 'INVALID_BET' })
    await expectBooksToBalance(made)
  })

  it('a flood never queues more than the maximum: all others are answered while the database is blocked', async () => {
    const { made, stop, first } = await blocked({ queueMax: 100 })
    const flood: Promise<unknown>[] = []
    let most = 0
    for (let n = 0; n < 5_000; n += 1) {
      flood.push(made.store.commit(placing({ playerId: `p${n % 12}`, n, amount: '1' })))
      most = Math.max(most, made.store.stats.commits.queued)
    }
    let answered = 0
    const note = () => {
      answered += 1
    }
    for (const each of flood) each.then(note, note)
    await until(() => answered === 4_950)
    expect(most).toBe(50)
    expect(made.store.stats.commits).toEqual({ queued: 50, inFlight: 1, shed: 4_950 })
    expect(await made.recorded()).toEqual([])
    await stop.release()
    await first
    const results = await Promise.all(flood)
    expect(results.slice(0, 50)).toEqual(Array(50).fill(done))
    expect(results.slice(50)).toEqual(Array(4_950).fill(shed))
    expect(await made.recorded()).toHaveLength(51)
    await expectBooksToBalance(made)
  })

  it('one player fills half of the room at most: the others find the rest', async () => {
    const { made, stop, first } = await blocked({ queueMax: 100 })
    const hot = Array.from({ length: 100 }, (_, n) => placing({ playerId: 'p1', n, amount: '1' }))
    const hers = hot.map(each => made.store.commit(each))
    expect(made.store.stats.commits).toEqual({ queued: 25, inFlight: 1, shed: 75 })
    const others = bets(48)
      .filter(({ transaction }) => transaction.playerId !== 'p1')
      .slice(0, 25)
      .map((each, n) =>
        made.store.commit({
          ...each,
          transaction: { ...each.transaction, transactionId: `o-${n}` },
          bet: null,
        }),
      )
    expect(made.store.stats.commits).toEqual({ queued: 50, inFlight: 1, shed: 75 })
    await stop.release()
    expect(await Promise.all([first, ...others])).toEqual(Array(26).fill(done))
    expect(await Promise.all(hers)).toEqual([...Array(25).fill(done), ...Array(75).fill(shed)])
  })

  it('duplicates count too, and each of them is answered', async () => {
    const { made, stop, first } = await blocked({ queueMax: 100 })
    const copies = Array.from({ length: 200 }, () => made.store.commit(placing({ playerId: 'p1', n: 1 })))
    expect(made.store.stats.commits.queued).toBe(25)
    await stop.release()
    await first
    const results = await Promise.all(copies)
    expect(results.filter(({ status }) => status === 'committed')).toHaveLength(1)
    expect(results.filter(({ status }) => status === 'conflict')).toHaveLength(24)
    expect(results.filter(({ status }) => status === 'unavailable')).toHaveLength(175)
    expect(made.store.stats.commits).toEqual({ queued: 0, inFlight: 0, shed: 175 })
  })

  it('duplicates that left with their batch are in flight', async () => {
    const made = await wallet()
    const stop = await made.stopCommitsOf('alice')
    const copies = ['alice', 'p1', 'p2', 'p3'].map(playerId => made.store.commit(placing({ playerId })))
    await stop.reached()
    expect(made.store.stats.commits).toEqual({ queued: 0, inFlight: 4, shed: 0 })
    await stop.release()
    expect(await Promise.all(copies)).toEqual([
      done,
      ...Array(3).fill(expect.objectContaining({ status: 'conflict' })),
    ])
    expect(made.store.stats.commits).toEqual({ queued: 0, inFlight: 0, shed: 0 })
  })

  it('duplicates of the same player are queued', async () => {
    const made = await wallet({ queueMax: 16 })
    const stop = await made.stopCommitsOf('alice')
    const copies = Array.from({ length: 4 }, () => made.store.commit(placing()))
    await stop.reached()
    expect(made.store.stats.commits).toEqual({ queued: 3, inFlight: 1, shed: 0 })
    await stop.release()
    expect(await Promise.all(copies)).toEqual([
      done,
      ...Array(3).fill(expect.objectContaining({ status: 'conflict' })),
    ])
    expect(made.store.stats.commits).toEqual({ queued: 0, inFlight: 0, shed: 0 })
  })

  it('a request queued longer than timeoutMs is shed, a younger one is committed', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { made, stop, first } = await blocked()
    const old = [
      made.store.commit(placing({ playerId: 'p1', n: 1 })),
      made.store.commit({ ...settling({ playerId: 'p2', n: 2 }), bet: null }),
    ]
    vi.advanceTimersByTime(120_001)
    const young = made.store.commit(placing({ playerId: 'p3', n: 3 }))
    await stop.release()
    expect(await Promise.all([first, ...old, young])).toEqual([done, shed, shed, done])
    expect(await made.recorded()).toEqual(['placebet place-1000 -30', 'placebet place-3 -30'])
    expect(made.store.stats.commits).toEqual({ queued: 0, inFlight: 0, shed: 2 })
  })

  it('loads are answered meanwhile', async () => {
    const { made, stop, first } = await blocked()
    const keys = { operation: 'placebet', transactionId: 't', playerId: 'p1', betId: 'b' } as const
    expect(await made.store.load(keys)).toMatchObject({ accounts: [{ balance: '100' }] })
    await stop.release()
    await first
  })
})

describe('while loads are blocked', () => {
  it('loads of placebets are shed first, all others wait while there is room, and all are answered', async () => {
    const made = await wallet({ pool: { max: 1 } })
    const load = (operation: 'placebet' | 'rollbackbet', n: number) =>
      endOf(made.store.load({ operation, transactionId: `t-${n}`, playerId: `p${n % 12}`, betId: `b-${n}` }))
    // The operator's own code holds the only connection.
    const borrowed = await made.pool.connect()
    const first = load('placebet', 0)
    await until(() => made.store.stats.loads.inFlight === 1)
    const placebets = [1, 2, 3, 4, 5].map(n => load('placebet', n))
    const rollbacks = Array.from({ length: 9 }, (_, n) => load('rollbackbet', 6 + n))
    const unavailable = expect.objectContaining({ name: 'StoreError', code: 'UNAVAILABLE' })
    expect(await Promise.all([placebets[4], rollbacks[8]])).toEqual([unavailable, unavailable])
    expect(made.store.stats.loads).toEqual({ queued: 12, inFlight: 1, shed: 2 })
    borrowed.release()
    const found = await Promise.all([first, ...placebets.slice(0, 4), ...rollbacks.slice(0, 8)])
    expect(found).toMatchObject(
      Array(13).fill({ accounts: [{ balance: '100' }], bet: null, transaction: null }),
    )
    expect(made.store.stats.loads).toEqual({ queued: 0, inFlight: 0, shed: 2 })
  })
})

describe('while another writer holds the row lock of a player', () => {
  it("the player's requests are shed once their queue is full, those of other players are not", async () => {
    const made = await wallet({ options: { batchMax: 1 } })
    const other = await made.otherSession()
    await other.query('BEGIN')
    await other.query(`SELECT FROM ${made.schema}.players WHERE player_id = 'alice' FOR UPDATE`)
    const hers: Promise<unknown>[] = []
    let answered = 0
    const note = () => {
      answered += 1
    }
    for (let n = 0; n < 8; n += 1) {
      const one = made.store.commit(placing({ n, amount: '1' }))
      hers.push(one)
      one.then(note, note)
      // It has met the row lock, and waits.
      await until(() => made.store.stats.commits.inFlight === 0 && made.store.stats.commits.queued === 0)
      expect(await made.store.commit(placing({ playerId: 'p1', n: 100 + n, amount: '1' }))).toEqual(done)
    }
    expect(answered).toBe(6)
    const { queued, inFlight, shed: shedCount } = made.store.stats.lockWaits
    expect([queued + inFlight, shedCount]).toEqual([2, 6])
    await other.query('COMMIT')
    expect(await Promise.all(hers)).toEqual([...Array(2).fill(done), ...Array(6).fill(shed)])
    expect(await made.balanceOf('alice')).toBe('98')
    expect(await made.balanceOf('p1')).toBe('92')
    await expectBooksToBalance(made)
  })
})

describe('while other writers hold the row locks of several players', () => {
  async function lock(made: Wallet, playerId: string) {
    const other = await made.otherSession()
    await other.query('BEGIN')
    await other.query(`SELECT FROM ${made.schema}.players WHERE player_id = $1 FOR UPDATE`, [playerId])
    return other
  }

  it('a row that is unlocked is reached, however many others stay locked; no connection waits', async () => {
    const made = await wallet({ pool: { max: 1 }, queueMax: 100 })
    const stuck = [0, 1, 2, 3, 4].map(n => `p${n}`)
    const writers = await Promise.all(stuck.map(playerId => lock(made, playerId)))
    const waiting = stuck.map((playerId, n) => made.store.commit(placing({ playerId, n, amount: '1' })))
    await until(() => made.store.stats.lockWaits.queued === 5)
    const writer = await lock(made, 'alice')
    const hers = made.store.commit(placing({ n: 100, amount: '1' }))
    await until(() => made.store.stats.lockWaits.queued === 6)
    // The only connection is free for others.
    expect(await made.store.commit(placing({ playerId: 'p9', n: 101, amount: '1' }))).toEqual(done)
    await writer.query('COMMIT')
    expect(await hers).toEqual(done)
    expect(await made.waiting()).toEqual([])
    for (const each of writers) await each.query('COMMIT')
    expect(await Promise.all(waiting)).toEqual(Array(5).fill(done))
    expect(made.store.stats.lockWaits).toEqual({ queued: 0, inFlight: 0, shed: 0 })
    await expectBooksToBalance(made)
  })
})

describe('a lone request, and many at once', () => {
  /** Counts statements, and connections borrowed. */
  function count(pool: pg.Pool) {
    const counted = { statements: 0, borrowed: 0 }
    const query = vi.spyOn(pg.Client.prototype, 'query')
    pool.on('acquire', () => {
      counted.borrowed += 1
    })
    return {
      counted,
      read() {
        counted.statements = query.mock.calls.length
        query.mockRestore()
        return counted
      },
    }
  }

  it('a lone request waits for no timer: a placebet is one round trip', async () => {
    const made = await wallet({ pool: { idleTimeoutMillis: 0 } })
    await idle(made.pool)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    const { read } = count(made.pool)
    expect(await handlePlaceBet(made.store, placeBet())).toMatchObject({ ok: true, balance: '70.00' })
    expect(read()).toEqual({ statements: 1, borrowed: 1 })
    // The timers of deadlines are cleared.
    expect(vi.getTimerCount()).toBe(0)
  })

  it('128 at once need as many', async () => {
    const made = await wallet({ queueMax: 1_000, players: Array.from({ length: 128 }, (_, n) => `p${n}`) })
    const { read } = count(made.pool)
    const outcomes = await Promise.all(
      Array.from({ length: 128 }, (_, n) =>
        handlePlaceBet(
          made.store,
          placeBet({ playerId: `p${n}`, transactionId: `t-${n}`, betId: `b-${n}`, amount: '1' }),
        ),
      ),
    )
    expect(read()).toEqual({ statements: 1, borrowed: 1 })
    expect(outcomes).toMatchObject(Array(128).fill({ ok: true, replayed: false }))
    expect(await made.rows('SELECT DISTINCT xmin::text FROM SCHEMA.transactions')).toHaveLength(1)
    await expectBooksToBalance(made)
  })
})
