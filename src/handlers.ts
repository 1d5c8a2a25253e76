/** The public handlers: parse the request, run its rule, return the outcome. */

import { runAttempts } from './attempts.js'
import { type Rule, refuse } from './decide/decision.js'
import { placeBetRule } from './decide/place-bet.js'
import { rollbackBetRule } from './decide/rollback-bet.js'
import { settlementRule } from './decide/settlement.js'
import { unsettlementRule } from './decide/unsettlement.js'
import { channels, isTraced, type OutcomeEvent, trace } from './diagnostics.js'
import { WalletError } from './errors.js'
import { isA } from './foreign-values.js'
import { notify } from './hooks.js'
import { type CallMessage, settingsOf, type WalletOptions } from './options.js'
import type { WalletOutcome } from './outcomes.js'
import type { Operation, WalletStore } from './store.js'
import { checkStore } from './store-checks.js'

/**
 * `/placebet` (spec 4.1): debits the stake from the player's balance, once.
 *
 * @param store your {@link WalletStore}
 * @param request the received body, not validated: an object with transactionId, betId, playerId, sessionId,
 *   amount, currency, odds?, betType and transactionDate. Decimals as text, or as JavaScript numbers of at
 *   most 15 digits (D21)
 * @param message the platform's message, for your hooks: `createHttpHandler` passes it. Default: none
 * @returns the balance after the debit, or a refusal: INVALID_REQUEST, TRANSACTION_CONFLICT (D4),
 *   INVALID_PLAYER (D16), INVALID_BET (D10, D11, D15), INVALID_CURRENCY (D23), INSUFFICIENT_FUNDS, or the
 *   operator's own code. Refusals for a known player are final: recorded and replayed (D6)
 * @throws {WalletError} for a fault, see its `code`; if it is `retryable`, no changes were made
 */
export function handlePlaceBet(
  store: WalletStore,
  request: unknown,
  options?: WalletOptions,
  message?: CallMessage,
): Promise<WalletOutcome> {
  return handle(placeBetRule, store, request, options, message)
}

/**
 * `/unsettlement` (spec 4.2): debits the amount that a settlement credited (the clawback), once (D18), in
 * full or not at all (D20).
 *
 * @param store your {@link WalletStore}
 * @param request the received body, not validated: transactionId, betId, playerId, type (UNVOIDED or
 *   UNSCORED) and transactionDate
 * @returns the balance after the debit, or a refusal: INVALID_REQUEST, TRANSACTION_CONFLICT (D4),
 *   INVALID_PLAYER (D15, D16), INVALID_BET (D19), SETTLEMENT_NOT_FOUND (D19, retry later), INVALID_CURRENCY
 *   (D23), or INSUFFICIENT_FUNDS, which is final: the clawback stays uncollected and is owed to the platform
 *   (D7)
 * @throws {WalletError} for a fault, see its `code`; if it is `retryable`, no changes were made
 */
export function handleUnsettlement(
  store: WalletStore,
  request: unknown,
  options?: WalletOptions,
): Promise<WalletOutcome> {
  return handle(unsettlementRule, store, request, options)
}

/**
 * `/rollbackbet` (spec 4.3): credits the stake back, once (D12). For an unknown bet it succeeds and records a
 * tombstone, so that the late placebet is refused (D11).
 *
 * @param store your {@link WalletStore}
 * @param request the received body, not validated: transactionId, betId, playerId, type (TECHNICAL_ERROR) and
 *   transactionDate
 * @returns the balance after the credit, or a refusal that is not recorded (D8): INVALID_REQUEST,
 *   TRANSACTION_CONFLICT (D4), INVALID_PLAYER (D15, D16), INVALID_BET for a settled bet (D13),
 *   INVALID_CURRENCY (D23)
 * @throws {WalletError} for a fault, see its `code`; if it is `retryable`, no changes were made
 */
export function handleRollbackBet(
  store: WalletStore,
  request: unknown,
  options?: WalletOptions,
): Promise<WalletOutcome> {
  return handle(rollbackBetRule, store, request, options)
}

/**
 * Credits a settlement (D17). It changes the balance: do not credit the amount a second time. Not an endpoint
 * of the interface: your own settlement code calls it, so that a later unsettlement knows the amount to
 * debit.
 *
 * @param store your {@link WalletStore}
 * @param settlement transactionId, betId, playerId, type (BET_PAID, VOIDED or CASHOUT), amount (0 for a lost
 *   bet), currency and transactionDate
 * @returns the balance after the credit, or a refusal that is not recorded (D8): INVALID_REQUEST,
 *   TRANSACTION_CONFLICT (D4), INVALID_PLAYER (D15, D16), INVALID_BET for a bet that is unknown or rolled
 *   back, INVALID_CURRENCY (D23)
 * @throws {WalletError} for a fault, see its `code`; if it is `retryable`, no changes were made
 */
export function recordSettlement(
  store: WalletStore,
  settlement: unknown,
  options?: WalletOptions,
): Promise<WalletOutcome> {
  return handle(settlementRule, store, settlement, options)
}

function handle<O extends Operation>(
  rule: Rule<O>,
  store: WalletStore,
  body: unknown,
  options?: WalletOptions,
  message: CallMessage | null = null,
): Promise<WalletOutcome> {
  // Filled in while the call proceeds, and complete when it is settled.
  const event = emptyEvent(rule.operation)
  const answer = async () => {
    const settings = settingsOf(options)
    const started = performance.now()
    const deadline = started + settings.deadlineMs
    const { onOutcome } = settings
    try {
      checkStore(store)
      const parsed = settings.parser[rule.operation](body)
      const { outcome: decided, reason } =
        'issues' in parsed
          ? refuse('INVALID_REQUEST', { errorCode: 'INVALID_REQUEST', description: parsed.issues })
          : await runAttempts({ rule, store, request: parsed.request, settings, message, deadline, event })
      const outcome = decided.ok
        ? { ...decided, balance: settings.writtenBalance(decided.balance, decided.currency) }
        : decided
      event.outcome = outcome
      event.replayed = outcome.replayed
      event.reason = reason
      return outcome
    } catch (error) {
      event.error = faultOf(error, event)
      throw event.error
    } finally {
      if (onOutcome !== undefined) {
        event.durationMs = performance.now() - started
        // Copies: changes by the listener must not reach the subscribers.
        const outcome = event.outcome && { ...event.outcome }
        const storeRefusal = event.storeRefusal && { ...event.storeRefusal }
        notify('onOutcome', () => onOutcome({ ...event, outcome, storeRefusal }))
      }
    }
  }
  if (!isTraced(channels.request)) return answer()
  return trace(channels.request, event, async () => {
    const outcome = await answer()
    // A copy: changes by a subscriber must not reach the answer.
    event.outcome = { ...outcome }
    return outcome
  })
}

function faultOf(error: unknown, { operation, transactionId, betId, playerId }: OutcomeEvent): WalletError {
  const fault = isA(error, WalletError)
    ? error
    : new WalletError('UNEXPECTED', 'An unexpected error; changes may have been made', { cause: error })
  fault.call = { operation, transactionId, betId, playerId }
  return fault
}

function emptyEvent(operation: Operation): OutcomeEvent {
  return {
    operation,
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
}
