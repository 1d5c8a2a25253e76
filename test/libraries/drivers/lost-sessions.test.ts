/**
 * Sessions that end in the database transaction of a commit, or of the PAM on the same pool: no answer is lost, no row of the
 * hook is without its transaction, and no transaction without its rows. Over each real driver of docs/postgres.md.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import type { Query } from '../../../src/stores/postgres/index.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { noPreparedStatements, startPgBouncer } from '../../postgres/pgbouncer.js'
import { openProxy } from '../../stores/postgres/proxy.js'
import {
  drivers,
  type Moments,
  none,
  openSessionsWallet,
  pidOf,
  type SessionsWallet,
} from './lost-sessions.js'

const database = await freshDatabase({ pool: { max: 20 } })
afterAll(database.drop)

const names = Object.keys(drivers)
const everyPool = names.flatMap(name => [1, 3].map((max): [string, number] => [name, max]))
const overPostgresJs = everyPool.filter(([name]) => name.includes('postgres.js'))

const open = (name: string, options: Parameters<typeof openSessionsWallet>[2]) =>
  openSessionsWallet(database, drivers[name] as never, options)

/** Turns of the event loop: a moment between two messages of the driver. */
async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await new Promise(setImmediate)
}

type Ending = [name: string, end: (query: Query, wallet: SessionsWallet) => Promise<unknown>]

/** How a session ends. Resolves when the server has ended it. */
const endings: readonly Ending[] = [
  ['terminated', async (query, wallet) => wallet.kill(await pidOf(query))],
  [
    'ended by its idle timeout',
    async (query, wallet) => {
      const pid = await pidOf(query)
      await query("SET LOCAL idle_in_transaction_session_timeout = '5ms'")
      for (;;) if (!(await wallet.pids()).includes(pid)) return
    },
  ],
  ['ended in a statement', query => query('SELECT pg_terminate_backend(pg_backend_pid())')],
  [
    'ended in a statement whose error is swallowed',
    query => query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => {}),
  ],
]

describe.each(endings)('a session that is %s', (_, end) => {
  test.each(everyPool)('%s, pool of %i: the call is retried, and committed once', async (name, max) => {
    for (const moment of ['before', 'between', 'after'] as const) {
      let calls = 0
      const ended = new Set<unknown>()
      const moments: Moments = async (at, query, pending) => {
        if (at === 'before') calls += 1
        const ids = pending.map(({ changes }) => changes.transaction.transactionId).join()
        if (at !== moment || ended.has(ids)) return
        ended.add(ids)
        const closes = wallet.closes?.() ?? 0
        await end(query, wallet)
        // postgres.js 3.4.9 clears its timer for what is written when a connection closes, and sets no other one: a
        // connection that closes in the turn of a statement of setImmediate sends nothing until 1 kB has gathered.
        while (wallet.closes?.() === closes) await turns(1)
        // The hook goes on while the retry runs.
        await turns(ended.size * 3)
      }
      const wallet = await open(name, { max, moments })
      const outcomes: unknown[] = []
      for (let n = 0; n < 12; n += 3)
        outcomes.push(...(await Promise.all([n, n + 1, n + 2].map(each => wallet.place(each)))))
      await sleep(20)
      expect(await wallet.problems()).toEqual(none)
      expect(outcomes).toEqual(Array(12).fill(true))
      expect(calls).toBeGreaterThan(ended.size)
      await wallet.close()
    }
  })
})

/** Resolves when every connection of the pool is open again. */
async function reopened(wallet: SessionsWallet, max: number): Promise<void> {
  const pids = new Set<unknown>()
  while (pids.size < max) {
    const asked = Array.from({ length: max }, () =>
      wallet.ask('SELECT pg_backend_pid() AS pid, pg_sleep(0.01)'),
    )
    pids.clear()
    for (const answer of await Promise.allSettled(asked))
      if (answer.status === 'fulfilled') pids.add((answer.value as { pid: number }[])[0]?.pid)
  }
}

/** When the callback of the PAM's database transaction ends, whose session has been ended. */
const lateMoments = ['before', 'between', 'after', 'at the end'] as const

describe("a session that ends in the PAM's own transaction", () => {
  const cases = everyPool.flatMap(([name, max]) =>
    lateMoments.map((moment): [string, number, (typeof lateMoments)[number]] => [name, max, moment]),
  )
  test.each(cases)(
    '%s, pool of %i: its callback ends late, %s the rows of a hook',
    async (name, max, moment) => {
      for (const ends of ['throws', 'returns'] as const) {
        let n = 0
        let endLate = () => {}
        const end = async () => {
          await turns(n)
          endLate()
        }
        const wallet = await open(name, {
          max,
          async moments(at) {
            if (at === moment) {
              endLate()
              // Its last statement is sent, and answered.
              await sleep(n % 4)
            } else if (at === 'after' && moment === 'at the end') {
              void end()
            }
          },
        })
        for (; n < 20; n += 1) {
          const ended = new Promise<void>(resolve => {
            endLate = resolve
          })
          const callbacks = await Promise.all(
            Array.from({ length: max }, () => ownTransaction(wallet, ended, ends)),
          )
          if (name.includes('postgres.js')) {
            // Their connections serve others now. A statement on a closed one would end the process.
            await reopened(wallet, max)
            await wallet.place(n)
          } else {
            // The other drivers lend a connection again when the callback has ended.
            const placed = wallet.place(n)
            await end()
            await placed
          }
          endLate()
          await Promise.all(callbacks.map(({ callback }) => callback))
        }
        await sleep(20)
        expect(await wallet.problems()).toEqual(none)
        await wallet.close()
      }
    },
  )
})

/** A database transaction of the PAM whose session is ended, and whose callback ends late. */
async function ownTransaction(
  wallet: SessionsWallet,
  ended: Promise<void>,
  ends: 'throws' | 'returns',
): Promise<{ callback: Promise<unknown> }> {
  let callback: Promise<unknown> = Promise.resolve()
  await new Promise<void>(begun => {
    const own = wallet.own(query => {
      callback = (async () => {
        const [{ pid } = { pid: null }] = rowsOf(await query('SELECT pg_backend_pid() AS pid'))
        await wallet.kill(pid)
        begun()
        await ended
        if (ends === 'throws') throw new Error('late')
      })()
      return callback
    })
    // Over postgres.js it rejects at once, or never settles.
    own.then(
      () => begun(),
      () => begun(),
    )
  })
  return { callback: callback.catch(() => {}) }
}

const rowsOf = (result: unknown) =>
  (Array.isArray(result) ? result : (result as { rows: unknown[] }).rows) as { pid: unknown }[]

describe('a connection that is lost at COMMIT', () => {
  // Without the wallet too, Slonik 47.3.2 never lends a connection again that was lost at COMMIT: the second loss would find none.
  const pools = everyPool.filter(([name, max]) => name !== 'Slonik' || max > 1)
  test.each(pools)('%s, pool of %i: a success is recorded, and a retry is answered', async (name, max) => {
    const proxy = await openProxy(database.url)
    const wallet = await open(name, { max, url: proxy.url })
    for (const [n, lose] of [proxy.loseRequest, proxy.loseAnswer].entries()) {
      expect(await wallet.place(10 * n)).toBe(true)
      const lost = lose('COMMIT')
      await Promise.all([lost, wallet.place(10 * n + 1)])
      expect(await wallet.problems()).toEqual(none)
      while ((await wallet.place(10 * n + 1)) !== true) await turns(1)
    }
    expect(await wallet.problems()).toEqual(none)
    await wallet.close()
    await proxy.close()
  })
})

describe('sessions that end at any moment under load', () => {
  test.each(everyPool)('%s, pool of %i', async (name, max) => {
    const wallet = await open(name, { max, moments: at => (at === 'between' ? sleep(1) : undefined) })
    let n = 0
    let [ok, wait] = [0, 0]
    const until = performance.now() + 4_000
    const callers = Array.from({ length: 8 }, async () => {
      while (performance.now() < until) if ((await wallet.place(n++)) === true) ok += 1
    })
    const killer = (async () => {
      while (performance.now() < until) {
        for (const pid of await wallet.pids()) {
          await wallet.kill(pid)
          await sleep(wait++ % 20)
        }
      }
    })()
    await Promise.all([...callers, killer])
    await sleep(50)
    expect(await wallet.problems()).toEqual(none)
    expect(ok).toBeGreaterThan(0)
    await wallet.close()
  })
})

describe('postgres.js at max_pipeline', () => {
  test.each(overPostgresJs)('%s, pool of %i', async (name, max) => {
    const wallet = await open(name, { max, max_pipeline: 4 })
    let ok = 0
    for (let n = 0; n < 60; n += 1) {
      const busy = Array.from({ length: n % 12 }, () =>
        Promise.resolve(wallet.ask('SELECT 1')).catch(() => {}),
      )
      if ((await wallet.place(n)) === true) ok += 1
      await Promise.all(busy)
    }
    expect(await wallet.problems()).toEqual(none)
    expect(ok).toBeGreaterThan(0)
    await wallet.close()
  })
})

const lacksPrepared = noPreparedStatements()

describe.skipIf(lacksPrepared !== null)(
  `PgBouncer with prepared statements, and fewer servers than clients${lacksPrepared === null ? '' : ` (skipped: ${lacksPrepared})`}`,
  () => {
    test.each(names)('%s: its servers end or are replaced at any moment, under load', async name => {
      const bouncer = await startPgBouncer(database.url, 'transaction', {
        ...{ max_prepared_statements: 50, default_pool_size: 3 },
      })
      const wallet = await open(name, {
        ...{ max: 6, url: bouncer.url },
        moments: at => (at === 'between' ? sleep(1) : undefined),
      })
      let n = 0
      let ok = 0
      const isOver = () => ok >= 60
      const callers = Array.from({ length: 8 }, async () => {
        while (!isOver()) if ((await wallet.place(n++)) === true) ok += 1
      })
      const pam = (async () => {
        while (!isOver()) {
          // Of postgres.js, the ROLLBACK of a callback whose session has ended would end the process.
          const work = name.includes('postgres.js')
            ? wallet.ask('SELECT pg_sleep(0.002)')
            : wallet.own(async query => {
                await query('SELECT pg_sleep(0.002)')
                await query('SELECT 1')
              })
          await Promise.allSettled([work])
        }
      })()
      const killer = (async () => {
        for (let kills = 0; !isOver(); kills += 1) {
          const seen = ok
          for (const pid of (await wallet.pids()).slice(0, 1 + (kills % 3))) await wallet.kill(pid)
          await bouncer.command(kills % 2 === 0 ? 'RECONNECT' : 'RELOAD')
          while (ok === seen) await sleep(1)
        }
      })()
      await Promise.all([...callers, pam, killer])
      await sleep(50)
      expect(await wallet.problems()).toEqual(none)
      await wallet.close()
      await bouncer.stop()
    })
  },
)
