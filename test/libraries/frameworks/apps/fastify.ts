import { createNodeListener } from 'bet-wallet/http'
import Fastify from 'fastify'
import { options, store } from './wallet.js'

const wallet = createNodeListener(store, { ...options, basePath: '/wallet' })
export const app = Fastify()
app.all('/wallet/*', {
  async onRequest(request, reply) {
    reply.hijack() // before the body is read: the wallet reads it
    await wallet(request.raw, reply.raw)
  },
  handler() {},
})
