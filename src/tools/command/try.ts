/** `bet-wallet try`: a wallet in memory with a page, to see what the library does. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createNodeListener } from '../../http/index.js'
import { recordSettlement } from '../../index.js'
import { createMemoryWallet, createTryPage, isLocalHost, type TryPage } from '../try/index.js'
import { noArguments, parseWords, UsageError, wholeNumberOf } from './arguments.js'
import { tryHelp } from './help.js'

const portDefault = 3000
const host = '127.0.0.1'

const players = [
  { playerId: 'anna', currency: 'EUR', balance: '100.00' },
  { playerId: 'kenji', currency: 'JPY', balance: '5000' },
]

/** @returns the exit code, after Ctrl+C */
export async function tryWallet(words: string[]): Promise<number> {
  const { values, positionals } = parseWords(words, {
    port: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help) {
    console.log(tryHelp)
    return 0
  }
  noArguments('try', positionals)
  const port = wholeNumberOf('--port', values.port) ?? portDefault
  if (port > 65_535) throw new UsageError('--port must be at most 65535')
  const { url, stop } = await serve(port)
  console.log(textAtStart(url))
  await interrupted()
  await stop()
  return 0
}

/** Serves the wallet below /wallet, and everything else by the page. */
async function serve(port: number): Promise<{ url: string; stop(): Promise<void> }> {
  const { store, lookups } = createMemoryWallet(players)
  const wallet = createNodeListener(store, {
    basePath: '/wallet',
    // A wallet with play money on this machine. Yours checks who calls: docs/authentication.md.
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
  page = createTryPage({ baseUrl: `${url}/wallet`, lookups, playerIds, storage })
  return {
    url,
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new UsageError(`Port ${port} is in use. --port 0 takes a free one.`)
          : error,
      ),
    )
    server.listen(port, host, resolve)
  })
}

const interrupted = () =>
  new Promise<void>(resolve => process.once('SIGINT', resolve).once('SIGTERM', resolve))

const textAtStart = (
  url: string,
) => `Open ${url}/ in a browser: a wallet in memory, with buttons for what goes wrong.

${players.map(({ playerId, currency, balance }) => `  ${playerId} has ${balance} ${currency}`).join('\n')}

The platform's calls go to ${url}/wallet, without credentials: /placebet, /unsettlement, /rollbackbet.
/settlement stands for your own code that settles bets. Ctrl+C stops the wallet and deletes its data.`
