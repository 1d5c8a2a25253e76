/** Sends a call, well or badly, and writes down what came back. */
import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http'
import { Agent as AgentTls, request as requestHttps } from 'node:https'
import { basicOf } from './checks.js'
import { curlLine } from './curl.js'
import type { AuditSettings } from './options.js'
import type { AuditExchange } from './report.js'

export interface Call {
  /** What it is, for people. */
  label: string
  /** Default: POST. */
  method?: string
  /** Below the base URL, or a whole URL (of `settle` only). */
  path: string
  /** Default: none. */
  body?: string | Uint8Array
  /** Other headers than the usual ones; `null` leaves one out. */
  headers?: Record<string, string | null>
  /** `wrong`: another password, other values in the headers that let a call in, a body that is changed after it was signed. */
  credentials?: 'given' | 'none' | 'wrong'
  /** How it is sent. Default: whole, on a connection that is kept. */
  line?: Line
  /** Of a body that is too long to paste: a shell command that writes it. */
  bodyCommand?: string
  /** Another time to wait for the answer than the usual one. */
  timeoutMs?: number
}

export type Line =
  /** The caller goes away so many milliseconds after all was sent, without waiting for the answer. */
  | { as: 'hang up'; afterMs: number }
  /** Cut at these bytes, with a pause at each; `chunked` without a Content-Length. */
  | { as: 'pieces'; cuts: readonly number[]; pauseMs: number; chunked: boolean }
  /** The head and so many bytes of the body, and then the connection is closed. */
  | { as: 'half'; bytes: number }
  /** The head promises a body that never comes; the answer is waited for all the same, or until something has happened. */
  | { as: 'head only'; until?: Promise<unknown>; sent?(): void }
  /** On a connection of its own, which is closed afterwards. */
  | { as: 'alone' }

/** What came back. `status` is `null` where no answer came. */
export interface Reply {
  exchange: AuditExchange
  status: number | null
  headers: IncomingHttpHeaders
  /** The whole answer, up to 1 MiB. */
  text: string
}

export interface Client {
  /** How many requests were sent. */
  readonly requests: number
  /** Milliseconds since the audit began. */
  now(): number
  /** Never rejects: a line that breaks is a finding. */
  send(call: Call): { exchange: AuditExchange; reply: Promise<Reply> }
  close(): void
}

export const textCharactersMax = 2_000
const answerBytesMax = 1_048_576

export function openClient(settings: AuditSettings): Client {
  const beganAt = performance.now()
  const now = () => Math.round((performance.now() - beganAt) * 10) / 10
  // Idle connections are dropped early: a server that closes one while a call is sent on it would look broken.
  const agentOptions = { keepAlive: true, maxSockets: 256, timeout: 1_000 }
  const agents = {
    'http:': new Agent(agentOptions),
    'https:': new AgentTls({ ...settings.tls, ...agentOptions }),
  }
  let requests = 0

  function send(call: Call): { exchange: AuditExchange; reply: Promise<Reply> } {
    const { method = 'POST', credentials = 'given', line } = call
    const url = new URL(/^https?:/.test(call.path) ? call.path : `${settings.target}${call.path}`)
    const body = call.body === undefined ? null : Buffer.from(call.body)
    // Settling elsewhere is no reason to hand the platform's credentials over.
    const ours = url.origin === settings.base.origin
    const secrets = ours && credentials !== 'none' ? { ...settings.headers } : {}
    if (credentials === 'wrong') for (const name in secrets) secrets[name] = `${secrets[name]}x`
    const basic =
      ours && settings.credentials !== null && credentials !== 'none' ? settings.credentials : null

    const headers: Record<string, string> = { ...secrets }
    if (body !== null) headers['content-type'] = 'application/json'
    if (basic !== null) {
      const password = credentials === 'wrong' ? `${basic.password}x` : basic.password
      headers.authorization = basicOf({ ...basic, password })
    }
    for (const [name, value] of Object.entries(call.headers ?? {})) {
      if (value === null) delete headers[name]
      else headers[name] = value
    }

    const tampered = settings.sign !== null && credentials === 'wrong' && body !== null
    const sentBody = tampered ? Buffer.concat([body, Buffer.from(' ')]) : body
    const exchange: AuditExchange = {
      label: call.label,
      sentAtMs: now(),
      answeredAtMs: null,
      method,
      path: call.path,
      body: cut(sentBody === null ? '' : sentBody.toString('utf8')),
      curl: curlLine({
        method,
        url: url.href,
        headers: [
          ...Object.entries(headers)
            .filter(([name]) => name !== 'authorization' || basic === null)
            .map(([name, value]) => ({ name, value, secret: name in secrets })),
          ...(body !== null && headers['content-type'] === undefined
            ? [{ name: 'Content-Type', value: '', secret: false }]
            : []),
        ],
        user: basic === null ? 'none' : credentials === 'wrong' ? 'wrong' : 'given',
        body: sentBody,
        ...(call.bodyCommand === undefined ? {} : { bodyCommand: call.bodyCommand }),
        options: curlOptionsOf(line, body),
      }),
      status: null,
      answer: null,
      balance: null,
      error: null,
      omitted: 0,
    }
    requests += 1
    const reply = signed({ method, url, headers, body })
      .then(all => exchanged(call, url, all, sentBody, exchange))
      .catch((error: unknown): Reply => {
        exchange.error = `it could not be sent: ${error instanceof Error ? error.message : String(error)}`
        return { exchange, status: null, headers: {}, text: '' }
      })
    return { exchange, reply }

    async function signed(request: {
      method: string
      url: URL
      headers: Record<string, string>
      body: Buffer | null
    }): Promise<Record<string, string>> {
      if (settings.sign === null || credentials === 'none' || !ours) return request.headers
      const further = await settings.sign({
        ...request,
        url: request.url.href,
        body: request.body ?? Buffer.alloc(0),
      })
      return { ...request.headers, ...further }
    }
  }

  function exchanged(
    call: Call,
    url: URL,
    headers: Record<string, string>,
    body: Buffer | null,
    exchange: AuditExchange,
  ): Promise<Reply> {
    const { line } = call
    const usual = line === undefined
    const timeoutMs = call.timeoutMs ?? settings.timeoutMs
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      method: exchange.method,
      ...(usual || url.protocol === 'http:' ? {} : settings.tls),
      agent: usual ? agents[url.protocol as keyof typeof agents] : false,
      headers: {
        ...headers,
        ...(usual ? {} : { connection: 'close' }),
        ...(body !== null && !(line?.as === 'pieces' && line.chunked)
          ? { 'content-length': String(body.length) }
          : {}),
      },
    })
    request.setNoDelay(true)

    return new Promise(resolve => {
      let over = false
      const end = (broken: string | null, response: IncomingMessage | null, text: string) => {
        if (over) return
        over = true
        clearTimeout(timer)
        exchange.error = broken
        if (broken === null && response !== null) {
          exchange.answeredAtMs = now()
          exchange.status = response.statusCode ?? null
          exchange.answer = cut(text)
        }
        if (broken !== null || !usual) request.destroy()
        resolve({ exchange, status: exchange.status, headers: response?.headers ?? {}, text })
      }
      const timer = setTimeout(
        () => end(`no answer within ${timeoutMs.toLocaleString('en')} ms`, null, ''),
        timeoutMs,
      )
      request.on('error', error => end(brokenOf(error), null, ''))
      request.on('response', response => {
        const chunks: Buffer[] = []
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes <= answerBytesMax) chunks.push(chunk)
        })
        response.on('error', error => end(brokenOf(error), null, ''))
        response.on('end', () => end(null, response, Buffer.concat(chunks).toString('utf8')))
      })
      write(request, body, line, () => end('closed by the caller, as this case wants it', null, ''))
    })
  }

  return {
    get requests() {
      return requests
    },
    now,
    send,
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

function write(
  request: ClientRequest,
  body: Buffer | null,
  line: Line | undefined,
  hungUp: () => void,
): void {
  if (body === null || line === undefined || line.as === 'alone') {
    request.end(body ?? undefined)
    return
  }
  switch (line.as) {
    case 'hang up':
      request.end(body, () => setTimeout(hungUp, line.afterMs))
      return
    case 'half':
      request.write(body.subarray(0, line.bytes), () => setTimeout(hungUp, 1))
      return
    case 'head only':
      // An empty write says when the head has left.
      request.write('', () => line.sent?.())
      line.until?.then(hungUp, hungUp)
      return
    case 'pieces': {
      const ends = [...line.cuts, body.length]
      let sent = 0
      const next = () => {
        if (request.destroyed) return
        const piece = body.subarray(sent, ends.shift())
        sent += piece.length
        if (ends.length === 0) request.end(piece)
        else request.write(piece, () => setTimeout(next, line.pauseMs))
      }
      next()
    }
  }
}

function curlOptionsOf(line: Line | undefined, body: Buffer | null): string[] {
  if (line?.as === 'hang up') return ['--max-time 0.05']
  if (line?.as === 'half' || line?.as === 'head only')
    return ['--max-time 2', `-H 'Content-Length: ${(body?.length ?? 0) + 1}'`]
  if (line?.as === 'pieces')
    return [...(line.chunked ? ["-H 'Transfer-Encoding: chunked'"] : []), '--limit-rate 100']
  return []
}

function brokenOf(error: Error & { code?: string }): string {
  const said: Record<string, string> = {
    ECONNREFUSED: 'the connection was refused',
    ECONNRESET: 'the connection was closed without an answer',
    EPIPE: 'the connection was closed while the request was being sent',
    ENOTFOUND: 'there is no host of this name',
    ETIMEDOUT: 'the connection timed out',
  }
  const { code = '' } = error
  return said[code] === undefined
    ? `${error.message}${code === '' ? '' : ` (${code})`}`
    : `${said[code]} (${code})`
}

function cut(text: string): string {
  return text.length <= textCharactersMax ? text : `${text.slice(0, textCharactersMax)}…`
}
