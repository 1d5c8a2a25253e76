/** The durability under Patroni: by default, in its synchronous mode, and in the strict one, without and with its standbys. */
import { createPostgresStore, migratePostgres, type PostgresStore } from 'bet-wallet/postgres'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { handlePlaceBet } from '../../../src/handlers.js'
import { placeBet } from '../../fixtures.js'
import { type PatroniCluster, startPatroni } from '../../postgres/patroni.js'
import { findPrograms, nodeNames } from '../../postgres/patroni-config.js'
import { endOf } from './wallet.js'

const programs = findPrograms()
const reason = typeof programs === 'string' ? ` (skipped: ${programs})` : ''
/** Patroni acts in loops of a second, and a node is restarted: how long that takes does not change the outcome. */
const patience = { interval: 100 }

describe.skipIf(reason !== '')(`a cluster under Patroni${reason}`, () => {
  let cluster: PatroniCluster
  let pool: pg.Pool
  let store: PostgresStore
  let strict: PostgresStore
  let bets = 0

  beforeAll(async () => {
    cluster = await startPatroni()
    pool = new pg.Pool({ connectionString: cluster.url, max: 16 })
    pool.on('error', () => {}) // idle connections that HAProxy ends
    await migratePostgres(pool)
    await pool.query("INSERT INTO bet_wallet.players VALUES ('alice', 'EUR', 1000)")
    store = createPostgresStore(pool)
    strict = createPostgresStore(pool, { requireDurability: 'synchronous' })
  })
  beforeEach(() => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  })
  afterAll(async () => {
    await pool?.end()
    await cluster?.stop()
  })

  const durability = async () => {
    const { level, reason } = await store.ping()
    return `${level}: ${reason}`
  }
  const isDurable = (text: RegExp) => expect.poll(durability, patience).toMatch(text)
  /** The code of the fault, or `ok`. */
  const placed = async (by: PostgresStore) => {
    bets += 1
    const bet = placeBet({ transactionId: `place-${bets}`, betId: `bet-${bets}`, amount: '1' })
    const end = (await endOf(handlePlaceBet(by, bet))) as { ok?: boolean; code?: string }
    return end.ok === true ? 'ok' : end.code
  }
  const decides = (expected: string) => expect.poll(() => placed(strict), patience).toBe(expected)

  async function killStandbys(): Promise<() => Promise<void>> {
    const leader = await cluster.leaderAfter(null)
    const standbys = nodeNames.filter(node => node !== leader)
    for (const node of standbys) cluster.signal(node, ['patroni', 'postgres'], 'SIGKILL')
    return async () => {
      for (const node of standbys) cluster.startNode(node)
    }
  }

  it('by default it is asynchronous, and no decision is made where synchronous is required', async () => {
    await cluster.configure({ synchronous_mode: null, synchronous_mode_strict: null })
    await isDurable(/^asynchronous: synchronous_standby_names is empty$/)
    await decides('UNAVAILABLE')
    await expect.poll(() => placed(store), patience).toBe('ok')
  })

  it('with synchronous_mode it is synchronous; without standbys Patroni falls back, and the store notices', async () => {
    await cluster.configure({ synchronous_mode: true, synchronous_mode_strict: null })
    await cluster.healthy()
    await isDurable(/^synchronous: synchronous_standby_names is \S*n[123]\S*, such a standby is streaming/)
    await decides('ok')
    const start = await killStandbys()
    await isDurable(/^alone: synchronous_standby_names is empty, and no standby is connected$/)
    await decides('UNAVAILABLE')
    // Without the requirement it is answered, and would be lost with this server.
    await expect.poll(() => placed(store), patience).toBe('ok')
    await start()
    await isDurable(/^synchronous: /)
    await decides('ok')
    await cluster.healthy()
  })

  it('with synchronous_mode_strict it is synchronous; without standbys nothing is answered, and 503 at once if required', async () => {
    await cluster.configure({ synchronous_mode: true, synchronous_mode_strict: true })
    await isDurable(/^synchronous: /)
    await decides('ok')
    const start = await killStandbys()
    await isDurable(
      /^alone: synchronous_standby_names is \S+, and no such standby is streaming: commits wait$/,
    )
    await decides('UNAVAILABLE')
    await start()
    await isDurable(/^synchronous: /)
    await decides('ok')
  })
})
