/** Sends the calls of the audit, and records each of them with its answer. */
import { textOf } from '../../foreign-values.js'
import { curlLine, withoutQuery } from '../wire/curl.js'
import type { HttpReply } from '../wire/http-client.js'
import type { Mask } from '../wire/secrets.js'
import {
  createWalletClient,
  fixedHeaders,
  type WalletCall,
  type WalletClient,
} from '../wire/wallet-client.js'
import type { UnusualDelivery } from './deliveries.js'
import type { AuditSettings } from './options.js'
import type { AuditExchange } from './report.js'
import { callerOf, type WrongCredentials } from './wrong-credentials.js'

export interface Call extends Pick<WalletCall, 'method' | 'headers' | 'timeoutMs'> {
  /** For the report: `placebet b-3 of 30`. */
  label: string
  /** The call only reads the balance. */
  isReading?: true
  /** Below the base URL, or a complete URL (of `settle` only). */
  path: string
  /** Without one, the request has no body. */
  body?: string | Uint8Array
  /** Instead of those of the options. */
  credentials?: 'none' | WrongCredentials
  /** Without one, the request is sent at once, on a kept-alive connection. */
  delivery?: UnusualDelivery
  /** A shell command that prints the body, for the report, if the body is too long to paste. */
  bodyCommand?: string
}

/** The answer to a call. `status` is `null` if there is none. */
export interface Reply {
  exchange: AuditExchange
  status: number | null
  /** The status line and the headers: read them by `headerOf`. */
  head: string
  text: string
  /** For reports: the wallet may have repeated the credentials of the request. */
  mask: Mask
}

export class Client {
  readonly #settings: AuditSettings
  readonly #wire: WalletClient
  readonly #beganAt = performance.now()
  /** Number of requests sent so far. */
  requests = 0

  constructor(settings: AuditSettings) {
    this.#settings = settings
    this.#wire = createWalletClient(settings)
  }

  /** For texts that are not of one answer. */
  get mask(): Mask {
    return this.#wire.mask
  }

  /** Milliseconds since the audit began. */
  now(): number {
    return Math.round((performance.now() - this.#beganAt) * 10) / 10
  }

  /** The reply never rejects: a failed connection is a result too. */
  send(call: Call): { exchange: AuditExchange; reply: Promise<Reply> } {
    const { path, body = null, credentials, delivery, headers, method = 'POST', timeoutMs } = call
    const { target, base } = this.#settings
    const url = new URL(/^https?:/.test(path) ? path : `${target}${path}`)
    const { curlUser, ...caller } = callerOf(this.#settings, credentials)
    const fixed = fixedHeaders({ ...this.#settings, ...caller }, url)
    const curl = curlOf(call, url, fixed, url.origin === base.origin ? curlUser : null)
    const shown = { ...call, method, path: withoutQuery(path), curl }
    const exchange = exchangeOf(shown, this.now(), Buffer.from(body ?? '').toString())
    this.requests += 1
    const sent = this.#wire.send({ url, method, body, caller, headers, delivery, timeoutMs })
    const reply = sent.then(
      ({ reply, mask }) => this.#record(exchange, reply, mask),
      error =>
        this.#record(exchange, { error: `the request could not be sent: ${textOf(error)}` }, this.mask),
    )
    return { exchange, reply }
  }

  #record(exchange: AuditExchange, reply: HttpReply, mask: Mask): Reply {
    if ('error' in reply) {
      exchange.error = mask(reply.error)
      return { exchange, status: null, head: '', text: '', mask }
    }
    const { status, head, body: text } = reply
    exchange.answeredAtMs = this.now()
    exchange.status = status
    exchange.answer = cut(mask(text))
    return { exchange, status, head, text, mask }
  }

  /** Closes the connections. The next call opens one. */
  disconnect(): void {
    this.#wire.disconnect()
  }

  close(): void {
    this.#wire.close()
  }
}

/** @param fixed headers whose values are not shown */
function curlOf(
  { method = 'POST', body, bodyCommand, delivery, headers = {} }: Call,
  url: URL,
  fixed: Readonly<Record<string, string>>,
  user: string | null,
): string {
  const shown = Object.entries({ ...fixed, ...headers })
    .filter(([name]) => name !== 'authorization' || user === null)
    .map(([name, value]) => ({ name, value, secret: name !== 'content-type' && !(name in headers) }))
  return curlLine({
    method,
    url: withoutQuery(url.href),
    headers: shown,
    user,
    body: body === undefined ? null : Buffer.from(body),
    bodyCommand,
    options: delivery?.curl,
  })
}

/** The record of a call that has no answer yet. */
export function exchangeOf(
  sent: Pick<AuditExchange, 'label' | 'isReading' | 'method' | 'path' | 'curl'>,
  sentAtMs: number,
  body: string,
): AuditExchange {
  const { label, isReading, method, path, curl } = sent
  return {
    label,
    ...(isReading ? { isReading } : {}),
    sentAtMs,
    answeredAtMs: null,
    method,
    path,
    body: cut(body),
    curl,
    status: null,
    answer: null,
    balance: null,
    error: null,
    omitted: 0,
  }
}

const textCharactersMax = 2_000

/** The length to which the report cuts bodies and answers. */
function cut(text: string): string {
  return text.length <= textCharactersMax ? text : `${text.slice(0, textCharactersMax)}…`
}
