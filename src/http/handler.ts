/** HTTP without a framework: routing, authentication, body, answer. */
import { isoMinorUnits } from '../currencies.js'
import { isRetryable, notify, WalletError } from '../errors.js'
import { handlePlaceBet, handleRollbackBet, handleUnsettlement } from '../handlers.js'
import { format, isDecimal } from '../money.js'
import { settingsOf, type WalletOptions } from '../options.js'
import { type ErrorCode, errorCodes, type WalletOutcome } from '../outcomes.js'
import type { WalletStore } from '../store.js'
import { checkStore } from '../store-checks.js'
import { readBody } from './body.js'
import { type HttpRequest, type HttpResponse, headerOf } from './message.js'

/** Options of {@link createHttpHandler}, beside those of the wallet. */
export interface HttpOptions extends WalletOptions {
  /**
   * Whether the call comes from the platform: only `true` lets it in. Required, so that nobody is let in by
   * omission; {@link basicAuth} makes one. Asked before the body is read; what it throws lets nobody in (500).
   */
  authenticate(request: HttpRequest): boolean | Promise<boolean>
  /** `WWW-Authenticate` of a 401. Default: `Basic realm="wallet", charset="UTF-8"`. */
  challenge?: string
  /** Before the paths of the interface: `"/wallet"`. Default: none. */
  basePath?: string
  /** The largest body that is read. Default 65,536. */
  bodyBytesMax?: number
  /**
   * Other statuses per error code, also for codes of your own: 400 to 599, and 500 to 599 for INTERNAL_ERROR and
   * UNAVAILABLE, since a fault is never answered as a refusal (D9). Defaults: see {@link defaultStatusCodes}.
   */
  statusCodes?: { [code in ErrorCode | (string & {})]?: number }
  /**
   * Further paths of your own, under the base path, each with its operation: same body reader, authentication and
   * errors. `{ '/settlement': body => recordSettlement(store, body, walletOptions) }`. A number that JavaScript cannot hold
   * exactly arrives as an object whose `String()` is the number as written; the library's handlers take it.
   */
  routes?: Record<string, (body: unknown) => Promise<WalletOutcome>>
  /**
   * Told of everything that is answered as a fault (500, 503), with its cause. Default: `console.error`. What it
   * throws is ignored, and reported once as a warning.
   */
  onError?(error: unknown, request: HttpRequest): void
}

/** The status of each error code. A code of the operator's own is 400. */
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

const statusOfOwnCode = 400
const defaultBodyBytesMax = 65_536

/**
 * Makes the handler of all calls of the platform: `/placebet`, `/unsettlement`, `/rollbackbet`, and what
 * `routes` adds. Checks in this order: path, method, media type, authentication, body, then the rules.
 *
 * The handler never throws and never rejects. It does not end the connection and sets no time limit: your
 * server does.
 *
 * @throws {WalletError} `INVALID_OPTIONS`, naming the option
 */
export function createHttpHandler(
  store: WalletStore,
  options: HttpOptions,
): (request: HttpRequest) => Promise<HttpResponse> {
  const { settings, authenticate, challenge, bodyBytesMax, statuses, routes, onError } = httpSettingsOf(
    store,
    options,
  )

  async function answer(request: HttpRequest): Promise<HttpResponse> {
    // 1. The surface: is it a call of the interface at all?
    const operation = routes.get(request.path.split('?', 1)[0] ?? '')
    if (operation === undefined) return refusal('NOT_FOUND', 'Not found')
    if (request.method !== 'POST') {
      return refusal('METHOD_NOT_ALLOWED', 'Only POST is allowed', { allow: 'POST' })
    }
    const flaw = mediaTypeProblem(request)
    if (flaw !== null) return refusal('UNSUPPORTED_MEDIA_TYPE', flaw)

    // 2. Authentication, before anything of the body is read.
    if ((await authenticate(request)) !== true) {
      return refusal('AUTHENTICATION_FAILED', 'Authentication failed', {
        'www-authenticate': challenge,
      })
    }

    // 3. The body. One that says that it is too large is not even started.
    const read =
      Number(headerOf(request, 'content-length') ?? 0) > bodyBytesMax
        ? 'too large'
        : await readBody(request.body, bodyBytesMax)
    if (read === 'too large') {
      return refusal('PAYLOAD_TOO_LARGE', `The body must have at most ${bodyBytesMax} bytes`)
    }
    if ('flaw' in read) return refusal('INVALID_REQUEST', read.flaw)

    // 4. The rules.
    const outcome = checkedOutcome(await operation(read.body))
    return outcome.ok ? success(outcome, request) : refusal(outcome.errorCode, outcome.description)
  }

  function success(outcome: WalletOutcome & { ok: true }, request: HttpRequest): HttpResponse {
    const { balance, currency, walletTransactionId } = outcome
    // By hand, because a balance is a JSON number with all of its digits (D21).
    const reference =
      walletTransactionId === null ? '' : `,"walletTransactionId":${JSON.stringify(walletTransactionId)}`
    const amount = format(balance, decimalsIn(currency, request))
    return response(200, `{"balance":${amount},"currency":${JSON.stringify(currency)}${reference}}`)
  }

  /** The money has moved: how its balance is written must not turn that into a fault. */
  function decimalsIn(currency: string, request: HttpRequest): number {
    try {
      return settings.minorUnitsOf(currency)
    } catch (error) {
      notify('onError', () => onError(error, request))
      return isoMinorUnits(currency)
    }
  }

  function refusal(errorCode: string, description: string, headers?: Record<string, string>): HttpResponse {
    return response(
      statuses.get(errorCode) ?? statusOfOwnCode,
      JSON.stringify({ errorCode, description }),
      headers,
    )
  }

  function fault(error: unknown, request: HttpRequest): HttpResponse {
    notify('onError', () => onError(error, request))
    return isRetryable(error)
      ? refusal('UNAVAILABLE', 'Temporarily unavailable; no changes were made')
      : refusal('INTERNAL_ERROR', 'Internal error')
  }

  return async request => {
    try {
      return await answer(request)
    } catch (error) {
      return fault(error, request)
    }
  }
}

function response(status: number, body: string, headers: Record<string, string> = {}): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
    body,
  }
}

/** `application/json`, in UTF-8 where a charset is named, and not compressed. */
function mediaTypeProblem(request: HttpRequest): string | null {
  const [type = '', ...parameters] = (headerOf(request, 'content-type') ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/json') return 'Content-Type must be application/json'
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=')
    if (name.trim().toLowerCase() !== 'charset') continue
    if (!/^"?utf-?8"?$/i.test(value.trim())) return 'Content-Type must have the charset utf-8, or none'
  }
  // What a parser of the application's has read, it has also unpacked.
  const parsed = typeof request.body === 'object' && request.body !== null && 'parsed' in request.body
  const encoding = parsed ? undefined : headerOf(request, 'content-encoding')
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    return 'Content-Encoding must be identity, or none'
  }
  return null
}

/** An operation of the operator's own may answer anything; what is sent is what the interface describes (spec 7.2). */
function checkedOutcome(outcome: WalletOutcome): WalletOutcome {
  const { ok, ...rest }: Record<string, unknown> = { ...outcome }
  const { balance, currency, walletTransactionId, errorCode, description } = rest
  const isText = (value: unknown) => typeof value === 'string' && value !== ''
  const fine = ok
    ? isDecimal(balance) &&
      isText(currency) &&
      (walletTransactionId === null || typeof walletTransactionId === 'string')
    : ok === false && isText(errorCode) && isText(description)
  if (fine) return outcome
  throw new TypeError('An operation must answer a WalletOutcome with all of its fields')
}

function httpSettingsOf(store: WalletStore, options: HttpOptions) {
  const settings = settingsOf(options)
  try {
    checkStore(store)
  } catch (cause) {
    throw new WalletError('INVALID_OPTIONS', `Invalid store: ${(cause as Error).message}`, { cause })
  }
  const {
    authenticate,
    challenge = 'Basic realm="wallet", charset="UTF-8"',
    basePath = '',
    routes: operations = {},
  } = options
  const { bodyBytesMax = defaultBodyBytesMax, statusCodes = {} } = options

  if (typeof authenticate !== 'function')
    invalid('authenticate must be a function; nobody is let in by omission')
  if (options.onError !== undefined && typeof options.onError !== 'function')
    invalid('onError must be a function')
  if (typeof challenge !== 'string' || !/^[\x20-\x7e]+$/.test(challenge))
    invalid('challenge must be printable ASCII')
  if (typeof basePath !== 'string' || !/^(?:\/[^/?#]+)*\/?$/.test(basePath)) {
    invalid('basePath must be empty or like "/wallet"')
  }
  if (!Number.isSafeInteger(bodyBytesMax) || bodyBytesMax < 1) {
    invalid('bodyBytesMax must be a whole number of at least 1')
  }
  if (typeof statusCodes !== 'object' || statusCodes === null) invalid('statusCodes must be an object')
  if (typeof operations !== 'object' || operations === null) invalid('routes must be an object')
  const otherStatuses = new Map<string, number>()
  for (const [code, status] of Object.entries(statusCodes)) {
    if (status === undefined) continue
    // D9: a fault is never answered as a refusal.
    const least = code === 'INTERNAL_ERROR' || code === 'UNAVAILABLE' ? 500 : 400
    if (!Number.isInteger(status) || status < least || status > 599) {
      invalid(`statusCodes.${code} must be a status from ${least} to 599`)
    }
    otherStatuses.set(code, status)
  }

  const base = basePath.replace(/\/$/, '')
  const routes = new Map<string, (body: unknown) => Promise<WalletOutcome>>([
    [`${base}/placebet`, body => handlePlaceBet(store, body, options)],
    [`${base}/unsettlement`, body => handleUnsettlement(store, body, options)],
    [`${base}/rollbackbet`, body => handleRollbackBet(store, body, options)],
  ])
  for (const [path, operation] of Object.entries(operations)) {
    if (!/^\/[^?#]+$/.test(path))
      invalid(`routes: the path ${JSON.stringify(path)} must be like "/settlement"`)
    if (routes.has(base + path)) invalid(`routes: ${path} is reserved by the wallet interface`)
    if (typeof operation !== 'function') invalid(`routes: ${path} must be a function`)
    routes.set(base + path, operation)
  }

  return {
    settings,
    authenticate: authenticate.bind(options),
    onError: options.onError?.bind(options) ?? ((error: unknown) => console.error(error)),
    challenge,
    bodyBytesMax,
    statuses: new Map<string, number>([
      ...errorCodes.map(code => [code, defaultStatusCodes[code]] as const),
      ...otherStatuses,
    ]),
    routes,
  }
}

function invalid(flaw: string): never {
  throw new WalletError('INVALID_OPTIONS', `Invalid options: ${flaw}`)
}
