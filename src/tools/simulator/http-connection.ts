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

export class Connection {
  readonly #socket: Socket
  readonly #events: ConnectionEvents
  /** Waits for the result of the request in flight; `null` if there is none. */
  #pending: ((result: HttpResult) => void) | null = null
  #sentAt = 0
  #idleSince = 0
  #closed = false
  /** The answer so far. */
  #received: Buffer | null = null

  constructor(url: URL, tls: ConnectionOptions, events: ConnectionEvents) {
    this.#socket = openSocket(url, tls)
    this.#events = events
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#fail(error.code ?? error.message))
    this.#socket.on('close', () => this.#closedByWallet())
  }

  send(request: string, mode: SendMode, onResult: (result: HttpResult) => void): void {
    this.#sentAt = performance.now()
    this.#pending = onResult
    if (mode === 'complete') this.#socket.write(request)
    else if (mode === 'cut-after') this.#socket.write(request, () => this.#fail('cut after the request'))
    else {
      const part = request.slice(0, -Math.ceil(request.length / 8))
      this.#socket.write(part, () => this.#fail('cut within the request'))
    }
  }

  isUsable(now: number): boolean {
    return !this.#closed && !this.#socket.destroyed && now - this.#idleSince < idleMsMax
  }

  /**
   * Closes the connection when its request has waited longer than `timeoutMs`, or when it has been idle too
   * long.
   */
  closeIfExpired(now: number, timeoutMs: number): void {
    if (this.#pending !== null && now - this.#sentAt > timeoutMs) this.#fail('timed out')
    else if (this.#pending === null && now - this.#idleSince > idleMsMax) this.#fail('idle')
  }

  close(): void {
    this.#fail('closed by the sportsbook')
  }

  #receive(chunk: Buffer): void {
    if (this.#closed) return
    if (this.#pending === null) {
      this.#fail('the wallet sent data without a request')
      return
    }
    const received = this.#received === null ? chunk : Buffer.concat([this.#received, chunk])
    this.#received = received
    const parsed = parseAnswer(received, false)
    if (parsed === 'incomplete') {
      if (received.length > answerBytesMax) this.#fail(`the answer is larger than ${answerBytesMax} bytes`)
    } else if ('error' in parsed) {
      this.#fail(parsed.error)
    } else {
      if (parsed.reusable) {
        this.#idleSince = performance.now()
        this.#events.onIdle()
      } else this.#end()
      this.#answer({ status: parsed.status, body: parsed.body })
    }
  }

  /** An answer without a length ends with its connection. */
  #closedByWallet(): void {
    const isAnswered = this.#received !== null && this.#pending !== null
    const parsed = isAnswered ? parseAnswer(this.#received as Buffer, true) : 'incomplete'
    if (this.#closed || parsed === 'incomplete' || 'error' in parsed) {
      this.#fail('the connection was closed before the answer')
      return
    }
    this.#end()
    this.#answer({ status: parsed.status, body: parsed.body })
  }

  #answer(result: HttpResult): void {
    const pending = this.#pending
    this.#pending = null
    this.#received = null
    pending?.(result)
  }

  #fail(error: string): void {
    if (this.#closed) return
    this.#end()
    this.#answer({ error })
  }

  #end(): void {
    this.#closed = true
    this.#socket.destroy()
    this.#events.onClosed()
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
