/** The kit on two PostgreSQL databases that `partitionStore` joins. */
import { walletStoreCases } from 'bet-wallet/testing'
import type pg from 'pg'
import { afterAll, describe, test } from 'vitest'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { indexOf, partitionedHarness } from '../../testing/partitioned.js'
import { ownTable, postgresHarness } from './harness.js'

const databases = [await freshDatabase(), await freshDatabase()] as const
afterAll(() => Promise.all(databases.map(({ drop }) => drop())))

const nameOf = async (pool: pg.Pool) => (await pool.query('SELECT current_database() AS name')).rows[0].name
const [first, second] = databases

/** The store can neither keep a connection to the database nor open one. */
async function allowConnections(playerId: string, allowed: boolean): Promise<void> {
  const [stopped, other] = indexOf(playerId, 2) === 0 ? [first, second] : [second, first]
  const name = await nameOf(stopped.pool)
  await other.pool.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS ${allowed}`)
  if (allowed) return
  await other.pool.query(
    `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
      WHERE datname = $1 AND application_name LIKE 'kit%'`,
    [name],
  )
}

describe('on two databases', () => {
  const harness = {
    ...partitionedHarness(
      databases.map(({ url, pool }) => postgresHarness({ pool, url, accounts: ownTable })),
    ),
    async stopPartition(_: unknown, playerId: string) {
      await allowConnections(playerId, false)
      return () => allowConnections(playerId, true)
    },
  }
  for (const { id, name, skip, run } of walletStoreCases(harness, { runs: 10 }))
    test.skipIf(skip !== null)(`${id} ${name}${skip === null ? '' : ` (${skip})`}`, run)
})
