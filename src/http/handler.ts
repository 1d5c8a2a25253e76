/** HTTP without a framework: routing, authentication, body, answer. */
import { isoMinorUnits } from '../currencies.js'
import { isRetryable } from '../errors.js'
import { format, isDecimal } from '../money.js'
import { notify } from '../notify.js'
import type { WalletOutcome } from '../outcomes.js'
import type { WalletStore } from '../store.js'
import { readBody } from './body.js'
import { type HttpRequest, type HttpResponse, headerOf } from './message.js'
import { type HttpOptions, type HttpSettings, httpSettingsOf, type JsonAnswer } from './options.js'

/** The status code of the operator's own error codes. */
const ownCodeStatus = 400

/**
 * Creates the handler of the platform's calls: `/placebet`, `/unsettlement`, `/rollbackbet`, and the paths of
 * the option `routes`. Checks in this order: path, method, authentication, media type, body, then the rules.
 *
 * The handler never throws and never rejects. It neither closes the connection nor limits the time: your
 * server does.
 *
 * @param store your {@link WalletStore}
 * @throws {WalletError} `INVALID_OPTIONS`, naming the option
 */
export function createHttpHandler(
  store: WalletStore,
  options: HttpOptions,
): (request: HttpRequest) => Promise<HttpResponse> {
  const settings = httpSettingsOf(store, options)
  return async request => {
    try {
      return await answer(request, settings)
    } catch (error) {
      return fault(error, request, settings)
    }
  }
}

async function answer(request: HttpRequest, settings: HttpSettings): Promise<HttpResponse> {
  // 1. Path and method.
  const route = settings.routes.get(request.path.split('?', 1)[0] ?? '')
  if (route === undefined) return refusal(settings, 'NOT_FOUND', 'Not found')
  if (request.method !== 'POST') {
    return refusal(settings, 'METHOD_NOT_ALLOWED', 'Only POST is allowed', { allow: 'POST' })
  }

  // 2. Authentication, before anything else of the message is looked at.
  if ((await settings.authenticate(request)) !== true) {
    const headers = { 'www-authenticate': settings.challenge }
    return refusal(settings, 'AUTHENTICATION_FAILED', 'Authentication failed', headers)
  }

  // 3. The media type, then the body. It is not read if its Content-Length exceeds the limit.
  const problem = mediaTypeProblem(request)
  if (problem !== null) return refusal(settings, 'UNSUPPORTED_MEDIA_TYPE', problem)
  const { bodyBytesMax } = settings
  const read =
    Number(headerOf(request, 'content-length') ?? 0) > bodyBytesMax
      ? 'too large'
      : await readBody(request.body, bodyBytesMax)
  if (read === 'too large') {
    return refusal(settings, 'PAYLOAD_TOO_LARGE', `The body must have at most ${bodyBytesMax} bytes`)
  }
  if ('problem' in read) return refusal(settings, 'INVALID_REQUEST', read.problem)

  // 4. The rules.
  const answered = await route(read.body)
  if (isJsonAnswer(answered)) return response(200, answered.json)
  const outcome = checkedOutcome(answered)
  return outcome.ok
    ? success(outcome, request, settings)
    : refusal(settings, outcome.errorCode, outcome.description)
}

function success(
  { balance, currency, walletTransactionId }: WalletOutcome & { ok: true },
  request: HttpRequest,
  settings: HttpSettings,
): HttpResponse {
  // Written by hand: the balance is a JSON number with all of its digits (D21).
  const reference =
    walletTransactionId === null ? '' : `,"walletTransactionId":${JSON.stringify(walletTransactionId)}`
  const amount = format(balance, decimalsIn(currency, request, settings))
  return response(200, `{"balance":${amount},"currency":${JSON.stringify(currency)}${reference}}`)
}

/** The balance has changed already: an error of `minorUnits` must not turn the answer into a fault. */
function decimalsIn(currency: string, request: HttpRequest, { wallet, onError }: HttpSettings): number {
  try {
    return wallet.minorUnitsOf(currency)
  } catch (error) {
    notify('onError', () => onError(error, request))
    return isoMinorUnits(currency)
  }
}

function fault(error: unknown, request: HttpRequest, settings: HttpSettings): HttpResponse {
  notify('onError', () => settings.onError(error, request))
  return isRetryable(error)
    ? refusal(settings, 'UNAVAILABLE', 'Temporarily unavailable; no changes were made')
    : refusal(settings, 'INTERNAL_ERROR', 'Internal error')
}

function refusal(
  { statusCodes }: HttpSettings,
  errorCode: string,
  description: string,
  headers?: Record<string, string>,
): HttpResponse {
  return response(
    statusCodes.get(errorCode) ?? ownCodeStatus,
    JSON.stringify({ errorCode, description }),
    headers,
  )
}

function response(status: number, body: string, headers: Record<string, string> = {}): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
    body,
  }
}

/** A header of 16 KB has room for thousands; every caller sends one at most. */
const parametersMax = 10

/** Supported: `application/json`, the charset UTF-8 or none, no compression. */
function mediaTypeProblem(request: HttpRequest): string | null {
  const header = headerOf(request, 'content-type') ?? ''
  const [type = '', ...parameters] = header.split(';', parametersMax + 2)
  if (type.trim().toLowerCase() !== 'application/json') return 'Content-Type must be application/json'
  if (parameters.length > parametersMax) {
    return `Content-Type must have at most ${parametersMax} parameters`
  }
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=', 2)
    if (name.trim().toLowerCase() !== 'charset') continue
    if (!/^"?utf-?8"?$/i.test(value.trim())) return 'Content-Type must have the charset utf-8, or none'
  }
  // The application's parser has decompressed a parsed body already.
  const parsed = typeof request.body === 'object' && request.body !== null && 'parsed' in request.body
  const encoding = parsed ? undefined : headerOf(request, 'content-encoding')
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    return 'Content-Encoding must be identity, or none'
  }
  return null
}

function isJsonAnswer(outcome: WalletOutcome | JsonAnswer): outcome is JsonAnswer {
  return outcome?.ok === true && 'json' in outcome && typeof outcome.json === 'string'
}

/**
 * The operator's route may return anything; the response has the fields of the interface and no others (spec
 * 7.2).
 */
function checkedOutcome(outcome: WalletOutcome | JsonAnswer): WalletOutcome {
  const fields = (outcome ?? {}) as Record<string, unknown>
  const { ok, balance, currency, walletTransactionId, errorCode, description } = fields
  const isText = (value: unknown) => typeof value === 'string' && value !== ''
  const valid = ok
    ? isDecimal(balance) &&
      isText(currency) &&
      (walletTransactionId === null || typeof walletTransactionId === 'string')
    : ok === false && isText(errorCode) && isText(description)
  if (valid) return outcome as WalletOutcome
  throw new TypeError('A route must return a WalletOutcome with all of its fields')
}
