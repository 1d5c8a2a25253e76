/** Fault injection in the network, one fault at a time. */
import { describe, expect, test } from 'vitest'
import { createRandom } from '../../../src/tools/numbers/random.js'
import { type Chaos, chaosOf, drawDelivery, drawDuplicateSteps } from '../../../src/tools/random/chaos.js'
import type { FaultCommands } from '../../../src/tools/random/fault-commands.js'
import { Judge } from '../../../src/tools/random/judge.js'
import { Network } from '../../../src/tools/random/network.js'
import type { Reading } from '../../../src/tools/random/reading.js'
import { noCounts } from '../../../src/tools/random/tally.js'
import { fault, fixedRandom, newBet, openedAccount, seeded, success } from './objects.js'

const unanswered: Reading = { kind: 'no-answer', reason: 'ECONNREFUSED' }

function networkOf(answer: () => Reading, options: Partial<ConstructorParameters<typeof Network>[0]> = {}) {
  const clock = { time: 0, pauses: [] as number[] }
  const log: string[] = []
  const judge = new Judge({ differencesMax: 9, onDifference: () => {} }, noCounts())
  const network = new Network({
    ...{ concurrency: 1, ratePerSecond: null, backOffMsMax: 40, judge, faults: null },
    limitsFor: () => ({ faults: 60, milliseconds: 300 }),
    clock: {
      now: () => clock.time,
      date: () => clock.time,
      after(milliseconds, run) {
        clock.pauses.push(milliseconds)
        setImmediate(() => {
          clock.time += milliseconds
          run()
        })
      },
    },
    random: createRandom(1, 1),
    transport: {
      async post(_, mode) {
        log.push(mode)
        await new Promise(resolve => setImmediate(resolve))
        return answer()
      },
    },
    onAnswered() {},
    ...options,
  })
  return { network, log, clock, judge }
}

const placed = () => newBet(openedAccount(), 1n).placed

/** Sends a number of transactions once. */
async function play(chaos: Partial<Chaos>, turns: number) {
  const { network, log } = networkOf(() => success('99'))
  network.chaos = chaosOf(chaos)
  const received: string[] = []
  for (let turn = 0; turn < turns; turn += 1) {
    await network.turn(() =>
      network.start(network.once(placed()).then(answer => received.push(answer?.kind ?? 'nothing'))),
    )
  }
  await network.drained()
  const nothing = received.filter(kind => kind === 'nothing').length
  return { log, nothing, answers: received.length - nothing, injected: network.faultsInjected }
}

describe('a request', () => {
  test('is sent once and answered, without chaos', async () => {
    expect(await play({}, 2)).toMatchObject({ log: ['complete', 'complete'], answers: 2 })
  })

  test.each([
    ['requestLost', { requestLost: 0.9 }],
    ['answerLost', { answerLost: 0.9 }],
    ['deliveredLate', { deliveredLate: 0.9 }],
    ['disconnected', { disconnected: 0.9 }],
  ] as const)('has no answer that the platform receives: %s', async (name, chaos) => {
    const { log, nothing, injected } = await play(chaos, 100)
    expect(injected[name]).toBeGreaterThan(70)
    expect(nothing).toBe(injected[name])
    expect(log).toHaveLength(name === 'requestLost' ? 100 - injected[name] : 100)
    const cut = log.filter(mode => mode !== 'complete')
    expect(cut).toHaveLength(name === 'disconnected' ? injected[name] : 0)
    if (name === 'disconnected') expect(new Set(cut)).toEqual(new Set(['cut-after', 'cut-within']))
  })

  test.each([
    ['delayed', 100],
    ['duplicated', 200],
  ] as const)('is answered: %s', async (name, sent) => {
    const { log, answers, injected } = await play({ [name]: 1 }, 100)
    expect([injected[name], answers, log.length]).toEqual([100, 100, sent])
  })
})

describe('the fate of a request', () => {
  test.each([
    ['requestLost', [0], { mode: null, afterSteps: 0, platform: 'gives-up' }],
    ['answerLost', [0, 0.1], { mode: 'complete', afterSteps: 0, platform: 'misses-answer' }],
    ['answerLost', [0, 0.9], { mode: 'complete', afterSteps: 0, platform: 'gives-up' }],
    ['deliveredLate', [0, 0.5], { mode: 'complete', afterSteps: 16, platform: 'gives-up' }],
    ['disconnected', [0, 0.1], { mode: 'cut-after', afterSteps: 0, platform: 'misses-answer' }],
    ['disconnected', [0, 0.9], { mode: 'cut-within', afterSteps: 0, platform: 'misses-answer' }],
    ['delayed', [0, 0.5], { mode: 'complete', afterSteps: 3, platform: 'receives-answer' }],
  ] as const)('with %s and rolls of %j', (name, rolls, expected) => {
    expect(drawDelivery(fixedRandom(...rolls), chaosOf({ [name]: 0.9 }))).toEqual({
      fault: name,
      ...expected,
    })
  })

  test('has each fault with its probability, and at most one', () => {
    const random = seeded()
    const expected = { requestLost: 0.1, answerLost: 0.2, deliveredLate: 0.3, disconnected: 0.1 }
    const chaos = chaosOf(expected)
    const counts: Record<string, number> = {}
    const draws = 20_000
    for (let draw = 0; draw < draws; draw += 1) {
      const name = drawDelivery(random, chaos).fault ?? 'none'
      counts[name] = (counts[name] ?? 0) + 1
    }
    for (const [name, share] of Object.entries({ ...expected, none: 0.3 }))
      expect(Math.abs((counts[name] ?? 0) / draws - share)).toBeLessThan(0.02)
  })

  test('of a duplicate is to be sent at once, or up to 255 steps later', () => {
    expect(drawDuplicateSteps(fixedRandom(0.4))).toBe(0)
    expect(drawDuplicateSteps(fixedRandom(0.6, 0))).toBe(1)
    expect(drawDuplicateSteps(fixedRandom(0.6, 0.9999))).toBe(255)
  })
})

describe('a wallet that does not answer', () => {
  test('is retried with growing pauses, and given up after giveUpAfterMs', async () => {
    const { network, clock } = networkOf(() => unanswered)
    void network.untilAnswered(placed())
    await network.over
    expect(clock.pauses[0]).toBe(10)
    expect(Math.max(...clock.pauses)).toBe(40)
    expect(clock.time).toBeGreaterThan(300)
    expect(network.pending.size).toBe(1)
  })

  test('is asked with one request at a time', async () => {
    let [inFlight, most] = [0, 0]
    const transport = {
      async post(): Promise<Reading> {
        inFlight += 1
        if (clock.time > 0) most = Math.max(most, inFlight)
        await new Promise(resolve => setImmediate(resolve))
        inFlight -= 1
        return unanswered
      },
    }
    const { network, clock } = networkOf(() => unanswered, { concurrency: 8, transport })
    for (let sent = 0; sent < 8; sent += 1) void network.untilAnswered(placed())
    await network.over
    expect(most).toBe(1)
  })
})

test('a call that is always answered 5xx is given up, and reported', async () => {
  const { network, judge } = networkOf(() => fault(500), {
    limitsFor: () => ({ faults: 60, milliseconds: 1_000 }),
  })
  expect(await network.untilAnswered(placed())).toBeNull()
  expect(judge.differences).toMatchObject([
    { kind: 'unanswered', actual: '60 times no definite answer, the last one: 500' },
  ])
})

test('a call that the platform itself gives up is not sent again, and not reported', async () => {
  let isPointless = false
  const { network, log, judge } = networkOf(() => {
    isPointless = log.length === 3
    return fault(409, 'SETTLEMENT_NOT_FOUND')
  })
  const call = network.untilAnswered(placed(), () => isPointless)
  await network.drained()
  expect([await call, log.length, judge.differences]).toEqual([null, 3, []])
})

test.each([
  [null, 60_000],
  [90_000, 90_000],
])(
  'an early unsettlement is given up after a minute, with faults every %s ms not before the next',
  async (everyMs, limitMs) => {
    const faults = everyMs === null ? null : ({ everyMs } as FaultCommands)
    const { network, clock } = networkOf(() => fault(503, 'SETTLEMENT_NOT_FOUND'), {
      ...{ faults, backOffMsMax: 1_000 },
      limitsFor: () => ({ faults: 60, milliseconds: 150_000 }),
    })
    const call = network.untilAnswered(placed())
    await network.drained([call])
    expect(await call).toBeNull()
    expect(clock.time).toBeGreaterThanOrEqual(limitMs)
    expect(clock.time).toBeLessThan(limitMs + 2_000)
  },
)

test('an early unsettlement waits for moves and not for time, so that a run with one connection repeats', async () => {
  const { network, log, clock } = networkOf(() =>
    log.length < 3 ? fault(409, 'SETTLEMENT_NOT_FOUND') : success('99'),
  )
  network.chaos = chaosOf(0)
  network.start(network.untilAnswered(placed()))
  for (let move = 0; move < 6; move += 1) await network.turn(() => network.start(network.once(placed())))
  expect(clock.pauses).toEqual([])
  await network.drained()
})

test('an error in a part of the work ends the run', async () => {
  const { network } = networkOf(() => success('99'))
  network.start(Promise.reject(new Error('the hook')))
  await expect(network.over).rejects.toThrow('the hook')
})
