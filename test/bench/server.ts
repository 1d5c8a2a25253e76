/**
 * A server process of the benchmark: `wallet` is the example for node:http on the memory store, `bare` is the least
 * that anybody writes: body, Basic authentication, JSON.parse and the schema. Tells its CPU time when asked.
 */
import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequestReader } from 'bet-wallet/decide'
import { basicAuth, createHttpHandler } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'
import { walletRoutes } from '../../examples/node-http/wallet.js'
import { credentials, player } from './load.js'

function wallet() {
  return walletRoutes(
    createHttpHandler(createMemoryStore([player]), { authenticate: basicAuth(credentials) }),
  )
}

function bare() {
  const read = createRequestReader().placebet
  const expected = Buffer.from(`${credentials.username}:${credentials.password}`)

  return (req: IncomingMessage, res: ServerResponse): void => {
    const sent = Buffer.from(req.headers.authorization?.slice('Basic '.length) ?? '', 'base64')
    if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) {
      res.writeHead(401).end()
      return
    }
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const result = read(JSON.parse(Buffer.concat(chunks).toString()))
      res.writeHead('request' in result ? 200 : 400, { 'content-type': 'application/json; charset=utf-8' })
      res.end(JSON.stringify({ balance: 1_000_000_000, currency: 'EUR', walletTransactionId: 'W1' }))
    })
  }
}

const server = createServer(process.argv[2] === 'wallet' ? wallet() : bare())
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('message', () => process.send?.(process.cpuUsage()))
process.on('disconnect', () => process.exit())
