/** Stands for the wallet of docs/http.md, with the players and the paths of the exchanges. */
import { recordSettlement } from 'bet-wallet'
import { basicAuth, type HttpOptions } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'

const { players, credentials } = JSON.parse(
  process.env.TEST_WALLET ?? '{"players":[],"credentials":{"username":"u","password":"p"}}',
)

export const store = createMemoryStore(players)
export const options: HttpOptions = {
  authenticate: basicAuth(credentials),
  routes: { '/settlement': body => recordSettlement(store, body) },
}
