/** Translates between the model and the wallet: requests to bodies, outcomes to answers. */
import { WalletRefusal } from '../errors.js'
import { handlePlaceBet, handleRollbackBet, handleUnsettlement, recordSettlement } from '../handlers.js'
import type { WalletOptions } from '../options.js'
import type { WalletOutcome } from '../outcomes.js'
import type { PlaceBetRequest } from '../requests.js'
import { homeCurrency } from './arbitraries.js'
import type { AmountFormat, BodyDefect, Cents, ModelAnswer, ModelRequest, SessionHook } from './model.js'

/**
 * Parses decimal text as whole cents. This arithmetic is independent of `money.ts` on purpose: a bug there
 * cannot hide itself in the model.
 *
 * @throws {Error} for text that is not a multiple of a cent: no amount of these wallets is
 */
export function toCents(text: string): Cents {
  const [, sign, whole, fraction = ''] = /^(-?)([0-9]+)(?:\.([0-9]+))?$/.exec(text) ?? []
  if (whole === undefined || /[1-9]/.test(fraction.slice(2)))
    throw new Error(`"${text}" is not an amount of whole cents`)
  const cents = BigInt(whole) * 100n + BigInt(fraction.slice(0, 2).padEnd(2, '0'))
  return sign === '-' ? -cents : cents
}

/** Formats whole cents as decimal text without trailing zeros. */
export function fromCents(cents: Cents): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0')
  const text = `${digits.slice(0, -2)}.${digits.slice(-2)}`.replace(/(?:\.|(?<![.0]))0+$/, '')
  return cents < 0n ? `-${text}` : text
}

function formatted(cents: Cents, format: AmountFormat): string | number {
  const text = fromCents(cents)
  const fewDigits = text.replace('.', '').length <= 15
  if (format === 'number' && fewDigits) return Number(text)
  if (format === 'exponent') return `${cents}e-2`
  if (format === 'trailing-zeros') return text.includes('.') ? `${text}000` : `${text}.0000`
  return text
}

/** Returns the request body as the platform sends it. */
export function requestBody(
  request: ModelRequest,
  defect: BodyDefect = 'none',
  format: AmountFormat = 'text',
): unknown {
  const { operation, ...fields } = request
  const body: Record<string, unknown> = { ...fields, transactionDate: '2026-11-21T10:00:00Z' }
  if ('amount' in request) body.amount = formatted(request.amount, format)
  if (operation === 'placebet') {
    delete body.sessionEnded
    body.sessionId = request.sessionEnded ? 'ended' : 'session'
    body.betType = 'SINGLE'
  }
  if (defect === 'missing-transaction-id') delete body.transactionId
  if (defect === 'nul-in-player-id') body.playerId = `${request.playerId}\u0000`
  if (defect === 'incomplete-date') body.transactionDate = '2026-11'
  return body
}

export const handlers = {
  placebet: handlePlaceBet,
  unsettlement: handleUnsettlement,
  rollbackbet: handleRollbackBet,
  settlement: recordSettlement,
}

/** The cases create heavy contention: more attempts than in production, and no delay between them. */
export const retrySettings = {
  attemptsMax: 100,
  backOff: () => new Promise<void>(resolve => setImmediate(resolve)),
}

function refuseEndedSession({ sessionId }: PlaceBetRequest): void {
  if (sessionId === 'ended') throw new WalletRefusal('INVALID_SESSION_TOKEN', 'sessionId: session has ended')
}

const withoutHook: WalletOptions = {
  rollbackTypes: ['TECHNICAL_ERROR', 'MANUAL'],
  defaultCurrency: homeCurrency,
  ...retrySettings,
}

const optionsByHook: Record<SessionHook, WalletOptions> = {
  none: withoutHook,
  authorizeRequest: { ...withoutHook, authorizeRequest: refuseEndedSession },
  authorizeBet: { ...withoutHook, authorizeBet: refuseEndedSession },
}

/**
 * The options of the wallet in the histories: sessions can end, and rollbacks have a second type.
 *
 * @param hook of the step: it refuses ended sessions
 */
export function platformOptions(hook: SessionHook = 'authorizeBet'): WalletOptions {
  return optionsByHook[hook]
}

/** An answer in the shape of the model, and the walletTransactionId of a success. */
export interface Observed {
  answer: ModelAnswer
  walletTransactionId: string | null
}

export function observe(outcome: WalletOutcome): Observed {
  if (!outcome.ok) {
    const { replayed, errorCode } = outcome
    return { answer: { ok: false, replayed, errorCode }, walletTransactionId: null }
  }
  const { replayed, balance, currency, walletTransactionId } = outcome
  return { answer: { ok: true, replayed, balance: toCents(balance), currency }, walletTransactionId }
}
