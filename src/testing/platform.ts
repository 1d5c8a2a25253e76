/** The platform's requests as bodies, and the wallet's outcomes as the model's answers. */

import { WalletRefusal } from '../errors.js'
import { handlePlaceBet, handleRollbackBet, handleUnsettlement, recordSettlement } from '../handlers.js'
import type { WalletOptions } from '../options.js'
import type { WalletOutcome } from '../outcomes.js'
import type { AmountFormat, BodyDefect, Cents, ModelAnswer, ModelRequest } from './model.js'

/** Reads decimal text as whole cents. What is no multiple of a cent has no business in these wallets. */
export function toCents(text: string): Cents {
  const [, sign, whole, fraction = ''] = /^(-?)([0-9]+)(?:\.([0-9]+))?$/.exec(text) ?? []
  if (whole === undefined || /[1-9]/.test(fraction.slice(2)))
    throw new Error(`"${text}" is not an amount of whole cents`)
  const cents = BigInt(whole) * 100n + BigInt(fraction.slice(0, 2).padEnd(2, '0'))
  return sign === '-' ? -cents : cents
}

/** Writes whole cents as decimal text, without zeros that mean nothing. */
export function fromCents(cents: Cents): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0')
  const text = `${digits.slice(0, -2)}.${digits.slice(-2)}`.replace(/\.?0+$/, '')
  return cents < 0n ? `-${text}` : text
}

function written(cents: Cents, writing: AmountFormat): string | number {
  const text = fromCents(cents)
  const fewDigits = text.replace('.', '').length <= 15
  if (writing === 'number' && fewDigits) return Number(text)
  if (writing === 'exponent') return `${cents}e-2`
  if (writing === 'with zeros') return text.includes('.') ? `${text}000` : `${text}.0000`
  return text
}

/** The body as the platform sends it. */
export function requestBody(
  request: ModelRequest,
  flaw: BodyDefect = 'none',
  writing: AmountFormat = 'text',
): unknown {
  const { operation, ...fields } = request
  const body: Record<string, unknown> = { ...fields, transactionDate: '2026-11-21T10:00:00Z' }
  if ('amount' in request) body.amount = written(request.amount, writing)
  if (operation === 'placebet') {
    delete body.sessionEnded
    body.sessionId = request.sessionEnded ? 'ended' : 'session'
    body.betType = 'SINGLE'
  }
  if (flaw === 'transactionId missing') delete body.transactionId
  if (flaw === 'playerId with a NUL') body.playerId = `${request.playerId}\u0000`
  if (flaw === 'date without a day') body.transactionDate = '2026-11'
  return body
}

/** Who answers which operation. */
export const handlers = {
  placebet: handlePlaceBet,
  unsettlement: handleUnsettlement,
  rollbackbet: handleRollbackBet,
  settlement: recordSettlement,
}

/** Crowds are part of the cases: give up later than in production, and lose no time where a conflict never ends. */
export const retrySettings = {
  attemptsMax: 100,
  backOff: () => new Promise<void>(resolve => setImmediate(resolve)),
}

/** How the operator of the histories has set its wallet up: sessions end, and rollbacks have a second type. */
export const platformOptions: WalletOptions = {
  rollbackTypes: ['TECHNICAL_ERROR', 'MANUAL'],
  authorizeBet({ sessionId }) {
    if (sessionId === 'ended') throw new WalletRefusal('INVALID_SESSION_TOKEN', 'sessionId: it has ended')
  },
  ...retrySettings,
}

/** What was answered: as the model sees it, and the wallet's reference of a success. */
export interface Heard {
  answer: ModelAnswer
  reference: string | null
}

export function heardOf(outcome: WalletOutcome): Heard {
  if (!outcome.ok) {
    const { replayed, errorCode } = outcome
    return { answer: { ok: false, replayed, errorCode }, reference: null }
  }
  const { replayed, balance, currency, walletTransactionId } = outcome
  return {
    answer: { ok: true, replayed, balance: toCents(balance), currency },
    reference: walletTransactionId,
  }
}
