/**
 * The end of a server by SIGTERM or SIGINT (Ctrl+C): no new calls, an answer to each call in flight, then the
 * rest.
 */
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

export interface ShutdownOptions {
  /** Called first: readiness, for example. */
  begin?: (() => void) | undefined
  /** Called last, when every call is answered: closes the database, for example. */
  close?: (() => unknown) | undefined
  /**
   * For how long to wait for calls in flight, in milliseconds. Below the `terminationGracePeriodSeconds` of
   * Kubernetes, and above `timeoutMs` of the store.
   */
  graceMs?: number
  log?(line: string): void
}

export function stopGracefully(server: Server, options: ShutdownOptions = {}): void {
  const { begin, close, graceMs = 20_000, log = console.log } = options
  const connections = new Set<Socket>()
  /** By connection: it has one call at a time. */
  const calls = new Map<Socket, IncomingMessage>()
  let isStopping = false
  let onAnswered = () => {}

  server.on('connection', socket => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  // First: the answer must not be on its way yet.
  server.prependListener('request', (request, response) => {
    const { socket } = request
    calls.set(socket, request)
    response.once('close', () => {
      calls.delete(socket)
      if (!isStopping) return
      socket.end()
      onAnswered()
    })
  })

  async function stop(signal: string): Promise<void> {
    isStopping = true
    begin?.()
    const closed = new Promise(resolve => server.close(resolve))
    // Idle ones, and those that have not sent a whole request head. Node.js alone closes the first, and after
    // its next answer keeps a busy connection open for `keepAliveTimeout`.
    for (const socket of connections) if (!calls.has(socket)) socket.destroy()
    log(`${signal}: no new calls. ${waitingFor(calls)}`)
    onAnswered = () => log(calls.size === 0 ? 'All calls are answered.' : waitingFor(calls))
    const timer = setTimeout(() => {
      log(`Not answered after ${graceMs / 1_000} s: ${list(calls)}. The platform retries, or rolls back.`)
      server.closeAllConnections()
    }, graceMs)
    await closed
    clearTimeout(timer)
    await close?.()
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Once: a second Ctrl+C ends the process at once.
    process.once(signal, () => void stop(signal))
  }
}

function waitingFor(calls: ReadonlyMap<Socket, IncomingMessage>): string {
  return calls.size === 0 ? 'None is in flight.' : `Waiting for ${calls.size} in flight: ${list(calls)}.`
}

/** `POST /wallet/placebet (3), POST /wallet/rollbackbet` */
function list(calls: ReadonlyMap<Socket, IncomingMessage>): string {
  const counts = new Map<string, number>()
  for (const { method, url = '' } of calls.values()) {
    const name = `${method} ${JSON.stringify(url.slice(0, 100)).slice(1, -1)}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count})`)).join(', ')
}
