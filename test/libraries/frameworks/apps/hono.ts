import { createFetchHandler } from 'bet-wallet/http'
import { Hono } from 'hono'
import { options, store } from './wallet.js'

const wallet = createFetchHandler(store, { ...options, basePath: '/wallet' })
export const app = new Hono()
app.all('/wallet/*', context => wallet(context.req.raw))
