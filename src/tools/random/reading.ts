/** The meaning of a wallet's answer. */
import { type Decimal, parseDecimal } from '../numbers/decimal.js'
import type { HttpReply } from '../wire/http-client.js'
import { numberText, type ReadJson, readObject } from '../wire/json.js'
import type { Mask } from '../wire/secrets.js'
import { isRefusedIn } from '../wire/settle.js'

export type Reading = Success | Refusal | Fault | NoAnswer

/** Any status from 200 to 299. `balance` is `null` only where the answer to a settlement has none. */
export interface Success {
  kind: 'success'
  status: number
  balance: Decimal | null
  currency: string | null
  reference: string | null
}

/** A definite refusal: 4xx, except for the statuses that ask for a retry. */
export interface Refusal {
  kind: 'refusal'
  status: number
  errorCode: string
}

/** An unknown outcome: 5xx, 3xx, 408, 425, 429, or a success that cannot be read (`problem`). */
export interface Fault {
  kind: 'fault'
  status: number
  errorCode: string
  problem: string | null
}

interface NoAnswer {
  kind: 'no-answer'
  reason: string
}

/** The answers after which a transaction is not sent again. */
export type Definite = Success | Refusal

/** 4xx that do not refuse the request: time-out, too early, too many requests. */
const retryStatuses: readonly number[] = [408, 425, 429]

/**
 * Reads an answer (spec 2, spec 7).
 *
 * @param balanceRequired `false` for settlements: their answers are the operator's own, and a success needs
 * no balance
 */
export function readingOf(reply: HttpReply, balanceRequired: boolean): Reading {
  if ('error' in reply) return { kind: 'no-answer', reason: reply.error }
  const { status, body } = reply
  const fields = readObject(body)
  const code = fields?.get('errorCode')
  const errorCode = typeof code === 'string' ? code : ''
  if (!balanceRequired && isRefusedIn(body)) return { kind: 'refusal', status, errorCode }
  if (status >= 200 && status <= 299) {
    const success = successOf(status, fields)
    if (success.kind === 'success' || balanceRequired) return success
    return { kind: 'success', status, balance: null, currency: null, reference: null }
  }
  return status >= 400 && status <= 499 && !retryStatuses.includes(status)
    ? { kind: 'refusal', status, errorCode }
    : { kind: 'fault', status, errorCode, problem: null }
}

function successOf(status: number, fields: ReadonlyMap<string, ReadJson> | null): Success | Fault {
  const unreadable = (problem: string): Fault => ({ kind: 'fault', status, errorCode: '', problem })
  if (fields === null) return unreadable('the body is not a JSON object')
  const balance = parseDecimal(numberText(fields.get('balance'))?.text ?? '')
  if (balance === null) return unreadable('balance is not a decimal')
  const currency = fields.get('currency')
  if (typeof currency !== 'string' || currency === '') return unreadable('currency is missing')
  const reference = fields.get('walletTransactionId') ?? null
  if (reference !== null && typeof reference !== 'string')
    return unreadable('walletTransactionId is not a string')
  return { kind: 'success', status, balance, currency, reference }
}

/** Codes of requests that are rejected unread. */
export const codesUnread: readonly string[] = [
  '',
  'AUTHENTICATION_FAILED',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'METHOD_NOT_ALLOWED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
]

/**
 * Codes that do not apply to a new bet of a known player. Any other code on a placebet is a refusal by the
 * operator, and valid.
 */
export const neverForBets: readonly string[] = [
  'INVALID_REQUEST',
  'INVALID_PLAYER',
  'INVALID_CURRENCY',
  'INVALID_BET',
  'TRANSACTION_CONFLICT',
  'SETTLEMENT_NOT_FOUND',
  'NOT_FOUND',
]

/** The codes by which answers are judged. */
const codesJudged: readonly string[] = ['INSUFFICIENT_FUNDS', ...codesUnread, ...neverForBets]

/** For the report: a wallet may repeat the request's credentials. The codes that the judge knows stay. */
export function withoutSecrets(reading: Reading, mask: Mask): Reading {
  const masked = (text: string | null) => text && mask(text)
  if (reading.kind === 'no-answer') return { ...reading, reason: mask(reading.reason) }
  if (reading.kind === 'success')
    return { ...reading, currency: masked(reading.currency), reference: masked(reading.reference) }
  if (codesJudged.includes(reading.errorCode)) return reading
  return { ...reading, errorCode: mask(reading.errorCode) }
}

/** Whether it is not of the interface: a proxy, a limiter or a filter before the wallet has answered. */
export const isForeign = (reading: Reading) =>
  (reading.kind === 'refusal' || reading.kind === 'fault') &&
  reading.errorCode === '' &&
  reading.status !== 500

/** A short name, for counts: `"200"`, `"402 INSUFFICIENT_FUNDS"`, `"no answer: timed out"`. */
export function shortOf(reading: Reading): string {
  if (reading.kind === 'no-answer') return `no answer: ${reading.reason}`
  if (reading.kind === 'success') return String(reading.status)
  if (reading.kind === 'fault' && reading.problem !== null)
    return `${reading.status}, unreadable: ${reading.problem}`
  return `${reading.status} ${reading.errorCode}`.trimEnd()
}

/** The same with the reference by which the wallet knows the transaction. */
export function answerText(reading: Definite): string {
  const { reference = null } = reading.kind === 'success' ? reading : {}
  return `${shortOf(reading)}${reference === null ? '' : ` walletTransactionId ${reference}`}`
}

export const isDefinite = (reading: Reading | null): reading is Definite =>
  reading?.kind === 'success' || reading?.kind === 'refusal'

/** The settlement has not arrived yet (D19). */
export const isNotFound = (reading: Reading): reading is Fault =>
  reading.kind === 'fault' && reading.errorCode === 'SETTLEMENT_NOT_FOUND'
