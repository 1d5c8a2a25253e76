/** The harness that you provide: it opens your store, and its optional hooks bypass the store. */
import type { SettlementRequest } from '../requests.js'
import type { Account, Decimal, WalletStore } from '../store.js'

/**
 * Opens and controls the store under test. Only `open` is required. A case that needs a missing hook is
 * skipped, and the report says which hook is missing: it is incomplete. A hook that may be `null` says with
 * it that its subject does not exist in your system: its cases are skipped, and the report stays complete.
 *
 * Every hook is called with the value that `open` returned, so that your own handles (a pool, a schema name)
 * are available to all of them.
 */
export interface StoreHarness<Opened extends { store: WalletStore } = { store: WalletStore }> {
  /** Opens a store with these accounts and no other record: a fresh schema, an emptied table, a new file. */
  open(accounts: readonly Account[]): Opened | Promise<Opened>
  /** Releases what `open` created: connections, schemas, files. */
  close?(opened: Opened): void | Promise<void>
  /**
   * Opens a second, independent connection to the same data. The connections must share nothing in memory: a
   * mutex or a cache of the process would hide the races of two processes.
   *
   * @returns the store itself, not `{ store }` as `open` does; `close(opened)` must release it too
   */
  reopen?(opened: Opened): WalletStore | Promise<WalletStore>
  /**
   * Kills the store's process, or drops its connections, without a clean shutdown, and opens the same
   * data again.
   *
   * The hooks after a crash, and `close`, are called with the same `opened` as before it: put handles that
   * are new into it. It may crash more than once.
   *
   * @returns the store itself, not `{ store }` as `open` does
   */
  crash?(opened: Opened): WalletStore | Promise<WalletStore>
  /**
   * Whether a player may have an account in each currency (D28): then `open` is called with several of one
   * player. `null`: a player has one account.
   */
  accountPerCurrency?: true | null
  /** Deposits `amount`, or withdraws it if it is negative, by PAM code: to the account in `currency`. */
  depositExternally?(
    opened: Opened,
    playerId: string,
    amount: Decimal,
    currency: string,
  ): void | Promise<void>
  /**
   * Settles a bet by PAM code, not through the store. It credits the amount to the player's balance and to
   * the bet's credit of that type, and increases the bet's revision. `null`: no code beside the store settles
   * bets.
   */
  settleExternally?: ((opened: Opened, settlement: SettlementRequest) => void | Promise<void>) | null
  /**
   * Locks the row of the player's account by PAM code, and keeps it locked: `BEGIN; SELECT … FOR UPDATE` on a
   * connection of its own. Open the store with a lock timeout of a few seconds: the case commits for it,
   * waits until the commits give up, and looks what they have left behind. `null`: a commit never waits for
   * a player.
   */
  holdPlayer?:
    | ((opened: Opened, playerId: string, currency: string) => HeldPlayer | Promise<HeldPlayer>)
    | null
  /**
   * Closes the player's account by PAM code, as for an exclusion. Its balance stays. `null`: no account is
   * ever closed.
   */
  closePlayer?: ((opened: Opened, playerId: string) => void | Promise<void>) | null
  /** Changes the currency of the player's account by PAM code. `null`: an account keeps its currency. */
  changeCurrency?: ((opened: Opened, playerId: string, currency: string) => void | Promise<void>) | null
  /**
   * Lets a rule of the store refuse every stake of the player from now on: a limit, an exclusion. `commit`
   * answers `refused`. `null`: the store has no such rule.
   */
  refuseBets?: ((opened: Opened, playerId: string) => void | Promise<void>) | null
  /**
   * Makes the next commit stop midway: after it has read what its guards need, before it is durable. `null`:
   * a commit cannot stop midway, because its driver is synchronous: nothing else runs in the process until it
   * ends.
   */
  holdCommit?: ((opened: Opened) => HeldCommit | Promise<HeldCommit>) | null
  /**
   * Makes the database unable to commit durably, while reads still work. It stops the synchronous replicas,
   * or cuts the database off from the majority of its cluster. `null`: the database has no replicas.
   *
   * @returns a function that ends it
   */
  stopReplication?: ((opened: Opened) => Resume | Promise<Resume>) | null
  /**
   * Counts and adds up the rows that your hook (`withinTransaction`) wrote for the account: those of your
   * ledger, with their amounts. Without rows of 0, and without those of deposits and settlements by PAM code.
   * `null`: your code writes no rows with a commit.
   */
  ownRows?: ((opened: Opened, playerId: string, currency: string) => OwnRows | Promise<OwnRows>) | null
  /** Moves the store's clock forward. `null`: nothing in the store expires. */
  advanceClock?: ((opened: Opened, milliseconds: number) => void | Promise<void>) | null
  /**
   * The range of an amount column, as in `numeric(digits, scale)`. The kit tests amounts up to these limits
   * and just beyond.
   *
   * @default amounts up to `{ digits: 33, scale: 18 }`, the largest that the core sends, and none beyond
   */
  limits?: { digits: number; scale: number }
  /**
   * `'plain'`: the accounts table of the PAM folds case, or ignores accents or trailing spaces. The players
   * of all cases then have ids of lower-case letters, digits, `-` and `~`. Ids of bets and transactions are
   * tested as always.
   *
   * @default players with any id that the interface allows
   */
  playerIds?: 'plain'
  /**
   * `'player'`: the store has partitions, and ids of bets and transactions are unique within each only. No
   * two players of a case then have the same ids. Each partition's own store is tested without it.
   *
   * @default ids are unique across all players (D1)
   */
  idScope?: 'player'
  /**
   * Makes the partition of the player unavailable, with `idScope: 'player'`. Of the players `player-0` to
   * `player-15`, some must be in the partition of `anna`, and some in others.
   *
   * @returns a function that ends it
   */
  stopPartition?(opened: Opened, playerId: string): Resume | Promise<Resume>
}

/** Rows of the PAM about a player. */
export interface OwnRows {
  count: number
  /** Of their amounts, in whole units of the currency; `"0"` without rows. */
  sum: Decimal
}

/** A player's row that is locked. */
export interface HeldPlayer {
  /** Ends the lock: `ROLLBACK`. */
  release(): void | Promise<void>
}

/** Lets the database commit again, or the partition answer. */
export type Resume = () => void | Promise<void>

/** A commit that stops midway. */
export interface HeldCommit {
  /** Resolves as soon as a commit has stopped. */
  reached: Promise<void>
  /** Lets the commit continue. */
  release(): void
}

export interface CaseOptions {
  /**
   * Seed of everything random. A failure prints the seed that it ran with.
   *
   * @default 1
   */
  seed?: number
  /**
   * Number of random histories and schedules.
   *
   * @default 200
   */
  runs?: number
  /**
   * Runs only the cases with these ids.
   *
   * @default all
   */
  only?: readonly string[]
  /**
   * Time limit in milliseconds for a call that nothing may block. A whole case may take 20 times as long.
   *
   * @default 30_000
   */
  timeoutMs?: number
}

/** One requirement of the store contract as a test, for any test runner. */
export interface WalletStoreCase {
  /** Its meaning never changes: `WS-01`. */
  readonly id: string
  /** A store that fails a MUST loses or creates money. */
  readonly level: 'MUST' | 'SHOULD'
  /** The requirement in one sentence. */
  readonly name: string
  /** For a test runner: the id, the name, and why the case is skipped. */
  readonly title: string
  /** Why this harness cannot run the case; `null`: it can. */
  readonly skip: string | null
  /** `false`: the harness says by the `null` of a hook that the case does not apply to its store. */
  readonly applies: boolean
  /** After `run`, what to know of a passed case: that it took fewer turns than usual. Otherwise `null`. */
  readonly remark: string | null
  /** Rejects with a step-by-step trace if the case fails. Rejects at once if `skip` is not `null`. */
  readonly run: () => Promise<void>
}
