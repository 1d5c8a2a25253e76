/** Health, metrics and the stop of docs/frameworks.md, in the real frameworks. */
import { once } from 'node:events'
import { Agent, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { Module, type Type } from '@nestjs/common'
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import type { HttpOptions } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'
import client from 'prom-client'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { load } from './setups.js'

type Load = <App>(file: () => Promise<App>) => Promise<App>

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

    const send = (path: string) =>
      new Promise<unknown>(resolve => {
        const headers = { 'content-type': 'application/json' }
        const sent = request({ port, host: '127.0.0.1', agent, path, method: 'POST', headers }, response =>
          response.resume().once('end', () => resolve([response.statusCode, response.headers.connection])),
        )
        sent.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
        const ids = { transactionId: 'r-1', betId: 'b-1', playerId: 'anna', type: 'TECHNICAL_ERROR' }
        sent.end(JSON.stringify({ ...ids, transactionDate: '2026-11-21T18:00:00Z' }))
      })
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
