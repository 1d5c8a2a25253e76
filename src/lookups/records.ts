/** What a lookup returns: the records as they are stored, with when they were recorded. Types only. */
import type { Account, Bet, Decimal, Transaction } from '../store.js'

/** A transaction as it is recorded, with when, and the balance that it left. */
export interface RecordedTransaction extends Transaction {
  /** The reference that the platform was answered with. */
  walletTransactionId: string
  /**
   * When the wallet recorded it, by the clock of the database: UTC, ISO 8601 with milliseconds, cut and not
   * rounded. The database keeps this for the commit or for the import, whatever date the platform wrote.
   */
  recordedAt: string
  /**
   * The balance of the account right after it, in `accountCurrency`; for a refusal, the one that it found.
   * `null` for an imported transaction, where it is not known.
   */
  balanceAfter: Decimal | null
}

/** A bet as it is now. */
export interface RecordedBet extends Bet {
  /** When it was stored, as {@link RecordedTransaction.recordedAt}; `null`: not known. */
  recordedAt: string | null
}

/** A bet with its whole life. */
export interface BetHistory {
  betId: string
  /** As it is now. `null`: every transaction that names this betId was refused, so there is no bet. */
  bet: RecordedBet | null
  /**
   * Every recorded transaction that names the bet, also refusals and those of other players, in the order of
   * recording.
   */
  transactions: readonly RecordedTransaction[]
}

/** A part of a player's transactions: the newest first, page by page. */
export interface Page {
  /** Only transactions recorded at or after this time: UTC, ISO 8601. */
  from?: string
  /** Only transactions recorded before this time: UTC, ISO 8601. */
  to?: string
  /** `next` of the page before, unchanged: opaque text. */
  cursor?: string
  /**
   * The number of transactions, from 1 to 1,000.
   * @default 50
   */
  limit?: number
}

/** A page of a player's transactions. */
export interface PlayerHistory {
  playerId: string
  /** As they are now, by currency code. Empty: the players' table has no such player (any more). */
  accounts: readonly Account[]
  /** In the order of recording, the newest first. */
  transactions: readonly RecordedTransaction[]
  /** The bets that these transactions name, as they are now, in the same order, each once. */
  bets: readonly RecordedBet[]
  /** The `cursor` of the next, older page; `null`: this is the last one. */
  next: string | null
}

/** A span of time: recorded in [from, to). Both are UTC, ISO 8601: `"2026-11-22T00:00:00Z"`. */
export interface TimeRange {
  from: string
  to: string
}

/** A bet with clawbacks that were not collected (D7): the platform nets them off later winnings. */
export interface OwedBet {
  /** As it is now. What is owed stands in its `credits`, per settlement type. */
  bet: RecordedBet
  /** Its refused unsettlements, in the order of recording. Empty: the bet was imported like this. */
  refused: readonly RecordedTransaction[]
}

/** Read-only lookups over the records of a store. */
export interface WalletLookups {
  /** A bet with every transaction that names it; `null`: nothing names it. */
  readonly bet: (betId: string) => Promise<BetHistory | null>
  /** Every operation that has used this id (D1), in the order of recording; empty: none has. */
  readonly transaction: (transactionId: string) => Promise<readonly RecordedTransaction[]>
  /** A player's accounts and transactions; `null`: there is neither. */
  readonly player: (playerId: string, page?: Page) => Promise<PlayerHistory | null>
  /**
   * Every bet with an uncollected clawback, in the order of its last refusal, imported ones first. Reads
   * every bet.
   */
  readonly owed: () => Promise<readonly OwedBet[]>
  /**
   * Everything of a span of time, streamed in the order of recording; what was recorded at the same moment is
   * ordered by operation and transactionId. Memory stays bounded. Let `to` lie at least a minute back: a
   * commit that is still running is recorded with the time at which it began.
   */
  readonly transactions: (range: TimeRange) => AsyncIterable<RecordedTransaction>
}
