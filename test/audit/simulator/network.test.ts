/** What the simulated network does to one call, each fault by itself. */
import { describe, expect, test } from 'vitest'
import { createRandom } from '../../../src/audit/random.js'
import type { Bet, Transaction } from '../../../src/audit/simulator/books.js'
import { createAccount } from '../../../src/audit/simulator/books.js'
import { type Chaos, chaosOf } from '../../../src/audit/simulator/chaos.js'
import { createJudge } from '../../../src/audit/simulator/judge.js'
import { createNetwork, type NetworkSettings } from '../../../src/audit/simulator/network.js'
import type { Reading } from '../../../src/audit/simulator/reading.js'

const success: Reading = { kind: 'success', status: 200, balance: null, currency: null, reference: null }
const broken: Reading = { kind: 'broken', reason: 'ECONNREFUSED' }

function transaction(): Transaction {
  const account = createAccount('ann', 'session')
  const bet: Bet = {
    betId: 'b',
    account,
    stake: 1n,
    placed: null,
    rollback: null,
    rolledBackAt: 0,
    state: 'placing',
    transactions: [],
  }
  const content = { transactionId: 't', amount: 1n, type: null, body: '', recovered: 0n, low: 0n, high: 0n }
  return { operation: 'placebet', account, bet, ...content, sentAt: 0, first: null, faults: 0 }
}

/** Sends calls one after the other, and tells what went out and what was heard, with the step. */
function play(
  chaos: Partial<Chaos>,
  calls: number,
  { healed = false, ...further }: Partial<NetworkSettings> & { healed?: boolean } = {},
) {
  const log: string[] = []
  let [gaveUp, now] = [0, 0]
  const later: (() => void)[] = []
  const network = createNetwork({
    concurrency: 1,
    ratePerSecond: null,
    backOffMsMax: 0,
    giveUpAfterMs: 100,
    clock: {
      now: () => now,
      date: () => now,
      after(milliseconds, run) {
        later.push(() => {
          now += milliseconds
          run()
        })
      },
    },
    random: createRandom(1, 1),
    judge: createJudge({ differencesMax: 1, step: () => 0, onDifference: () => {} }),
    post(_, sending, answered) {
      log.push(`${sending} at ${network.step}`)
      later.push(() => answered(success))
    },
    idle: () => false,
    done: () => {},
    gaveUp: () => {
      gaveUp += 1
    },
    answered: () => {},
    broke(error) {
      throw error
    },
    ...further,
  })
  network.disturb(chaosOf(chaos))
  if (healed) network.disturb(null)
  for (let call = 0; call < calls; call += 1) {
    network.attempt(transaction(), reading =>
      log.push(`heard ${reading?.kind ?? 'nothing'} at ${network.step}`),
    )
  }
  network.pump()
  for (let next = later.shift(); next !== undefined; next = later.shift()) next()
  return { log, network, gaveUp: () => gaveUp, now: () => now }
}

const kinds = (log: readonly string[]) => log.map(entry => entry.replace(/ at .*/, ''))
const stepsOf = (log: readonly string[], kind: string) =>
  log.filter(entry => entry.startsWith(kind)).map(entry => Number(entry.split(' at ')[1]))

describe('a call', () => {
  test('goes out once and is heard, without chaos and after it', () => {
    expect(play({}, 2).log).toEqual(Array(2).fill(['whole at 0', 'heard success at 0']).flat())
    const { network, log } = play({ requestLost: 0.5, disconnected: 0.4, duplicated: 1 }, 50, {
      healed: true,
    })
    expect(kinds(log)).toEqual(Array(50).fill(['whole', 'heard success']).flat())
    expect(network.happens('duplicated')).toBe(false)
    expect(Object.values(network.faultsInjected).every(times => times === 0)).toBe(true)
  })

  test('is lost on its way', () => {
    const { log, network } = play({ requestLost: 0.9 }, 100)
    const { requestLost } = network.faultsInjected
    expect(requestLost).toBeGreaterThan(70)
    expect(log.filter(entry => entry.startsWith('heard nothing'))).toHaveLength(requestLost)
    expect(log.filter(entry => entry.startsWith('whole'))).toHaveLength(100 - requestLost)
  })

  test('loses its answer', () => {
    const { log, network } = play({ answerLost: 0.9 }, 100)
    expect(log.filter(entry => entry.startsWith('whole'))).toHaveLength(100)
    expect(log.filter(entry => entry.startsWith('heard nothing'))).toHaveLength(
      network.faultsInjected.answerLost,
    )
    expect(network.faultsInjected.answerLost).toBeGreaterThan(70)
  })

  test('hangs until the platform has given up', () => {
    const { log, network } = play({ deliveredLate: 0.9 }, 100)
    expect(stepsOf(log, 'heard nothing')).toEqual(Array(network.faultsInjected.deliveredLate).fill(0))
    expect(log.filter(entry => entry.startsWith('whole'))).toHaveLength(100)
    expect(Math.max(...stepsOf(log, 'whole'))).toBeGreaterThan(64)
  })

  test('is held up, and heard when it comes', () => {
    const { log, network } = play({ delayed: 1 }, 100)
    expect(network.faultsInjected.delayed).toBe(100)
    expect(new Set(stepsOf(log, 'heard success'))).toEqual(new Set([1, 2, 3, 4]))
  })

  test('is cut, after it or within it', () => {
    const { log, network } = play({ disconnected: 0.9 }, 100)
    const cut = log.filter(entry => entry.startsWith('cut'))
    expect(cut).toHaveLength(network.faultsInjected.disconnected)
    expect(new Set(kinds(cut))).toEqual(new Set(['cut after', 'cut within']))
  })

  test('comes twice, at once or later, and is heard once', () => {
    const { log } = play({ duplicated: 1 }, 100)
    expect(log.filter(entry => entry.startsWith('whole'))).toHaveLength(200)
    expect(log.filter(entry => entry.startsWith('heard success'))).toHaveLength(100)
    expect(Math.max(...stepsOf(log, 'whole'))).toBeGreaterThan(64)
  })
})

describe('a wallet that does not answer', () => {
  test('is tried with growing pauses, and given up by patience', async () => {
    const waits: number[] = []
    let now = 0
    const later: (() => void)[] = []
    const { gaveUp } = play({}, 200, {
      backOffMsMax: 40,
      giveUpAfterMs: 300,
      clock: {
        now: () => now,
        date: () => now,
        after(milliseconds, run) {
          waits.push(milliseconds)
          now += milliseconds
          later.push(run)
        },
      },
      post(_, __, answered) {
        queueMicrotask(() => {
          answered(broken)
          for (let next = later.shift(); next !== undefined; next = later.shift()) next()
        })
      },
    })
    for (let turn = 0; turn < 2_000 && gaveUp() === 0; turn += 1) await Promise.resolve()
    expect(gaveUp()).toBe(1)
    expect(waits[0]).toBe(10)
    expect(waits).toEqual([...waits].sort((a, b) => a - b))
    expect(Math.max(...waits)).toBe(40)
  })
})
