import { basicAuth, type HttpOptions } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'

export const store = createMemoryStore([{ playerId: 'anna', currency: 'EUR', balance: '100.00' }])
export const players = { table: 'pam.accounts', id: 'account_no', currency: 'currency', balance: 'balance' }
export const options: HttpOptions = {
  authenticate: basicAuth({ username: 'platform', password: 'secret' }),
}
