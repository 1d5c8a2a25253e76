import { describe, expect, it } from 'vitest'
import { Account } from '../../../src/tools/random/books.js'
import { Histogram } from '../../../src/tools/random/histogram.js'
import type { Reading } from '../../../src/tools/random/reading.js'
import { Timeline } from '../../../src/tools/random/timeline.js'
import { fault, openedAccount, refusal, success } from './objects.js'

const none = { failedCalls: 0, faultsInjected: 0, differences: 0 }
const noAnswer: Reading = { kind: 'no-answer', reason: 'timed out' }

const counted = { ...none, calls: 0, refusals: 0, latencyMs: null, balances: {} }

it('latencies of two histograms are those of both together', () => {
  const [one, other] = [new Histogram(), new Histogram()]
  one.record(1)
  for (const latency of [9, 9, 90]) other.record(latency)
  one.add(other)
  const { p50, p90, max } = one.latency() ?? { p50: 0, p90: 0, max: 0 }
  expect([Math.round(p50), Math.round(p90), max]).toEqual([9, 90, 90])
})

describe('a timeline', () => {
  const account = openedAccount()

  it('is empty before the first call', () => {
    expect(new Timeline([]).read()).toEqual({ partMs: 10, parts: [] })
  })

  it('counts calls, refusals and latencies in the part in which they end', () => {
    const timeline = new Timeline([account])
    timeline.record(3, account, success('90'), 2, none)
    timeline.record(9, account, refusal('INVALID_BET'), 4, none)
    timeline.record(25, account, noAnswer, 1_000, { ...none, failedCalls: 1 })
    timeline.record(29, account, fault(), 8, { failedCalls: 2, faultsInjected: 5, differences: 1 })
    timeline.count(31, { failedCalls: 2, faultsInjected: 5, differences: 3 })
    const { parts } = timeline.read()
    expect(parts).toEqual([
      {
        ...counted,
        ...{ calls: 2, refusals: 1, latencyMs: expect.objectContaining({ max: 4 }) },
        balances: { ann: '90.00' },
      },
      counted,
      {
        calls: 2,
        refusals: 0,
        failedCalls: 2,
        faultsInjected: 5,
        differences: 1,
        latencyMs: expect.objectContaining({ max: 8 }),
        balances: {},
      },
      { ...counted, differences: 2 },
    ])
  })

  it('keeps the last balance of each part, as exact text', () => {
    const timeline = new Timeline([account])
    for (const [at, balance] of [
      [1, '50'],
      [2, '7'],
      [4, '12345678901234567.895'],
      [15, '8'],
    ] as const)
      timeline.record(at, account, success(balance), 1, none)
    timeline.record(16, account, success(null), 1, none)
    expect(timeline.read().parts.map(({ balances }) => balances)).toEqual([
      { ann: '12345678901234567.895' },
      { ann: '8.00' },
    ])
  })

  it('of an hour has at most 240 parts, and loses no count and no maximum', () => {
    const timeline = new Timeline([account])
    const calls = 36_000
    for (let call = 0; call < calls; call += 1) {
      const latency = call === 10_000 ? 777 : 5
      timeline.record(call * 100, account, success('10'), latency, { ...none, faultsInjected: call })
    }
    const { partMs, parts } = timeline.read()
    expect(partMs).toBe(20_480)
    expect(parts.length).toBe(Math.ceil((calls * 100) / partMs))
    expect(parts.reduce((sum, part) => sum + part.calls, 0)).toBe(calls)
    expect(parts.reduce((sum, part) => sum + part.faultsInjected, 0)).toBe(calls - 1)
    expect(Math.max(...parts.map(part => part.latencyMs?.max ?? 0))).toBe(777)
    expect(parts[3]?.latencyMs?.p50).toBeCloseTo(5, 0)
    for (const { balances } of parts) expect(balances).toEqual({ ann: '10.00' })
  })

  it('jumps over a long pause', () => {
    const timeline = new Timeline([account])
    timeline.record(1, account, success('1'), 1, none)
    timeline.record(86_400_000, account, success('2'), 1, none)
    const { parts } = timeline.read()
    expect(parts.length).toBeLessThanOrEqual(240)
    expect([parts[0]?.calls, parts.at(-1)?.calls]).toEqual([1, 1])
  })

  it('keeps the balances of the first 50 players', () => {
    const accounts = Array.from({ length: 60 }, (_, index) => new Account(`p-${index}`, 's'))
    const timeline = new Timeline(accounts)
    for (const each of accounts) timeline.record(1, each, success('1'), 1, none)
    const { parts } = timeline.read()
    expect(parts[0]?.calls).toBe(60)
    expect(Object.keys(parts[0]?.balances ?? {})).toEqual(
      accounts.slice(0, 50).map(({ playerId }) => playerId),
    )
  })
})
