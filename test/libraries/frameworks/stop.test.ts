/** Health, metrics and the stop of docs/http.md, in the real frameworks. */
import { once } from 'node:events'
import { Agent, request, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { serve } from '@hono/node-server'
import { Module, type Type } from '@nestjs/common'
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import type { WalletStore } from 'bet-wallet'
import { createHttpHandler, type HttpOptions } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'
import Koa from 'koa'
import client from 'prom-client'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { walletRoutes } from '../../../examples/koa/wallet.js'
import { load } from './setups.js'

type Load = <App>(file: () => Promise<App>) => Promise<App>

interface Wallet {
  options: HttpOptions
  store: WalletStore
}

interface Started {
  server: Server
  stop(): Promise<void>
  ready(): Promise<{ status: number }>
}

/** `close`: what the framework or the operator closes last. */
const start: Record<string, (open: Load, close: () => void) => Promise<Started>> = {
  async 'Express 5'(open, close) {
    const { app } = await open(() => import('./apps/express.js'))
    const { operate, health } = await import('./apps/operations.js')
    const server = app.listen(0, '127.0.0.1')
    return { server, stop: operate(server, { close }), ready: health.ready }
  },
  async 'node:http'(open, close) {
    const { server } = await open(() => import('./apps/node-http.js'))
    const { operate, health } = await import('./apps/operations.js')
    server.listen(0, '127.0.0.1')
    return { server, stop: operate(server, { close }), ready: health.ready }
  },
  async 'Koa 3'(open, close) {
    const { options, store } = (await open(() => import('./apps/wallet.js'))) as Wallet
    const { operate, health } = await import('./apps/operations.js')
    const handle = createHttpHandler(store, { ...options, basePath: '/wallet' })
    const server = new Koa().use(walletRoutes(handle)).listen(0, '127.0.0.1')
    return { server, stop: operate(server, { close }), ready: health.ready }
  },
  async 'Fastify 5'(open, close) {
    const { app } = await open(() => import('./apps/fastify.js'))
    const { operate, health } = await import('./apps/operations.js')
    app.addHook('onClose', async () => close())
    await app.listen({ port: 0, host: '127.0.0.1' })
    return {
      server: app.server,
      stop: operate(app.server, { close: () => app.close() }),
      ready: health.ready,
    }
  },
  async 'Hono 4'(open, close) {
    const { app } = await open(() => import('./apps/hono.js'))
    const { operate, health } = await import('./apps/operations.js')
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
    return { server: server as Server, stop: operate(server, { close }), ready: health.ready }
  },
  'NestJS 12 on Express': (open, close) => inNest(open, close, new ExpressAdapter()),
  'NestJS 12 on Fastify': (open, close) => inNest(open, close, new FastifyAdapter()),
}

async function inNest(open: Load, close: () => void, adapter: AbstractHttpAdapter): Promise<Started> {
  const { WalletModule } = await open(() => import('./apps/nestjs.js'))
  const { health } = await import('./apps/operations.js')
  const { WalletOperations } = await import('./apps/nestjs-operations.js')
  class Pool {
    onApplicationShutdown = close
  }
  class AppModule {}
  Module({ imports: [WalletModule as Type], providers: [WalletOperations, Pool] })(AppModule)
  const app = await NestFactory.create(AppModule, adapter, { logger: false, rawBody: true })
  await app.listen(0, '127.0.0.1')
  return { server: app.getHttpServer(), stop: () => app.close(), ready: health.ready }
}

const agent = new Agent({ keepAlive: true })
beforeEach(() => {
  process.env.INTERNAL_PORT = '0'
  client.register.clear()
})
afterEach(() => {
  agent.destroy()
  vi.restoreAllMocks()
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal)
})

/** @returns the status and the header Connection of the answer, or the code of the error */
const post = (port: number, path: string, body: string) =>
  new Promise<unknown>(resolve => {
    const headers = { 'content-type': 'application/json' }
    const sent = request({ port, host: '127.0.0.1', agent, path, method: 'POST', headers }, response =>
      response.resume().once('end', () => resolve([response.statusCode, response.headers.connection])),
    )
    sent.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    sent.end(body)
  })

test.each(Object.keys(start))(
  'given %s with a call in flight and an idle connection, when it is stopped, then the call is answered and all is closed',
  async name => {
    let arrived = () => {}
    const arrival = new Promise<void>(resolve => (arrived = resolve))
    let allow = () => {}
    const allowed = new Promise<true>(resolve => (allow = () => resolve(true)))
    const options: HttpOptions = {
      authenticate: ({ path }) => {
        if (!path.endsWith('/rollbackbet')) return true
        arrived()
        return allowed
      },
      basePath: '',
    }
    const players = [{ playerId: 'anna', currency: 'EUR', balance: '100.00' }]
    const close = vi.fn()
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    const open: Load = file => load(file, createMemoryStore(players), options)
    const { server, stop, ready } = await (start[name] as (typeof start)[string])(open, close)
    // Without the stop of this library, the connections would stay for as long.
    Object.assign(server, { keepAliveTimeout: 600_000, requestTimeout: 600_000 })
    if (!server.listening) await once(server, 'listening')
    const { port } = server.address() as AddressInfo

    const ids = { transactionId: 'r-1', betId: 'b-1', playerId: 'anna', type: 'TECHNICAL_ERROR' }
    const body = JSON.stringify({ ...ids, transactionDate: '2026-11-21T18:00:00Z' })
    const send = (path: string) => post(port, path, body)
    const rollback = send('/wallet/rollbackbet')
    await arrival
    expect(await send('/wallet/unsettlement')).toEqual([400, 'keep-alive']) // its connection is idle now
    expect((await ready()).status).toBe(200)

    const stopped = stop()
    await vi.waitFor(async () => expect((await ready()).status).toBe(503))
    expect(close).not.toHaveBeenCalled()
    expect(log.mock.calls.flat()).toEqual([
      expect.stringMatching(/: no new calls\. Waiting for 1 in flight: POST \/wallet\/rollbackbet\.$/),
    ])
    allow()
    expect(await rollback).toEqual([200, 'close'])
    await stopped
    expect(close).toHaveBeenCalledTimes(1)
    agent.destroy()
    expect(await send('/wallet/rollbackbet')).toBe('ECONNREFUSED')
  },
)

function bodyOf(id: string): string {
  const ids = { transactionId: id, betId: id, playerId: 'anna', sessionId: 's' }
  return JSON.stringify({
    ...{ ...ids, amount: 1, currency: 'EUR', betType: 'SINGLE' },
    transactionDate: '2026-11-21T18:00:00Z',
  })
}

/** A placebet as bytes. */
function placebet(id: string): string {
  const body = bodyOf(id)
  return `POST /wallet/placebet HTTP/1.1\r\nHost: w\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/**
 * Sends this text on a connection of its own, and then its rest.
 *
 * @returns the status codes of what is answered, up to its end
 */
async function statusesOf(port: number, text: string, rest?: Promise<string>): Promise<string[]> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.on('data', data => (received += data))
  socket.on('error', () => {})
  socket.write(text)
  rest?.then(last => socket.write(last))
  await new Promise(resolve => socket.once('close', resolve)) // once() rejects at a reset
  return received.match(/HTTP\/1\.1 \d+/g) ?? []
}

test.each(Object.keys(start))(
  'given %s with pipelined, half-sent and broken calls, when it is stopped, then each commit is answered, or its connection closed',
  async name => {
    const waiting: (() => void)[] = []
    const memory = createMemoryStore([{ playerId: 'anna', currency: 'EUR', balance: '1000.00' }])
    const store: WalletStore = {
      ...memory,
      async commit(changes) {
        await new Promise<void>(resolve => waiting.push(resolve))
        return await memory.commit(changes)
      },
    }
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    const open: Load = file => load(file, store, { authenticate: () => true, basePath: '' })
    const { server, stop } = await (start[name] as (typeof start)[string])(open, () => {})
    Object.assign(server, { keepAliveTimeout: 600_000, requestTimeout: 600_000 })
    if (!server.listening) await once(server, 'listening')
    const { port } = server.address() as AddressInfo

    let heads = 0
    server.on('request', () => (heads += 1))
    const ids = Array.from({ length: 20 }, (_, index) => `p-${index}`)
    const pairs = ids.map(id => statusesOf(port, placebet(`${id}-1`) + placebet(`${id}-2`)))
    const broken = ids.map(id => statusesOf(port, `${placebet(`${id}-broken`)}}\r\n\r\n`))
    const halves = ids.map(id => statusesOf(port, placebet(`${id}-half`).slice(0, -10)))
    let complete = () => {}
    const completed = new Promise<void>(resolve => (complete = resolve))
    const late = ids.map(id => {
      const text = placebet(`${id}-late`)
      return statusesOf(
        port,
        text.slice(0, -10),
        completed.then(() => text.slice(-10)),
      )
    })
    // All whole calls wait for their commit, and the others for their rest.
    await vi.waitFor(() => expect(heads).toBe(5 * ids.length))
    await vi.waitFor(() => expect(waiting).toHaveLength(3 * ids.length))
    const stopped = stop()
    await vi.waitFor(() => expect(log.mock.calls.flat()[0]).toMatch(/Waiting for \d+ in flight/))
    complete()
    await vi.waitFor(() => expect(waiting).toHaveLength(4 * ids.length))
    for (const commit of waiting) commit()
    expect(await Promise.all(late)).toEqual(ids.map(() => ['HTTP/1.1 200']))
    expect(await Promise.all(pairs)).toEqual(ids.map(() => ['HTTP/1.1 200', 'HTTP/1.1 200']))
    expect(await Promise.all(broken)).toEqual(ids.map(() => []))
    // A half-sent call may wait for its rest: the stop ends it.
    server.closeAllConnections()
    expect(await Promise.all(halves)).toEqual(ids.map(() => []))
    await stopped
    expect(log.mock.calls.flat().join()).not.toContain('Not answered')
  },
)

test.each(Object.keys(start))(
  'given %s and callers that go on, when it is stopped, then each commit is answered',
  async name => {
    let isUnderLoad = () => {}
    const underLoad = new Promise<void>(resolve => (isUnderLoad = resolve))
    const committed: string[] = []
    const answered = new Set<string>()
    const memory = createMemoryStore([{ playerId: 'anna', currency: 'EUR', balance: '100000.00' }])
    const store: WalletStore = {
      ...memory,
      async commit(changes) {
        const result = await memory.commit(changes)
        if (committed.push(changes.transaction.transactionId) === 100) isUnderLoad()
        await new Promise(resolve => setTimeout(resolve, 5))
        return result
      },
    }
    vi.spyOn(console, 'log').mockImplementation(() => {})
    const open: Load = file => load(file, store, { authenticate: () => true, basePath: '' })
    const { server, stop } = await (start[name] as (typeof start)[string])(open, () => {})
    if (!server.listening) await once(server, 'listening')
    const { port } = server.address() as AddressInfo

    const callers = Array.from({ length: 30 }, async (_, caller) => {
      for (let call = 0; ; call += 1) {
        const id = `c-${caller}-${call}`
        const answer = await post(port, '/wallet/placebet', bodyOf(id))
        if (answer === 'ECONNREFUSED') return
        // A connection may break at the stop, but not one whose call was committed.
        if (Array.isArray(answer)) answered.add(id)
      }
    })
    await underLoad
    await stop()
    await Promise.all(callers)
    expect(committed.filter(id => !answered.has(id))).toEqual([])
  },
)
