import { describe, expect, test } from 'vitest'
import {
  correctResult,
  endMatch,
  kickOff,
  type Match,
  resultOf,
} from '../../../src/tools/simulator/matches.js'
import { fixedRandom, seeded } from './objects.js'

const matchWith = (goals: Match['goals'], state: Match['state'] = 'running'): Match => ({
  goals,
  state,
  version: 0,
  final: false,
})

describe('a kick-off', () => {
  test('schedules all goals before the end, within 20 to 120 steps', () => {
    // Given many matches
    const random = seeded()
    for (let count = 0; count < 300; count += 1) {
      // When a match begins
      const { match, schedule } = kickOff(random)
      // Then it is running without goals, and its goals fall before its end
      expect(match).toEqual(matchWith({ home: 0, away: 0 }))
      expect(schedule.endsAfterSteps).toBeGreaterThanOrEqual(20)
      expect(schedule.endsAfterSteps).toBeLessThanOrEqual(120)
      for (const { afterSteps } of schedule.goals) {
        expect(afterSteps).toBeGreaterThanOrEqual(1)
        expect(afterSteps).toBeLessThan(schedule.endsAfterSteps)
      }
    }
  })

  test('schedules 1.5 goals at home and 1.2 away on average', () => {
    const random = seeded()
    const count = { home: 0, away: 0 }
    const matches = 3_000
    for (let match = 0; match < matches; match += 1) {
      for (const { side } of kickOff(random).schedule.goals) count[side] += 1
    }
    expect(Math.abs(count.home / matches - 1.5)).toBeLessThan(0.1)
    expect(Math.abs(count.away / matches - 1.2)).toBeLessThan(0.1)
  })
})

describe('the end of a match', () => {
  test('is final without a correction', () => {
    const match = matchWith({ home: 2, away: 1 })
    expect(endMatch(match, fixedRandom(0.99))).toBeNull()
    expect(match).toMatchObject({ state: 'finished', version: 1, final: true })
  })

  test('can be an abandonment, which is replayed later', () => {
    // Given random numbers that abandon the match, and replay it
    const match = matchWith({ home: 2, away: 1 })
    // When it ends
    const afterSteps = endMatch(match, fixedRandom(0.01, 0.01, 0.5))
    // Then its result is not final
    expect(match).toMatchObject({ state: 'abandoned', version: 1, final: false })
    expect(afterSteps).toBe(41)
  })
})

describe('a correction', () => {
  test.each([
    ['takes a goal of the home side back', { home: 1, away: 1 }, 0.1, { home: 0, away: 1 }],
    ['takes a goal of the away side back', { home: 1, away: 1 }, 0.9, { home: 1, away: 0 }],
    ['adds a goal where there is none', { home: 0, away: 0 }, 0.9, { home: 1, away: 0 }],
  ])('%s', (_, goals, roll, corrected) => {
    const match = matchWith({ ...goals }, 'finished')
    expect(correctResult(match, fixedRandom(roll, 0.9))).toBeNull()
    expect(match).toEqual({ goals: corrected, state: 'finished', version: 1, final: true })
  })

  test('settles an abandoned match with a result', () => {
    const match = matchWith({ home: 0, away: 0 }, 'abandoned')
    correctResult(match, fixedRandom(0.9))
    expect(match).toMatchObject({ state: 'finished', version: 1 })
  })

  test('can be followed by another one', () => {
    const match = matchWith({ home: 1, away: 0 }, 'finished')
    expect(correctResult(match, fixedRandom(0.1, 0.1, 0))).toBe(1)
    expect(match.final).toBe(false)
  })
})

test.each([
  [2, 1, 'home'],
  [1, 2, 'away'],
  [0, 0, 'draw'],
] as const)('the result of %i:%i is %s', (home, away, result) => {
  expect(resultOf(matchWith({ home, away }))).toBe(result)
})
