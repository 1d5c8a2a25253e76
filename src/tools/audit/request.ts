/** Builds the request of a call: URL, headers, body, and the record of it for the report. Sends nothing. */

import { basicOf } from '../wire/checks.js'
import { curlLine } from '../wire/curl.js'
import type { AuditSettings } from './options.js'
import type { AuditExchange } from './report.js'
import { type Wrong, type WrongCredentials, wrongCredentials, wrongHeader } from './wrong-credentials.js'

export interface Call {
  /** For the report: `placebet b-3 of 30`. */
  label: string
  /** The call only reads the balance. */
  isReading?: true
  /** @default 'POST' */
  method?: string
  /** Below the base URL, or a complete URL (of `settle` only). */
  path: string
  /** Without one, the request has no body. */
  body?: string | Uint8Array
  /** Replaces or adds headers; `null` removes one. */
  headers?: Readonly<Record<string, string | null>>
  /**
   * Wrong ones: a wrong user name or password, wrong values of the secret headers, and a body that is changed
   * after signing.
   *
   * @default 'given'
   */
  credentials?: 'given' | 'none' | WrongCredentials
  /** Without one, the request is sent at once, on a kept-alive connection. */
  delivery?: Delivery
  /** A shell command that prints the body, for the report, if the body is too long to paste. */
  bodyCommand?: string
  /** Instead of the timeout of the options. */
  timeoutMs?: number
}

/** Unusual ways to send a request. Each has a connection of its own, which is closed afterwards. */
export type Delivery =
  /** The caller disconnects this long after the request is sent, without waiting for the answer. */
  | { as: 'disconnect'; afterMs: number }
  /** The body is cut at these bytes, with a pause at each cut; `chunked`: without a Content-Length. */
  | { as: 'pieces'; cuts: readonly number[]; pauseMs: number; chunked: boolean }
  /** The headers and this many bytes of the body, then the connection is closed. */
  | { as: 'part'; bytes: number }
  /**
   * Headers that announce a body which is never sent. The caller waits for the answer, or until the promise
   * is settled. `sent` is called when the headers are sent.
   */
  | { as: 'headers'; until?: Promise<unknown>; sent?(): void }
  | { as: 'separate-connection' }

export interface BuiltRequest {
  url: URL
  method: string
  /** Without those that the `sign` hook adds. */
  headers: Record<string, string>
  body: Buffer | null
  /** The body to send. Differs from `body` with wrong credentials. */
  sentBody: Buffer | null
  /** Whether the `sign` hook is called. */
  isSigned: boolean
  exchange: AuditExchange
}

const textCharactersMax = 2_000

/** @param sentAtMs for the report */
export function buildRequest(call: Call, settings: AuditSettings, sentAtMs: number): BuiltRequest {
  const { method = 'POST', credentials = 'given' } = call
  const url = new URL(/^https?:/.test(call.path) ? call.path : `${settings.target}${call.path}`)
  // The credentials of the wallet are sent to the wallet only, and not to a settlement URL elsewhere.
  const isAuthenticated = url.origin === settings.base.origin && credentials !== 'none'
  const basic = isAuthenticated ? settings.credentials : null
  const secrets = isAuthenticated ? { ...settings.headers } : {}
  const wrong: Wrong | null =
    credentials === 'given' || credentials === 'none' ? null : wrongCredentials[credentials]
  if (wrong !== null)
    for (const name in secrets) secrets[name] = wrongHeader(wrong, name, secrets[name] ?? '')

  const body = call.body === undefined ? null : Buffer.from(call.body)
  const isTampered =
    settings.sign !== null && wrong !== null && wrong.only !== 'Authorization' && body !== null
  const sentBody = isTampered ? Buffer.concat([body, Buffer.from(' ')]) : body

  const headers: Record<string, string> = { ...secrets }
  if (body !== null) headers['content-type'] = 'application/json'
  if (basic !== null) {
    const { username, password } = basic
    headers.authorization = basicOf(
      wrong === null ? basic : { username: wrong.username(username), password: wrong.secret(password) },
    )
  }
  for (const [name, value] of Object.entries(call.headers ?? {})) {
    if (value === null) delete headers[name]
    else headers[name] = value
  }

  const user = basic === null ? null : (wrong?.curlUser ?? '"$WALLET_USER:$WALLET_PASSWORD"')
  const { settle } = settings
  const isSettlement = typeof settle === 'object' && 'url' in settle && call.headers === settle.headers
  const hidden = isSettlement ? { ...secrets, ...settle.headers } : secrets
  const curl = curlOf(call, url, headers, hidden, user, sentBody)
  const exchange = exchangeOf({ ...call, sentAtMs, method, curl }, sentBody)
  const isSigned = isAuthenticated && settings.sign !== null
  return { url, method, headers, body, sentBody, isSigned, exchange }
}

function curlOf(
  { method = 'POST', bodyCommand, delivery }: Call,
  url: URL,
  headers: Record<string, string>,
  secrets: Record<string, string>,
  user: string | null,
  body: Buffer | null,
): string {
  const shown = Object.entries(headers)
    .filter(([name]) => name !== 'authorization' || user === null)
    .map(([name, value]) => ({ name, value, secret: name in secrets }))
  // An empty header stops curl from adding its own.
  if (body !== null && headers['content-type'] === undefined)
    shown.push({ name: 'Content-Type', value: '', secret: false })
  return curlLine({
    method,
    url: url.href,
    headers: shown,
    user,
    body,
    ...(bodyCommand === undefined ? {} : { bodyCommand }),
    options: curlOptionsOf(delivery, body),
  })
}

function curlOptionsOf(delivery: Delivery | undefined, body: Buffer | null): string[] {
  switch (delivery?.as) {
    case 'disconnect':
      return ['--max-time 0.05']
    case 'part':
    case 'headers':
      return ['--max-time 2', `-H 'Content-Length: ${(body?.length ?? 0) + 1}'`]
    case 'pieces':
      return [...(delivery.chunked ? ["-H 'Transfer-Encoding: chunked'"] : []), '--limit-rate 100']
    default:
      return []
  }
}

/** The record of a call that has no answer yet. */
export function exchangeOf(
  call: Pick<AuditExchange, 'label' | 'isReading' | 'sentAtMs' | 'method' | 'path' | 'curl'>,
  body: Buffer | null,
): AuditExchange {
  const { label, isReading, sentAtMs, method, path, curl } = call
  return {
    label,
    ...(isReading ? { isReading } : {}),
    sentAtMs,
    answeredAtMs: null,
    method,
    path,
    body: cut(body === null ? '' : body.toString('utf8')),
    curl,
    status: null,
    answer: null,
    balance: null,
    error: null,
    omitted: 0,
  }
}

/** The length to which the report cuts bodies and answers. */
export function cut(text: string): string {
  return text.length <= textCharactersMax ? text : `${text.slice(0, textCharactersMax)}…`
}
