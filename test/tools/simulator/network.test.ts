/** Fault injection in the network, one fault at a time. */
import { describe, expect, test } from 'vitest'
import { createRandom } from '../../../src/tools/numbers/random.js'
import type { Transaction } from '../../../src/tools/simulator/books.js'
import { createAccount, createBet } from '../../../src/tools/simulator/books.js'
import { type Chaos, chaosOf } from '../../../src/tools/simulator/chaos.js'
import { Judge } from '../../../src/tools/simulator/judge.js'
import { Network, type NetworkSettings } from '../../../src/tools/simulator/network.js'
import type { Reading } from '../../../src/tools/simulator/reading.js'

const success: Reading = { kind: 'success', status: 200, balance: null, currency: null, reference: null }
const unanswered: Reading = { kind: 'no-answer', reason: 'ECONNREFUSED' }

function transaction(): Transaction {
  const account = createAccount('ann', 'session')
  const bet = createBet('b', account, 1n)
  const content = { transactionId: 't', amount: 1n, type: null, body: '', recovered: 0n, low: 0n, high: 0n }
  return { operation: 'placebet', account, bet, ...content, sentAt: 0, first: null, faults: 0 }
}

/**
 * Attempts transactions one after the other, and logs the requests and the platform's readings with their
 * steps.
 */
function play(
  chaos: Partial<Chaos>,
  attempts: number,
  { chaosEnded = false, ...further }: Partial<NetworkSettings> & { chaosEnded?: boolean } = {},
) {
  const log: string[] = []
  let [gaveUp, now] = [0, 0]
  const later: (() => void)[] = []
  const network = new Network({
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
    judge: new Judge({ differencesMax: 1, step: () => 0, onDifference: () => {} }),
    post(_, mode, onReading) {
      log.push(`${mode} at ${network.step}`)
      later.push(() => onReading(success))
    },
    onIdle: () => false,
    onDrained: () => {},
    onGivenUp: () => {
      gaveUp += 1
    },
    onAnswered: () => {},
    onError(error) {
      throw error
    },
    ...further,
  })
  network.setChaos(chaosOf(chaos))
  if (chaosEnded) network.setChaos(null)
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    network.attempt(transaction(), reading =>
      log.push(`reads ${reading?.kind ?? 'nothing'} at ${network.step}`),
    )
  }
  network.sendDue()
  for (let next = later.shift(); next !== undefined; next = later.shift()) next()
  return { log, network, gaveUp: () => gaveUp, now: () => now }
}

const kinds = (log: readonly string[]) => log.map(entry => entry.replace(/ at .*/, ''))
const stepsOf = (log: readonly string[], kind: string) =>
  log.filter(entry => entry.startsWith(kind)).map(entry => Number(entry.split(' at ')[1]))

describe('a request', () => {
  test('is sent once and answered, without chaos and after it', () => {
    expect(play({}, 2).log).toEqual(Array(2).fill(['complete at 0', 'reads success at 0']).flat())
    const { network, log } = play({ requestLost: 0.5, disconnected: 0.4, duplicated: 1 }, 50, {
      chaosEnded: true,
    })
    expect(kinds(log)).toEqual(Array(50).fill(['complete', 'reads success']).flat())
    expect(network.happens('duplicated')).toBe(false)
    expect(Object.values(network.faultsInjected).every(times => times === 0)).toBe(true)
  })

  test('is lost (requestLost)', () => {
    const { log, network } = play({ requestLost: 0.9 }, 100)
    const { requestLost } = network.faultsInjected
    expect(requestLost).toBeGreaterThan(70)
    expect(log.filter(entry => entry.startsWith('reads nothing'))).toHaveLength(requestLost)
    expect(log.filter(entry => entry.startsWith('complete'))).toHaveLength(100 - requestLost)
  })

  test('loses its answer (answerLost)', () => {
    const { log, network } = play({ answerLost: 0.9 }, 100)
    expect(log.filter(entry => entry.startsWith('complete'))).toHaveLength(100)
    expect(log.filter(entry => entry.startsWith('reads nothing'))).toHaveLength(
      network.faultsInjected.answerLost,
    )
    expect(network.faultsInjected.answerLost).toBeGreaterThan(70)
  })

  test('arrives after the platform has given up (deliveredLate)', () => {
    const { log, network } = play({ deliveredLate: 0.9 }, 100)
    expect(stepsOf(log, 'reads nothing')).toEqual(Array(network.faultsInjected.deliveredLate).fill(0))
    expect(log.filter(entry => entry.startsWith('complete'))).toHaveLength(100)
    expect(Math.max(...stepsOf(log, 'complete'))).toBeGreaterThan(64)
  })

  test('is held back, and its answer is received (delayed)', () => {
    const { log, network } = play({ delayed: 1 }, 100)
    expect(network.faultsInjected.delayed).toBe(100)
    expect(new Set(stepsOf(log, 'reads success'))).toEqual(new Set([1, 2, 3, 4]))
  })

  test('is cut, after its last byte or within it (disconnected)', () => {
    const { log, network } = play({ disconnected: 0.9 }, 100)
    const cut = log.filter(entry => entry.startsWith('cut'))
    expect(cut).toHaveLength(network.faultsInjected.disconnected)
    expect(new Set(kinds(cut))).toEqual(new Set(['cut-after', 'cut-within']))
  })

  test('is sent twice, at once or later, and its answer is received once (duplicated)', () => {
    const { log } = play({ duplicated: 1 }, 100)
    expect(log.filter(entry => entry.startsWith('complete'))).toHaveLength(200)
    expect(log.filter(entry => entry.startsWith('reads success'))).toHaveLength(100)
    expect(Math.max(...stepsOf(log, 'complete'))).toBeGreaterThan(64)
  })
})

describe('a wallet that does not answer', () => {
  test('is retried with growing pauses, and given up after giveUpAfterMs', async () => {
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
      post(_, __, onReading) {
        queueMicrotask(() => {
          onReading(unanswered)
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
