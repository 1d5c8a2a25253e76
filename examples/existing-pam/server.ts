/**
 * The PAM with its wallet. Run `npx tsx examples/existing-pam/server.ts` and paste the curl commands that it
 * prints. PORT and HOST set its address; DATABASE_URL or DATA_FOLDER its database: see examples/database.ts.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WalletOutcome } from 'bet-wallet'
import { basicAuth, createNodeListener } from 'bet-wallet/http'
import { stopGracefully } from 'bet-wallet/operations'
import { openDatabase } from '../database.js'
import { type Call, curlLines } from '../express/curl.js'
import { exposureWarning } from '../listen-address.js'
import { migratePam, openAccount, type PamSettlement, settle } from './pam.js'
import { createPamWallet } from './wallet.js'

const port = Number(process.env.PORT || 3000)
const host = process.env.HOST || '127.0.0.1'
const credentials = { username: 'platform', password: 'demo-secret' }

const database = await openDatabase('existing_pam', 'pam, bet_wallet')
await migratePam(database)
await openAccount(database, { accountNo: 'A-1001', currency: 'EUR', cents: 100_00n, stakeLimitCents: 50_00n })

const store = createPamWallet(database.client)
await store.ready()
const wallet = createNodeListener(store, {
  authenticate: basicAuth(credentials),
  // Stands for the PAM's queue of results. The wallet is not involved.
  routes: { '/pam/settle': settleManually },
})

const server = createServer(wallet)
server.listen(port, host, async () => {
  const { address, port: actual } = server.address() as AddressInfo
  const warning = exposureWarning(address)
  if (warning !== null) console.error(`${warning}\n`)
  console.log(`The wallet listens on http://${host}:${actual} and keeps its data in ${database.location}.\n`)
  const { rows } = await database.client.query(
    `SELECT concat_ws(' ', account_no, 'has', balance_cents * 0.01, currency, 'by', count(entry.*), 'bookings') AS line
      FROM pam.accounts
      LEFT JOIN pam.cash_ledger entry USING (account_id)
      GROUP BY account_id`,
  )
  for (const { line } of rows as { line: string }[]) console.log(`  ${line}`)
  console.log('\nPaste these into a fresh PAM, in this order.\n')
  for (const { title, line } of curlLines(calls(), `http://${host}:${actual}`, credentials))
    console.log(`# ${title}\n${line}\n`)
  console.log(`Ctrl+C stops the wallet; it keeps its data. To start over: ${database.resetHint}.`)
})
// Every call is short: a slower caller has disconnected, or attacks the server.
server.headersTimeout = 10_000
server.requestTimeout = 20_000
// Above the idle time of the proxy in front; and a bound for what is outstanding.
server.keepAliveTimeout = 65_000
server.maxConnections = 1_000

stopGracefully(server, { close: () => database.close() })

async function settleManually(body: unknown): Promise<WalletOutcome> {
  const { cents, ...result } = Object(body) as Omit<PamSettlement, 'cents'> & { cents?: unknown }
  if (typeof cents !== 'string' || !/^[0-9]{1,15}$/.test(cents)) {
    return {
      ok: false,
      replayed: false,
      errorCode: 'INVALID_REQUEST',
      description: 'cents: must be whole cents, as text',
    }
  }
  await settle(database, { ...result, cents: BigInt(cents) })
  const { rows } = await database.client.query(
    'SELECT (balance_cents * 0.01)::text AS balance, currency FROM pam.accounts WHERE account_no = $1',
    [result.accountNo],
  )
  const [account] = rows as [{ balance: string; currency: string }]
  return { ok: true, replayed: false, ...account, walletTransactionId: null }
}

function calls(): Call[] {
  const common = { playerId: 'A-1001', transactionDate: '2026-11-21T18:00:00Z' }
  const bet = { ...common, sessionId: 's-1', amount: 30, currency: 'EUR', odds: 1.85, betType: 'SINGLE' }
  return [
    {
      title: 'A bet of 30 EUR: 200, balance 70.00',
      path: '/placebet',
      body: { transactionId: 'place-1', betId: 'bet-1', ...bet },
    },
    {
      title: 'Another bet: 400 STAKE_LIMIT, since the daily limit of this player is 50 EUR',
      path: '/placebet',
      body: { transactionId: 'place-2', betId: 'bet-2', ...bet },
    },
    {
      title: 'PAM code credits 55.50 EUR for it: 200, balance 125.50',
      path: '/pam/settle',
      body: { settlementId: 'st-1', accountNo: 'A-1001', betId: 'bet-1', kind: 'BET_PAID', cents: '5550' },
    },
    {
      title: 'The result was wrong: the platform reverses the settlement by PAM code: 200, balance 70.00',
      path: '/unsettlement',
      body: { transactionId: 'unsettle-1', betId: 'bet-1', ...common, type: 'UNSCORED' },
    },
  ]
}
