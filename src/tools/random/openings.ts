/** The opening balance of a player: read from the wallet, and checked before the first bet. */
import { compare, parseDecimal, textOf } from '../numbers/decimal.js'
import { AuditError, type AuditErrorCode } from '../wire/errors.js'
import { type Account, openAccount } from './books.js'
import type { SimulatedPlayer } from './options.js'
import { type Definite, shortOf } from './reading.js'

/**
 * Opens the books of a player with the answer to a rollback of a bet that was never placed.
 *
 * @param answer a text where the outcome stayed unknown: what was answered
 * @throws {AuditError} if the answer has no balance, or another one than the options name
 */
export function createLedger(
  account: Account,
  player: SimulatedPlayer,
  answer: Definite | string,
  minorUnitsOf: (currency: string) => number,
): void {
  const { playerId } = account
  if (
    typeof answer === 'string' ||
    answer.kind !== 'success' ||
    answer.balance === null ||
    answer.currency === null
  ) {
    throw new AuditError(
      codeOf(answer),
      `${playerId}: cannot read the balance: a rollback of a bet that was never placed was answered ` +
        (typeof answer === 'string' ? answer : shortOf(answer)),
    )
  }
  const { balance, currency } = answer
  openAccount(account, balance, currency, minorUnitsOf(currency))
  if (player.currency !== undefined && player.currency !== currency) {
    throw new AuditError(
      'CURRENCY_MISMATCH',
      `${playerId}: the wallet answers balances in ${currency}, not in ${player.currency}`,
    )
  }
  const expected = player.balance === undefined ? null : parseDecimal(player.balance)
  if (expected !== null && compare(expected, balance) !== 0) {
    throw new AuditError(
      'BALANCE_MISMATCH',
      `${playerId}: the wallet answers a balance of ${textOf(balance)}, not of ${player.balance}`,
    )
  }
}

function codeOf(answer: Definite | string): AuditErrorCode {
  if (typeof answer === 'string' || answer.kind !== 'refusal') return 'BALANCE_UNREADABLE'
  if (answer.errorCode === 'INVALID_PLAYER') return 'UNKNOWN_PLAYER'
  if (answer.status === 401 || answer.status === 403) return 'AUTHENTICATION_FAILED'
  return answer.status === 404 ? 'NOT_A_WALLET' : 'BALANCE_UNREADABLE'
}
