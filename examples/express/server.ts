/**
 * A wallet to experiment with: `npm start` prints sample curl commands.
 *
 * PORT (default 3000; 0: a free port) and HOST (default 127.0.0.1) set its address, DATABASE_URL or
 * DATA_FOLDER the place of its data (see examples/express/demo-store.ts).
 */
import type { AddressInfo } from 'node:net'
import { recordSettlement } from 'bet-wallet'
import { basicAuth, createHttpHandler } from 'bet-wallet/http'
import express from 'express'
import { calls, curlLines } from './curl.js'
import { openDemoStore } from './demo-store.js'
import { walletRoutes } from './wallet.js'

const credentials = { username: 'platform', password: 'demo-secret' }

// Not ??: with an empty HOST, the server would listen on every interface.
const port = process.env.PORT || '3000'
const host = process.env.HOST || '127.0.0.1'
if (!/^[0-9]{1,5}$/.test(port) || Number(port) > 65_535) {
  stop(`PORT must be a whole number from 0 to 65535, but is ${JSON.stringify(port)}`)
}

const { store, balances, location, resetHint, close } = await openDemoStore().catch((error: Error) =>
  stop(error.message),
)

const handle = createHttpHandler(store, {
  authenticate: basicAuth(credentials),
  // Not part of the interface: stands for your own settlement code.
  routes: { '/settlement': body => recordSettlement(store, body) },
})

const app = express()
app.disable('x-powered-by')
// Before any body parser: the wallet reads the body itself, after authentication, without losing a digit.
app.use('/wallet', walletRoutes(handle))

const server = app.listen(Number(port), host, async (error?: Error) => {
  if (error) {
    await close()
    stop(listenProblem(error))
  }
  const { address, family, port: actual } = server.address() as AddressInfo
  const base = `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}/wallet`
  console.log(`The wallet listens on ${base} and keeps its data in ${location}.\n`)
  for (const line of balances) console.log(`  ${line}`)
  console.log(
    '\nSample calls for a new wallet, in this order. A repeated call changes nothing: it returns its',
  )
  console.log('first decision with the current balance.\n')
  for (const { title, line } of curlLines(calls, base, credentials)) console.log(`# ${title}\n${line}\n`)
  console.log(`Ctrl+C stops the wallet; it keeps its data. To start over: ${resetHint}.`)
})
// Every call is short: a slower caller has disconnected, or attacks the server.
server.headersTimeout = 10_000
server.requestTimeout = 20_000
// Longer than the proxy keeps an idle connection (usually 60 s): it must not send a call on one that we close.
server.keepAliveTimeout = 65_000
// Each connection has one call: more than the store can queue would only be answered 503 and rolled back.
server.maxConnections = 1_000

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Calls in flight are answered first; then the process ends.
  process.once(signal, () => server.close(() => close()))
}

function listenProblem(error: Error & { code?: string }): string {
  if (error.code === 'EADDRINUSE') return `Port ${port} is in use. Choose another: PORT=3001 npm start`
  if (error.code === 'EACCES')
    return `Port ${port} is not allowed for this user. Choose another: PORT=3001 npm start`
  return `Cannot listen on ${host}, port ${port}: ${error.message}`
}

function stop(reason: string): never {
  console.error(reason)
  process.exit(1)
}
