import { describe, expect, test } from 'vitest'
import { backOffMs, Pacing, type PacingSettings } from '../../../src/tools/simulator/pacing.js'

/** A pacing with a clock that the test sets, and the pauses that it asked for. */
function newPacing(settings: Partial<PacingSettings> = {}) {
  const timers: { milliseconds: number; run: () => void }[] = []
  const clock = { time: 0, now: () => clock.time }
  let resumed = 0
  const pacing = new Pacing({
    ratePerSecond: null,
    backOffMsMax: 1_000,
    giveUpAfterMs: 60_000,
    clock,
    after: (milliseconds, run) => timers.push({ milliseconds, run }),
    onResume: () => {
      resumed += 1
    },
    ...settings,
  })
  const waits = () => timers.map(({ milliseconds }) => milliseconds)
  return { clock, pacing, resumed: () => resumed, timers, waits }
}

test('the back-off doubles from 10 ms up to its limit', () => {
  expect([1, 2, 3, 10, 1_000].map(failures => backOffMs(failures, 1_000))).toEqual([10, 20, 40, 1_000, 1_000])
  expect(backOffMs(5, 0)).toBe(0)
})

describe('requests without an answer', () => {
  test('pause the next request, once, until the timer fires', () => {
    const { pacing, resumed, timers, waits } = newPacing()
    expect([pacing.failed(0), pacing.failed(0)]).toEqual([false, false])
    expect([pacing.paused, pacing.failures, waits()]).toEqual([true, 2, [10]])
    timers[0]?.run()
    expect([pacing.paused, resumed()]).toEqual([false, 1])
  })

  test('are forgotten with the next answer', () => {
    const { clock, pacing } = newPacing({ giveUpAfterMs: 100 })
    pacing.failed(0)
    pacing.answered()
    clock.time = 1_000
    expect(pacing.failed(950)).toBe(false)
    expect(pacing.failures).toBe(1)
  })

  test('are given up after the limit, counted from the first of them', () => {
    const { clock, pacing } = newPacing({ giveUpAfterMs: 100 })
    clock.time = 90
    expect(pacing.failed(10)).toBe(false)
    clock.time = 111
    expect(pacing.failed(100)).toBe(true)
  })

  test('do not pause with a back-off of 0', () => {
    const { pacing, waits } = newPacing({ backOffMsMax: 0 })
    pacing.failed(0)
    expect([pacing.paused, waits()]).toEqual([false, []])
  })
})

describe('a request rate', () => {
  test('allows a request when it is due, and resumes by a timer', () => {
    const { clock, pacing, waits } = newPacing({ ratePerSecond: 100 })
    expect(pacing.mayRequest()).toBe(true)
    pacing.sent()
    expect(pacing.mayRequest()).toBe(false)
    expect(waits()).toEqual([10])
    clock.time = 10
    expect(pacing.mayRequest()).toBe(true)
  })

  test('does not make up for a long pause in one burst', () => {
    // Given a rate of 100 per second, and a second without requests
    const { clock, pacing } = newPacing({ ratePerSecond: 100 })
    clock.time = 1_000
    // When requests are sent as fast as they are allowed
    let burst = 0
    for (; pacing.mayRequest() && burst < 1_000; burst += 1) pacing.sent()
    // Then it is one request, and not a hundred
    expect(burst).toBe(1)
  })
})
