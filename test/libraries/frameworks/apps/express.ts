import { createNodeListener } from 'bet-wallet/http'
import express from 'express'
import { options, store } from './wallet.js'

export const app = express()
app.use('/wallet', createNodeListener(store, options))
