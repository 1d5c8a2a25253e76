import { expect, test } from 'vitest'
import { type BetScenario, createScenarioMix, mistakeOf } from '../../../src/tools/simulator/bet-scenarios.js'
import { openedAccount, seeded } from './objects.js'

test('a mix has every scenario, and the next one has as many of each', () => {
  const nextScenario = createScenarioMix(seeded())
  const mixes = [0, 1].map(() => {
    const counts = new Map<BetScenario, number>()
    for (let card = 0; card < 90; card += 1) {
      const scenario = nextScenario()
      counts.set(scenario, (counts.get(scenario) ?? 0) + 1)
    }
    return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
  })
  expect(mixes[1]).toEqual(mixes[0])
  expect(Object.keys(mixes[0] ?? {})).toHaveLength(11)
})

test.each(['payouts', 'part-void', 'voids', 'cancelled', 'part-cash-out', 'spent'] as const)(
  'the parts of %s are the stake, in whole minor units',
  scenario => {
    const account = openedAccount('100.0005')
    for (const stake of [100n, 200n, 1000_00n, 1234_00n]) {
      const slices = mistakeOf(scenario, stake, [{ odds: 233 }], account)?.flat() ?? []
      expect(slices.reduce((sum, { part }) => sum + part, 0n)).toBe(stake)
      for (const { gross, part } of slices) {
        expect([gross % account.step, part % account.step]).toEqual([0n, 0n])
        expect(gross).toBeGreaterThanOrEqual(0n)
      }
    }
  },
)

test.each(['plain', 'burst', 'other-currency', 'lost-answer', 'early-rollback'] as const)(
  '%s is settled by the results',
  scenario => {
    expect(mistakeOf(scenario, 100n, [{ odds: 233 }], openedAccount())).toBeNull()
  },
)
