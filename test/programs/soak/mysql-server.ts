/** A wallet process of the soak: bet-wallet over the nodes of a cluster, as an operator would run it. */
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordSettlement } from 'bet-wallet'
import { basicAuth, createNodeListener } from 'bet-wallet/http'
import { createMysqlStore, type MysqlPool } from 'bet-wallet/mysql'
import mysql from 'mysql2/promise'
import type { Fault } from './faults.js'
import { credentials, type Limits, listen, reportFault, reportingCredits, settings } from './server-child.js'

export interface MysqlSettings {
  /** The first is preferred. */
  nodes: readonly (mysql.PoolOptions & { database: string })[]
  fault: Fault | null
  limits: Limits
}

const given = settings<MysqlSettings>()
const { nodes, fault, limits } = given

type Run = (options: { sql: string }, ...rest: unknown[]) => unknown

const replaced = {
  'stale-loads': { sql: 'wsrep_sync_wait = 1', by: 'wsrep_sync_wait = 0' },
  'any-writable-node': {
    sql: 'performance_schema.replication_group_members',
    by: "(SELECT @@server_uuid AS MEMBER_ID, 'ONLINE' AS MEMBER_STATE, 'PRIMARY' AS MEMBER_ROLE) members",
  },
}

function poolOf(node: mysql.PoolOptions): MysqlPool {
  const pool = mysql.createPool({ ...node, connectionLimit: 8, connectTimeout: limits.connectMs })
  if (fault !== 'stale-loads' && fault !== 'any-writable-node') return pool
  pool.pool.on('connection', (connection: Record<'query' | 'execute', Run>) => {
    const { sql, by } = replaced[fault]
    // All nodes look like one server.
    const same = fault === 'any-writable-node' ? "''" : '$&'
    for (const name of ['query', 'execute'] as const) {
      const run = connection[name].bind(connection)
      connection[name] = (options: { sql: string }, ...rest) =>
        run(
          {
            ...options,
            sql: options.sql.replace(sql, by).replace(/'(server_uuid|server_id|datadir)'/g, same),
          },
          ...rest,
        )
    }
  })
  return pool
}

const store = createMysqlStore(nodes.map(poolOf), {
  schema: nodes[0]?.database ?? '',
  timeoutMs: limits.timeoutMs,
  allowNotDurable: fault !== null,
})
await readyWithin(60_000)
const reporting = reportingCredits(store)
const wallet = createNodeListener(reporting, {
  authenticate: basicAuth(credentials),
  routes: { '/settlement': body => recordSettlement(reporting, body) },
  onError: reportFault,
})
await listen(createServer(wallet), given)

/** Four clusters may start beside this one. */
async function readyWithin(ms: number): Promise<void> {
  for (const end = Date.now() + ms; ; ) {
    try {
      return await store.ready()
    } catch (error) {
      if ((error as { code?: string }).code !== 'UNAVAILABLE' || Date.now() > end) throw error
      await sleep(100)
    }
  }
}
