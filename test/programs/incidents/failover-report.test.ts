/**
 * docs/operations.md, its steps after a failover to an asynchronous standby that had not received the last records: the platform
 * nets off a clawback that was refused, so the wallet must not collect it later.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { basicAuth, createNodeListener } from '../../../src/http/index.js'
import { handlePlaceBet, handleUnsettlement, recordSettlement, type WalletStore } from '../../../src/index.js'
import {
  createPostgresLookups,
  createPostgresStore,
  migratePostgres,
} from '../../../src/stores/postgres/index.js'
import { reconcile } from '../../../src/tools/reconcile/index.js'
import { codeBlocksOf, readPage, sectionOf } from '../../docs/pages.js'
import { type Cluster, startCluster } from '../../postgres/cluster.js'
import { noServerOfOurOwn } from '../../postgres/server.js'

let cluster: Cluster | undefined
const pools: pg.Pool[] = []
const processes: Server[] = []
beforeAll(async () => {
  if (noServerOfOurOwn === null) cluster = await startCluster({ synchronous: false })
})
afterAll(async () => {
  for (const server of processes) server.close().closeAllConnections()
  await Promise.all(pools.map(pool => pool.end()))
  await cluster?.stop()
})

function poolAt(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url })
  pool.on('error', () => {}) // idle connections that the failover ends
  pools.push(pool)
  return pool
}

const transactionDate = new Date().toISOString()
const placed = (playerId: string, id: string, amount: string) => ({
  ...{ transactionId: `place-${id}`, betId: `bet-${id}`, playerId, amount, currency: 'EUR' },
  ...{ sessionId: 's', betType: 'SINGLE', transactionDate },
})
const credited = (playerId: string, id: string) => ({
  ...{ transactionId: `settle-${id}`, betId: `bet-${playerId}`, playerId, type: 'BET_PAID' },
  ...{ amount: '50', currency: 'EUR', transactionDate },
})
const reversed = (playerId: string, id: string) => ({
  ...{ transactionId: `unsettle-${id}`, betId: `bet-${playerId}`, playerId, type: 'UNSCORED' },
  transactionDate,
})
const success = { ok: true }
const players = ['alice', 'bob']

/** @returns the platform's report of it */
async function settleAndSpend(store: WalletStore): Promise<object[]> {
  const rows: object[] = []
  for (const player of players) {
    const [stake, spent] = [placed(player, player, '10'), placed(player, `${player}-2`, '50')]
    const credit = credited(player, player)
    expect(await handlePlaceBet(store, stake)).toMatchObject(success)
    expect(await recordSettlement(store, credit)).toMatchObject(success)
    expect(await handlePlaceBet(store, spent)).toMatchObject(success)
    rows.push({ operation: 'placebet', ...stake }, { operation: 'settlement', ...credit })
    rows.push({ operation: 'placebet', ...spent })
  }
  return rows.map(row => ({ type: '', ...row, status: 'accepted' }))
}

/** A process of the wallet: its address. */
async function serve(store: WalletStore, clawbacks: boolean): Promise<string> {
  const authenticate = basicAuth({ username: 'platform', password: 'demo-secret' })
  const server = createServer(createNodeListener(store, { authenticate, clawbacks }))
  processes.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it.skipIf(noServerOfOurOwn !== null)(
  `a clawback whose refusal was lost is collected once, if a wallet without clawbacks refuses it again${noServerOfOurOwn === null ? '' : ` (skipped: ${noServerOfOurOwn})`}`,
  async () => {
    const servers = cluster as Cluster
    const before = poolAt(servers.url)
    await migratePostgres(before, {}, { lookupIndexes: true })
    await before.query("INSERT INTO bet_wallet.players VALUES ('alice', 'EUR', 10), ('bob', 'EUR', 10)")
    const lost = createPostgresStore(before, { timeoutMs: 120_000 })
    const rows = await settleAndSpend(lost)
    await servers.caughtUp()
    servers.link.refuse()
    for (const player of players) {
      const call = reversed(player, player)
      expect(await handleUnsettlement(lost, call)).toMatchObject({ errorCode: 'INSUFFICIENT_FUNDS' })
      const money = { amount: '50', currency: 'EUR' }
      rows.push({ operation: 'unsettlement', ...call, ...money, status: 'refused' })
    }
    await servers.primary.kill()
    await servers.promote()
    servers.address.moveTo(servers.primary.port, { cut: true })

    const pool = poolAt(servers.url)
    const store = createPostgresStore(pool, { timeoutMs: 120_000 })
    await pool.query(
      codeBlocksOf(sectionOf(readPage('docs/operations.md'), 'After a restore'))[0]?.code ?? '',
    )
    const compare = async () => {
      const report = (async function* () {
        for (const row of rows) yield `${JSON.stringify(row)}\n`
      })()
      const [from, to] = [-1, 1].map(hours => new Date(Date.now() + hours * 3_600_000).toISOString())
      const lookups = createPostgresLookups(pool)
      return await reconcile({ report, lookups, from: from as string, to: to as string })
    }
    const found = await compare()
    expect(found.kinds).toMatchObject([{ kind: 'lost-refusal', count: 2 }])
    expect(found.differences.map(({ report }) => report?.transactionId).sort()).toEqual(
      players.map(player => `unsettle-${player}`),
    )

    // Bob's is left out: what the second process prevents.
    const again = await fetch(`${await serve(store, false)}/unsettlement`, {
      ...{ method: 'POST', body: JSON.stringify(reversed('alice', 'alice')) },
      headers: {
        'content-type': 'application/json',
        authorization: `Basic ${btoa('platform:demo-secret')}`,
      },
    })
    expect(await again.json()).toMatchObject({ errorCode: 'INSUFFICIENT_FUNDS' })
    const left = (await compare()).differences.map(({ report }) => report?.playerId)
    expect(left).toEqual(['bob'])

    await pool.query('UPDATE bet_wallet.players SET balance = 100')
    for (const player of players) {
      expect(await recordSettlement(store, credited(player, `${player}-2`))).toMatchObject(success)
      expect(await handleUnsettlement(store, reversed(player, `${player}-2`))).toMatchObject(success)
    }
    const { rows: debits } = await pool.query(
      "SELECT player_id, delta::int FROM bet_wallet.transactions WHERE transaction_id LIKE 'unsettle-%-2' ORDER BY 1",
    )
    expect(debits).toEqual([
      { player_id: 'alice', delta: -50 },
      { player_id: 'bob', delta: -100 },
    ])
  },
)
