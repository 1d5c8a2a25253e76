import { createFetchHandler } from 'bet-wallet/http'
import { options, store } from '../../../wallet'

export const POST = createFetchHandler(store, { ...options, basePath: '/wallet' })
