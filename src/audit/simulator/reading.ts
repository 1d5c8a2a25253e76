/** What an answer of the wallet says. */
import { readJson } from '../../http/json.js'
import { type Decimal, parseDecimal } from '../../money.js'
import type { LineAnswer } from './line.js'

export type Reading =
  /** Any status from 200 to 299. `balance` is null only where a settlement's answer names none. */
  | {
      kind: 'success'
      status: number
      balance: Decimal | null
      currency: string | null
      reference: string | null
    }
  /** Definite: 4xx, except those that say "not now". */
  | { kind: 'refusal'; status: number; errorCode: string }
  /** Nothing is known: 5xx, 3xx, 408, 425, 429, or a success that cannot be read (`flaw`). */
  | { kind: 'fault'; status: number; errorCode: string; flaw: string | null }
  /** No answer came. */
  | { kind: 'broken'; reason: string }

/** 4xx that say nothing of the call itself: time-out, too early, too many. */
const notNow: readonly number[] = [408, 425, 429]

/**
 * Reads an answer (spec 2, 7).
 *
 * @param balanceRequired false for settlements: the answers are the operator's own, and a success is one without a balance too
 */
export function readingOf(answer: LineAnswer, balanceRequired: boolean): Reading {
  if ('broken' in answer) return { kind: 'broken', reason: answer.broken }
  const { status, body } = answer
  const fields = fieldsOf(body)

  if (status >= 200 && status <= 299) {
    const flaw = (what: string): Reading =>
      balanceRequired
        ? { kind: 'fault', status, errorCode: '', flaw: what }
        : { kind: 'success', status, balance: null, currency: null, reference: null }
    if (fields === null) return flaw('the body is not a JSON object')
    const balance = parseDecimal(fields.balance)
    if (balance === null) return flaw('balance is not a decimal')
    if (typeof fields.currency !== 'string' || fields.currency === '') return flaw('currency is missing')
    const { walletTransactionId } = fields
    if (
      walletTransactionId !== undefined &&
      walletTransactionId !== null &&
      typeof walletTransactionId !== 'string'
    ) {
      return flaw('walletTransactionId is not a string')
    }
    return {
      kind: 'success',
      status,
      balance,
      currency: fields.currency,
      reference: walletTransactionId ?? null,
    }
  }

  const errorCode = (fields !== null && textOrNull(fields.errorCode)) || ''
  return status >= 400 && status <= 499 && !notNow.includes(status)
    ? { kind: 'refusal', status, errorCode }
    : { kind: 'fault', status, errorCode, flaw: null }
}

function fieldsOf(body: string): Record<string, unknown> | null {
  try {
    const value = readJson(body)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** In a few words, for counts: `"200"`, `"402 INSUFFICIENT_FUNDS"`, `"no answer: timed out"`. */
export function shortOf(reading: Reading): string {
  switch (reading.kind) {
    case 'success':
      return String(reading.status)
    case 'broken':
      return `no answer: ${reading.reason}`
    case 'fault':
      if (reading.flaw !== null) return `${reading.status}, unreadable: ${reading.flaw}`
      return `${reading.status} ${reading.errorCode}`.trimEnd()
    case 'refusal':
      return `${reading.status} ${reading.errorCode}`.trimEnd()
  }
}
