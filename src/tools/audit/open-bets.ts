/** Remembers the bets that a case may have placed, and rolls them back at its end. */
import type { SettlementType } from '../../store.js'

interface OpenBet {
  betId: string
  playerId: string
  /** Of its settlements. */
  types: Set<SettlementType>
}

export class OpenBets {
  readonly #bets = new Map<string, OpenBet>()
  hasSettled = false

  /** Registers a bet that a call of the case may have placed. */
  track({ betId, playerId }: Pick<OpenBet, 'betId' | 'playerId'>): OpenBet {
    const known = this.#bets.get(betId)
    if (known !== undefined) return known
    const bet = { betId, playerId, types: new Set<SettlementType>() }
    this.#bets.set(betId, bet)
    return bet
  }

  settled(bet: Pick<OpenBet, 'betId' | 'playerId'>, type: SettlementType): void {
    this.hasSettled = true
    this.track(bet).types.add(type)
  }

  /** The case has rolled the bet back itself, and knows it by the answer. */
  forget({ betId }: Pick<OpenBet, 'betId'>): void {
    this.#bets.delete(betId)
  }

  /** Those without settlements first: what they return may be needed to reverse the others. */
  inOrderOfCleanUp(): OpenBet[] {
    return [...this.#bets.values()].sort(
      (one, other) => Number(one.types.size > 0) - Number(other.types.size > 0),
    )
  }
}
