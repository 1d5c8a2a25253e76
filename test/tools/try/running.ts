/** The page over a wallet in memory, on a socket, with what the wallet received and answered. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createNodeListener } from '../../../src/http/index.js'
import { recordSettlement } from '../../../src/index.js'
import { createMemoryWallet, createTryPage, type TryPage } from '../../../src/tools/try/index.js'

export interface Running {
  url: string
  /** `/wallet/placebet 200`, in the order of the answers. */
  wire: string[]
  balanceOf(playerId: string): Promise<string | undefined>
  stop(): void
}

export const players = [
  { playerId: 'anna', currency: 'EUR', balance: '100.00' },
  { playerId: 'kenji', currency: 'JPY', balance: '5000' },
]

export async function startTryPage(): Promise<Running> {
  const { store, lookups, deposit } = createMemoryWallet(players)
  const wallet = createNodeListener(store, {
    basePath: '/wallet',
    authenticate: () => true,
    routes: { '/settlement': body => recordSettlement(store, body) },
  })
  const wire: string[] = []
  let page: TryPage | undefined
  const server = createServer((request: IncomingMessage, response) => {
    if (!request.url?.startsWith('/wallet/')) return page?.(request, response)
    response.on('finish', () => wire.push(`${request.url} ${response.statusCode}`))
    return wallet(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const playerIds = players.map(({ playerId }) => playerId)
  page = createTryPage({ baseUrl: `${url}/wallet`, lookups, playerIds, storage: 'In memory.', deposit })
  return {
    url,
    wire,
    balanceOf: async playerId => (await lookups.player(playerId))?.accounts[0]?.balance,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}
