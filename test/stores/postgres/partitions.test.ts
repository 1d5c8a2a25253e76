/** The kit on two PostgreSQL databases that `partitionStore` joins. */
import { walletStoreCases } from 'bet-wallet/testing'
import type pg from 'pg'
import { afterAll, describe, test } from 'vitest'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { indexOf, type OpenedPartitions, partitionedHarness } from '../../testing/partitioned.js'
import { type Opened, ownTable, postgresHarness } from './harness.js'

const databases = [await freshDatabase(), await freshDatabase()] as const
afterAll(() => Promise.all(databases.map(({ drop }) => drop())))

const nameOf = async (pool: pg.Pool) => (await pool.query('SELECT current_database() AS name')).rows[0].name

const harness = {
  ...partitionedHarness(databases.map(({ url, pool }) => postgresHarness({ pool, url, accounts: ownTable }))),
  /** The store can neither keep a connection to the database nor open one. */
  async stopPartition({ partitions }: OpenedPartitions<Opened>, playerId: string) {
    const index = indexOf(playerId, 2)
    const [stopped, other] = index === 0 ? databases : [databases[1], databases[0]]
    const name = await nameOf(stopped.pool)
    await other.pool.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`)
    await other.pool.query(
      'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = $1',
      [partitions[index]?.schema],
    )
    return async () => void (await other.pool.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS true`))
  },
}

describe('on two databases', () => {
  for (const { id, name, skip, run } of walletStoreCases(harness, { runs: 10 }))
    test.skipIf(skip !== null)(`${id} ${name}${skip === null ? '' : ` (${skip})`}`, run)
})
