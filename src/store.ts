/**
 * The contract between bet-wallet and your storage, for the engineer who implements it: two methods (and
 * one for databases with replicas), three guards, four results. The library decides everything else (the
 * rules of the interface, idempotency, refusals) and passes it to the store as data.
 *
 * ```
 * request ──parse──▶ load(keys) ──▶ decide(request, snapshot) ──▶ commit(changes) ──▶ outcome
 *              │         ▲               pure, synchronous             ▲ │
 *              │         └────────────── conflict: reload and retry ◀──│─┘
 *              └─ placebet: decided as if it is new and funds suffice ─┘
 *              └─ settlement: as if its bet is placed (`addsCredits`) ─┘
 * ```
 *
 * A complete store over maps in memory, to show the shape (`Big` is big.js):
 *
 * ```ts
 * function openStore(initial: readonly Account[]): WalletStore {
 *   const accounts = initial.map(account => ({ ...account }))
 *   const bets = new Map<string, Bet>()
 *   const transactions = new Map<string, Transaction>() // by operation and transactionId
 *
 *   return {
 *     contractVersion: 2,
 *
 *     async load({ operation, transactionId, playerId, betId }) {
 *       // Copies: changes by the caller must not reach the store.
 *       return structuredClone({
 *         bet: bets.get(betId) ?? null,
 *         transaction: transactions.get(`${operation} ${transactionId}`) ?? null,
 *         accounts: accounts.filter(account => account.playerId === playerId),
 *       })
 *     },
 *
 *     async commit({ transaction, bet, account: { currency, delta, floor } }) {
 *       // All guards, then all writes, with no await in between. On a database: one database transaction.
 *       const key = `${transaction.operation} ${transaction.transactionId}`
 *       if (transactions.has(key)) return { status: 'conflict' } // guard 1
 *       const stored = bet === null ? 0 : (bets.get(bet.betId)?.revision ?? 0)
 *       if (bet !== null && stored !== bet.revision - 1) return { status: 'conflict' } // guard 2
 *       const ofPlayer = accounts.filter(({ playerId }) => playerId === transaction.playerId)
 *       const account = ofPlayer.find(each => each.currency === currency)
 *       if (account === undefined) return { status: 'conflict' } // guard 3
 *       const balance = new Big(account.balance).plus(delta)
 *       if (floor !== null && balance.lt(floor)) return { status: 'conflict' } // guard 3
 *
 *       const walletTransactionId = String(transactions.size + 1)
 *       transactions.set(key, structuredClone({ ...transaction, walletTransactionId }))
 *       if (bet !== null) bets.set(bet.betId, structuredClone(bet))
 *       account.balance = balance.toFixed()
 *       return { status: 'committed', balance: account.balance, walletTransactionId }
 *     },
 *   }
 * }
 * ```
 *
 * On a database, the three guards and the three writes are one database transaction: one SQL statement or
 * BEGIN … COMMIT, one `TransactWriteItems`, one Redis script. The mechanism is optimistic concurrency: a
 * guard that does not hold is a conflict, and the library reloads and retries. `createMemoryStore` is the
 * reference.
 *
 * `undefined` is never passed, in either direction: a missing value is `null`. The only keys that
 * may be absent are a settlement type in `Bet.credits` that was never credited, and `snapshot` of a conflict.
 */
import type { Decimal } from './money.js'

export type { Decimal }

/** The platform's operations. A transaction is identified by (operation, transactionId) (D1). */
export type Operation = 'placebet' | 'unsettlement' | 'rollbackbet' | 'settlement'

/** The kinds of settlement (D17). */
export type SettlementType = 'BET_PAID' | 'VOIDED' | 'CASHOUT'

/** The interface that you implement. */
export interface WalletStore {
  /** The version of this contract that the store was written for. */
  readonly contractVersion: 2

  /**
   * Optional. `true`: `commit` takes the credit of a settlement as {@link WalletChanges.credit}, so that no
   * `load` precedes it. Otherwise the library loads the bet first, and passes it changed.
   */
  readonly addsCredits?: boolean

  /**
   * Reads the accounts of one player, one bet and one transaction.
   *
   * **Input:** four keys. Ids are opaque text of 1 to 255 characters of any language: compared exactly, never
   * trimmed, folded or normalised (D24). docs/own-store.md names the column types and collations that do
   * so.
   *
   * **Result:** the player's accounts, all of them, and the bet and the transaction or `null`, **as of one
   * moment**. A store that cannot read at one moment reads the *bet*, then the *transaction*, then the
   * *accounts*, in this order. Any other order may answer a
   * concurrent duplicate wrongly, or refuse a placebet for insufficient funds although the player has them;
   * that refusal is final. With three reads, a placebet that races another one of the same bet may be refused
   * with INSUFFICIENT_FUNDS instead of INVALID_BET; the balance stays correct.
   *
   * **Must never happen:** a lock that outlives the call; `null` for a bet that the PAM placed before this
   * library was in use (D27); a missing account of a player who is blocked, closed or excluded (rollbacks and
   * settlements must still reach it; `authorizeBet` decides who may bet); a choice among the accounts, which
   * is a rule (D28); two accounts in one currency; a balance other than the one that guard 3 tests; a record
   * with another id than the requested one.
   *
   * Amounts may have trailing zeros, as a column with a scale returns them: `"30.000000000000000000"`. At
   * most 40 digits in all, the zeros included.
   *
   * **The library then** decides and usually commits. A rejected promise is a fault: 500, no changes were
   * made, nothing is recorded. Reject with an error whose `code` is `'UNAVAILABLE'` when overloaded: that is
   * a 503.
   */
  load(keys: WalletKeys): Promise<WalletSnapshot>

  /**
   * Optional, for databases with replicas: reads as `load` does, from a database that proves that it is still
   * the primary. After it has read, it commits durably, with the confirmation of every replica that `commit`
   * waits for, through the same connection: an empty write is enough.
   *
   * A standby that lags, or a former primary, answers `load` with old records. An acceptance is safe from
   * that, since the guards of its `commit` prove it. Refusals and replays are not: they write nothing, or
   * only themselves. The library takes them only from a snapshot of `loadConfirmed`. A store without it
   * takes them from `load`: right on a single database, and wrong while a stale database answers.
   *
   * **Input and result:** as `load`.
   *
   * **Must never happen:** a result from a database that could not commit at that moment, or whose commit was
   * not confirmed by its replicas. Reject instead, with an error whose `code` is `'UNAVAILABLE'`: a 503.
   */
  loadConfirmed?(keys: WalletKeys): Promise<WalletSnapshot>

  /**
   * Writes all of the changes if all of their guards hold, or nothing. A placebet is committed without a
   * `load` before it: a duplicate, an unknown player or insufficient funds are found by the guards. So is a
   * settlement, where the store has `addsCredits`.
   *
   * **Input:** the changes with their guards as data. Copy them or leave them unchanged: they belong to the
   * library.
   *
   * **Result:** one of the four results of {@link CommitResult}. `committed` only when everything is durable.
   *
   * **Must never happen:** a partial write; a guard that is tested before the write that it guards, so that
   * another writer (a duplicate, a deposit, a casino game) comes in between; a rounded amount; a result if
   * the outcome is unknown (throw instead); a connection that is used again after a database transaction
   * failed on it, without a ROLLBACK: MySQL and MariaDB undo only the failed statement (a lock timeout, say),
   * and the next database transaction on the connection commits the rest. Roll back, or close the connection.
   *
   * **Locks:** take row locks in one order in every commit, and in the PAM's own code that changes balances
   * and bets: the player, then the bet.
   *
   * **Unknown outcome:** the store may run the same changes again, also on another server: guard 1 lets
   * them be recorded only once. If that attempt is committed, answer `committed`. If it ends in any other
   * way, throw.
   *
   * **The library then:** on `committed` returns the outcome; on `conflict` reloads and retries, up to a
   * maximum number of attempts; on `refused` records the refusal by a second commit that changes no
   * balance; on `unavailable` answers 503. If `commit` **throws**, the outcome is unknown: one follow-up
   * read (`loadConfirmed` if there is one) looks for the transaction. A recorded transaction is answered by
   * D2 to D4; otherwise the answer is 500. The write may still be committed later; the rules hold in that
   * case too. An error whose `code` is `'AMOUNT_NOT_REPRESENTABLE'` says that nothing is written, since the
   * store cannot hold the amount of a credit exactly: the fault has this code then.
   */
  commit(changes: WalletChanges): Promise<CommitResult>
}

/** The input of `load`. */
export interface WalletKeys {
  /** At most 12 characters. */
  operation: Operation
  /** Ids: 1 to 255 characters (code points, up to 4 bytes each in UTF-8), without control characters. */
  transactionId: string
  playerId: string
  betId: string
}

/** The result of `load`. Missing records are `null`. */
export interface WalletSnapshot {
  /** All accounts of the player, each currency once, in any order; empty: the player is unknown. */
  accounts: readonly Account[]
  /** By betId alone, also if it belongs to another player than `keys.playerId`. */
  bet: Bet | null
  /** By (operation, transactionId) alone, also if it belongs to another player or bet. */
  transaction: Transaction | null
}

/** A player's money in one currency. */
export interface Account {
  playerId: string
  /** Currency code as the platform writes it: `"EUR"`. 1 to 16 letters, digits, `.`, `_` or `-`. */
  currency: string
  /**
   * Exactly the amount that guard 3 tests: available funds, not the total (D29). May be negative if the PAM
   * allows it.
   */
  balance: Decimal
}

/** A bet with its credits. */
export interface Bet {
  betId: string
  playerId: string
  /** The currency of stake and credits: of the account that the stake was debited from (D23). */
  currency: string
  /**
   * The amount that the placebet debited, at least 0. `"0"` for a tombstone: a bet rolled back before it
   * arrived (D11).
   */
  stake: Decimal
  status: 'PLACED' | 'ROLLED_BACK'
  /** Per settlement type that was ever credited; the key of any other type is absent (D18). */
  credits: { BET_PAID?: Credit; VOIDED?: Credit; CASHOUT?: Credit }
  /**
   * The token of optimistic concurrency: 1 for a new bet, plus 1 with every change of stake, status or
   * credits, also by **external writers**. A store that derives credits from the PAM's own tables derives the
   * revision from them too, or compares them inside `commit`; and it stores the uncollected clawbacks
   * (`owed`, D7).
   */
  revision: number
}

/** The amounts of one settlement type on one bet (D18). Each is at least 0. */
export interface Credit {
  /** Credited and not reversed; `"0"` for a lost bet; `null` if no credit is live. */
  live: Decimal | null
  /** The sum of all clawbacks that were collected: debited by unsettlements. */
  reversed: Decimal
  /** The sum of all uncollected clawbacks: owed to the platform, never collected by the wallet again (D7). */
  owed: Decimal
}

/** A credit to add to a stored bet, which may have several settlements (D17). */
export interface AddedCredit {
  /** **Guard 2** of a credit: the bet exists, and has this player, this currency and this status. */
  playerId: string
  currency: string
  status: 'PLACED'
  type: SettlementType
  /**
   * Added to what is live of the type, `null` being 0; at least 0. What is reversed and owed stays, and is
   * `"0"` with the first credit of the type. `conflict` where the sum has more than 40 digits, or more than
   * the store can hold.
   */
  amount: Decimal
}

/** The reason of a recorded decision: an acceptance, or a final refusal (D6, D7). */
export type RecordedReason =
  | 'ACCEPTED'
  /** A rollback of an unknown bet, recorded so that the late bet is refused (D11). */
  | 'TOMBSTONE_CREATED'
  /** A rollback of a bet that is already rolled back (D12). */
  | 'ALREADY_ROLLED_BACK'
  | 'BET_OF_ANOTHER_PLAYER'
  /** A placebet for a betId that another transaction has used (D10). */
  | 'BET_ALREADY_EXISTS'
  | 'BET_ROLLED_BACK'
  /** The player has no account in the request's currency (D23). */
  | 'CURRENCY_MISMATCH'
  | 'INSUFFICIENT_FUNDS'
  /** `clawbacks: false` (D20). */
  | 'CLAWBACKS_DISABLED'
  /** `authorizeRequest` or `authorizeBet` refused. */
  | 'REFUSED_BY_OPERATOR'
  /** The store returned `refused`. */
  | 'REFUSED_BY_STORE'
  /** Imported from the legacy integration (D27): accepted or refused by its rules. */
  | 'IMPORTED'

/** A decided transaction of the platform: the idempotency record. Kept permanently (D5). */
export interface Transaction {
  operation: Operation
  transactionId: string
  playerId: string
  betId: string
  /**
   * Stake or settled amount: at most 15 digits before the point, and as many decimals as the currency has
   * minor units, at most 18. `null` for unsettlement and rollbackbet. Compared by D3, like the next two.
   */
  amount: Decimal | null
  /** Of the request, also where the player has no account in it (a refusal): up to 16 characters. */
  currency: string | null
  /** At most 15 characters, unless the option `rollbackTypes` has a longer one. `null` for a placebet. */
  type: string | null
  /** The change of the balance, signed: `"-30"` for a stake of 30, `"0"` for a refusal. */
  delta: Decimal
  /** Of `delta`: the account that the commit named. A retry is answered with it. `null`: imported without. */
  accountCurrency: string | null
  /**
   * `null` for a success; otherwise the final refusal, replayed to every retry (D6, D7). `errorCode` has at
   * most 64 characters (ASCII), `description` 500 (any language).
   */
  refusal: { errorCode: string; description: string } | null
  /**
   * Which rule decided it, for lookups and reports. At most 64 characters (ASCII), and kept as it is: a newer
   * version of this library may record one that an older one does not know. Never compared by D3.
   */
  reason: RecordedReason | (string & {})
  /**
   * The platform's date: an instant in UTC, always 24 characters, with milliseconds, of the years 1 to 9999:
   * `"2026-11-21T10:00:00.000Z"`. Never used for ordering (D25).
   */
  transactionDate: string
  /** The PAM's reference. `null` in the changes of `commit`: the store assigns it, or leaves it `null`. */
  walletTransactionId: string | null
}

/** The input of `commit`: up to three writes, each with its guard. All or nothing. */
export interface WalletChanges {
  /**
   * To insert. **Guard 1:** no transaction with this (operation, transactionId) exists, for any player or
   * bet.
   */
  transaction: Transaction
  /**
   * To insert or replace; `null`: no bet is changed. **Guard 2:** the stored revision is
   * `bet.revision - 1`; if `bet.revision` is 1, no bet with this id exists.
   */
  bet: Bet | null
  /**
   * Of a settlement without a `load`, in place of `bet`: to add to the bet `transaction.betId`, whose
   * revision rises by 1. `null`, and always without `addsCredits`: nothing is added.
   */
  credit: AddedCredit | null
  /**
   * The account of `transaction.playerId` to add `delta` to; `"0"` where nothing moves. No other account
   * changes. **Guard 3**, of every commit: the player has an account in exactly this currency, and
   * `balance + delta >= floor` if `floor` is not `null`, at the moment of the write. Only a `delta` below 0
   * has a floor.
   */
  account: { currency: string; delta: Decimal; floor: Decimal | null }
  /**
   * The parsed request (odds, betType, sessionId, …), for your own rows in the same database transaction. The
   * contract does not need it.
   */
  request: Record<string, unknown>
}

/** The result of `commit`. */
export type CommitResult =
  /**
   * Everything is written and durable. `balance`: that of `account` at some moment between this commit and
   * its result. It includes this commit and may include later ones. Required even if the balance did not
   * change.
   */
  | { status: 'committed'; balance: Decimal; walletTransactionId: string | null }
  /**
   * Nothing is written: a guard did not hold, or the database asks for a retry. The library reloads and
   * retries.
   *
   * `snapshot`, optional, spares it the reload: what `loadConfirmed` would return now, read after the guards
   * were tested, by a statement that sees every commit before it, in a database transaction whose COMMIT is
   * confirmed. Leave it out, or `null`, where that one was undone or its outcome is unknown, and where a
   * store around this one changes what `load` returns. Used only after a commit without a load.
   */
  | { status: 'conflict'; snapshot?: WalletSnapshot | null }
  /**
   * Nothing is written, by a rule of the PAM (a limit, an exclusion, an amount that a column cannot hold
   * exactly: `INVALID_AMOUNT`, say). Allowed only for `delta` < 0 and for a new bet with a stake of 0: a
   * credit is never refused. `errorCode`: 1 to 64 letters, digits, `_`, `-` or `.`, and none of this
   * library's reserved codes. `description`: 1 to 500 characters.
   */
  | { status: 'refused'; errorCode: string; description: string }
  /** No changes were made: overloaded, not connected. `cause`: why, for the operator's log. */
  | { status: 'unavailable'; cause?: unknown }
