/**
 * A small HTTP/1.1 client with kept-alive connections, written on node:net and node:tls. The client of
 * node:http needs as much time for a request as a wallet needs to answer it, and it cannot send half a
 * request.
 */
import { connect as connectTcp, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { textOf } from '../../foreign-values.js'
import { type HttpAnswer, parseAnswer } from './http-answer.js'

export interface HttpCall {
  url: URL
  /** @default 'POST' */
  method?: string
  /** Without `host` and `content-length`, which are added. */
  headers: Readonly<Record<string, string>>
  /** `null`: none, and no `content-length`. */
  body: string | Uint8Array | null
  timeoutMs: number
  /** Without it, the request is sent at once, on a kept-alive connection. */
  delivery?: Delivery | undefined
}

/** An unusual way to send a request, on a connection of its own, which is closed afterwards. */
export interface Delivery {
  /** The parts of the request that are sent. */
  pieces(request: Buffer): readonly Buffer[]
  /** Between two pieces. */
  pauseMs: number
  /** The caller disconnects when it resolves, after the last piece; `null`: it waits for the answer. */
  leave: (() => Promise<unknown>) | null
}

/** The answer, or the reason why there is none. */
export type HttpReply = HttpAnswer | { error: string }

const answerBytesMax = 1_048_576
/** A server that closes an idle connection just when it is used again would seem to fail. */
const idleMsMax = 1_000
const sweepEveryMs = 100

const errorTexts: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed without an answer',
  EPIPE: 'the connection was closed while the request was being sent',
  ENOTFOUND: 'the host name is unknown',
  ETIMEDOUT: 'the connection timed out',
}

/** `the connection was refused (ECONNREFUSED)` */
function describeError({ message, code = '' }: Error & { code?: string }): string {
  const text = errorTexts[code] ?? message
  return code === '' ? text : `${text} (${code})`
}

export class HttpClient {
  /** By origin. The connection that was used last is used first, so that surplus ones expire. */
  readonly #idle = new Map<string, Connection[]>()
  readonly #all = new Set<Connection>()
  readonly #sweep = setInterval(() => this.#closeExpired(), sweepEveryMs).unref()

  constructor(readonly tls: ConnectionOptions) {}

  /** Never rejects. */
  async send(call: HttpCall): Promise<HttpReply> {
    const { url, delivery, timeoutMs } = call
    try {
      const request = bytesOf(call)
      const connection = delivery === undefined ? this.#to(url) : this.#open(url)
      return await connection.send(delivery?.pieces(request) ?? [request], delivery, timeoutMs)
    } catch (error) {
      return { error: textOf(error) }
    }
  }

  /** Closes all connections. The next request opens one. */
  disconnect(): void {
    for (const connection of [...this.#all]) connection.fail('closed by the caller')
  }

  close(): void {
    clearInterval(this.#sweep)
    this.disconnect()
  }

  #to(url: URL): Connection {
    const idle = this.#idle.get(url.origin)
    for (let one = idle?.pop(); one !== undefined; one = idle?.pop()) {
      if (!one.isClosed && performance.now() - one.since < idleMsMax) return one
      one.fail('idle')
    }
    return this.#open(url)
  }

  #open(url: URL): Connection {
    const connection: Connection = new Connection(openSocket(url, this.tls), {
      onIdle: () => {
        const idle = this.#idle.get(url.origin) ?? []
        this.#idle.set(url.origin, idle)
        idle.push(connection)
      },
      onClosed: () => this.#all.delete(connection),
    })
    this.#all.add(connection)
    return connection
  }

  #closeExpired(): void {
    const now = performance.now()
    for (const connection of this.#all) {
      const { since, waitsMs } = connection
      if (now - since > waitsMs) connection.fail(`no answer within ${waitsMs.toLocaleString('en')} ms`)
    }
  }
}

/** One request at a time, and exactly one result for each. */
class Connection {
  readonly #socket: Socket
  readonly #events: { onIdle(): void; onClosed(): void }
  /** Waits for the result of the request in flight; `null` if there is none. */
  #pending: ((reply: HttpReply) => void) | null = null
  #received: Buffer = Buffer.alloc(0)
  /** It is not used again. */
  #isLast = false
  isClosed = false
  /** When the request in flight was sent, or the last one answered; and how long the connection may wait. */
  since = performance.now()
  waitsMs = idleMsMax

  constructor(socket: Socket, events: { onIdle(): void; onClosed(): void }) {
    this.#socket = socket
    this.#events = events
    socket.on('data', chunk => this.#receive(chunk as Buffer))
    socket.on('error', error => this.fail(describeError(error)))
    socket.on('close', () => this.#end())
  }

  async send(
    pieces: readonly Buffer[],
    delivery: Delivery | undefined,
    timeoutMs: number,
  ): Promise<HttpReply> {
    this.since = performance.now()
    this.waitsMs = timeoutMs
    this.#isLast = delivery !== undefined
    const reply = new Promise<HttpReply>(resolve => {
      this.#pending = resolve
    })
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await new Promise(resolve => setTimeout(resolve, delivery?.pauseMs))
      if (delivery === undefined) this.#socket.write(piece)
      else await new Promise<void>(resolve => this.#socket.write(piece, () => resolve()))
    }
    delivery?.leave?.().then(() => this.fail('the caller disconnected'))
    return await reply
  }

  fail(error: string): void {
    this.#close()
    this.#answer({ error })
  }

  #receive(chunk: Buffer): void {
    if (this.isClosed) return
    if (this.#pending === null) {
      this.fail('data came without a request')
      return
    }
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const parsed = parseAnswer(this.#received, false)
    if (parsed === 'incomplete') {
      if (this.#received.length > answerBytesMax)
        this.fail(`the answer is larger than ${answerBytesMax} bytes`)
    } else if ('error' in parsed) this.fail(parsed.error)
    else {
      this.since = performance.now()
      this.waitsMs = idleMsMax
      if (parsed.reusable && !this.#isLast) this.#events.onIdle()
      else this.#close()
      this.#answer(parsed)
    }
  }

  /** An answer without a length ends with its connection. */
  #end(): void {
    const parsed = this.#pending === null ? 'incomplete' : parseAnswer(this.#received, true)
    const isAnswer = parsed !== 'incomplete' && !('error' in parsed)
    this.#close()
    this.#answer(isAnswer ? parsed : { error: 'the connection was closed before the answer' })
  }

  #answer(reply: HttpReply): void {
    const pending = this.#pending
    this.#pending = null
    this.#received = Buffer.alloc(0)
    pending?.(reply)
  }

  #close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.#socket.destroy()
    this.#events.onClosed()
  }
}

function bytesOf({ url, method = 'POST', headers, body, delivery }: HttpCall): Buffer {
  const all = {
    host: url.host,
    ...headers,
    ...(delivery === undefined ? {} : { connection: 'close' }),
    ...(body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
  }
  let head = `${method} ${url.pathname}${url.search} HTTP/1.1\r\n`
  for (const [name, value] of Object.entries(all)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      throw new TypeError(`headers: "${name}" is not a valid header name`)
    if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw new TypeError(`headers: the value of ${name} is not valid in HTTP`)
    head += `${name}: ${value}\r\n`
  }
  return Buffer.concat([Buffer.from(`${head}\r\n`, 'latin1'), Buffer.from(body ?? '')])
}

function openSocket(url: URL, tls: ConnectionOptions): Socket {
  const secure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port || (secure ? 443 : 80))
  const servername = /^[\d.]+$|:/.test(host) ? '' : host
  const socket = secure
    ? connectTls({ host, port, servername, ALPNProtocols: ['http/1.1'], ...tls })
    : connectTcp({ host, port })
  return socket.setNoDelay(true)
}
