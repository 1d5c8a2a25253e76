/** What the kit asks of those who bring a store: how to open one, and what else can be done to it. */
import type { Decimal, Player, SettlementType, WalletStore } from '../store.js'

/**
 * Tells the kit how to get at your store. Only `open` is required; what a missing hook leaves unjudged is a
 * skip in the report, with its reason.
 *
 * Hooks get what `open` gave, so that your own handles (a pool, a schema's name) travel with it.
 */
export interface StoreHarness<Opened extends { store: WalletStore } = { store: WalletStore }> {
  /** Opens a store that knows these players and nothing else: a fresh schema, an emptied table, a new file. */
  open(players: readonly Player[]): Opened | Promise<Opened>
  /** Ends what `open` began: connections, schemas, files. */
  close?(opened: Opened): void | Promise<void>
  /**
   * A second, independent connection to the same data. It shares nothing in memory with the first: a mutex or a cache of
   * the process would hide what two processes do to each other.
   */
  reopen?(opened: Opened): WalletStore | Promise<WalletStore>
  /** Ends the store without any goodbye (kills the process, drops the connections), and opens the same data again. */
  crash?(opened: Opened): WalletStore | Promise<WalletStore>
  /** A deposit by the PAM's own code; with a minus, a withdrawal. Not through the store. */
  depositExternally?(opened: Opened, playerId: string, amount: Decimal): void | Promise<void>
  /** A settlement by the PAM's own code: credits the amount to player and bet. Not through the store. */
  settleExternally?(opened: Opened, settlement: ExternalSettlement): void | Promise<void>
  /** Makes the next commit stop in its middle: after it has read what it goes by, before it is durable. */
  holdCommit?(opened: Opened): HeldCommit | Promise<HeldCommit>
  /** Moves the store's clock, for stores that forget by time. */
  advanceClock?(opened: Opened, milliseconds: number): void | Promise<void>
  /**
   * What an amount column holds exactly, as in `numeric(digits, scale)`: digits in all, and digits behind the point.
   * The kit tests up to it and just beyond. Without it: up to `{ digits: 33, scale: 18 }`, the most that the core ever
   * sends, and nothing beyond.
   */
  limits?: { digits: number; scale: number }
}

export interface ExternalSettlement {
  playerId: string
  betId: string
  type: SettlementType
  amount: Decimal
  currency: string
}

/** A commit that was stopped in its middle. */
export interface HeldCommit {
  /** Resolves once a commit stands there. */
  reached: Promise<void>
  /** Lets it go on. */
  release(): void
}

export interface CaseOptions {
  /** Of everything random. Default 1; a failure prints the one it ran with. */
  seed?: number
  /** How many random histories and schedules. Default 200. */
  runs?: number
  /** Only the cases with these ids. */
  only?: readonly string[]
  /** How long the kit waits for something that must not be blocked; for a case to end, twice as long. Default 30,000. */
  timeoutMs?: number
}

/** One promise of the contract, ready to run under any test runner. */
export interface WalletStoreCase {
  /** Never changes its meaning: `WS-01`. */
  readonly id: string
  /** A store that fails a MUST loses or makes money. */
  readonly level: 'MUST' | 'SHOULD'
  /** The promise, in words. */
  readonly name: string
  /** Why this harness cannot judge it; `null`: it can. */
  readonly skip: string | null
  /** Rejects with a story of how the promise was broken. Rejects at once where `skip` is not `null`. */
  run(): Promise<void>
}
