/** `server.ts`: the platform's calls, in the operator's framework. */
import { type Import, type Program, programText } from './program-text.js'
import type { Framework } from './project.js'

const storeImport: Import = { names: ['store'], from: './store.js' }
const walletImport: Import = { names: ['recordSettlement'], from: 'bet-wallet' }
const httpImport = (adapter: string): Import => ({ names: ['basicAuth', adapter], from: 'bet-wallet/http' })

/** The options of the handler, as lines of an object. */
const options = (indent: string, basePath: boolean) =>
  [
    ...(basePath ? ["basePath: '/wallet',"] : []),
    "authenticate: basicAuth({ username: 'platform', password: process.env.BET_WALLET_PASSWORD ?? '' }),",
    '// By this path the platform could credit any bet: only for the audit, never in production.',
    "routes: process.env.AUDIT === '1' ? { '/settlement': body => recordSettlement(store, body) } : {},",
  ]
    .map(line => `${indent}${line}`)
    .join('\n')

const ready = 'await store.ready()'
const walletOf = (adapter: string) => `const wallet = ${adapter}(store, {\n${options('  ', true)}\n})`
const listening = "() => console.log('listening')"

const express: Omit<Program, 'file'> = {
  imports: [
    walletImport,
    httpImport('createNodeListener'),
    { whole: 'express', from: 'express' },
    storeImport,
  ],
  work: [
    ready,
    'const app = express()',
    `app.use('/wallet', createNodeListener(store, {\n${options('  ', false)}\n}))`,
    `app.listen(3000, '127.0.0.1', ${listening})`,
  ],
}

const node: Omit<Program, 'file'> = {
  imports: [
    { names: ['createServer'], from: 'node:http' },
    ...[walletImport, httpImport('createNodeListener'), storeImport],
  ],
  work: [
    ready,
    walletOf('createNodeListener'),
    `createServer(wallet).listen(3000, '127.0.0.1', ${listening})`,
  ],
}

const fastify: Omit<Program, 'file'> = {
  imports: [
    ...[walletImport, httpImport('createNodeListener')],
    ...[{ names: ['fastify'], from: 'fastify' }, storeImport],
  ],
  work: [
    ready,
    walletOf('createNodeListener'),
    'const app = fastify()',
    '// Before the body is read: the wallet reads it.',
    "app.all('/wallet/*', { onRequest: async (request, reply) => wallet(request.raw, reply.hijack().raw) }, () => {})",
    "await app.listen({ port: 3000, host: '127.0.0.1' })",
    "console.log('listening')",
  ],
}

const koa: Omit<Program, 'file'> = {
  imports: [
    ...[walletImport, httpImport('createNodeListener')],
    ...[{ whole: 'Koa', from: 'koa' }, storeImport],
  ],
  work: [
    ready,
    walletOf('createNodeListener'),
    'const app = new Koa()',
    '// Before your body parser: the wallet reads the body, and answers.',
    `app.use(async (ctx, next) => {
  if (!ctx.path.startsWith('/wallet/')) return await next()
  ctx.respond = false
  ctx.res.statusCode = 200
  await wallet(ctx.req, ctx.res)
})`,
    `app.listen(3000, '127.0.0.1', ${listening})`,
  ],
}

const hono: Omit<Program, 'file'> = {
  imports: [
    { names: ['serve'], from: '@hono/node-server' },
    ...[walletImport, httpImport('createFetchHandler')],
    ...[{ names: ['Hono'], from: 'hono' }, storeImport],
  ],
  work: [
    ready,
    walletOf('createFetchHandler'),
    'const app = new Hono()',
    "app.all('/wallet/*', context => wallet(context.req.raw))",
    `serve({ fetch: app.fetch, port: 3000, hostname: '127.0.0.1' }, ${listening})`,
  ],
}

export interface Nest {
  /** Path of the file that exports the application's AppModule, without its extension; `null`: not found. */
  appModule: string | null
  onFastify: boolean
}

function nestjs({ appModule, onFastify }: Nest): Omit<Program, 'file'> {
  const isOwn = appModule === null
  const common = ['Module', ...(onFastify ? ['type MiddlewareConsumer', 'type NestModule'] : [])].sort(byName)
  return {
    imports: [
      { effect: 'reflect-metadata' },
      ...(isOwn || onFastify ? [{ names: common, from: '@nestjs/common' }] : []),
      { names: ['NestFactory'], from: '@nestjs/core' },
      ...(onFastify ? [{ names: ['FastifyAdapter'], from: '@nestjs/platform-fastify' }] : []),
      ...[walletImport, httpImport('createNodeListener'), storeImport],
      ...(isOwn ? [] : [{ names: ['AppModule'], from: `./${appModule}.js` }]),
    ],
    work: [
      ready,
      ...(isOwn ? ['class AppModule {} // yours', 'Module({})(AppModule)'] : []),
      ...(onFastify ? nestOnFastify : nestOnExpress),
      "await app.listen(3000, '127.0.0.1')",
      "console.log('listening')",
    ],
  }
}

const byName = (a: string, b: string) => (a.replace('type ', '') < b.replace('type ', '') ? -1 : 1)

const nestOnExpress = [
  'const app = await NestFactory.create(AppModule)',
  `app.use('/wallet', createNodeListener(store, {\n${options('  ', false)}\n}))`,
]

const nestOnFastify = [
  walletOf('createNodeListener'),
  `class WalletModule implements NestModule {
  configure(consumer: MiddlewareConsumer) {
    consumer.apply(wallet).forRoutes('wallet/*path')
  }
}`,
  'Module({ imports: [AppModule] })(WalletModule)',
  'const app = await NestFactory.create(WalletModule, new FastifyAdapter())',
]

export function serverFile(framework: Framework, isModule: boolean, nest: Nest): string {
  const programs = { express, node, fastify, koa, hono, nestjs: nestjs(nest) }
  return programText({ file: 'server.ts', ...programs[framework] }, isModule)
}
