/** `loadConfirmed` on a server of its own: it waits for the synchronous standby, as a commit does. */
import { handlePlaceBet, handleRollbackBet, recordSettlement, type WalletStore } from 'bet-wallet'
import { walletStoreCases } from 'bet-wallet/testing'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createPostgresStore } from '../../../src/stores/postgres/index.js'
import { faultOf, placeBet, rollbackBet, settlement } from '../../fixtures.js'
import {
  createDatabase,
  type Database,
  noServerOfOurOwn,
  type PostgresServer,
  startPostgres,
} from '../../postgres/server.js'
import { until } from '../../until.js'
import { ownTable, postgresHarness } from './harness.js'
import { longTimeouts } from './wallet.js'

let server: PostgresServer
let database: Database

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  return client
}

/** @param standbys `''`: commits wait for none */
async function setStandbys(standbys: string): Promise<void> {
  const client = await connect()
  try {
    await client.query('SET synchronous_commit = local') // this session must not wait
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${standbys}'`)
    await client.query('SELECT pg_reload_conf()')
  } finally {
    await client.end()
  }
}

/** Commits wait for a standby that does not exist, until the returned function is called. */
async function stopReplication(): Promise<() => Promise<void>> {
  await setStandbys('missing')
  const { ended } = await waitingCommit()
  return async () => {
    await setStandbys('')
    await ended
  }
}

/** The server reads its settings some time after it was told to: resolves when a commit waits. */
async function waitingCommit(): Promise<{ ended: Promise<void> }> {
  const [committer, observer] = [await connect(), await connect()]
  try {
    for (;;) {
      let ended = false
      const commit = committer.query("SELECT pg_logical_emit_message(true, 'test', '')").finally(() => {
        ended = true
      })
      while (!ended) {
        const { rows } = await observer.query(
          'SELECT FROM pg_stat_activity WHERE wait_event = $1 AND pid = $2',
          ['SyncRep', (committer as unknown as { processID: number }).processID],
        )
        if (rows.length > 0) return { ended: commit.then(() => committer.end()) }
      }
    }
  } finally {
    await observer.end()
  }
}

/** Sessions of the stores whose commit waits for the standby. */
async function waitingSessions(): Promise<number> {
  const { rows } = await database.pool.query(
    "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = current_database()",
  )
  return rows.length
}

/**
 * Makes a call, and lets the clock of the store pass its limit whenever one more session waits.
 *
 * @returns how often it passed, too
 */
async function outOfTimes<T>(call: () => Promise<T>): Promise<{ fault: T; waits: number }> {
  let waiting = await waitingSessions()
  let waits = 0
  let ended = false
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const end = call().finally(() => {
      ended = true
    })
    await until(async () => {
      const now = await waitingSessions()
      if (now > waiting) {
        waits += 1
        vi.advanceTimersByTime(longTimeouts.timeoutMs)
      }
      waiting = now
      return ended
    })
    return { fault: await end, waits }
  } finally {
    vi.useRealTimers()
  }
}

const harness = () => postgresHarness({ pool: database.pool, url: database.url, accounts: ownTable })

beforeAll(async () => {
  if (noServerOfOurOwn !== null) return
  server = await startPostgres()
  database = await createDatabase(server)
})
beforeEach(({ skip }) => skip(noServerOfOurOwn !== null, noServerOfOurOwn ?? ''))
afterAll(async () => {
  await database?.drop()
  await server?.stop()
})

describe('the cases of the kit', () => {
  for (const { id, name, run } of walletStoreCases(
    {
      open: players => harness().open(players),
      close: opened => harness().close?.(opened),
      stopReplication,
    },
    { only: ['WS-53', 'WS-54'] },
  )) {
    test(`${id} ${name}`, run)
  }
})

describe('given commits that no standby confirms', () => {
  test.each([
    ['without a hook', {}],
    ['with a hook', { withinTransaction: async () => {} }],
  ])('when an answer would be a refusal or a replay, then it is a fault, %s', async (_, hook) => {
    const opened = await harness().open([{ playerId: 'alice', currency: 'EUR', balance: '100' }])
    onTestFinished(() => harness().close?.(opened))
    const { store } = opened
    expect(await handlePlaceBet(store, placeBet())).toMatchObject({ ok: true })
    expect(await handleRollbackBet(store, rollbackBet())).toMatchObject({ ok: true })
    const resume = await stopReplication()
    try {
      const { schema } = opened
      const calls: [code: string, call: (own: WalletStore) => Promise<unknown>][] = [
        // Their commit is a conflict, and waits with the proof: whether it is committed is not known any more.
        ['COMMIT_UNKNOWN', own => recordSettlement(own, settlement({ betId: 'unknown' }))],
        ['COMMIT_UNKNOWN', own => handlePlaceBet(own, placeBet())],
        [
          'COMMIT_UNKNOWN',
          own => handlePlaceBet(own, placeBet({ transactionId: 'p-2', betId: 'b-2', amount: '101' })),
        ],
        ['UNAVAILABLE', own => handleRollbackBet(own, rollbackBet())],
        [
          'UNAVAILABLE',
          own => handleRollbackBet(own, rollbackBet({ playerId: 'unknown-player', transactionId: 'r-2' })),
        ],
      ]
      for (const [code, call] of calls) {
        // A store for each call: the connections of a call that waits are lost to its store.
        const own = createPostgresStore(database.pool, { schema, ...longTimeouts, ...hook })
        await own.ready()
        const { fault, waits } = await outOfTimes(() => faultOf(call(own)))
        expect(fault).toMatchObject({ code, retryable: code === 'UNAVAILABLE' })
        expect(waits).toBeGreaterThan(0)
      }
    } finally {
      await resume()
    }
    expect(await handleRollbackBet(store, rollbackBet())).toMatchObject({ ok: true, replayed: true })
  })
})
