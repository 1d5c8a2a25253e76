/** The last reading of the durability, the requirement, and what is logged: with a clock and a server of its own. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { QueryFailed } from '../../../src/stores/database/deadline.js'
import {
  DurabilityGauge,
  type DurabilityLevel,
  type GaugeSettings,
} from '../../../src/stores/database/durability.js'
import { storeError } from '../../../src/stores/postgres/errors.js'

const warnings = () => vi.mocked(process.emitWarning).mock.calls.map(([text]) => String(text))
beforeEach(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterEach(() => vi.restoreAllMocks())

function open(settings: Partial<GaugeSettings> = {}) {
  const server = { level: 'synchronous' as DurabilityLevel, asked: 0, time: 0, down: false }
  const gauge = new DurabilityGauge({
    async ask() {
      server.asked += 1
      if (server.down) throw storeError('UNAVAILABLE', 'The database is unavailable: ECONNREFUSED')
      return { level: server.level, reason: `the setting of ${server.level}` }
    },
    isRequired: true,
    makeError: storeError,
    now: () => server.time,
    ...settings,
  })
  return { server, gauge }
}

const codeAndSent = (error: QueryFailed) => ({ error, code: (error.cause as { code: string }).code })

describe('given a level that is not required', () => {
  test('when work is guarded, then it is the same function, and the server is not asked', async () => {
    const { server, gauge } = open({ isRequired: false })
    const work = async () => 'done'
    expect(gauge.guarded(work, true)).toBe(work)
    server.level = 'alone'
    await gauge.read()
    expect(() => gauge.mustHold()).not.toThrow()
    expect(gauge.last).toEqual({ level: 'alone', reason: 'the setting of alone' })
  })

  test('when the level changes, then each change is one warning with its consequence', async () => {
    const { server, gauge } = open({ isRequired: false })
    expect(gauge.last).toBeNull()
    await gauge.read()
    expect(warnings()).toEqual([])
    for (const level of ['asynchronous', 'asynchronous', 'alone', 'synchronous', 'synchronous'] as const) {
      server.level = level
      await gauge.read()
    }
    const page = 'See bet-wallet/docs/operations.md#durability'
    expect(warnings()).toEqual([
      `Durability is asynchronous, and was synchronous: the setting of asynchronous. A failover may lose the last answered transactions. ${page}`,
      `Durability is alone, and was asynchronous: the setting of alone. The loss of this server loses answered transactions. ${page}`,
      `Durability is synchronous, and was alone: the setting of synchronous. An answered transaction is on another server too. ${page}`,
    ])
    expect(vi.mocked(process.emitWarning).mock.calls.map(([, type]) => type)).toEqual(
      Array(3).fill('BetWalletWarning'),
    )
  })

  test.each<[DurabilityLevel, boolean, number]>([
    ['alone', false, 0],
    ['synchronous', false, 0],
    ['asynchronous', false, 1],
    ['alone', true, 1],
    ['asynchronous', true, 1],
    ['synchronous', true, 0],
  ])(
    'when the first reading is %s (required: %s), then there are %i warnings',
    async (level, isRequired, n) => {
      const { server, gauge } = open({ isRequired })
      server.level = level
      await gauge.read()
      await gauge.read()
      expect(warnings()).toHaveLength(n)
      for (const warning of warnings()) expect(warning).toMatch(`Durability is ${level}: the setting`)
      if (isRequired)
        for (const warning of warnings()) expect(warning).toMatch('Calls are answered 503 until')
    },
  )
})

describe('given a level that is required', () => {
  test('when work comes within a second, then it shares one reading; after that the next one is read', async () => {
    const { server, gauge } = open()
    const work = gauge.guarded(async (n: number) => n, true)
    expect(await Promise.all([work(1), work(2), work(3)])).toEqual([1, 2, 3])
    expect(server.asked).toBe(1)
    server.time = 1_000
    await work(4)
    expect(server.asked).toBe(1)
    server.time = 1_001
    await work(5)
    expect(server.asked).toBe(2)
  })

  test('when it does not hold, then no work is done; when it holds again, then it is', async () => {
    const { server, gauge } = open()
    server.level = 'asynchronous'
    const done = vi.fn(async () => 'done')
    const work = gauge.guarded(done, true)
    const { error, code } = await work().then(() => expect.unreachable(), codeAndSent)
    expect(error).toBeInstanceOf(QueryFailed)
    expect({ sent: error.sent, code }).toEqual({ sent: false, code: 'UNAVAILABLE' })
    expect((error.cause as Error).message).toContain(
      "requireDurability is 'synchronous', and the durability is asynchronous: the setting of asynchronous",
    )
    expect(() => gauge.mustHold()).toThrow('asynchronous: the setting of asynchronous')
    expect(done).not.toHaveBeenCalled()
    server.level = 'synchronous'
    server.time = 1_001
    expect(await work()).toBe('done')
    expect(() => gauge.mustHold()).not.toThrow()
  })

  test.each([
    [true, 'a commit: its outcome is unknown'],
    [false, 'a read: it is unavailable'],
  ])('when it is lost while work waits (%s: %s), then its result is not answered', async commits => {
    const { server, gauge } = open()
    const work = gauge.guarded(async () => {
      // The wait for the standby, which the server gives up.
      server.time = 5_000
      server.level = 'alone'
    }, commits)
    const { error, code } = await work().then(() => expect.unreachable(), codeAndSent)
    expect({ sent: error.sent, code }).toEqual({ sent: commits, code: 'UNAVAILABLE' })
  })

  test('when the server cannot be asked, then nothing is done, and the last reading stays', async () => {
    const { server, gauge } = open()
    await gauge.read()
    server.down = true
    server.time = 1_001
    const work = gauge.guarded(async () => 'done', true)
    const { error, code } = await work().then(() => expect.unreachable(), codeAndSent)
    expect({ sent: error.sent, code }).toEqual({ sent: false, code: 'UNAVAILABLE' })
    expect(gauge.last?.level).toBe('synchronous')
  })
})

test('a slow answer does not replace a newer one', async () => {
  const answers: ((level: DurabilityLevel) => void)[] = []
  const ask = () =>
    new Promise<{ level: DurabilityLevel; reason: string }>(resolve =>
      answers.push(level => resolve({ level, reason: '' })),
    )
  const { server, gauge } = open({ ask })
  const slow = gauge.read()
  server.time = 1
  const newer = gauge.read()
  answers[1]?.('alone')
  await newer
  answers[0]?.('synchronous')
  await slow
  expect(gauge.last?.level).toBe('alone')
})
