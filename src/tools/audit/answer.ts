/** What the wallet answered, read by the audit. */

import { type Decimal, parseDecimal, textOf } from '../numbers/decimal.js'
import { numberText, type ReadJson, readObject } from '../wire/json.js'
import type { Reply } from './client.js'
import type { FailureKind } from './report.js'

export interface Answer extends Reply {
  /** Index into the exchanges of the case. */
  index: number
  /** The fields of the JSON object in the body; `null` if it is none. */
  fields: Map<string, ReadJson> | null
  /** The balance of a 2xx, even if other fields are invalid; otherwise `null`. */
  balance: Decimal | null
  /** The record of spec 2 of a 2xx; otherwise `null`. */
  success: { balance: Decimal; currency: string; walletTransactionId: string | null } | null
  /** Of a 4xx or 5xx; otherwise `null`. */
  errorCode: string | null
  /** The rollback of a bet of which no placebet was answered with success before it. */
  mayBeOfUnknownBet?: boolean
}

/** The answer in words: `402 INSUFFICIENT_FUNDS`. */
export function describeAnswer(answer: Answer): string {
  const { status, exchange, success, errorCode, mask } = answer
  if (status === null) return `no answer: ${exchange.error ?? 'unknown reason'}`
  if (success !== null) return `${status} with balance ${textOf(success.balance)} ${mask(success.currency)}`
  if (errorCode !== null) return `${status} ${mask(errorCode)}`
  return `${status} ${quoteOf(answer) || 'with an empty body'}`
}

/** The body for a report, cut. */
export function quoteOf({ text, mask }: Pick<Reply, 'text' | 'mask'>): string {
  const shown = mask(text)
  return shown.length <= 200 ? shown : `${shown.slice(0, 200)}…`
}

/** @param index into the exchanges of the case */
export function answerOf(reply: Reply, index: number): Answer {
  const { exchange, status, text } = reply
  const fields = status === null ? null : readObject(text)
  const balanceText = numberText(fields?.get('balance'))
  const balance = balanceText === null ? null : parseDecimal(balanceText.text)
  if (balance !== null) exchange.balance = balanceText?.text ?? null
  const currency = fields?.get('currency')
  const reference = fields?.get('walletTransactionId') ?? null
  const isSuccess = status !== null && status >= 200 && status <= 299
  const success =
    isSuccess &&
    balance !== null &&
    typeof currency === 'string' &&
    (reference === null || typeof reference === 'string')
      ? { balance, currency, walletTransactionId: reference }
      : null
  const code = fields?.get('errorCode')
  const errorCode = status !== null && status >= 400 && typeof code === 'string' ? code : null
  return { ...reply, index, fields, balance: isSuccess ? balance : null, success, errorCode }
}

/** The failure of an answer that should be a success. */
export function withoutSuccess({ status }: Answer): { kind: FailureKind } {
  if (status === null) return { kind: 'no-answer' }
  return { kind: status >= 500 ? 'fault' : status >= 400 ? 'refused' : 'form' }
}

/** The failure of an answer that should be a refusal, or another one. */
export function withoutRefusal({ status, success, errorCode }: Answer): { kind: FailureKind } {
  if (status === null) return { kind: 'no-answer' }
  if (status >= 500) return { kind: 'fault' }
  if (status >= 400) return { kind: errorCode === null ? 'form' : 'other-refusal' }
  return { kind: success === null ? 'form' : 'accepted' }
}
