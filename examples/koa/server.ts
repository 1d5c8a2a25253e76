/**
 * The wallet in Koa: `npx tsx examples/koa/server.ts`. PORT and HOST set its address; with INTERNAL_PORT it
 * serves `/livez` and `/readyz` there.
 */
import { createServer } from 'node:http'
import { basicAuth, createHttpHandler } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'
import { createHealth, stopGracefully } from 'bet-wallet/operations'
import Koa from 'koa'
import { walletRoutes } from './wallet.js'

const port = Number(process.env.PORT || 3000)
const host = process.env.HOST || '127.0.0.1'

const store = createMemoryStore([{ playerId: 'anna', currency: 'EUR', balance: '100.00' }])
const handle = createHttpHandler(store, {
  authenticate: basicAuth({ username: 'platform', password: 'demo-secret' }),
  basePath: '/wallet',
})

const app = new Koa()
app.use(walletRoutes(handle))

const server = app.listen(port, host, () => console.log('The wallet listens on', server.address()))
// Every call is short: a slower caller has disconnected, or attacks the server.
server.headersTimeout = 10_000
server.requestTimeout = 20_000
// Longer than the proxy keeps an idle connection (usually 60 s): it must send no call on one that we close.
server.keepAliveTimeout = 65_000
// Each connection has one call: more than the store can queue would only be answered 503 and rolled back.
server.maxConnections = 1_000

// A store over a database: `check: () => store.ping()`. This one is in memory.
const health = createHealth({ check: async () => {} })
stopGracefully(server, { health })

const internalPort = process.env.INTERNAL_PORT
if (internalPort) {
  const internal = createServer(health.listener).unref()
  internal.listen(Number(internalPort), host, () => console.log('Health listens on', internal.address()))
}
