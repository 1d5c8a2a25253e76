/** The options of the HTTP handler, read and checked once. */

import { check, WalletError } from '../errors.js'
import { textOf } from '../foreign-values.js'
import { handlePlaceBet, handleRollbackBet, handleUnsettlement } from '../handlers.js'
import { settingsOf, type WalletOptions, walletOptionNames, walletPartOf } from '../options.js'
import { type ErrorCode, errorCodes, type WalletOutcome } from '../outcomes.js'
import type { WalletStore } from '../store.js'
import { checkStore } from '../store-checks.js'
import type { Authenticate } from './authentication.js'
import { createAuthenticationLog, createFaultLog } from './log.js'
import type { HttpRequest } from './message.js'

/** Options of `createHttpHandler`, beside those of the handlers. */
export interface HttpOptions extends WalletOptions {
  /**
   * Returns `true` if the call comes from the platform; any other value is a 401, and a text is its reason.
   * Required: there is no default that would accept every call. `basicAuth` and `signature` create one.
   * Called before the body is read; `call.rawBody()` reads it. If it throws: 500.
   */
  authenticate: Authenticate
  /**
   * The path before `/placebet` and the others: `"/wallet"`.
   *
   * @default none
   */
  basePath?: string
  /**
   * The maximum size of a body, in bytes.
   *
   * @default 65_536
   */
  bodyBytesMax?: number
  /**
   * HTTP status codes by error code, also for your own error codes: 400 to 599, and 5xx for a fault (D9).
   *
   * @default the statuses of docs/errors.md
   */
  statusCodes?: { [code in ErrorCode | (string & {})]?: number }
  /**
   * Your own paths below the base path, each with its function:
   * `{ '/settlement': body => recordSettlement(store, body, walletOptions) }`. Authentication, body parser
   * and errors are the same as on the wallet's paths. A function returns the outcome of a handler, or any
   * JSON: `{ '/health': async () => ({ json: { up: true } }) }` ({@link JsonAnswer}).
   *
   * A JSON number that a JavaScript number cannot hold exactly arrives as a {@link JsonNumber}; the handlers
   * accept it.
   */
  routes?: Record<string, Route>
  /**
   * Called with the reason of every 401, which the caller is not told. Errors of the hook are ignored, and
   * reported once as a warning.
   *
   * @default console.error, one line: the first 401 of a reason, then every 10 seconds the number of others
   */
  onAuthenticationFailed?(reason: string, request: HttpRequest): void
  /**
   * Called with the cause of every fault (500, 503). A `WalletError` names its `call`: operation and ids.
   * Under load there are thousands of 503 per second: count them, and log few. Errors of the hook are
   * ignored, and reported once as a warning.
   *
   * Answers such as 401 or 413, and malformed JSON, are no faults. To see them, subscribe to the channel
   * `bet-wallet:http`: its messages have every call with its status code ({@link WalletChannels}).
   *
   * @default console.error, one line: the first fault of a kind, then every 10 seconds the number of others
   */
  onError?(error: unknown, request: HttpRequest): void
}

/** Answers the parsed body of one path. `request` is the message that it came with. */
export type Route = (body: unknown, request: HttpRequest) => Promise<WalletOutcome | JsonAnswer>

/** An answer of your own path that is none of the wallet interface. */
export interface JsonAnswer {
  /**
   * The body, for `JSON.stringify`: any value except `undefined`. A {@link JsonNumber} in it is written with
   * every digit: `{ balance: new JsonNumber('100.00') }` is sent as `{"balance":100.00}`.
   */
  json: unknown
  /**
   * The status code: 200 to 599, but none that forbids a body (204, 205, 304).
   *
   * @default 200
   */
  status?: number
}

/** The HTTP status code of each error code. The operator's own error codes are answered with 400. */
export const defaultStatusCodes: Readonly<Record<ErrorCode, number>> = {
  INVALID_REQUEST: 400,
  INVALID_PLAYER: 400,
  INVALID_SESSION_TOKEN: 400,
  INVALID_CURRENCY: 400,
  INVALID_BET: 400,
  AUTHENTICATION_FAILED: 401,
  INSUFFICIENT_FUNDS: 402,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  TRANSACTION_CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  INTERNAL_ERROR: 500,
  SETTLEMENT_NOT_FOUND: 503,
  UNAVAILABLE: 503,
}

const optionNames = [
  'authenticate',
  'basePath',
  'bodyBytesMax',
  'statusCodes',
  'routes',
  'onError',
  'onAuthenticationFailed',
]

export type HttpSettings = ReturnType<typeof httpSettingsOf>

/** @throws {WalletError} `INVALID_OPTIONS`, naming the option */
export function httpSettingsOf(store: WalletStore, options: HttpOptions) {
  check.names(options, [...walletOptionNames, ...optionNames])
  const walletOptions = walletPartOf(options)
  try {
    checkStore(store)
  } catch (cause) {
    throw new WalletError('INVALID_OPTIONS', `Invalid store: ${textOf(cause)}`, { cause })
  }
  const { authenticate, bodyBytesMax = 65_536, onError, onAuthenticationFailed } = options
  if (typeof authenticate !== 'function') {
    check.invalid('authenticate must be a function; there is no default that accepts every call')
  }
  check.func('onError', onError)
  check.func('onAuthenticationFailed', onAuthenticationFailed)
  return {
    wallet: settingsOf(walletOptions),
    authenticate: authenticate.bind(options),
    bodyBytesMax: check.whole('bodyBytesMax', bodyBytesMax, 1),
    statusCodes: statusCodesOf(options),
    /** By full path: `"/wallet/placebet"`. */
    routes: routesOf(store, options, walletOptions),
    onError: onError?.bind(options) ?? createFaultLog(),
    onAuthenticationFailed: onAuthenticationFailed?.bind(options) ?? createAuthenticationLog(),
  }
}

function statusCodesOf({ statusCodes = {} }: HttpOptions): Map<string, number> {
  if (typeof statusCodes !== 'object' || statusCodes === null) check.invalid('statusCodes must be an object')
  const all = new Map<string, number>(errorCodes.map(code => [code, defaultStatusCodes[code]]))
  for (const [code, status] of Object.entries(statusCodes)) {
    if (status === undefined) continue
    // D9: a fault is never answered as a refusal.
    const least = code === 'INTERNAL_ERROR' || code === 'UNAVAILABLE' ? 500 : 400
    if (!Number.isInteger(status) || status < least || status > 599) {
      check.invalid(`statusCodes.${code} must be a status code from ${least} to 599`)
    }
    all.set(code, status)
  }
  return all
}

function routesOf(
  store: WalletStore,
  { basePath = '', routes = {} }: HttpOptions,
  walletOptions: WalletOptions,
): Map<string, Route> {
  if (typeof basePath !== 'string' || !/^(?:\/[^/?#]+)*\/?$/.test(basePath)) {
    check.invalid('basePath must be empty or like "/wallet"')
  }
  if (typeof routes !== 'object' || routes === null) check.invalid('routes must be an object')
  const base = basePath.replace(/\/$/, '')
  const all = new Map<string, Route>([
    [`${base}/placebet`, (body, request) => handlePlaceBet(store, body, walletOptions, request)],
    [`${base}/unsettlement`, body => handleUnsettlement(store, body, walletOptions)],
    [`${base}/rollbackbet`, body => handleRollbackBet(store, body, walletOptions)],
  ])
  for (const [path, route] of Object.entries(routes)) {
    if (!/^\/[^?#]+$/.test(path)) check.invalid(`routes: ${JSON.stringify(path)} must be like "/settlement"`)
    if (all.has(base + path)) check.invalid(`routes: ${path} is reserved by the wallet interface`)
    if (typeof route !== 'function') check.invalid(`routes: ${path} must be a function`)
    all.set(base + path, route)
  }
  return all
}
