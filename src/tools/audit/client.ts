/** Sends calls to the wallet, in usual and unusual ways, and records the answers. */
import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http'
import { Agent as AgentTls, request as requestHttps } from 'node:https'
import { textOf } from '../../foreign-values.js'
import { type Mask, maskOf, secretsIn, secretsOf } from '../wire/secrets.js'
import type { AuditSettings } from './options.js'
import type { AuditExchange } from './report.js'
import { type BuiltRequest, buildRequest, type Call, cut, type Delivery } from './request.js'

/** The answer to a call. `status` is `null` if there is none. */
export interface Reply {
  exchange: AuditExchange
  status: number | null
  headers: IncomingHttpHeaders
  /** The complete body, up to 1 MiB. */
  text: string
  /** For reports: the wallet may have repeated the credentials of the request. */
  mask: Mask
}

export interface Client {
  /** Number of requests sent so far. */
  readonly requests: number
  /** Milliseconds since the audit began. */
  now(): number
  /** For texts that are not of one answer. */
  readonly mask: Mask
  /** The reply never rejects: a failed connection is a result too. */
  send(call: Call): { exchange: AuditExchange; reply: Promise<Reply> }
  /** Closes the connections. The next call opens one. */
  disconnect(): void
}

type Agents = Record<string, Agent>

const answerBytesMax = 1_048_576

export function openClient(settings: AuditSettings): Client {
  const beganAt = performance.now()
  const now = () => Math.round((performance.now() - beganAt) * 10) / 10
  // Idle connections are closed early: a server that closes one during a call would seem to fail.
  const agentOptions = { keepAlive: true, maxSockets: 256, timeout: 1_000 }
  const agents: Agents = {
    'http:': new Agent(agentOptions),
    'https:': new AgentTls({ ...settings.tls, ...agentOptions }),
  }
  const given = secretsOf(settings)
  const mask = maskOf(given)
  let requests = 0

  return {
    mask,
    get requests() {
      return requests
    },
    now,
    send(call) {
      const built = buildRequest(call, settings, now())
      const { exchange } = built
      requests += 1
      const reply = signedHeaders(built, settings)
        .then(headers => {
          const ownMask = maskOf([...given, ...secretsIn(headers)])
          return exchanged(built, headers, call, settings, agents, now, ownMask)
        })
        .catch((error: unknown): Reply => {
          exchange.error = `the request could not be sent: ${mask(textOf(error))}`
          return { exchange, status: null, headers: {}, text: '', mask }
        })
      return { exchange, reply }
    },
    disconnect() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

async function signedHeaders(
  { url, method, headers, body, isSigned }: BuiltRequest,
  { sign }: AuditSettings,
): Promise<Record<string, string>> {
  if (sign === null || !isSigned) return headers
  return { ...headers, ...(await sign({ method, url: url.href, headers, body: body ?? Buffer.alloc(0) })) }
}

/** Sends the request and resolves with the answer, or with the reason why there is none. */
function exchanged(
  { url, sentBody, exchange }: BuiltRequest,
  headers: Record<string, string>,
  { delivery, timeoutMs: ownTimeoutMs }: Call,
  settings: AuditSettings,
  agents: Agents,
  now: () => number,
  mask: Mask,
): Promise<Reply> {
  const timeoutMs = ownTimeoutMs ?? settings.timeoutMs
  const request = open(url, exchange.method, headers, sentBody, delivery, settings, agents)
  return new Promise(resolve => {
    let over = false
    const end = (error: string | null, response: IncomingMessage | null, text: string) => {
      if (over) return
      over = true
      clearTimeout(timer)
      exchange.error = error === null ? null : mask(error)
      if (error === null && response !== null) {
        exchange.answeredAtMs = now()
        exchange.status = response.statusCode ?? null
        exchange.answer = cut(mask(text))
      }
      if (error !== null || delivery !== undefined) request.destroy()
      resolve({ exchange, status: exchange.status, headers: response?.headers ?? {}, text, mask })
    }
    const timer = setTimeout(
      () => end(`no answer within ${timeoutMs.toLocaleString('en')} ms`, null, ''),
      timeoutMs,
    )
    request.on('error', error => end(describeError(error), null, ''))
    request.on('response', response => {
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= answerBytesMax) chunks.push(chunk)
      })
      response.on('error', error => end(describeError(error), null, ''))
      response.on('end', () => end(null, response, Buffer.concat(chunks).toString('utf8')))
    })
    writeBody(request, sentBody, delivery, () =>
      end('the caller disconnected, as the case requires', null, ''),
    )
  })
}

function open(
  url: URL,
  method: string,
  headers: Record<string, string>,
  body: Buffer | null,
  delivery: Delivery | undefined,
  settings: AuditSettings,
  agents: Agents,
): ClientRequest {
  const isSecure = url.protocol === 'https:'
  const isChunked = delivery?.as === 'pieces' && delivery.chunked
  const request = (isSecure ? requestHttps : requestHttp)(url, {
    ...(isSecure ? settings.tls : {}),
    method,
    agent: delivery === undefined ? agents[url.protocol] : false,
    headers: {
      ...headers,
      ...(delivery === undefined ? {} : { connection: 'close' }),
      ...(body === null || isChunked ? {} : { 'content-length': String(body.length) }),
    },
  })
  request.setNoDelay(true)
  return request
}

function writeBody(
  request: ClientRequest,
  body: Buffer | null,
  delivery: Delivery | undefined,
  disconnect: () => void,
): void {
  if (body === null || delivery === undefined || delivery.as === 'separate-connection') {
    request.end(body ?? undefined)
    return
  }
  switch (delivery.as) {
    case 'disconnect':
      request.end(body, () => setTimeout(disconnect, delivery.afterMs))
      return
    case 'part':
      request.write(body.subarray(0, delivery.bytes), () => setTimeout(disconnect, 1))
      return
    case 'headers':
      // An empty write reports when the headers have left.
      request.write('', () => delivery.sent?.())
      delivery.until?.then(disconnect, disconnect)
      return
    case 'pieces':
      writePieces(request, body, delivery.cuts, delivery.pauseMs)
  }
}

function writePieces(request: ClientRequest, body: Buffer, cuts: readonly number[], pauseMs: number): void {
  const ends = [...cuts, body.length]
  let sent = 0
  const next = () => {
    if (request.destroyed) return
    const piece = body.subarray(sent, ends.shift())
    sent += piece.length
    if (ends.length === 0) request.end(piece)
    else request.write(piece, () => setTimeout(next, pauseMs))
  }
  next()
}

const errorTexts: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed without an answer',
  EPIPE: 'the connection was closed while the request was being sent',
  ENOTFOUND: 'the host name is unknown',
  ETIMEDOUT: 'the connection timed out',
}

function describeError({ message, code = '' }: Error & { code?: string }): string {
  const text = errorTexts[code] ?? message
  return code === '' ? text : `${text} (${code})`
}
