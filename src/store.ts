/**
 * The contract between bet-wallet and your storage. This file is written for the engineer who implements
 * it: two methods, three guards, four results. Everything else (the rules of the interface, repeats, what
 * is refused and what sticks) is decided by the library and arrives here as data.
 *
 * ```
 * request ──parse──▶ load(keys) ──▶ decide(request, snapshot) ──▶ commit(changes) ──▶ outcome
 *                        ▲               pure, synchronous             │
 *                        └────────────── conflict: look again ◀────────┘
 * ```
 *
 * A complete store over maps in memory, to show the shape and nothing else (`Big` is big.js):
 *
 * ```ts
 * function openStore(opening: readonly Player[]): WalletStore {
 *   const players = new Map(opening.map(player => [player.playerId, player]))
 *   const bets = new Map<string, Bet>()
 *   const transactions = new Map<string, Transaction>() // by operation and transactionId
 *
 *   return {
 *     contractVersion: 1,
 *
 *     async load({ operation, transactionId, playerId, betId }) {
 *       // Copies: what the caller does with them must not reach the store.
 *       return structuredClone({
 *         bet: bets.get(betId) ?? null,
 *         transaction: transactions.get(`${operation} ${transactionId}`) ?? null,
 *         player: players.get(playerId) ?? null,
 *       })
 *     },
 *
 *     async commit({ transaction, bet, balance }) {
 *       // All guards, then all writes, with no await in between. On a database: one statement, or one transaction.
 *       const key = `${transaction.operation} ${transaction.transactionId}`
 *       if (transactions.has(key)) return { status: 'conflict' } // guard 1
 *       const stored = bet === null ? 0 : (bets.get(bet.betId)?.revision ?? 0)
 *       if (bet !== null && stored !== bet.revision - 1) return { status: 'conflict' } // guard 2
 *       const player = players.get(transaction.playerId)
 *       if (player === undefined) return { status: 'conflict' }
 *       const after = balance === null ? player.balance : new Big(player.balance).plus(balance.delta).toFixed()
 *       if (balance !== null) {
 *         if (player.currency !== balance.currency) return { status: 'conflict' } // guard 3
 *         if (balance.floor !== null && new Big(after).lt(balance.floor)) return { status: 'conflict' } // guard 3
 *       }
 *
 *       const walletTransactionId = String(transactions.size + 1)
 *       transactions.set(key, structuredClone({ ...transaction, walletTransactionId }))
 *       if (bet !== null) bets.set(bet.betId, structuredClone(bet))
 *       if (balance !== null) players.set(player.playerId, { ...player, balance: after })
 *       return { status: 'committed', balance: after, walletTransactionId }
 *     },
 *   }
 * }
 * ```
 *
 * On a database the three guards and the three writes are one commit of its own: one SQL statement or
 * transaction, one `TransactWriteItems`, one Redis script. `createMemoryStore` is the reference.
 *
 * `undefined` never crosses this border, in either direction: "none" is `null`. The one absent key is a
 * settlement type in `Bet.credits` that was never credited.
 */
import type { Decimal } from './money.js'

export type { Decimal }

/** The platform's money movements. A transaction is identified by (operation, transactionId) (D1). */
export type Operation = 'placebet' | 'unsettlement' | 'rollbackbet' | 'settlement'

/** What a settlement credits (D17). */
export type SettlementType = 'BET_PAID' | 'VOIDED' | 'CASHOUT'

/** What you implement. */
export interface WalletStore {
  /** The version of this contract that the store was written for. */
  readonly contractVersion: 1

  /**
   * Looks up what is known of one player, one bet and one transaction.
   *
   * **Arrives:** four keys. Ids are opaque text of 1 to 255 characters of any language: compared exactly,
   * never trimmed, folded or normalised (D24).
   *
   * **Comes back:** per key the record or `null`, **as of one moment**. A store that cannot read at one
   * moment reads the *bet*, then the *transaction*, then the *player*, in this order: any other order
   * answers a racing duplicate wrongly, or refuses for funds that are there, and a refusal sticks. In pieces,
   * a placebet that races another one of the same bet may be refused for funds where the bet is the reason; the
   * money is right all the same.
   *
   * **Must never happen:** a lock that outlives the call; a bet that the PAM took before this library came
   * and that is shown as `null` (D27); a player who is blocked, closed or excluded and shown as `null` (money that
   * has to go back must be able to; who may bet is `authorizeBet`'s to say); a balance other than the one that
   * guard 3 tests; an id that is not the one asked for.
   *
   * **The core then** decides, and mostly commits. A rejection is a fault: 500, nothing was done, nothing
   * is recorded. Reject with an error whose `code` is `'UNAVAILABLE'` when overloaded: that is a 503.
   */
  load(keys: WalletKeys): Promise<WalletSnapshot>

  /**
   * Writes all of the changes if all of their guards hold, or nothing.
   *
   * **Arrives:** the changes with their guards as data. They are the core's: keep copies, or do not mutate.
   *
   * **Comes back:** one of the four results of {@link CommitResult}. `committed` only when everything is
   * durable.
   *
   * **Must never happen:** part of it is written; a guard is tested earlier than the write it guards, so
   * that another writer (a duplicate, a deposit, a casino game) comes in between; an amount is rounded; a
   * result is answered when its fate is unknown: throw then.
   *
   * **The core then:** on `committed` answers; on `conflict` loads and decides again, with a bounded number
   * of attempts; on `refused` records the refusal by a second commit that moves nothing; on `unavailable`
   * answers 503. On a **throw** it takes the fate as unknown and looks once whether the transaction is
   * recorded: what it finds is answered by D2 to D4, else 500. The write may still land later; the rules
   * hold then too.
   */
  commit(changes: WalletChanges): Promise<CommitResult>
}

/** What `load` is asked for. */
export interface WalletKeys {
  operation: Operation
  transactionId: string
  playerId: string
  betId: string
}

/** What `load` found, each `null` where there is none. */
export interface WalletSnapshot {
  player: Player | null
  /** By betId alone: also when it belongs to another player than the one asked for. */
  bet: Bet | null
  /** By (operation, transactionId) alone: also when it belongs to another player or bet. */
  transaction: Transaction | null
}

/** A player as the wallet sees it. */
export interface Player {
  playerId: string
  /** Currency code, as the platform writes it: `"EUR"`. */
  currency: string
  /** Exactly the amount that guard 3 tests: available, not total. May be negative if the PAM's own rules allow it. */
  balance: Decimal
}

/** A bet, and what was credited for it. */
export interface Bet {
  betId: string
  playerId: string
  /** The currency of stake and credits: the player's at the time of the bet (D23). */
  currency: string
  /** What the placebet took, at least 0. `"0"` for a bet that was rolled back before it arrived (a tombstone, D11). */
  stake: Decimal
  status: 'PLACED' | 'ROLLED_BACK'
  /** Per settlement type that was ever credited; the key is absent where it never was (D18). */
  credits: { BET_PAID?: Credit; VOIDED?: Credit; CASHOUT?: Credit }
  /**
   * 1 for a new bet; one more whenever stake, status or any credit changes, **whoever wrote it**. A store
   * that derives credits from the PAM's own tables derives the revision from them too, or compares them
   * inside `commit`; and it stores what D7 closes (`owed`).
   */
  revision: number
}

/** What became of the amounts that one settlement type credited to one bet (D18). Each is at least 0. */
export interface Credit {
  /** Credited and not yet reversed; `"0"` for a lost bet; `null` when nothing is live. */
  live: Decimal | null
  /** Taken back by unsettlements, in sum. */
  reversed: Decimal
  /** Not collected because funds were short: the platform's to collect, never the wallet's again (D7). In sum. */
  owed: Decimal
}

/** A transaction of the platform's as it was decided: the idempotency record. Kept for ever (D5). */
export interface Transaction {
  operation: Operation
  transactionId: string
  playerId: string
  betId: string
  /** Stake or settled amount, `null` for unsettlement and rollbackbet. Compared by value by D3, as the next two. */
  amount: Decimal | null
  currency: string | null
  type: string | null
  /** What it moved on the player's balance, signed: `"-30"` for a stake of 30, `"0"` for a refusal. */
  delta: Decimal
  /** `null` for a success; else the refusal that every repeat is answered with (D6, D7). */
  refusal: { errorCode: string; description: string } | null
  /** The platform's own date: an instant in UTC, `"2026-11-21T10:00:00.000Z"`. Never used for ordering (D25). */
  transactionDate: string
  /** The PAM's reference. `null` in `commit`'s changes: the store gives it, or leaves it `null`. */
  walletTransactionId: string | null
}

/** What `commit` is to write, and what must hold for it. All or nothing. */
export interface WalletChanges {
  /** To insert. **Guard 1:** no transaction with this (operation, transactionId) exists, of whatever player or bet. */
  transaction: Transaction
  /**
   * To insert or replace; `null`: bets are not touched. **Guard 2:** the stored revision is
   * `bet.revision - 1`; where `bet.revision` is 1, no bet with this id exists.
   */
  bet: Bet | null
  /**
   * To add to the balance of `transaction.playerId`; `null`: the balance is not touched and no floor is
   * tested. **Guard 3:** the player has this currency, and `balance + delta >= floor` where `floor` is not
   * `null`, at the moment of the write. `delta` is never 0.
   */
  balance: { currency: string; delta: Decimal; floor: Decimal | null } | null
  /**
   * The request as it was read (odds, betType, sessionId, …): for rows of your own in the same commit. Never
   * needed for the contract.
   */
  request: Record<string, unknown>
}

/** What became of a commit. */
export type CommitResult =
  /**
   * All of it is written and durable. `balance`: the player's at some moment between this commit and its
   * answer; it includes this commit and may include later ones. Required also where nothing moved.
   */
  | { status: 'committed'; balance: Decimal; walletTransactionId: string | null }
  /** None of it is written: a guard did not hold, or the database asks to try again. The core looks again. */
  | { status: 'conflict' }
  /**
   * None of it is written, by a rule of the PAM's own (a limit, an exclusion, an amount that a column cannot
   * hold exactly). Lawful only for `delta` < 0: money that goes back is never refused. `errorCode`: 1 to 64
   * letters, digits, `_`, `-` or `.`, and none of this library's codes for faults.
   */
  | { status: 'refused'; errorCode: string; description: string }
  /** None of it is written, certainly: overloaded, not connected. */
  | { status: 'unavailable' }
