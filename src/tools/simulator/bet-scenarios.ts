/**
 * Scenarios: what happens to a bet beside a plain settlement. Each has a share of every 90 bets, so that a
 * short run has each of them several times.
 */
import type { Random } from '../numbers/random.js'
import type { Account } from './books.js'
import { oddsOf, type Payout, timesOdds } from './payouts.js'

/**
 * The scenarios from `payouts` to `spent` begin with settlements that are a mistake, and are reversed: the
 * results count afterwards.
 *
 * - `payouts`: a win is paid in several settlements, two of them equal.
 * - `part-void`: a part of the stake is voided, the rest wins. One of both is reversed, or both at once.
 * - `voids`: the stake is voided in two parts, which one unsettlement reverses.
 * - `cancelled`: the void is reversed, and the bet is rolled back (D13).
 * - `part-cash-out`: a part of the stake is cashed out, the rest wins. The cash-out stays.
 * - `spent`: the player stakes everything before the win is reversed.
 * - `burst`: the player places three bets at once, of which the funds cover one.
 * - `other-currency`: the bet is in another currency than the player's (D23).
 * - `lost-answer`: the answer to the placebet is lost, and its rollbacks arrive together.
 * - `early-rollback`: the rollback is sent together with the placebet.
 */
export type BetScenario =
  | 'plain'
  | 'payouts'
  | 'part-void'
  | 'voids'
  | 'cancelled'
  | 'part-cash-out'
  | 'spent'
  | 'burst'
  | 'other-currency'
  | 'lost-answer'
  | 'early-rollback'

/** How often each scenario occurs in a mix. The rest is plain. */
const weights: Partial<Record<BetScenario, number>> = {
  payouts: 2,
  'part-void': 3,
  voids: 1,
  cancelled: 1,
  'part-cash-out': 2,
  spent: 2,
  burst: 1,
  'other-currency': 1,
  'lost-answer': 2,
  'early-rollback': 2,
}
const mixSize = 90

/** @returns the next scenario, in random order; a new mix begins when the last one is used up */
export function createScenarioMix(random: Random): () => BetScenario {
  const mix = Object.entries(weights).flatMap(([scenario, count]) =>
    Array<BetScenario>(count).fill(scenario as BetScenario),
  )
  while (mix.length < mixSize) mix.push('plain')
  let left = 0
  return () => {
    if (left === 0) left = mix.length
    const index = random.between(0, left - 1)
    left -= 1
    const scenario = mix[index] as BetScenario
    mix[index] = mix[left] as BetScenario
    mix[left] = scenario
    return scenario
  }
}

export interface Slice extends Payout {
  /** The part of the stake that it settles. */
  part: bigint
}

/**
 * The settlements that a scenario makes by mistake, in the order in which they are sent: those of a list
 * together. `null`: none, the results count.
 */
export function mistakeOf(
  scenario: BetScenario,
  stake: bigint,
  legs: readonly { odds: number }[],
  account: Account,
): Slice[][] | null {
  const { step } = account
  const share = (units: bigint, parts: bigint) => (units / step / parts) * step
  const win = (part: bigint): Slice => ({
    type: 'BET_PAID',
    gross: timesOdds(part, oddsOf(legs), legs.length, step),
    part,
  })
  switch (scenario) {
    case 'payouts': {
      const { gross } = win(stake)
      const half = share(gross, 2n)
      const halves: Slice[] = [0n, 0n].map(part => ({ type: 'BET_PAID', gross: half, part }))
      return [[{ type: 'BET_PAID', gross: gross - 2n * half, part: stake }, ...halves]]
    }
    case 'part-void': {
      const part = share(stake, 3n)
      return [[{ type: 'VOIDED', gross: part, part }], [win(stake - part)]]
    }
    case 'voids': {
      const part = share(stake, 3n)
      return [[part, stake - part].map(gross => ({ type: 'VOIDED', gross, part: gross }))]
    }
    case 'cancelled':
      return [[{ type: 'VOIDED', gross: stake, part: stake }]]
    case 'part-cash-out': {
      const part = share(stake, 2n)
      return [[{ type: 'CASHOUT', gross: part, part }], [win(stake - part)]]
    }
    case 'spent':
      return [[win(stake)]]
    default:
      return null
  }
}
