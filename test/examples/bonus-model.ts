/** A model of bonus money in whole cents, and random movements of one player. */
import type { WalletOutcome } from 'bet-wallet'
import fc from 'fast-check'
import { expect } from 'vitest'

const calls = ['place', 'roll back', 'win', 'void', 'claw back win', 'claw back void'] as const

/** One call of the platform. */
export interface Movement {
  step: (typeof calls)[number]
  transactionId: string
  betId: string
  amount: string
}

const amounts = fc.oneof(fc.constantFrom(0, 1, 333, 667, 1000), fc.integer({ min: 0, max: 2500 }))
const call = fc.record({ step: fc.constantFrom(...calls, 'place' as const), bet: fc.nat(2), cents: amounts })
const pam = fc.record({
  step: fc.constant('PAM' as const),
  cash: fc.integer({ min: -500, max: 1500 }),
  bonus: fc.integer({ min: -500, max: 1500 }),
  freeBets: fc.nat(1),
})
type PamStep = typeof pam extends fc.Arbitrary<infer T> ? T : never
type CallStep = typeof call extends fc.Arbitrary<infer T> ? T : never

export const movements = fc
  .array(fc.oneof({ weight: 5, arbitrary: call }, { weight: 2, arbitrary: pam }), {
    maxLength: 25,
    size: 'max',
  })
  .map((steps): (PamStep | CallStep)[] => [{ step: 'PAM', cash: 400, bonus: 1000, freeBets: 1 }, ...steps])

interface ModelBet {
  betId: string
  stake: number
  bonusStake: number
  live: Map<string, number>
  bonusReturned: number
  usesFreeBet: boolean
  isRolledBack: boolean
}

const reversed = { 'claw back win': 'win', 'claw back void': 'void' } as const

export class BonusModel {
  readonly funds: { cash: number; bonus: number; freeBets: number } = { cash: 0, bonus: 0, freeBets: 0 }
  readonly #playerId: string
  readonly #bets: ModelBet[] = []
  #ids = 0

  constructor(playerId: string) {
    this.#playerId = playerId
  }

  /** @returns whether there is enough of both */
  change({ cash, bonus, freeBets }: PamStep): boolean {
    if (this.funds.cash + cash < 0 || this.funds.bonus + bonus < 0) return false
    this.#add(cash, bonus)
    this.funds.freeBets += freeBets
    return true
  }

  /** What each bet has returned and was not clawed back. */
  get returned(): ReadonlyMap<string, number> {
    return new Map(this.#bets.map(bet => [bet.betId, returnedBy(bet)]))
  }

  /** A new bet, or a call about one of the last bets. */
  movementOf({ step, bet, cents }: CallStep): Movement {
    const id = `${this.#playerId}-${++this.#ids}`
    const { betId = id } = (step === 'place' ? undefined : this.#bets.at(-1 - bet)) ?? {}
    return { step, transactionId: `t-${id}`, betId, amount: String(cents / 100) }
  }

  /** Whether the platform is given the money is the wallet's decision; where it comes from and goes is the model's. */
  perform({ step, betId, amount }: Movement, outcome: WalletOutcome | undefined): void {
    const cents = Math.round(Number(amount) * 100)
    if (step === 'place') {
      const { cash, bonus, freeBets } = this.funds
      expect(outcome?.ok).toBe(cents === 0 ? freeBets > 0 : cents <= cash + bonus)
    }
    if (outcome?.ok !== true) return
    if (step === 'place') {
      this.#place(betId, cents)
      return
    }
    const bet = this.#bets.find(each => each.betId === betId)
    if (bet === undefined || bet.isRolledBack) return
    if (step === 'roll back') {
      bet.isRolledBack = true
      this.#credit(bet, 'rollback', bet.stake)
    } else if (step === 'win' || step === 'void') this.#credit(bet, step, cents)
    else this.#clawBack(bet, reversed[step])
    if (bet.stake !== 0) return
    const usesFreeBet =
      step === 'claw back void' || (bet.usesFreeBet && step !== 'roll back' && step !== 'void')
    this.funds.freeBets += Number(bet.usesFreeBet) - Number(usesFreeBet)
    bet.usesFreeBet = usesFreeBet
  }

  #place(betId: string, stake: number): void {
    const cash = Math.min(stake, this.funds.cash)
    this.#add(-cash, cash - stake)
    if (stake === 0) this.funds.freeBets -= 1
    this.#bets.push({
      betId,
      stake,
      bonusStake: stake - cash,
      live: new Map(),
      bonusReturned: 0,
      usesFreeBet: stake === 0,
      isRolledBack: false,
    })
  }

  #credit(bet: ModelBet, type: string, cents: number): void {
    bet.live.set(type, (bet.live.get(type) ?? 0) + cents)
    const bonus = Math.max(0, Math.min(cents, shareOf(bet) - bet.bonusReturned))
    bet.bonusReturned += bonus
    this.#add(cents - bonus, bonus)
  }

  #clawBack(bet: ModelBet, type: string): void {
    const cents = bet.live.get(type) ?? 0
    bet.live.delete(type)
    const due = Math.max(0, Math.min(cents, bet.bonusReturned - shareOf(bet)))
    let bonus = Math.min(due, this.funds.bonus)
    if (cents - bonus > this.funds.cash) bonus = cents - this.funds.cash
    bet.bonusReturned -= bonus
    this.#add(bonus - cents, -bonus)
  }

  #add(cash: number, bonus: number): void {
    this.funds.cash += cash
    this.funds.bonus += bonus
    expect(this.funds.cash).toBeGreaterThanOrEqual(0)
    expect(this.funds.bonus).toBeGreaterThanOrEqual(0)
  }
}

const returnedBy = ({ live }: ModelBet) => [...live.values()].reduce((sum, cents) => sum + cents, 0)

/** Of all that the bet has returned, what is due to the bonus: whole cents, and the odd cent is cash. */
function shareOf(bet: ModelBet): number {
  return bet.stake === 0 ? 0 : Math.floor((returnedBy(bet) * bet.bonusStake) / bet.stake)
}
