/** The front door: read the request, run the rule, answer. */

import { type AttemptLog, runAttempts } from './attempts.js'
import type { Rule } from './decide/decision.js'
import { placeBetRule } from './decide/place-bet.js'
import { rollbackBetRule } from './decide/rollback-bet.js'
import { settlementRule } from './decide/settlement.js'
import { unsettlementRule } from './decide/unsettlement.js'
import { notify } from './errors.js'
import { settingsOf, type WalletOptions } from './options.js'
import type { OutcomeEvent, WalletOutcome } from './outcomes.js'
import type { Operation, WalletStore } from './store.js'
import { checkStore } from './store-checks.js'

/**
 * `/placebet` (spec 4.1): takes a stake from the player's balance, once.
 *
 * @param store yours; see {@link WalletStore}
 * @param request the body as it came, untrusted: an object with transactionId, betId, playerId, sessionId, amount,
 *   currency, odds?, betType and transactionDate. Decimals as text, or as JavaScript numbers of at most 15 digits (D21)
 * @returns the accepted bet with the balance after it, or a refusal: INVALID_REQUEST, TRANSACTION_CONFLICT (D4),
 *   INVALID_PLAYER (D16), INVALID_BET (D10, D11, D15), INVALID_CURRENCY (D23), INSUFFICIENT_FUNDS, or the
 *   operator's own. Refusals for a known player stick (D6)
 * @throws {WalletError} for a fault, by its `code`; with `retryable` nothing was done, certainly
 */
export function handlePlaceBet(
  store: WalletStore,
  request: unknown,
  options?: WalletOptions,
): Promise<WalletOutcome> {
  return handle(placeBetRule, store, request, options)
}

/**
 * `/unsettlement` (spec 4.2): takes back what a settlement credited, wholly or not at all (D20), once (D18).
 *
 * @param store yours; see {@link WalletStore}
 * @param request the body as it came, untrusted: transactionId, betId, playerId, type (UNVOIDED or UNSCORED) and
 *   transactionDate
 * @returns the balance after it, or a refusal: INVALID_REQUEST, TRANSACTION_CONFLICT (D4), INVALID_PLAYER (D15,
 *   D16), INVALID_BET (D19), SETTLEMENT_NOT_FOUND (D19, to be tried again), INVALID_CURRENCY (D23), or
 *   INSUFFICIENT_FUNDS, which sticks and leaves the debt to the platform (D7)
 * @throws {WalletError} for a fault, by its `code`; with `retryable` nothing was done, certainly
 */
export function handleUnsettlement(
  store: WalletStore,
  request: unknown,
  options?: WalletOptions,
): Promise<WalletOutcome> {
  return handle(unsettlementRule, store, request, options)
}

/**
 * `/rollbackbet` (spec 4.3): gives a stake back, once (D12). For a bet that never arrived it succeeds, and
 * sees to it that the bet takes nothing when it comes (D11).
 *
 * @param store yours; see {@link WalletStore}
 * @param request the body as it came, untrusted: transactionId, betId, playerId, type (TECHNICAL_ERROR) and
 *   transactionDate
 * @returns the balance after it, or a refusal, none of which sticks (D8): INVALID_REQUEST, TRANSACTION_CONFLICT (D4),
 *   INVALID_PLAYER (D15, D16), INVALID_BET for a settled bet (D13), INVALID_CURRENCY (D23)
 * @throws {WalletError} for a fault, by its `code`; with `retryable` nothing was done, certainly
 */
export function handleRollbackBet(
  store: WalletStore,
  request: unknown,
  options?: WalletOptions,
): Promise<WalletOutcome> {
  return handle(rollbackBetRule, store, request, options)
}

/**
 * Credits a settlement (D17): it moves the money, so credit it nowhere else. Not an endpoint of the interface: your own settlement code calls it, so that an
 * unsettlement later knows what to take back.
 *
 * @param store yours; see {@link WalletStore}
 * @param settlement transactionId, betId, playerId, type (BET_PAID, VOIDED or CASHOUT), amount (0 for a lost
 *   bet), currency and transactionDate
 * @returns the balance after it, or a refusal, none of which sticks (D8): INVALID_REQUEST, TRANSACTION_CONFLICT (D4),
 *   INVALID_PLAYER (D15, D16), INVALID_BET for a bet that is unknown or rolled back, INVALID_CURRENCY (D23)
 * @throws {WalletError} for a fault, by its `code`; with `retryable` nothing was done, certainly
 */
export function recordSettlement(
  store: WalletStore,
  settlement: unknown,
  options?: WalletOptions,
): Promise<WalletOutcome> {
  return handle(settlementRule, store, settlement, options)
}

async function handle<O extends Operation>(
  rule: Rule<O>,
  store: WalletStore,
  body: unknown,
  options?: WalletOptions,
): Promise<WalletOutcome> {
  const settings = settingsOf(options)
  const started = performance.now()
  const journey: AttemptLog = {
    attempts: 0,
    commitError: null,
    storeRefusal: null,
    deadline: started + settings.deadlineMs,
  }
  const event: OutcomeEvent = {
    operation: rule.operation,
    transactionId: null,
    betId: null,
    playerId: null,
    outcome: null,
    reason: 'FAULT',
    error: null,
    commitError: null,
    storeRefusal: null,
    replayed: false,
    attempts: 0,
    durationMs: 0,
  }
  try {
    checkStore(store)
    const read = settings.parser[rule.operation](body)
    if ('flaws' in read) {
      event.reason = 'INVALID_REQUEST'
      const outcome = {
        ok: false,
        replayed: false,
        errorCode: 'INVALID_REQUEST',
        description: read.flaws,
      } as const
      event.outcome = { ...outcome }
      return outcome
    }
    const { transactionId, betId, playerId } = read.request
    Object.assign(event, { transactionId, betId, playerId })
    const { outcome, reason } = await runAttempts(rule, store, read.request, settings, journey)
    event.outcome = { ...outcome } // a copy: what the listener makes of it is not answered
    event.reason = reason
    event.replayed = outcome.replayed
    return outcome
  } catch (error) {
    event.error = error
    throw error
  } finally {
    event.attempts = journey.attempts
    event.commitError = journey.commitError
    event.storeRefusal = journey.storeRefusal
    event.durationMs = performance.now() - started
    if (settings.onOutcome !== undefined) notify('onOutcome', () => settings.onOutcome?.(event))
  }
}
