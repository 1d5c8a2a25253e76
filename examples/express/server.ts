/**
 * A wallet to experiment with: `npm start` serves a page to try it, and prints sample curl commands.
 *
 * PORT (default 3000; 0: a free port) and HOST (default 127.0.0.1) set its address, DATABASE_URL or
 * DATA_FOLDER the place of its data (see examples/express/demo-store.ts). With INTERNAL_PORT it serves
 * `/livez`, `/readyz` and `/metrics` there. With LOG_CALLS=1 it prints a line per call.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { recordSettlement } from 'bet-wallet'
import { allOf, basicAuth, createNodeListener } from 'bet-wallet/http'
import { collectMetrics, createHealth, stopGracefully } from 'bet-wallet/operations'
import { createTryPage, isLocalHost } from 'bet-wallet/try'
import express from 'express'
import client from 'prom-client'
import { exposureWarning, readListenAddress } from '../listen-address.js'
import { logCalls } from './call-log.js'
import { calls, curlLines } from './curl.js'
import { openDemoStore, schema } from './demo-store.js'

const credentials = { username: 'platform', password: 'demo-secret' }

// First: a database takes seconds to be made.
const { port, host, internalPort } = await readListenAddress().catch(stop)
const demo = await openDemoStore().catch(stop)
const { store, lookups, playerIds, location, deposit } = demo

if (process.env.LOG_CALLS) logCalls()

/** Whether only callers on this machine can reach the server: known when it listens. */
let isLocal = false
const wallet = createNodeListener(store, {
  authenticate: allOf(({ headers }) => !isLocal || isLocalHost(headers), basicAuth(credentials)),
  // Not part of the interface: stands for your own settlement code.
  routes: { '/settlement': body => recordSettlement(store, body) },
})

collectMetrics(client, { store })
const health = createHealth({ check: () => store.ping(), metrics: client.register })
// Before the wallet listens: the first probe must not fail.
const healthUrl = internalPort === null ? null : await listenInternally(internalPort)

const app = express()
app.disable('x-powered-by')
// Before any body parser: the wallet reads the body itself, after authentication, without losing a digit.
app.use('/wallet', wallet)

const server = app.listen(port, host, async (error?: Error) => {
  if (error) {
    await demo.close()
    stop(error)
  }
  const { address, family, port: actual } = server.address() as AddressInfo
  const warning = exposureWarning(address)
  if (warning !== null) console.error(`${warning}\n`)
  const origin = `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}`
  const base = `${origin}/wallet`
  console.log(`The wallet listens on ${base} and keeps its data in ${location}.`)
  isLocal = warning === null
  // Its buttons move the players' money.
  if (isLocal) {
    servePage(base)
    console.log(`A page to try it: ${origin}/`)
  }
  console.log()
  for (const line of demo.balances) console.log(`  ${line}`)
  console.log(
    '\nSample calls for a new wallet, in this order. A repeated call changes nothing: it returns its',
  )
  console.log('first decision with the current balance.\n')
  for (const { title, line } of curlLines(calls, base, credentials)) console.log(`# ${title}\n${line}\n`)
  if (process.env.DATABASE_URL) {
    console.log('Its records, also for the comparison that bet-wallet simulate --report prints:')
    console.log(`  export BET_WALLET_SCHEMA=${schema}\n  npx bet-wallet player anna\n`)
  }
  if (healthUrl !== null) console.log(`Health and metrics: ${healthUrl}/livez, /readyz, /metrics\n`)
  if (!process.env.LOG_CALLS) console.log('With LOG_CALLS=1 it prints a line per call.')
  console.log(`Ctrl+C stops the wallet; it keeps its data. To start over: ${demo.resetHint}.`)
})
// Every call is short: a slower caller has disconnected, or attacks the server.
server.headersTimeout = 10_000
server.requestTimeout = 20_000
// Longer than the proxy keeps an idle connection (usually 60 s): it must send no call on one that we close.
server.keepAliveTimeout = 65_000
// Each connection has one call: more than the store can queue would only be answered 503 and rolled back.
server.maxConnections = 1_000

stopGracefully(server, {
  health,
  async close() {
    console.log('Closing the database.')
    await demo.close()
  },
})

/** Not part of a wallet: it plays the platform, and shows what its calls do. */
function servePage(baseUrl: string): void {
  const { username, password } = credentials
  const basic = Buffer.from(`${username}:${password}`).toString('base64')
  const page = createTryPage({
    ...{ baseUrl, lookups, playerIds, deposit },
    headers: { Authorization: `Basic ${basic}` },
    storage: `This wallet keeps its data in ${location}.`,
  })
  app.get('/', page)
  app.post('/try/:button', page)
}

/** Its address. The server does not keep the process alive. */
async function listenInternally(port: number): Promise<string> {
  const server = createServer(health.listener).unref().listen(port, host)
  await once(server, 'listening').catch(stop)
  const { address, family, port: actual } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}`
}

function stop({ message }: Error): never {
  console.error(message)
  process.exit(1)
}
