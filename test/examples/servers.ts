/** The wallet in Express, Koa and `node:http`, with and without a body parser. Other frameworks: test/libraries/frameworks. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { bodyParser } from '@koa/bodyparser'
import { createHttpHandler, createNodeListener } from 'bet-wallet/http'
import express from 'express'
import express4 from 'express4'
import Koa from 'koa'
import { walletRoutes } from '../../examples/koa/wallet.js'
import { basePath, type Front } from './exchanges.js'
import type { Setup } from './running.js'

function inExpress(
  name: string,
  front: Front,
  framework: typeof express,
  parser?: (framework: typeof express) => express.Handler,
): Setup {
  return {
    ...{ name, front, mounted: true },
    serve(store, options) {
      const app = framework()
      app.set('env', 'test') // does not log the errors of parsers
      if (parser !== undefined) app.use(parser(framework))
      app.use(basePath, createNodeListener(store, options))
      return app as RequestListener
    },
  }
}

function inKoa(name: string, front: Front, parser?: Koa.Middleware): Setup {
  return {
    ...{ name, front },
    serve(store, options) {
      const app = new Koa()
      app.silent = true // does not log the errors of parsers
      app.proxy = true // ctx.ip is then what the caller wrote
      if (parser !== undefined) app.use(parser)
      app.use(walletRoutes(createHttpHandler(store, options)))
      return app.callback()
    },
  }
}

const forgetting: Koa.Middleware = (ctx, next) =>
  bodyParser()(ctx, () => {
    Object.assign(ctx.request, { rawBody: undefined })
    return next()
  })

const bytesMaxOfParser = 100_000

/** A typical parser without a framework: reads the whole body, parses it, passes the result on. */
async function parse(req: IncomingMessage, res: ServerResponse, next: () => Promise<void>): Promise<void> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of req as AsyncIterable<Uint8Array>) {
      bytes += chunk.length
      if (bytes <= bytesMaxOfParser) chunks.push(chunk)
    }
    const isJson = bytes > 0 && /^application\/json/i.test(req.headers['content-type'] ?? '')
    Object.assign(req, { body: isJson ? JSON.parse(String(Buffer.concat(chunks))) : null })
  } catch {
    res.writeHead(bytes > bytesMaxOfParser ? 413 : 400).end('not JSON')
    return
  }
  await next()
}

const onlyForms = (framework: typeof express) => framework.urlencoded({ extended: false })
const json = (framework: typeof express) => framework.json()
const text = (framework: typeof express) => framework.text({ type: '*/*' })
const raw = (framework: typeof express) => framework.raw({ type: '*/*' })
/** As the documentation of Express and of body-parser shows it, for signatures. */
const keeping = (framework: typeof express) =>
  framework.json({
    verify(req, _res, bytes) {
      Object.assign(req, { rawBody: bytes })
    },
  })

export const setups: readonly Setup[] = [
  ...([express, express4] as const).flatMap((framework, index) => {
    const name = `Express ${5 - index}`
    return [
      inExpress(name, 'none', framework),
      inExpress(`${name} behind express.json()`, 'json', framework, json),
      inExpress(`${name} behind express.json({ verify })`, 'kept', framework, keeping),
      inExpress(`${name} behind express.text()`, 'text', framework, text),
      inExpress(`${name} behind express.raw()`, 'raw', framework, raw),
      inExpress(`${name} behind a parser that skips JSON`, 'none', framework, onlyForms),
    ]
  }),
  inKoa('Koa 3', 'none'),
  inKoa('Koa 3 behind @koa/bodyparser', 'kept', bodyParser()),
  inKoa('Koa 3 behind a parser that keeps no text', 'json', forgetting),
  inKoa('Koa 3 behind a parser that skips JSON', 'none', bodyParser({ enableTypes: [] })),
  { name: 'node:http', front: 'none', serve: createNodeListener },
  {
    ...{ name: 'node:http behind a parser', front: 'json' },
    serve(store, options) {
      const listener = createNodeListener(store, options)
      return (req, res) => parse(req, res, () => listener(req, res))
    },
  },
]
