/** A wallet behind real sockets, correct or with one defect. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basicAuth, createHttpHandler, type HttpRequest, type HttpResponse } from '../../../src/http/index.js'
import { recordSettlement, type WalletOptions, type WalletStore } from '../../../src/index.js'
import { createMemoryStore, type MemoryStore } from '../../../src/stores/memory.js'
import type { SimulationOptions, SimulationReport } from '../../../src/tools/random/index.js'
import { type SimulatorClock, simulateSportsbook } from '../../../src/tools/random/index.js'

export const credentials = { username: 'platform', password: 'sim-secret' }

export const players = [
  { playerId: 'ann', currency: 'EUR', balance: '200.00' },
  { playerId: 'ben', currency: 'JPY', balance: '30000' },
  { playerId: 'cem', currency: 'EUR', balance: '150.50' },
  { playerId: 'dan', currency: 'KWD', balance: '90.125' },
]

/** A request as it arrived. */
export interface Call {
  operation: string
  body: Record<string, string>
  memory: MemoryStore
  /** Passes it to the wallet, if given with another body. */
  next(body?: string): Promise<HttpResponse>
  /** The body as it arrived. */
  text: string
}

export interface Breakage {
  /** Replaces the store. */
  store?(memory: MemoryStore): WalletStore
  /** Wraps every request. */
  call?(call: Call): Promise<HttpResponse>
}

export interface RunningWallet {
  baseUrl: string
  memory: MemoryStore
  close(): Promise<void>
  /** The same wallet on the same port, after it was closed. */
  again(): Promise<RunningWallet>
}

export async function startWallet(
  breakage: Breakage = {},
  known: readonly (typeof players)[number][] = players,
  options: WalletOptions = {},
): Promise<RunningWallet> {
  return serve(breakage, createMemoryStore(known), 0, options)
}

async function serve(
  breakage: Breakage,
  memory: MemoryStore,
  portWanted: number,
  options: WalletOptions,
): Promise<RunningWallet> {
  const { store, call } = breakage
  const walletStore = store?.(memory) ?? memory
  const handle = createHttpHandler(walletStore, {
    authenticate: basicAuth(credentials),
    ...options,
    routes: { '/settlement': body => recordSettlement(walletStore, body, options) },
    onError: () => {}, // the platform's side is tested
  })
  const broken = async (request: HttpRequest): Promise<HttpResponse> => {
    if (call === undefined) return handle(request)
    const chunks: Uint8Array[] = []
    try {
      for await (const chunk of request.body as AsyncIterable<Uint8Array>) chunks.push(chunk)
    } catch {
      return handle({ ...request, body: '' }) // cut within the request
    }
    const bytes = Buffer.concat(chunks)
    const text = bytes.toString()
    // As it arrived: what is not UTF-8 is refused.
    const next = (body: string | Uint8Array = bytes) => handle({ ...request, body })
    const operation = request.path.slice(1)
    const body = bodyOf(text)
    if (body === null) return next()
    return call({
      operation,
      body,
      memory,
      next,
      text,
    })
  }
  const server = createServer(async (req, res) => {
    const { method = '', url: path = '', headers } = req
    const answer = await broken({ method, path, headers, body: req })
    res.writeHead(answer.status, answer.headers).end(answer.body)
  })
  await new Promise<void>(resolve => {
    const listen = () => server.listen(portWanted, '127.0.0.1', resolve)
    // Another process may have got the port meanwhile, for a moment.
    server.on('error', () => setTimeout(listen, 10))
    listen()
  })
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    memory,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
    again: () => serve(breakage, memory, port, options),
  }
}

const texts = [
  'transactionId',
  'betId',
  'playerId',
  'sessionId',
  'currency',
  'amount',
  'type',
  'transactionDate',
]

/** The fields with the amount as text, or `null`: the audit sends broken JSON too, and fields of other types. */
function bodyOf(text: string): Record<string, string> | null {
  try {
    const body = JSON.parse(text.replace(/"amount":([0-9.]+)(?=[,}])/, '"amount":"$1"'))
    return texts.every(name => ['string', 'undefined'].includes(typeof body[name])) ? body : null
  } catch {
    return null
  }
}

/** The system's clock, except that a pause of a second or more ends at once: its time has passed then. */
export function skippingClock(): SimulatorClock {
  let skipped = 0
  return {
    now: () => performance.now() + skipped,
    date: () => Date.now() + skipped,
    after(milliseconds, run) {
      if (milliseconds < 1_000) setTimeout(run, milliseconds)
      else
        setImmediate(() => {
          skipped += milliseconds
          run()
        })
    },
  }
}

/** Runs a simulation against a new wallet, and closes it afterwards. */
export async function simulate(
  breakage: Breakage,
  options: Partial<SimulationOptions>,
  known: readonly (typeof players)[number][] = players,
  walletOptions: WalletOptions = {},
): Promise<{ report: SimulationReport; memory: MemoryStore }> {
  const wallet = await startWallet(breakage, known, walletOptions)
  try {
    const report = await simulateSportsbook({
      baseUrl: wallet.baseUrl,
      credentials,
      players: [...new Set(known.map(({ playerId }) => playerId))],
      runId: 'run',
      bets: 300,
      seed: 1,
      chaos: 0.5,
      concurrency: 1,
      backOffMsMax: 0,
      timeoutMs: 120_000,
      ...options,
    })
    return { report, memory: wallet.memory }
  } finally {
    await wallet.close()
  }
}
