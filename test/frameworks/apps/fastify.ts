import { createNodeListener } from 'bet-wallet/http'
import Fastify from 'fastify'
import { options, store } from './wallet.js'

const wallet = createNodeListener(store, { ...options, basePath: '/wallet' })
export const app = Fastify()
app.register(async routes => {
  routes.removeAllContentTypeParsers()
  routes.addContentTypeParser('*', (_request, _payload, done) => done(null)) // the wallet reads the body
  routes.all('/wallet/*', (request, reply) => {
    reply.hijack()
    return wallet(request.raw, reply.raw)
  })
})
