/** A store whose players have an account for each currency, as a server for audit and random run. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { recordSettlement, type WalletStore } from 'bet-wallet'
import { basicAuth, createNodeListener } from 'bet-wallet/http'
import { withHome } from './accounts.js'
import { credentials } from './library.js'

export async function serveAccounts(store: WalletStore) {
  const errors: unknown[] = []
  const listener = createNodeListener(store, {
    ...withHome,
    authenticate: basicAuth(credentials),
    onAuthenticationFailed() {},
    routes: { '/settlement': body => recordSettlement(store, body) },
    onError: error => errors.push(error),
  })
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    errors,
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
