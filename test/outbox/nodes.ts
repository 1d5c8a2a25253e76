/** The outbox on the nodes of a cluster or group, with several relays at the same time. */
import { setTimeout as sleep } from 'node:timers/promises'
import mysql, { type Pool } from 'mysql2/promise'
import { expect } from 'vitest'
import { handlePlaceBet, recordSettlement } from '../../src/index.js'
import { createMysqlRelay, createMysqlStore, migrateMysql } from '../../src/stores/mysql/index.js'
import { placeBet, settlement } from '../fixtures.js'
import type { MariadbServer } from '../mariadb/server.js'

/**
 * A relay per node, over all of them and this one first: on a cluster they work on different nodes, in a
 * group all find the primary.
 */
export async function relaysOn(
  nodes: readonly Pick<MariadbServer, 'config'>[],
  primary: Pick<MariadbServer, 'config'>,
): Promise<void> {
  const pools = nodes.map(({ config }) => mysql.createPool({ ...config, connectionLimit: 8 }))
  const first = pools[nodes.indexOf(primary)] as Pool
  const options = { schema: 'outbox_nodes', outbox: true }
  await first.query(`CREATE DATABASE ${options.schema}`)
  await migrateMysql(first, options)
  await first.query(`INSERT INTO ${options.schema}.wallet_players VALUES ('alice', 'EUR', 100)`)
  const store = createMysqlStore(pools, { ...options, allowNotDurable: true })
  const bets = Array.from({ length: 20 }, (_, n) => `bet-${n}`)
  for (const betId of bets) {
    const ids = (name: string) => ({ betId, transactionId: `${name}-${betId}`, amount: '1' })
    expect(await handlePlaceBet(store, placeBet(ids('place')))).toMatchObject({ ok: true })
    expect(await recordSettlement(store, settlement(ids('settle')))).toMatchObject({ ok: true })
  }
  /** When each delivery began and ended. */
  const steps: string[] = []
  const relays = pools.map(pool =>
    createMysqlRelay([pool, ...pools.filter(other => other !== pool)], {
      // Longer than this test waits: no event may wait for a lease.
      ...{ schema: options.schema, inFlightMax: 6, pollMs: 5, timeoutMs: 840_000 },
      async deliver({ transactionId }) {
        steps.push(`${transactionId} begins`)
        // Long enough for the other relays to claim meanwhile.
        await sleep(50)
        steps.push(`${transactionId} ends`)
      },
    }),
  )
  try {
    await Promise.all(relays.map(relay => relay.start()))
    await expect.poll(() => relays[0]?.stats()).toMatchObject({ oldestMs: null })
    for (const betId of bets)
      expect(steps.filter(step => step.includes(`-${betId} `))).toEqual([
        `place-${betId} begins`,
        `place-${betId} ends`,
        `settle-${betId} begins`,
        `settle-${betId} ends`,
      ])
  } finally {
    await Promise.all(relays.map(relay => relay.stop()))
    await first.query(`DROP DATABASE ${options.schema}`)
    await Promise.all(pools.map(pool => pool.end()))
  }
}
