import { expect, test } from 'vitest'
import { type Course, createDeck, mistakeOf } from '../../../src/tools/simulator/courses.js'
import { openedAccount, seeded } from './objects.js'

test('a deck has every course, and the next one has as many of each', () => {
  const deal = createDeck(seeded())
  const decks = [0, 1].map(() => {
    const counts = new Map<Course, number>()
    for (let card = 0; card < 90; card += 1) {
      const course = deal()
      counts.set(course, (counts.get(course) ?? 0) + 1)
    }
    return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
  })
  expect(decks[1]).toEqual(decks[0])
  expect(Object.keys(decks[0] ?? {})).toHaveLength(11)
})

test.each(['payouts', 'part-void', 'voids', 'cancelled', 'part-cash-out', 'spent'] as const)(
  'the parts of %s are the stake, in whole minor units',
  course => {
    const account = openedAccount('100.0005')
    for (const stake of [100n, 200n, 1000_00n, 1234_00n]) {
      const slices = mistakeOf(course, stake, [{ odds: 233 }], account)?.flat() ?? []
      expect(slices.reduce((sum, { part }) => sum + part, 0n)).toBe(stake)
      for (const { gross, part } of slices) {
        expect([gross % account.step, part % account.step]).toEqual([0n, 0n])
        expect(gross).toBeGreaterThanOrEqual(0n)
      }
    }
  },
)

test.each(['plain', 'burst', 'other-currency', 'lost-answer', 'impatient'] as const)(
  '%s is settled by the results',
  course => {
    expect(mistakeOf(course, 100n, [{ odds: 233 }], openedAccount())).toBeNull()
  },
)
