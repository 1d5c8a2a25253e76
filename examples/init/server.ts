// server.ts
import { createServer } from 'node:http'
import { recordSettlement } from 'bet-wallet'
import { basicAuth, createNodeListener } from 'bet-wallet/http'
import { minorUnits, store } from './store.js'

async function main() {
  await store.ready()
  const settle = (body: unknown) => recordSettlement(store, body, { minorUnits })
  const wallet = createNodeListener(store, {
    basePath: '/wallet',
    minorUnits,
    authenticate: basicAuth({ username: 'platform', password: process.env.BET_WALLET_PASSWORD ?? '' }),
    // By this path the platform could credit any bet: only for the audit, never in production.
    routes: process.env.AUDIT === '1' ? { '/settlement': settle } : {},
  })
  // In your framework: node_modules/bet-wallet/docs/http.md
  createServer(wallet).listen(3000, '127.0.0.1', () => console.log('listening'))
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
