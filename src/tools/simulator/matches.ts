/** Matches: their goals, their end, and corrections of their results. Simulated time is counted in steps. */
import type { Random } from '../numbers/random.js'

export type Side = 'home' | 'away'
export type Selection = Side | 'draw'

export interface Match {
  goals: Record<Side, number>
  state: 'running' | 'finished' | 'abandoned'
  /** Rises with every change of the result. */
  version: number
  /** No correction will follow. */
  final: boolean
}

/** The scenario of a match, decided at its kick-off. */
export interface Schedule {
  goals: { side: Side; afterSteps: number }[]
  endsAfterSteps: number
}

/** The length of a match, in bets that are placed on all matches during it. */
const matchSteps = { least: 20, most: 120 }
const goalsMean: Readonly<Record<Side, number>> = { home: 1.5, away: 1.2 }
const correctionStepsMax = 80
const chanceOf = { abandonment: 0.05, replay: 0.5, correction: 0.15 }

/** How often each result occurs, with goals as above: fair odds are the inverse. */
export const resultChances: Readonly<Record<Selection, number>> = { home: 0.44, draw: 0.26, away: 0.3 }
export const selections = Object.keys(resultChances) as Selection[]

export function kickOff(random: Random): { match: Match; schedule: Schedule } {
  const match: Match = { goals: { home: 0, away: 0 }, state: 'running', version: 0, final: false }
  const endsAfterSteps = random.between(matchSteps.least, matchSteps.most)
  const goals: Schedule['goals'] = []
  for (const side of ['home', 'away'] as const) {
    for (let left = drawGoals(random, goalsMean[side]); left > 0; left -= 1)
      goals.push({ side, afterSteps: random.between(1, endsAfterSteps - 1) })
  }
  return { match, schedule: { goals, endsAfterSteps } }
}

/** A Poisson-distributed number, by Knuth's algorithm. */
function drawGoals(random: Random, mean: number): number {
  let goals = 0
  for (let left = random.next(); left > Math.exp(-mean); left *= random.next()) goals += 1
  return goals
}

/**
 * Ends a match, with a result or without one.
 *
 * @returns after how many steps {@link correctResult} follows; `null` if the result is final
 */
export function endMatch(match: Match, random: Random): number | null {
  match.state = random.chance(chanceOf.abandonment) ? 'abandoned' : 'finished'
  match.version += 1
  return nextCorrection(match, random, match.state === 'abandoned' ? chanceOf.replay : chanceOf.correction)
}

/**
 * Changes the result: a goal more or less, or a result for an abandoned match that was replayed. Returns as
 * {@link endMatch}: some corrections are corrected again.
 */
export function correctResult(match: Match, random: Random): number | null {
  const { goals } = match
  if (match.state === 'abandoned') {
    match.state = 'finished'
    goals.home = drawGoals(random, goalsMean.home)
    goals.away = drawGoals(random, goalsMean.away)
  } else if (goals.home > 0 && random.chance(0.5)) goals.home -= 1
  else if (goals.away > 0) goals.away -= 1
  else goals.home += 1
  match.version += 1
  return nextCorrection(match, random, chanceOf.correction)
}

function nextCorrection(match: Match, random: Random, chance: number): number | null {
  if (random.chance(chance)) return random.between(1, correctionStepsMax)
  match.final = true
  return null
}

export function resultOf({ goals }: Match): Selection {
  return goals.home > goals.away ? 'home' : goals.home < goals.away ? 'away' : 'draw'
}
