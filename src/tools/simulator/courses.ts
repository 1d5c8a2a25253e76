/**
 * Courses: what happens to a bet beside a plain settlement. They are dealt from a deck and not drawn by chance,
 * so that a short run has each of them several times.
 */
import type { Random } from '../platform/random.js'
import type { Account } from './books.js'
import { oddsOf, type Payout, timesOdds } from './payouts.js'

/**
 * The courses from `payouts` to `spent` begin with settlements that are a mistake, and are reversed: the
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
 * - `impatient`: the rollback is sent together with the placebet.
 */
export type Course =
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
  | 'impatient'

/** How many cards of each course are in a deck. The other cards are plain. */
const cards: Partial<Record<Course, number>> = {
  payouts: 2,
  'part-void': 3,
  voids: 1,
  cancelled: 1,
  'part-cash-out': 2,
  spent: 2,
  burst: 1,
  'other-currency': 1,
  'lost-answer': 2,
  impatient: 2,
}
const deckSize = 90

/** Deals one course after the other; a new deck is shuffled when the last one is used up. */
export function createDeck(random: Random): () => Course {
  const dealt = Object.entries(cards).flatMap(([course, count]) =>
    Array<Course>(count).fill(course as Course),
  )
  while (dealt.length < deckSize) dealt.push('plain')
  let left = 0
  return () => {
    if (left === 0) left = dealt.length
    const index = random.between(0, left - 1)
    left -= 1
    const course = dealt[index] as Course
    dealt[index] = dealt[left] as Course
    dealt[left] = course
    return course
  }
}

/** One settlement. */
export interface Slice extends Payout {
  /** The part of the stake that it settles. */
  part: bigint
}

/**
 * The settlements that a course makes by mistake, in the order in which they are sent: those of a list together.
 * `null`: none, the results count.
 */
export function mistakeOf(
  course: Course,
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
  switch (course) {
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
