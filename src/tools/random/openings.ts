/** The opening balance of a player: read from the wallet, and checked before the first bet. */
import { compare, parseDecimal, textOf } from '../numbers/decimal.js'
import { AuditError, type AuditErrorCode } from '../wire/errors.js'
import type { Account } from './books.js'
import type { SimulatedPlayer } from './options.js'
import { type Definite, shortOf } from './reading.js'

/**
 * Opens the books of a player with the answer to a rollback of a bet that was never placed.
 *
 * @param answer a text where the outcome stayed unknown: what was answered
 * @throws {AuditError} if the answer has no balance, or another one than the options name
 */
export function openBooks(
  account: Account,
  player: SimulatedPlayer,
  answer: Definite | string,
  minorUnitsOf: (currency: string) => number,
): void {
  const cannot = (code: AuditErrorCode, problem: string) =>
    new AuditError(code, `${account.playerId}: ${problem}`)
  const { balance = null, currency = null } =
    typeof answer === 'object' && answer.kind === 'success' ? answer : {}
  if (balance === null || currency === null) {
    const text = typeof answer === 'string' ? answer : shortOf(answer)
    throw cannot(
      codeOf(answer),
      `cannot read the balance: a rollback of a bet that was never placed was answered ${text}`,
    )
  }
  account.open(balance, currency, minorUnitsOf(currency))
  if (player.currency !== undefined && player.currency !== currency)
    throw cannot('CURRENCY_MISMATCH', `the wallet answers balances in ${currency}, not in ${player.currency}`)
  const expected = player.balance === undefined ? null : parseDecimal(player.balance)
  if (expected !== null && compare(expected, balance) !== 0)
    throw cannot(
      'BALANCE_MISMATCH',
      `the wallet answers a balance of ${textOf(balance)}, not of ${player.balance}`,
    )
}

function codeOf(answer: Definite | string): AuditErrorCode {
  if (typeof answer === 'string' || answer.kind !== 'refusal') return 'BALANCE_UNREADABLE'
  if (answer.errorCode === 'INVALID_PLAYER') return 'UNKNOWN_PLAYER'
  if (answer.status === 401 || answer.status === 403) return 'AUTHENTICATION_FAILED'
  return answer.status === 404 ? 'NOT_A_WALLET' : 'BALANCE_UNREADABLE'
}
