/**
 * The PAM with its wallet: `DATABASE_URL=mysql://… npx tsx examples/existing-pam-mysql/server.ts`. It prints
 * curl commands to paste. PORT and HOST set its address.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basicAuth, createNodeListener } from 'bet-wallet/http'
import { migrateMysql } from 'bet-wallet/mysql'
import { stopGracefully } from 'bet-wallet/operations'
import mysql from 'mysql2/promise'
import { type Call, curlLines } from '../express/curl.js'
import { exposureWarning } from '../listen-address.js'
import { createPam, openAccount } from './pam.js'
import { createPamWallet, options } from './wallet.js'

const port = Number(process.env.PORT || 3000)
const host = process.env.HOST || '127.0.0.1'
const credentials = { username: 'platform', password: 'demo-secret' }
const uri = process.env.DATABASE_URL
if (!uri?.startsWith('mysql://'))
  throw new Error('DATABASE_URL must name a server: mysql://user:password@host:3306/')

const pool = mysql.createPool({ uri, connectTimeout: 5_000 })
await createPam(pool)
await migrateMysql(pool, options)
await openAccount(pool, 'A-1001', 'EUR', 100_00n)

// A pool of its own: its sessions get the settings of the store.
const walletPool = mysql.createPool({ uri, connectTimeout: 5_000 })
const store = createPamWallet(walletPool)
await store.ready()

const server = createServer(createNodeListener(store, { authenticate: basicAuth(credentials) }))
server.listen(port, host, () => {
  const { address, port: actual } = server.address() as AddressInfo
  const warning = exposureWarning(address)
  if (warning !== null) console.error(`${warning}\n`)
  console.log(`The wallet listens on http://${host}:${actual} and keeps its data in the schema pam.\n`)
  for (const { title, line } of curlLines(calls(), `http://${host}:${actual}`, credentials))
    console.log(`# ${title}\n${line}\n`)
  console.log('Ctrl+C stops the wallet; it keeps its data. To start over: DROP DATABASE pam.')
})
// Every call is short: a slower caller has disconnected, or attacks the server.
server.headersTimeout = 10_000
server.requestTimeout = 20_000
// Above the idle time of the proxy in front; and a bound for what is outstanding.
server.keepAliveTimeout = 65_000
server.maxConnections = 1_000

stopGracefully(server, { close: () => Promise.all([pool.end(), walletPool.end()]) })

function calls(): Call[] {
  const common = { playerId: 'A-1001', transactionDate: '2026-11-22T18:00:00Z' }
  const bet = { ...common, sessionId: 's-1', amount: 30, currency: 'EUR', odds: 1.85, betType: 'SINGLE' }
  return [
    {
      title: 'A bet of 30 EUR: 200, balance 70.00',
      path: '/placebet',
      body: { transactionId: 'place-1', betId: 'bet-1', ...bet },
    },
    {
      title: 'Its placement failed, so the platform rolls it back: 200, balance 100.00',
      path: '/rollbackbet',
      body: { transactionId: 'rollback-1', betId: 'bet-1', ...common, type: 'TECHNICAL_ERROR' },
    },
    {
      title: 'A stake of more than the funds: 402 INSUFFICIENT_FUNDS',
      path: '/placebet',
      body: { transactionId: 'place-2', betId: 'bet-2', ...bet, amount: 130 },
    },
  ]
}
