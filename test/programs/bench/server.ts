/**
 * A server process of the benchmarks, configured by a JSON argument: the node:http example over a store, or a
 * minimal server without the library. Reports its usage on request.
 */
import { timingSafeEqual } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Account, recordSettlement, type WalletStore } from 'bet-wallet'
import { basicAuth, createNodeListener } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'
import { createPostgresStore } from 'bet-wallet/postgres'
import pg from 'pg'
import { credentials } from './load.js'
import { plainPlaceBet, plainRollbackBet } from './plain-schema.js'

/** With the store over PostgreSQL, the players are in the database. */
export type ServerSettings =
  | { kind: 'bare'; players: readonly Account[] }
  | { kind: 'memory'; players: readonly Account[] }
  | { kind: 'postgres'; databaseUrl: string; store?: { connectionsMax?: number; batchMax?: number } }

/** The messages to the parent: first the port, then its usage so far, per request. */
export type ServerReport = { port: number } | ServerUsage

export interface ServerUsage {
  /** User and system, in microseconds. */
  cpuUs: number
  rssBytes: number
}

function storeOf(settings: Exclude<ServerSettings, { kind: 'bare' }>): WalletStore {
  if (settings.kind === 'memory') return createMemoryStore(settings.players)
  const pool = new pg.Pool({ connectionString: settings.databaseUrl, max: 8 })
  return createPostgresStore(pool, settings.store)
}

function wallet(store: WalletStore): RequestListener {
  return createNodeListener(store, {
    authenticate: basicAuth(credentials),
    routes: { '/settlement': body => recordSettlement(store, body) },
  })
}

/**
 * Correct only without faults: debits stakes and credits them back, without recognising retries. Amounts are
 * cents of one currency.
 */
function bare(players: readonly Account[]): RequestListener {
  const expected = Buffer.from(`${credentials.username}:${credentials.password}`)
  const balances = new Map(
    players.map(({ playerId, balance }) => [playerId, Math.round(Number(balance) * 100)]),
  )
  const stakes = new Map<string, number>()
  let answered = 0

  function answer(path: string, body: unknown): [status: number, body: object] {
    const result = (path === '/placebet' ? plainPlaceBet : plainRollbackBet).safeParse(body)
    if (!result.success) return [400, { errorCode: 'INVALID_REQUEST', description: result.error.message }]
    const request = result.data
    const balance = balances.get(request.playerId)
    if (balance === undefined)
      return [404, { errorCode: 'INVALID_PLAYER', description: 'playerId: unknown player' }]
    let after = balance
    if ('amount' in request) {
      const stake = Math.round(request.amount * 100)
      if (stake > balance)
        return [402, { errorCode: 'INSUFFICIENT_FUNDS', description: 'amount: insufficient funds' }]
      stakes.set(request.betId, stake)
      after -= stake
    } else {
      after += stakes.get(request.betId) ?? 0
    }
    balances.set(request.playerId, after)
    answered += 1
    return [200, { balance: after / 100, currency: 'EUR', walletTransactionId: `W${answered}` }]
  }

  return (req, res) => {
    const sent = Buffer.from(req.headers.authorization?.slice('Basic '.length) ?? '', 'base64')
    if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) {
      res.writeHead(401).end()
      return
    }
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const [status, body] = answer(req.url ?? '', JSON.parse(Buffer.concat(chunks).toString()))
      res.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
      res.end(JSON.stringify(body))
    })
  }
}

const settings = JSON.parse(process.argv[2] ?? '') as ServerSettings
const server = createServer(settings.kind === 'bare' ? bare(settings.players) : wallet(storeOf(settings)))
const report = (message: ServerReport) => process.send?.(message)
server.listen(0, '127.0.0.1', () => report({ port: (server.address() as AddressInfo).port }))
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  report({ cpuUs: user + system, rssBytes: process.memoryUsage.rss() })
})
process.on('disconnect', () => process.exit())
