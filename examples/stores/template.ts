/**
 * An empty WalletStore, to be copied. Fill in the two methods; everything that the library expects of them
 * stands beside the line where you write it. The types' docstrings (bet-wallet, src/store.ts) have the same
 * in full, and `createMemoryStore` of bet-wallet/memory is the contract as code.
 *
 * What you need in your database, beside the players that you have:
 *
 *   transactions   unique (operation, transaction_id), for all players together      kept for ever (D5)
 *   bets           unique (bet_id), for all players together; a revision             never deleted before their transactions
 *
 * Ids are up to 255 characters of any language, compared byte for byte: a binary collation, no trimming, no
 * case folding (D24). Amounts are exact decimals: numeric(38, n), integer minor units or text, never a float.
 */
import type { CommitResult, WalletChanges, WalletKeys, WalletSnapshot, WalletStore } from 'bet-wallet'

/** Your database client. */
type Client = object

export function createMyStore(_client: Client): WalletStore {
  return {
    contractVersion: 1,

    async load({ operation, transactionId, playerId, betId }: WalletKeys): Promise<WalletSnapshot> {
      // Look up three records, best in one statement, so that they are of one moment. If that cannot be: the bet
      // first, then the transaction, then the player. Take no lock.
      //
      // bet: by betId alone, whoever's it is; null if there is none. Bets that the PAM took before this library came
      //   must be found too (D27). Never { credits: { VOIDED: undefined } }: a type never credited has no key.
      //     { betId, playerId, currency, stake: '30.00', status: 'PLACED', credits: {}, revision: 1 }
      //
      // transaction: by (operation, transactionId) alone, whoever's it is; null if there is none. With its refusal,
      //   where it was refused, and the walletTransactionId that commit gave.
      //
      // player: by playerId; null if there is none. One who is blocked or closed is shown all the same: a rollback
      //   must find her, and who may bet is authorizeBet's to say. The balance is the very amount that guard 3 tests: what can be
      //   bet with, not the total.
      //     { playerId, currency: 'EUR', balance: '100.00' }
      //
      // Decimals are text: '100.50'. Most drivers give a numeric column as text; a float here is answered with a
      // fault (STORE_CONTRACT) that names the field.
      //
      // Overloaded or not connected: throw an Error with code 'UNAVAILABLE' (503). Any other throw is a 500.
      throw new Error(`load is to be written (${operation} ${transactionId}, ${playerId}, ${betId})`)
    },

    async commit(changes: WalletChanges): Promise<CommitResult> {
      const { transaction, bet, balance, request } = changes

      // All of the following in one commit of your database, or nothing of it. Lock rows in one order: the
      // transaction, the bet, the player.
      //
      // 1. Insert `transaction`.
      //    Guard: (operation, transactionId) is new, whoever's it is. A unique violation is a 'conflict'.
      //
      // 2. Where `bet` is not null: insert it if bet.revision is 1, else update the row of bet.betId.
      //    Guard: no such bet, or stored revision = bet.revision - 1. No row touched, or a unique violation: 'conflict'.
      //
      // 3. Where `balance` is not null: add balance.delta to the balance of transaction.playerId.
      //    Guard, tested by the very statement that writes: currency = balance.currency, and, where balance.floor is
      //    not null, balance + delta >= floor. No row touched: 'conflict'.
      //    Where `balance` is null, leave the balance alone and test nothing, but read it for the answer.
      //
      // 4. Rows of your own (a ledger entry, an event for other systems), from `changes` and `request`: the
      //    odds, the bet type, the session.
      //
      // Then answer one of
      //
      //   { status: 'committed', balance: '70.00', walletTransactionId: '4711' }   all of it, durable; the balance after it
      //   { status: 'conflict' }                    none of it: a guard did not hold, a deadlock, a serialization failure
      //   { status: 'refused', errorCode, description }   none of it, by a rule of your own; only where delta < 0
      //   { status: 'unavailable' }                 none of it, certainly: overloaded, not connected
      //
      // and throw when you do not know, as when the connection breaks while the COMMIT is under way. The library then
      // looks whether the transaction is recorded, and answers 500 if not; it copes with a commit that lands later.
      //
      // Never: write a part; read a balance and write it back; round an amount to a column's scale ('refused' then).
      throw new Error(
        `commit is to be written (${transaction.operation}, ${bet?.betId}, ${balance?.delta}, ${Object.keys(request)})`,
      )
    },
  }
}
