/** A wallet process of the soak: bet-wallet over the nodes of a cluster, as an operator would run it. */
import { createServer } from 'node:http'
import { recordSettlement } from 'bet-wallet'
import { basicAuth, createHttpHandler } from 'bet-wallet/http'
import { createMysqlStore } from 'bet-wallet/mysql'
import mysql from 'mysql2/promise'
import { walletRoutes } from '../../examples/node-http/wallet.js'
import { credentials, type Limits, listen, reportFault, settings } from './server-child.js'

export interface MysqlSettings {
  /** The first is preferred. */
  nodes: readonly (mysql.PoolOptions & { database: string })[]
  limits: Limits
}

const given = settings<MysqlSettings>()
const { nodes, limits } = given

const store = createMysqlStore(
  nodes.map(node =>
    mysql.createPool({
      ...node,
      connectionLimit: 8,
      connectTimeout: limits.connectMs,
      supportBigNumbers: true,
    }),
  ),
  { schema: nodes[0]?.database ?? '', timeoutMs: limits.timeoutMs },
)
await store.ready()
const handle = createHttpHandler(store, {
  authenticate: basicAuth(credentials),
  routes: { '/settlement': body => recordSettlement(store, body) },
  onError: reportFault,
})
await listen(createServer(walletRoutes(handle)), given)
