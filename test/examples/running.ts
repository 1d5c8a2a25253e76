/** Starts a wallet in a framework, on a port of the loopback address. */
import { channel } from 'node:diagnostics_channel'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { recordSettlement, type WalletStore } from 'bet-wallet'
import { basicAuth, type HttpOptions, type HttpRequest } from 'bet-wallet/http'
import { createMemoryStore, type MemoryStore } from 'bet-wallet/memory'
import { basePath, credentials, type Front, initialPlayers } from './exchanges.js'

export interface Setup {
  name: string
  front: Front
  /** The framework mounts the wallet at the base path, so the wallet itself has none. */
  mounted?: boolean
  /** Exchanges that the framework answers itself, and the status. */
  answersItself?: Readonly<Record<string, number>>
  /** The framework with a wallet in it: a server that does not listen yet, or its listener. */
  serve(
    store: WalletStore,
    options: HttpOptions,
  ): Server | RequestListener | Promise<Server | RequestListener>
}

/** A wallet that listens on a port of the loopback address. */
export interface RunningWallet {
  port: number
  /** `null`: it runs in another process. */
  inside: { store: MemoryStore; errors: readonly unknown[]; seen: readonly Seen[]; server: Server } | null
  stop(): Promise<void>
}

/** What `authenticate` was called with. */
type Seen = Pick<HttpRequest, 'path' | 'originalPath' | 'address'>

/** The wallet's side of every setup. */
export function createTestWallet(mounted = false) {
  const store = createMemoryStore(initialPlayers)
  const errors: unknown[] = []
  const seen: Seen[] = []
  const checkPassword = basicAuth(credentials)
  const options: HttpOptions = {
    authenticate(request, call) {
      seen.push(request)
      return checkPassword(request, call)
    },
    basePath: mounted ? '' : basePath,
    routes: { '/settlement': body => recordSettlement(store, body) },
    onError: error => void errors.push(error),
  }
  return { store, errors, seen, options }
}

export async function start({ serve, mounted }: Setup) {
  const { store, errors, seen, options } = createTestWallet(mounted)
  const served = await serve(store, options)
  const server = typeof served === 'function' ? createServer(served) : served
  // The one connection of the exchanges may rest for a while.
  server.keepAliveTimeout = 600_000
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    inside: { store, errors, seen, server },
    async stop() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

const begins = channel('tracing:bet-wallet:http:start')
const ends = channel('tracing:bet-wallet:http:asyncEnd')

/** The next call that reaches a wallet of this process, perhaps not answered yet. */
export function nextCall(): Promise<{ answered: Promise<{ status: number }> }> {
  return new Promise(resolve => {
    const begin = (call: unknown) => {
      const answered = new Promise<{ status: number }>(answer => {
        const end = (ended: unknown) => {
          if (ended !== call) return
          begins.unsubscribe(begin)
          ends.unsubscribe(end)
          answer(call as { status: number })
        }
        ends.subscribe(end)
      })
      resolve({ answered })
    }
    begins.subscribe(begin)
  })
}

/** Returns a function that waits for the calls begun since, also those of callers that have disconnected. */
export function watchCalls(): () => Promise<void> {
  const inFlight = new Set<unknown>()
  let ended: () => void = () => {}
  const begin = (call: unknown) => void inFlight.add(call)
  const end = (call: unknown) => {
    inFlight.delete(call)
    if (inFlight.size === 0) ended()
  }
  begins.subscribe(begin)
  ends.subscribe(end)
  return async () => {
    if (inFlight.size > 0) await new Promise<void>(resolve => (ended = resolve))
    begins.unsubscribe(begin)
    ends.unsubscribe(end)
  }
}
