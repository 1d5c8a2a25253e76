import { describe, expect, test } from 'vitest'
import { chaosOf } from '../../../src/tools/simulator/chaos.js'
import { drawDelivery, drawDuplicateSteps } from '../../../src/tools/simulator/faults.js'
import { fixedRandom, seeded } from './objects.js'

describe('the fate of a request', () => {
  test.each([
    ['requestLost', [0], { mode: null, afterSteps: 0, platform: 'gives-up' }],
    ['answerLost', [0, 0.1], { mode: 'complete', afterSteps: 0, platform: 'misses-answer' }],
    ['answerLost', [0, 0.9], { mode: 'complete', afterSteps: 0, platform: 'gives-up' }],
    ['deliveredLate', [0, 0.5], { mode: 'complete', afterSteps: 16, platform: 'gives-up' }],
    ['disconnected', [0, 0.1], { mode: 'cut-after', afterSteps: 0, platform: 'misses-answer' }],
    ['disconnected', [0, 0.9], { mode: 'cut-within', afterSteps: 0, platform: 'misses-answer' }],
    ['delayed', [0, 0.5], { mode: 'complete', afterSteps: 3, platform: 'receives-answer' }],
  ] as const)('with %s and rolls of %j', (fault, rolls, expected) => {
    expect(drawDelivery(fixedRandom(...rolls), chaosOf({ [fault]: 0.9 }))).toEqual({ fault, ...expected })
  })

  test('without a fault is a complete delivery', () => {
    expect(drawDelivery(fixedRandom(0.95), chaosOf({ requestLost: 0.9 }))).toEqual({
      fault: null,
      mode: 'complete',
      afterSteps: 0,
      platform: 'receives-answer',
    })
  })

  test('has each fault with its probability, and at most one', () => {
    const random = seeded()
    const chaos = chaosOf({ requestLost: 0.1, answerLost: 0.2, deliveredLate: 0.3, disconnected: 0.1 })
    const counts: Record<string, number> = {}
    const draws = 20_000
    for (let draw = 0; draw < draws; draw += 1) {
      const fault = drawDelivery(random, chaos).fault ?? 'none'
      counts[fault] = (counts[fault] ?? 0) + 1
    }
    const expected = { requestLost: 0.1, answerLost: 0.2, deliveredLate: 0.3, disconnected: 0.1, none: 0.3 }
    for (const [fault, share] of Object.entries(expected))
      expect(Math.abs((counts[fault] ?? 0) / draws - share)).toBeLessThan(0.02)
  })

  test('of a duplicate is to be sent at once, or up to 255 steps later', () => {
    expect(drawDuplicateSteps(fixedRandom(0.4))).toBe(0)
    expect(drawDuplicateSteps(fixedRandom(0.6, 0))).toBe(1)
    expect(drawDuplicateSteps(fixedRandom(0.6, 0.9999))).toBe(255)
  })
})
