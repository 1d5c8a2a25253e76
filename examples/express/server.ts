/**
 * A wallet to try things on: `npm start`, then paste the curl lines that it prints.
 *
 * PORT (default 3000; 0 takes a free one) and HOST (default 127.0.0.1) say where it listens.
 */
import type { AddressInfo } from 'node:net'
import { recordSettlement } from 'bet-wallet'
import { basicAuth, createHttpHandler } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'
import express from 'express'
import { curlLines } from './curl.js'
import { walletRoutes } from './wallet.js'

const credentials = { username: 'platform', password: 'demo-secret' }
const players = [
  { playerId: 'anna', currency: 'EUR', balance: '100.00' },
  { playerId: 'kenji', currency: 'JPY', balance: '5000' },
]

// Not ??: an empty HOST would be every address of the machine.
const port = process.env.PORT || '3000'
const host = process.env.HOST || '127.0.0.1'
if (!/^[0-9]{1,5}$/.test(port) || Number(port) > 65_535) {
  stop(`PORT must be a whole number from 0 to 65535, and is ${JSON.stringify(port)}`)
}

// Yours is a store over your own database: see examples/stores.
const store = createMemoryStore(players)
const handle = createHttpHandler(store, {
  authenticate: basicAuth(credentials),
  // Not of the interface: what your own settlement code would call.
  operations: { '/settlement': body => recordSettlement(store, body) },
})

const app = express()
app.disable('x-powered-by')
// Before any body parser: the wallet reads the body itself, after authentication and with all of its digits.
app.use('/wallet', walletRoutes(handle))

const server = app.listen(Number(port), host, (error?: Error) => {
  if (error) stop(whyNot(error))
  const { address, family, port: actual } = server.address() as AddressInfo
  const base = `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}/wallet`
  console.log(`The wallet listens on ${base}\n`)
  for (const { playerId, currency, balance } of players)
    console.log(`  ${playerId} has ${balance} ${currency}`)
  console.log('\nPaste these in this order. Pasted again, each is decided as before, and moves nothing.\n')
  for (const { title, line } of curlLines(base, credentials)) console.log(`# ${title}\n${line}\n`)
  console.log('Stop it with Ctrl+C; it forgets everything.')
})
// Every call is short. Whoever takes longer has hung up, or means no good.
server.headersTimeout = 10_000
server.requestTimeout = 20_000

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Calls under way are answered; then nothing is left that keeps the process alive.
  process.once(signal, () => server.close())
}

function whyNot(error: Error & { code?: string }): string {
  if (error.code === 'EADDRINUSE') return `Port ${port} is in use. Another one: PORT=3001 npm start`
  if (error.code === 'EACCES')
    return `Port ${port} is not allowed for this user. Another one: PORT=3001 npm start`
  return `Cannot listen on ${host}, port ${port}: ${error.message}`
}

function stop(reason: string): never {
  console.error(reason)
  process.exit(1)
}
