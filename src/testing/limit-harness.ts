/** The harness that you provide to test your own limits: it opens your store with your rule in it. */
import type { WalletOptions } from '../options.js'
import type { Decimal, WalletStore } from '../store.js'
import type { StoreHarness } from './harness.js'

/**
 * Opens your store with your own rule, and sets the limits by PAM code. Only `open` is required; a case that
 * needs a missing hook is skipped, and the report is incomplete. `null`: you have no such limit.
 *
 * Every hook is called with the value that `open` returned.
 */
export interface LimitHarness<Opened extends { store: WalletStore } = { store: WalletStore }>
  extends Pick<StoreHarness<Opened>, 'open' | 'close' | 'reopen' | 'advanceClock'>,
    LimitHooks<Opened> {}

export interface LimitHooks<Opened extends { store: WalletStore } = { store: WalletStore }> {
  /** The options of your handlers: `authorizeBet`, `onOutcome`, if your rule uses them. */
  walletOptions?(opened: Opened): WalletOptions
  /** Limits the stakes of the player per day, from now on. */
  limitStakes?: ((opened: Opened, playerId: string, amount: Decimal) => void | Promise<void>) | null
  /** Limits the losses of the player per week, from now on. Open bets count as lost. */
  limitLosses?: ((opened: Opened, playerId: string, amount: Decimal) => void | Promise<void>) | null
  /** Excludes the player from now on, for these milliseconds, or permanently if they are `null`. */
  exclude?: ((opened: Opened, playerId: string, milliseconds: number | null) => void | Promise<void>) | null
}

/** The harness of either kit. */
export type KitHarness = StoreHarness & Partial<LimitHooks>
