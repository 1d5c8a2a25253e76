/** One kept-alive connection: one request at a time, and exactly one result for each. */
import { connect as connectTcp, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { parseAnswer } from './http-answer.js'

/** The answer, or the reason why there is none. */
export type HttpResult = { status: number; body: string } | { error: string }

/**
 * `complete`: send the request and wait for the answer. `cut-after`, `cut-within`: close the connection after
 * the last byte of the request, or before it.
 */
export type SendMode = 'complete' | 'cut-after' | 'cut-within'

export interface Connection {
  send(request: string, mode: SendMode, onResult: (result: HttpResult) => void): void
  isUsable(now: number): boolean
  /**
   * Closes the connection when its request has waited longer than `timeoutMs`, or when it has been idle too
   * long.
   */
  closeIfExpired(now: number, timeoutMs: number): void
  close(): void
}

interface ConnectionEvents {
  /** The request was answered, and the connection can carry another one. */
  onIdle(): void
  onClosed(): void
}

const answerBytesMax = 1_048_576
/**
 * A server may close a connection that was idle for longer, just when it is used again: after 5 s in
 * node:http.
 */
const idleMsMax = 2_000

interface ConnectionState {
  readonly socket: Socket
  readonly events: ConnectionEvents
  /** Waits for the result of the request in flight; `null` if there is none. */
  pending: ((result: HttpResult) => void) | null
  sentAt: number
  idleSince: number
  closed: boolean
  /** The answer so far. */
  received: Buffer | null
}

export function openConnection(url: URL, tls: ConnectionOptions, events: ConnectionEvents): Connection {
  const socket = openSocket(url, tls)
  const state: ConnectionState = {
    socket,
    events,
    pending: null,
    sentAt: 0,
    idleSince: 0,
    closed: false,
    received: null,
  }
  socket.on('data', (chunk: Buffer) => receive(state, chunk))
  socket.on('error', (error: NodeJS.ErrnoException) => fail(state, error.code ?? error.message))
  socket.on('close', () => closedByWallet(state))
  return {
    send(request, mode, onResult) {
      state.sentAt = performance.now()
      state.pending = onResult
      if (mode === 'complete') socket.write(request)
      else if (mode === 'cut-after') socket.write(request, () => fail(state, 'cut after the request'))
      else {
        const part = request.slice(0, -Math.ceil(request.length / 8))
        socket.write(part, () => fail(state, 'cut within the request'))
      }
    },
    isUsable: now => !state.closed && !socket.destroyed && now - state.idleSince < idleMsMax,
    closeIfExpired(now, timeoutMs) {
      if (state.pending !== null && now - state.sentAt > timeoutMs) fail(state, 'timed out')
      else if (state.pending === null && now - state.idleSince > idleMsMax) fail(state, 'idle')
    },
    close: () => fail(state, 'closed by the sportsbook'),
  }
}

function receive(state: ConnectionState, chunk: Buffer): void {
  if (state.closed) return
  if (state.pending === null) {
    fail(state, 'the wallet sent data without a request')
    return
  }
  const received = state.received === null ? chunk : Buffer.concat([state.received, chunk])
  state.received = received
  const parsed = parseAnswer(received, false)
  if (parsed === 'incomplete') {
    if (received.length > answerBytesMax) fail(state, `the answer is larger than ${answerBytesMax} bytes`)
  } else if ('error' in parsed) {
    fail(state, parsed.error)
  } else {
    if (parsed.reusable) {
      state.idleSince = performance.now()
      state.events.onIdle()
    } else close(state)
    answer(state, { status: parsed.status, body: parsed.body })
  }
}

/** An answer without a length ends with its connection. */
function closedByWallet(state: ConnectionState): void {
  const { closed, pending, received } = state
  const parsed = received === null || pending === null ? 'incomplete' : parseAnswer(received, true)
  if (closed || parsed === 'incomplete' || 'error' in parsed) {
    fail(state, 'the connection was closed before the answer')
    return
  }
  close(state)
  answer(state, { status: parsed.status, body: parsed.body })
}

function answer(state: ConnectionState, result: HttpResult): void {
  const { pending } = state
  state.pending = null
  state.received = null
  pending?.(result)
}

function fail(state: ConnectionState, error: string): void {
  if (state.closed) return
  close(state)
  answer(state, { error })
}

function close(state: ConnectionState): void {
  state.closed = true
  state.socket.destroy()
  state.events.onClosed()
}

function openSocket(url: URL, tls: ConnectionOptions): Socket {
  const secure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port || (secure ? 443 : 80))
  const servername = /^[\d.]+$|:/.test(host) ? '' : host
  const socket = secure
    ? connectTls({ host, port, servername, ALPNProtocols: ['http/1.1'], ...tls })
    : connectTcp({ host, port })
  socket.setNoDelay(true)
  return socket
}
