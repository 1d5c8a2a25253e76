/** Idempotency: the answer to a retry (D2 to D4). The first check of every operation. */
import { compare, type Decimal } from '../money.js'
import type { WalletSnapshot } from '../store.js'
import { accountOf } from './accounts.js'
import { type Decision, refuse, type Undecided, unknownPlayer } from './decision.js'

/**
 * Replays the first decision if this transaction is recorded.
 *
 * @param transaction of the request
 * @param snapshot with the recorded transaction, or `null`
 * @returns `null` if the transaction is new
 */
export function decideReplay(
  transaction: Undecided,
  snapshot: WalletSnapshot,
  defaultCurrency: string | null,
): Decision | null {
  const first = snapshot.transaction
  if (first === null) return null

  // D4, also if the player is unknown.
  if (!sameContent(transaction, first)) {
    return refuse('PAYLOAD_MISMATCH', {
      errorCode: 'TRANSACTION_CONFLICT',
      description: 'transactionId: already used with a different player, bet, amount, currency or type',
    })
  }

  // D2: a refusal is replayed unchanged, and needs no player.
  if (first.refusal !== null) {
    const { errorCode, description } = first.refusal
    return {
      outcome: { ok: false, replayed: true, errorCode, description },
      reason: 'REPLAYED',
      changes: null,
    }
  }

  // D2: the first decision with the current balance of its account. An imported one names no account.
  const { accounts, bet } = snapshot
  const named = first.accountCurrency ?? first.currency ?? bet?.currency ?? null
  const account = accountOf(accounts, named, defaultCurrency)
  // D16: a success needs a balance and a currency.
  if (account === null) return refuse('UNKNOWN_PLAYER', unknownPlayer)

  const { balance, currency } = account
  return {
    outcome: { ok: true, replayed: true, balance, currency, walletTransactionId: first.walletTransactionId },
    reason: 'REPLAYED',
    changes: null,
  }
}

/**
 * D3. Odds, betType, sessionId and transactionDate may differ: they are information, or a retry refreshes
 * them.
 */
function sameContent(a: Undecided, b: Undecided): boolean {
  return (
    a.playerId === b.playerId &&
    a.betId === b.betId &&
    a.currency === b.currency &&
    a.type === b.type &&
    sameAmount(a.amount, b.amount)
  )
}

function sameAmount(a: Decimal | null, b: Decimal | null): boolean {
  return a === b || (a !== null && b !== null && compare(a, b) === 0)
}
