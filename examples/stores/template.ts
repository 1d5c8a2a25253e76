/**
 * A template for your own WalletStore: copy it and write the two methods. The requirements stand as comments
 * at the place where you write the code. The docstrings of the types in `bet-wallet` have the full contract,
 * and `createMemoryStore` of `bet-wallet/memory` implements it.
 *
 * Tables that you need beside your players, with columns that hold everything. docs/own-store.md says
 * why, and which other types do:
 *
 *   transactions      unique (operation, transaction_id) across all players; never deleted (D5)
 *     operation               12 characters
 *     transaction_id          255 characters; also player_id, bet_id
 *     amount                  exact decimal, 15 digits before the point and 18 after it, or null
 *     currency                16 characters, or null: the request's, which may differ from the player's
 *     type                    15 characters (or your longest of `rollbackTypes`), or null
 *     delta                   exact decimal, signed; a sum of amounts
 *     error_code, description 64 and 500 characters, or null
 *     transaction_date        an instant with milliseconds, or its text of 24 characters
 *     wallet_transaction_id   your own reference, or none
 *   bets              unique (bet_id) across all players; never deleted before their transactions
 *     bet_id, player_id       255 characters
 *     currency                16 characters
 *     stake                   exact decimal
 *     status                  11 characters
 *     per settlement type     live (or null), reversed, owed: exact decimals, sums of amounts
 *     revision                a whole number
 *
 * Ids have up to 255 characters (code points) in any language and are compared exactly: no trimming, no
 * case folding, no padding (D24). Columns that do so: PostgreSQL text (with the default collation or "C");
 * MySQL varchar(255) COLLATE utf8mb4_0900_bin; MariaDB varchar(255) COLLATE utf8mb4_nopad_bin. Not
 * utf8mb4_bin: it ignores trailing spaces.
 *
 * Exact decimals: numeric(38,18), decimal(38,18), integer minor units or text, never a float. Trailing zeros
 * are fine: "30.000000000000000000" is 30.
 */
import type { CommitResult, WalletChanges, WalletKeys, WalletSnapshot, WalletStore } from 'bet-wallet'

/** Your database client. */
type Client = object

export function createMyStore(_client: Client): WalletStore {
  return {
    contractVersion: 2,

    async load({ operation, transactionId, playerId, betId }: WalletKeys): Promise<WalletSnapshot> {
      // Read the records, preferably in one statement, as one consistent snapshot. Otherwise read the bet
      // first, then the transaction, then the accounts. Take no locks.
      //
      // bet: by betId alone, for any player; null if it does not exist. Include the legacy bets of your PAM
      //   (D27). Never { credits: { VOIDED: undefined } }: a type that was never credited has no key.
      //     { betId, playerId, currency, stake: '30.00', status: 'PLACED', credits: {}, revision: 1 }
      //
      // transaction: by (operation, transactionId) alone, for any player; null if it does not exist. Return
      //   its refusal, if it was refused, and the walletTransactionId that commit returned.
      //
      // accounts: all of the player, each currency once; [] if the player is unknown. Return those of blocked
      //   and closed players too: a rollback must find them, and the hooks decide who may bet. The balance is
      //   the amount that guard 3 checks: the available funds, not the total.
      //     [{ playerId, currency: 'EUR', balance: '100.00' }]
      //
      // Decimals are text: '100.50'. Most drivers return a numeric column as text. A float here causes a
      // fault (STORE_CONTRACT) that names the field.
      //
      // If the store is overloaded or not connected, throw an Error with code 'UNAVAILABLE' (503). Any other
      // error is a 500.
      throw new Error(`load is not implemented (${operation} ${transactionId}, ${playerId}, ${betId})`)
    },

    async commit(changes: WalletChanges): Promise<CommitResult> {
      const { transaction, bet, account, request } = changes

      // Do everything below in one database transaction. Lock rows in one order, here and in the PAM's own
      // code: the player, then the bet.
      //
      // 1. Add account.delta to the account of transaction.playerId in account.currency.
      //    Guard 3, checked by the statement that writes: there is such an account, and, if account.floor is
      //    not null, balance + delta >= floor. No row found: 'conflict'. If delta is '0' too.
      //
      // 2. Insert `transaction`.
      //    Guard 1: (operation, transactionId) is new, across all players. A unique violation: 'conflict'.
      //
      // 3. If `bet` is not null: insert it if bet.revision is 1, otherwise update the row of bet.betId.
      //    Guard 2: the bet does not exist, or its stored revision is bet.revision - 1. No row changed, or a
      //    unique violation: 'conflict'.
      //
      // 4. Your own rows (a ledger entry, an event for other systems), from `changes` and `request`: odds,
      //    bet type, session.
      //
      // Then return one of
      //
      //   { status: 'committed', balance: '70.00', walletTransactionId: '4711' }
      //     durable; with the balance after the commit
      //   { status: 'conflict' }
      //     no changes: a failed guard, a deadlock, a serialization failure
      //   { status: 'refused', errorCode, description }
      //     no changes: your own rule refuses a debit
      //   { status: 'unavailable' }
      //     no changes, guaranteed: overloaded or not connected
      //
      // Before every result but 'committed', and before the connection is used again: ROLLBACK, or close
      // the connection. MySQL and MariaDB undo only the statement that failed (a lock timeout, say); the
      // next BEGIN on the connection would commit the rest.
      //
      // Throw if the outcome is unknown, for example if the connection breaks during the COMMIT. The library
      // then reads whether the transaction is recorded, and answers 500 if it is not. A commit that becomes
      // visible later is safe. You may run the same changes again first, also on another server: guard 1 lets
      // them be recorded only once. Return 'committed' if that attempt is; otherwise throw.
      //
      // Never write only a part; never read a balance and write it back; never round an amount to a column's
      // scale: return 'refused' for a debit, and throw for a credit.
      throw new Error(
        `commit is not implemented (${transaction.operation}, ${bet?.betId}, ${account.delta}, ${Object.keys(request)})`,
      )
    },
  }
}
