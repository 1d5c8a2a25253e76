/** The outbox on the nodes of a cluster or group, with several relays at the same time. */
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
  const delivered: string[] = []
  const relays = pools.map(pool =>
    createMysqlRelay([pool, ...pools.filter(other => other !== pool)], {
      ...{ schema: options.schema, inFlightMax: 3, pollMs: 5 },
      deliver: async ({ transactionId }) => delivered.push(transactionId),
    }),
  )
  try {
    await Promise.all(relays.map(relay => relay.start()))
    const bets = Array.from({ length: 20 }, (_, n) => `bet-${n}`)
    for (const betId of bets) {
      expect(
        await handlePlaceBet(store, placeBet({ betId, transactionId: `p-${betId}`, amount: '1' })),
      ).toMatchObject({ ok: true })
      expect(
        await recordSettlement(store, settlement({ betId, transactionId: `s-${betId}`, amount: '1' })),
      ).toMatchObject({ ok: true })
    }
    await expect.poll(() => relays[0]?.stats(), { timeout: 60_000 }).toMatchObject({ oldestMs: null })
    expect([...delivered].sort()).toEqual(bets.flatMap(betId => [`p-${betId}`, `s-${betId}`]).sort())
    for (const betId of bets)
      expect(delivered.indexOf(`p-${betId}`)).toBeLessThan(delivered.indexOf(`s-${betId}`))
  } finally {
    await Promise.all(relays.map(relay => relay.stop()))
    await first.query(`DROP DATABASE ${options.schema}`)
    await Promise.all(pools.map(pool => pool.end()))
  }
}
