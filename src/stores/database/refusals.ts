/** Refusals by the players' table: an amount that its column cannot hold. */
import { isNegative } from '../../money.js'
import type { CommitResult, WalletChanges } from '../../store.js'
import type { MakeError } from './errors.js'

/** Whether the changes debit the player: only then the balance may refuse them. */
export function isDebit({ account }: WalletChanges): boolean {
  return isNegative(account.delta)
}

/**
 * The result for an amount that the balance column cannot hold exactly. A debit is refused, never rounded. A
 * settlement without a load is a conflict: its bet may not be placed.
 *
 * @throws `AMOUNT_NOT_REPRESENTABLE` for another credit: money that is due must not be refused
 */
export function notRepresentable(changes: WalletChanges, makeError: MakeError): CommitResult {
  const problem = 'not representable in the balance column'
  if (isDebit(changes))
    return { status: 'refused', errorCode: 'INVALID_AMOUNT', description: `amount: ${problem}` }
  if (changes.credit !== null) return { status: 'conflict' }
  throw makeError('AMOUNT_NOT_REPRESENTABLE', `${changes.account.delta}: ${problem}`)
}
