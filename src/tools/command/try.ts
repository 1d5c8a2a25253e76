/** `bet-wallet try`: a wallet in memory with a page, to see what the library does. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createNodeListener } from '../../http/index.js'
import { recordSettlement } from '../../index.js'
import { createMemoryWallet, createTryPage, isLocalHost, type TryPage } from '../try/index.js'
import { otherwise, whole } from './option.js'
import { command } from './subcommand.js'
import { UsageError } from './usage-error.js'

const host = '127.0.0.1'

const players = [
  { playerId: 'anna', currency: 'EUR', balance: '100.00' },
  { playerId: 'kenji', currency: 'JPY', balance: '5000' },
]

export const tryWallet = command({
  usage: 'try',
  summary: 'a wallet in memory, with a page to try it: no clone, no database',
  about: `Serves a wallet in memory on 127.0.0.1, and a page at / with buttons for what goes wrong between
a platform and a wallet. Nothing is written to disk, and there are no credentials.`,
  exitCodes: 'The exit code is 0 after Ctrl+C, and 2 if it could not begin.',
  options: { port: otherwise('3000', whole('--port <number>', 'where it listens; 0 takes a free one')) },
  async work({ port }) {
    if (port > 65_535) throw new UsageError('--port must be at most 65535')
    const { url, stop } = await serve(port)
    console.log(textAtStart(url))
    await interrupted()
    await stop()
    return 0
  },
})

/** Serves the wallet below /wallet, and everything else by the page. */
async function serve(port: number): Promise<{ url: string; stop(): Promise<void> }> {
  const { store, lookups, deposit } = createMemoryWallet(players)
  const wallet = createNodeListener(store, {
    basePath: '/wallet',
    // A wallet with play money on this machine. Yours checks who calls: docs/http.md.
    authenticate: ({ headers }) => isLocalHost(headers),
    // Stands for the operator's own settlement code.
    routes: { '/settlement': body => recordSettlement(store, body) },
  })
  let page: TryPage | null = null
  const server = createServer((request, response) =>
    request.url?.startsWith('/wallet/') ? wallet(request, response) : page?.(request, response),
  )
  await listen(server, port)
  const url = `http://${host}:${(server.address() as AddressInfo).port}`
  const playerIds = players.map(({ playerId }) => playerId)
  const storage = 'This wallet keeps its data in memory: all of it is gone when the command stops.'
  page = createTryPage({ baseUrl: `${url}/wallet`, lookups, playerIds, storage, deposit })
  return {
    url,
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function listen(server: Server, port: number): Promise<void> {
  try {
    await once(server.listen(port, host), 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new UsageError(`Port ${port} is in use. --port 0 takes a free one.`)
  }
}

const interrupted = () =>
  new Promise<void>(resolve => process.once('SIGINT', resolve).once('SIGTERM', resolve))

const textAtStart = (
  url: string,
) => `Open ${url}/ in a browser: a wallet in memory, with buttons for what goes wrong.

${players.map(({ playerId, currency, balance }) => `  ${playerId} has ${balance} ${currency}`).join('\n')}

The platform's calls go to ${url}/wallet, without credentials: /placebet, /unsettlement, /rollbackbet.
/settlement stands for your own code that settles bets. Ctrl+C stops the wallet and deletes its data.`
