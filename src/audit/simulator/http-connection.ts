/** One kept-alive connection: one request at a time, and exactly one result for each. */
import { connect as connectTcp, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { parseAnswer } from './http-answer.js'

/** The answer, or the reason why there is none. */
export type HttpResult = { status: number; body: string } | { error: string }

/**
 * `complete`: send the request and wait for the answer. `cut-after`, `cut-within`: close the connection after the last
 * byte of the request, or before it.
 */
export type SendMode = 'complete' | 'cut-after' | 'cut-within'

export interface Connection {
  send(request: string, mode: SendMode, onResult: (result: HttpResult) => void): void
  isUsable(now: number): boolean
  /** Closes the connection when its request has waited longer than `timeoutMs`, or when it has been idle too long. */
  closeIfExpired(now: number, timeoutMs: number): void
  close(): void
}

interface ConnectionEvents {
  /** The request was answered, and the connection can carry another one. */
  onIdle(): void
  onClosed(): void
}

const answerBytesMax = 1_048_576
/** A server may close a connection that was idle for longer, just when it is used again: after 5 s in node:http. */
const idleMsMax = 2_000

export function openConnection(url: URL, tls: ConnectionOptions, events: ConnectionEvents): Connection {
  const socket = openSocket(url, tls)
  let pending: ((result: HttpResult) => void) | null = null
  let sentAt = 0
  let idleSince = 0
  let closed = false
  let received: Buffer | null = null

  function answer(result: HttpResult): void {
    const onResult = pending
    pending = null
    received = null
    onResult?.(result)
  }

  function close(): void {
    closed = true
    socket.destroy()
    events.onClosed()
  }

  function fail(error: string): void {
    if (closed) return
    close()
    if (pending !== null) answer({ error })
  }

  socket.on('data', (chunk: Buffer) => {
    if (closed) return
    if (pending === null) return fail('the wallet sent data without a request')
    received = received === null ? chunk : Buffer.concat([received, chunk])
    const parsed = parseAnswer(received, false)
    if (parsed === 'incomplete') {
      if (received.length > answerBytesMax) fail(`the answer is larger than ${answerBytesMax} bytes`)
      return
    }
    if ('error' in parsed) return fail(parsed.error)
    if (parsed.reusable) {
      idleSince = performance.now()
      events.onIdle()
    } else close()
    answer({ status: parsed.status, body: parsed.body })
  })
  socket.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message))
  socket.on('close', () => {
    // An answer without a length ends with its connection.
    const parsed = received === null || pending === null ? 'incomplete' : parseAnswer(received, true)
    if (!closed && typeof parsed === 'object' && 'status' in parsed) {
      close()
      answer({ status: parsed.status, body: parsed.body })
    } else fail('the connection was closed before the answer')
  })

  return {
    send(request, mode, onResult) {
      sentAt = performance.now()
      pending = onResult
      if (mode === 'complete') socket.write(request)
      else if (mode === 'cut-after') socket.write(request, () => fail('cut after the request'))
      else
        socket.write(request.slice(0, -Math.ceil(request.length / 8)), () => fail('cut within the request'))
    },
    isUsable: now => !closed && !socket.destroyed && now - idleSince < idleMsMax,
    closeIfExpired(now, timeoutMs) {
      if (pending !== null && now - sentAt > timeoutMs) fail('timed out')
      else if (pending === null && now - idleSince > idleMsMax) fail('idle')
    },
    close: () => fail('closed by the sportsbook'),
  }
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
