/**
 * A wallet to try things on: `npm start`, then paste the curl lines that it prints.
 *
 * PORT (default 3000; 0 takes a free one) and HOST (default 127.0.0.1) say where it listens, DATABASE_URL or DATA_FOLDER
 * where it keeps its data: see examples/database.ts.
 */
import type { AddressInfo } from 'node:net'
import { recordSettlement } from 'bet-wallet'
import { basicAuth, createHttpHandler } from 'bet-wallet/http'
import { createPostgresStore, migratePostgres } from 'bet-wallet/postgres'
import express from 'express'
import { openDatabase } from '../database.js'
import { calls, curlLines } from './curl.js'
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

const schema = 'bet_wallet_express'
const database = await openDatabase(schema).catch((error: Error) => stop(error.message))
await migratePostgres(database.client, { schema })
for (const player of players) {
  await database.client.query(
    `INSERT INTO ${schema}.players (player_id, currency, balance) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
    Object.values(player),
  )
}
// Yours is over the players' table that you have: see examples/existing-pam.
const store = createPostgresStore(database.client, { schema })
await store.ready()

const handle = createHttpHandler(store, {
  authenticate: basicAuth(credentials),
  // Not of the interface: what your own settlement code would call.
  routes: { '/settlement': body => recordSettlement(store, body) },
})

const app = express()
app.disable('x-powered-by')
// Before any body parser: the wallet reads the body itself, after authentication and with all of its digits.
app.use('/wallet', walletRoutes(handle))

const { rows: balances } = await database.client.query(
  `SELECT concat_ws(' ', player_id, 'has', balance, currency) AS line FROM ${schema}.players ORDER BY player_id`,
)
const server = app.listen(Number(port), host, async (error?: Error) => {
  if (error) {
    await database.close()
    stop(whyNot(error))
  }
  const { address, family, port: actual } = server.address() as AddressInfo
  const base = `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}/wallet`
  console.log(`The wallet listens on ${base} and keeps its data in ${database.where}.\n`)
  for (const { line } of balances as { line: string }[]) console.log(`  ${line}`)
  console.log(
    '\nPaste these into a fresh wallet, in this order. Pasted again, each is decided as before, moves',
  )
  console.log('nothing, and is answered with the balance as it is by then.\n')
  for (const { title, line } of curlLines(calls, base, credentials)) console.log(`# ${title}\n${line}\n`)
  console.log(`Stop it with Ctrl+C and start it again: nothing is lost. To begin afresh: ${database.afresh}.`)
})
// Every call is short. Whoever takes longer has hung up, or means no good.
server.headersTimeout = 10_000
server.requestTimeout = 20_000

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Calls under way are answered; then nothing is left that keeps the process alive.
  process.once(signal, () => server.close(() => database.close()))
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
