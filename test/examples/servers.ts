/** The adapters of the examples in real servers on the loopback address, with and without a body parser. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bodyParser } from '@koa/bodyparser'
import { recordSettlement } from 'bet-wallet'
import { basicAuth, createHttpHandler, type HttpRequest, type HttpResponse } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'
import express from 'express'
import express4 from 'express4'
import Koa from 'koa'
import { walletRoutes as walletInExpress } from '../../examples/express/wallet.js'
import { walletRoutes as walletInKoa } from '../../examples/koa/wallet.js'
import { walletRoutes as walletInNode } from '../../examples/node-http/wallet.js'
import { basePath, credentials, type Front, initialPlayers } from './exchanges.js'

type Handle = (request: HttpRequest) => Promise<HttpResponse>

export interface Setup {
  name: string
  front: Front
  /** The framework mounts the wallet at the base path, so the wallet itself has none. */
  mounted: boolean
  listener(handle: Handle): RequestListener
}

function inExpress(
  name: string,
  front: Front,
  framework: typeof express,
  parser?: (framework: typeof express) => express.Handler,
): Setup {
  return {
    name,
    front,
    mounted: true,
    listener(handle) {
      const app = framework()
      app.set('env', 'test') // does not log the errors of parsers
      if (parser !== undefined) app.use(parser(framework))
      app.use(basePath, walletInExpress(handle))
      return app as RequestListener
    },
  }
}

function inKoa(name: string, front: Front, parser?: Koa.Middleware): Setup {
  return {
    name,
    front,
    mounted: false,
    listener(handle) {
      const app = new Koa()
      app.silent = true // does not log the errors of parsers
      if (parser !== undefined) app.use(parser)
      app.use(walletInKoa(handle))
      return app.callback()
    },
  }
}

const bytesMaxOfParser = 100_000

/** A typical parser without a framework: reads the whole body, parses it, passes the result on. */
function behindOwnParser(handle: Handle) {
  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = req
    const chunks: Uint8Array[] = []
    let bytes = 0
    let parsed: unknown
    try {
      for await (const chunk of req as AsyncIterable<Uint8Array>) {
        bytes += chunk.length
        if (bytes <= bytesMaxOfParser) chunks.push(chunk)
      }
      const isJson = bytes > 0 && /^application\/json/i.test(headers['content-type'] ?? '')
      if (isJson) parsed = JSON.parse(String(Buffer.concat(chunks)))
    } catch {
      res.writeHead(bytes > bytesMaxOfParser ? 413 : 400).end('not JSON')
      return
    }
    const answer = await handle({ method, path: url, headers, body: { parsed } })
    res.writeHead(answer.status, answer.headers).end(answer.body)
  }
}

const onlyForms = (framework: typeof express) => framework.urlencoded({ extended: false })

export const setups: readonly Setup[] = [
  inExpress('Express 5', 'none', express),
  inExpress('Express 5 behind express.json()', 'json', express, framework => framework.json()),
  inExpress('Express 5 behind express.text()', 'text', express, framework => framework.text({ type: '*/*' })),
  inExpress('Express 5 behind express.raw()', 'raw', express, framework => framework.raw({ type: '*/*' })),
  inExpress('Express 5 behind a parser that skips JSON', 'none', express, onlyForms),
  inExpress('Express 4', 'none', express4),
  inExpress('Express 4 behind express.json()', 'json', express4, framework => framework.json()),
  inExpress('Express 4 behind express.text()', 'text', express4, framework =>
    framework.text({ type: '*/*' }),
  ),
  inExpress('Express 4 behind express.raw()', 'raw', express4, framework => framework.raw({ type: '*/*' })),
  inExpress('Express 4 behind a parser that skips JSON', 'none', express4, onlyForms),
  inKoa('Koa 3', 'none'),
  inKoa('Koa 3 behind @koa/bodyparser', 'json', bodyParser()),
  inKoa('Koa 3 behind a parser that skips JSON', 'none', bodyParser({ enableTypes: [] })),
  { name: 'node:http', front: 'none', mounted: false, listener: walletInNode },
  { name: 'node:http behind a parser', front: 'json', mounted: false, listener: behindOwnParser },
]

/** Starts a wallet with the initial players. */
export async function start({ listener, mounted }: Setup) {
  const store = createMemoryStore(initialPlayers)
  const errors: unknown[] = []
  const inner = createHttpHandler(store, {
    authenticate: basicAuth(credentials),
    basePath: mounted ? '' : basePath,
    routes: { '/settlement': body => recordSettlement(store, body) },
    onError: error => errors.push(error),
  })

  // A call in flight can be awaited, also after its caller has disconnected.
  const calls: Promise<HttpResponse>[] = []
  let called: () => void = () => {}
  const handle: Handle = request => {
    const call = inner(request)
    calls.push(call)
    called()
    return call
  }

  const server = createServer(listener(handle))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    store,
    errors,
    server,
    port: (server.address() as AddressInfo).port,
    /** The next call that reaches the wallet, perhaps not answered yet. */
    nextCall: () =>
      new Promise<{ answered: Promise<HttpResponse> }>(resolve => {
        called = () => resolve({ answered: calls.at(-1) as Promise<HttpResponse> })
      }),
    async stop(): Promise<void> {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
