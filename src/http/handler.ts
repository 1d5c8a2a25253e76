/** HTTP without a framework: routing, authentication, body, answer. */
import { channels, type HttpMessage, type HttpRejection, isTraced, trace } from '../diagnostics.js'
import { isNotRepresentable, isRetryable } from '../errors.js'
import { isA } from '../foreign-values.js'
import { notify } from '../hooks.js'
import { isDecimal } from '../money.js'
import type { WalletOutcome } from '../outcomes.js'
import type { WalletStore } from '../store.js'
import { pathOf } from '../visible-text.js'
import { refusalOf } from './authentication.js'
import { BodyError } from './body.js'
import { callBody } from './call-body.js'
import { writeJson } from './json.js'
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
  return handlerOf(httpSettingsOf(store, options))
}

export function handlerOf(settings: HttpSettings): (request: HttpRequest) => Promise<HttpResponse> {
  return request => {
    if (!isTraced(channels.http)) return answer({ request, settings, message: null })
    const message = messageOf(request)
    return trace(channels.http, message, () => answer({ request, settings, message }))
  }
}

interface Call {
  request: HttpRequest
  settings: HttpSettings
  /** For the subscribers of the channel; `null`: there are none. */
  message: HttpMessage | null
}

/** An adapter may pass anything. */
function messageOf(request: Partial<HttpRequest> | undefined): HttpMessage {
  return {
    method: textOf(request?.method),
    path: pathOf(textOf(request?.path)),
    route: null,
    rejection: null,
    reason: null,
    status: null,
    errorCode: null,
    description: null,
    error: null,
    durationMs: 0,
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

async function answer(call: Call): Promise<HttpResponse> {
  const { message } = call
  let response: HttpResponse
  try {
    response = await routed(call)
  } catch (error) {
    response = isA(error, BodyError) ? rejection(call, error.rejection, error.message) : fault(error, call)
  }
  if (message !== null) message.status = response.status
  return response
}

async function routed(call: Call): Promise<HttpResponse> {
  const { request, settings, message } = call
  // 1. Path and method.
  const path = pathOf(request.path)
  const route = settings.routes.get(path)
  if (route === undefined) return rejection(call, 'NOT_FOUND', 'Not found')
  if (message !== null) message.route = path
  if (request.method !== 'POST') {
    return rejection(call, 'METHOD_NOT_ALLOWED', 'Only POST is allowed', { allow: 'POST' })
  }

  // 2. Authentication, before anything else of the message is looked at. It may need the body.
  const body = callBody(request, settings.bodyBytesMax)
  const reason = await refusalOf(settings.authenticate, request, body)
  if (reason !== null) return notAuthenticated(call, reason)

  // 3. The media type, then the body.
  const problem = mediaTypeProblem(request)
  if (problem !== null) return rejection(call, 'UNSUPPORTED_MEDIA_TYPE', problem)
  const parsed = await body.parsed()

  // 4. The rules.
  const answered = await route(parsed, request)
  if (isJsonAnswer(answered)) return jsonResponse(answered)
  const outcome = checkedOutcome(answered)
  return outcome.ok ? success(outcome, settings) : refusal(call, outcome.errorCode, outcome.description)
}

function success(
  { balance, currency, walletTransactionId }: WalletOutcome & { ok: true },
  { wallet }: HttpSettings,
): HttpResponse {
  // Written by hand: the balance is a JSON number with all of its digits (D21).
  const reference =
    walletTransactionId === null ? '' : `,"walletTransactionId":${JSON.stringify(walletTransactionId)}`
  const amount = wallet.writtenBalance(balance, currency)
  return response(200, `{"balance":${amount},"currency":${JSON.stringify(currency)}${reference}}`)
}

function fault(error: unknown, call: Call): HttpResponse {
  const { request, settings, message } = call
  notify('onError', () => settings.onError(error, request))
  if (message !== null) {
    message.error = error
    channels.http.error.publish(message)
  }
  if (isRetryable(error)) return refusal(call, 'UNAVAILABLE', 'Temporarily unavailable; no changes were made')
  const description = isNotRepresentable(error)
    ? 'The wallet cannot hold this amount; no changes were made'
    : 'Internal error'
  return refusal(call, 'INTERNAL_ERROR', description)
}

/** @param reason for the operator: the caller is not told */
function notAuthenticated(call: Call, reason: string): HttpResponse {
  const { request, settings, message } = call
  notify('onAuthenticationFailed', () => settings.onAuthenticationFailed(reason, request))
  if (message !== null) message.reason = reason
  const headers = { 'www-authenticate': 'Basic realm="wallet", charset="UTF-8"' }
  return rejection(call, 'AUTHENTICATION_FAILED', 'Authentication failed', headers)
}

/** The answer to a call that reaches no route. */
function rejection(
  call: Call,
  reason: HttpRejection,
  description: string,
  headers?: Record<string, string>,
): HttpResponse {
  if (call.message !== null) call.message.rejection = reason
  return refusal(call, reason === 'INVALID_BODY' ? 'INVALID_REQUEST' : reason, description, headers)
}

function refusal(
  { settings: { statusCodes }, message }: Call,
  errorCode: string,
  description: string,
  headers?: Record<string, string>,
): HttpResponse {
  if (message !== null) Object.assign(message, { errorCode, description })
  return response(
    statusCodes.get(errorCode) ?? ownCodeStatus,
    JSON.stringify({ errorCode, description }),
    headers,
  )
}

function response(status: number, body: string, more?: Record<string, string>): HttpResponse {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
  return { status, headers: more === undefined ? headers : { ...headers, ...more }, body }
}

/** A header of 16 KB has room for thousands; every caller sends one at most. */
const parametersMax = 10

/** Supported: `application/json`, the charset UTF-8 or none, no compression. */
function mediaTypeProblem(request: HttpRequest): string | null {
  const header = headerOf(request, 'content-type') ?? ''
  return (header === 'application/json' ? null : contentTypeProblem(header)) ?? encodingProblem(request)
}

function contentTypeProblem(header: string): string | null {
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
  return null
}

function encodingProblem(request: HttpRequest): string | null {
  // The application's parser has decompressed a parsed body already.
  const parsed = typeof request.body === 'object' && request.body !== null && 'parsed' in request.body
  const encoding = parsed ? undefined : headerOf(request, 'content-encoding')
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') {
    return 'Content-Encoding must be identity, or none'
  }
  return null
}

/** A WalletOutcome has no such field. */
function isJsonAnswer(answered: WalletOutcome | JsonAnswer): answered is JsonAnswer {
  return typeof answered === 'object' && answered !== null && 'json' in answered
}

const statusesWithoutBody = [204, 205, 304]

function jsonResponse({ json, status = 200 }: JsonAnswer): HttpResponse {
  if (!Number.isInteger(status) || status < 200 || status > 599 || statusesWithoutBody.includes(status)) {
    throw new TypeError(`A route must return a status code from 200 to 599 that allows a body, not ${status}`)
  }
  return response(status, writeJson(json))
}

/**
 * The operator's route may return anything; the response has the fields of the interface and no others (spec
 * 7.2).
 */
function checkedOutcome(outcome: WalletOutcome): WalletOutcome {
  const fields = (outcome ?? {}) as Record<string, unknown>
  const { ok, balance, currency, walletTransactionId, errorCode, description } = fields
  const isText = (value: unknown) => typeof value === 'string' && value !== ''
  const valid = ok
    ? isDecimal(balance) &&
      isText(currency) &&
      (walletTransactionId === null || typeof walletTransactionId === 'string')
    : ok === false && isText(errorCode) && isText(description)
  if (valid) return outcome as WalletOutcome
  throw new TypeError('A route must return a WalletOutcome with all of its fields, or { json }')
}
