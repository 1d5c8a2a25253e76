/** The wallet in Koa: `npx tsx examples/koa/server.ts`. PORT and HOST say where it listens. */

import { basicAuth, createHttpHandler } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'
import Koa from 'koa'
import { walletRoutes } from './wallet.js'

const { PORT: port = '3000', HOST: host = '127.0.0.1' } = process.env

const store = createMemoryStore([{ playerId: 'anna', currency: 'EUR', balance: '100.00' }])
const handle = createHttpHandler(store, {
  authenticate: basicAuth({ username: 'platform', password: 'demo-secret' }),
  basePath: '/wallet',
})

const app = new Koa()
app.use(walletRoutes(handle))

const server = app.listen(Number(port), host, () => console.log('The wallet listens on', server.address()))
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => server.close().closeIdleConnections())
}
