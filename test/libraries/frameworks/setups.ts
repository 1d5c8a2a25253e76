/** The files of `apps/`, which docs/http.md shows, and the same frameworks with a body parser in front. */
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { type MiddlewareConsumer, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import type { WalletStore } from 'bet-wallet'
import { createFetchHandler, createHttpHandler, createNodeListener, type HttpOptions } from 'bet-wallet/http'
import { json } from 'express'
import Fastify, { type FastifyInstance } from 'fastify'
import { Hono } from 'hono'
import { cloneRawRequest } from 'hono/request'
import { vi } from 'vitest'
import type { Setup } from '../../examples/running.js'
import 'reflect-metadata'

/** Loads a file of `apps/` with this store and these options in the place of its `./wallet.js`. */
export async function load<App>(
  file: () => Promise<App>,
  store: WalletStore,
  { basePath, ...options }: HttpOptions,
) {
  vi.resetModules()
  vi.doMock('./apps/wallet.js', () => ({ store, options }))
  return await file()
}

async function inFastify(app: FastifyInstance) {
  await app.ready()
  return app.server
}

async function onExpress(module: object, options: object, mount?: (app: NestExpressApplication) => void) {
  const app = await NestFactory.create<NestExpressApplication>(module as never, {
    logger: false,
    abortOnError: false,
    ...options,
  })
  mount?.(app)
  await app.init()
  return app.getHttpServer()
}

async function onFastify(module: object, options: object, mount?: (app: NestFastifyApplication) => void) {
  const app = await NestFactory.create<NestFastifyApplication>(module as never, new FastifyAdapter(), {
    ...{ logger: false, abortOnError: false, ...options },
  })
  mount?.(app)
  await app.init()
  await app.getHttpAdapter().getInstance().ready()
  return app.getHttpServer()
}

class AppModule {}
Module({})(AppModule)

/** A host with a provider of the store, middlewares of its own that fail, a prefix, and a parser behind the wallet. */
async function injected(store: WalletStore, options: HttpOptions) {
  const { WalletService } = await load(() => import('./apps/nestjs-injected.js'), store, options)
  class HostModule {
    configure(consumer: MiddlewareConsumer) {
      consumer
        .apply((_request: unknown, _response: unknown, next: (error: Error) => void) =>
          next(new Error('of the host')),
        )
        .forRoutes('*path')
    }
  }
  Module({ providers: [{ provide: 'WALLET_STORE', useValue: store }, WalletService] })(HostModule)
  return await onExpress(HostModule, {}, app => {
    app.setGlobalPrefix('v1')
    app.use('/wallet', app.get(WalletService).listener())
    app.use(json())
  })
}

/** The path that its router does not pass on. */
const basePathAlone = { 'the base path alone': 404 }

export const setups: readonly Setup[] = [
  {
    ...{ name: 'Express 5', front: 'none' },
    serve: async (store, options) => (await load(() => import('./apps/express.js'), store, options)).app,
  },
  {
    ...{ name: 'node:http', front: 'none' },
    serve: async (store, options) => (await load(() => import('./apps/node-http.js'), store, options)).server,
  },
  {
    ...{ name: 'Fastify 5', front: 'none', answersItself: basePathAlone },
    serve: async (store, options) =>
      inFastify((await load(() => import('./apps/fastify.js'), store, options)).app),
  },
  {
    ...{ name: 'Hono 4', front: 'none' },
    serve: async (store, options) =>
      getRequestListener((await load(() => import('./apps/hono.js'), store, options)).app.fetch),
  },
  {
    ...{ name: 'NestJS 12 on Express', front: 'kept', answersItself: basePathAlone },
    serve: async (store, options) =>
      onExpress((await load(() => import('./apps/nestjs.js'), store, options)).WalletModule, {
        rawBody: true,
      }),
  },
  {
    ...{ name: 'NestJS 12 on Fastify', front: 'none', answersItself: basePathAlone },
    serve: async (store, options) =>
      onFastify((await load(() => import('./apps/nestjs.js'), store, options)).WalletModule, {
        rawBody: true,
      }),
  },

  {
    ...{ name: 'NestJS 12 on Express, with the store injected', front: 'none', mounted: true },
    serve: injected,
  },
  {
    ...{ name: 'A store per tenant', front: 'none' },
    async serve(store, options) {
      const { byHost } = await import('./apps/tenants.js')
      const wallet = createNodeListener(store, options)
      return createServer(byHost({ '127.0.0.1': wallet, wallet }))
    },
  },

  // With a body parser in front, and other ways to mount the wallet.
  {
    ...{ name: 'NestJS 12 on Express, behind its parser', front: 'json', answersItself: basePathAlone },
    serve: async (store, options) =>
      onExpress((await load(() => import('./apps/nestjs.js'), store, options)).WalletModule, {}),
  },
  {
    ...{ name: 'NestJS 12 on Express, mounted before its parser', front: 'none', mounted: true },
    serve: (store, options) =>
      onExpress(AppModule, {}, app => app.use('/wallet', createNodeListener(store, options))),
  },
  {
    ...{ name: 'NestJS 12 on Fastify, mounted', front: 'none', mounted: true },
    serve: (store, options) =>
      onFastify(AppModule, {}, app => app.use('/wallet', createNodeListener(store, options))),
  },
  {
    ...{ name: 'Fastify 5 behind its parser', front: 'json' },
    answersItself: { ...basePathAlone, 'no Content-Type': 415, 'a form': 415, 'application/jsonp': 415 },
    serve(store, options) {
      const handle = createHttpHandler(store, options)
      const app = Fastify()
      app.all('/wallet/*', async ({ method, url: path, headers, body: parsed, ip: address }, reply) => {
        const {
          status,
          headers: sent,
          body,
        } = await handle({ method, path, headers, address, body: { parsed } })
        return reply.code(status).headers(sent).send(body)
      })
      return inFastify(app)
    },
  },
  {
    ...{ name: 'Hono 4 behind a middleware that reads the body', front: 'text' },
    answersItself: { 'a compressed body': 415 },
    serve(store, options) {
      const wallet = createFetchHandler(store, options)
      const app = new Hono()
      app.use(async (context, next) => {
        await context.req.text()
        await next()
      })
      app.all('/wallet/*', async context => wallet(await cloneRawRequest(context.req)))
      return getRequestListener(app.fetch)
    },
  },
]
