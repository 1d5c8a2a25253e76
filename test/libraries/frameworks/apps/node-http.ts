import { createServer } from 'node:http'
import { createNodeListener } from 'bet-wallet/http'
import { options, store } from './wallet.js'

export const server = createServer(createNodeListener(store, { ...options, basePath: '/wallet' }))
