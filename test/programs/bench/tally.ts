/** What a contestant places, and how many of its bets were accepted. */
import type { WalletOutcome } from 'bet-wallet'

/** Counts accepted requests, for the check of the books; throws on a refusal. */
export interface Tally {
  accepted: number
  accept(outcome: WalletOutcome): void
}

export function tally(): Tally {
  return {
    accepted: 0,
    accept(outcome) {
      if (!outcome.ok) throw new Error(`${outcome.errorCode}: ${outcome.description}`)
      this.accepted += 1
    },
  }
}

export interface Placing {
  callers: number
  /** Returns the player of the next bet. */
  player(): string
}
