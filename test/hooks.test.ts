/** The calls of hooks. test/programs/hooks plays every hook of the library in processes of their own. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type * as hooks from '../src/hooks.js'
import { thrownValues } from './programs/hooks/values.js'

/** Every report so far: the message without its stack, and the name of the warning. */
function reports(): [message: string, name: string][] {
  return vi
    .mocked(process.emitWarning)
    .mock.calls.map(([message, name]) => [String(message).split('\n', 1)[0] ?? '', String(name)])
}

const afterRejections = () => new Promise(resolve => setImmediate(resolve))

let notify: typeof hooks.notify
let callHook: typeof hooks.callHook

beforeEach(async () => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  vi.resetModules() // as in a new process: nothing is reported yet
  ;({ notify, callHook } = await import('../src/hooks.js'))
})
afterEach(() => vi.restoreAllMocks())

describe('given a hook that only listens', () => {
  test('when it succeeds, then nothing is reported, whatever it returns', async () => {
    for (const result of [undefined, null, false, new Error('returned, not thrown'), Promise.resolve(1)]) {
      const hook = vi.fn(() => result)
      notify('onOutcome', hook)
      expect(hook).toHaveBeenCalledExactlyOnceWith()
    }
    await afterRejections()
    expect(reports()).toEqual([])
  })

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('the log is full')
      },
    ],
    ['rejects', () => Promise.reject(new Error('the log is full'))],
  ])(
    'when it %s again and again, then the first error is reported as a warning, once',
    async (_how, hook) => {
      for (let call = 0; call < 3; call += 1) {
        expect(notify('onOutcome', hook)).toBeUndefined()
        await afterRejections()
      }
      expect(reports()).toEqual([
        [
          'onOutcome threw; its errors are ignored (reported once): Error: the log is full',
          'BetWalletWarning',
        ],
      ])
    },
  )

  test('when an error is reported, then the report has its stack', () => {
    const error = new Error('the log is full')
    notify('onError', () => {
      throw error
    })
    expect(vi.mocked(process.emitWarning).mock.calls[0]?.[0]).toContain(error.stack)
  })

  test('when its text has invisible characters, then they are reported as escapes', () => {
    notify('onError', () => {
      throw new Error('full\u009b2J\u202e')
    })
    expect(reports()[0]?.[0]).toMatch(/: Error: full\\u009b2J\\u202e$/)
  })

  test('when two hooks throw, then each of them is reported', () => {
    for (const hook of ['onOutcome', 'onError', 'onOutcome']) {
      notify(hook, () => {
        throw new Error(hook)
      })
    }
    expect(reports().map(([message]) => message.split(' ', 1)[0])).toEqual(['onOutcome', 'onError'])
  })

  test.each(Object.entries(thrownValues))('when it throws %s, then that is reported as text', (_, value) => {
    notify('onOutcome', () => {
      throw value()
    })
    const [[message]] = reports() as [[string, string]]
    expect(message).toMatch(/^onOutcome threw; its errors are ignored \(reported once\): ./)
  })
})

describe('given a hook whose result is needed at once', () => {
  test('when it returns, then that is the result', () => {
    expect(callHook('minorUnits', () => 2)).toBe(2)
    expect(callHook('minorUnits', () => undefined)).toBeUndefined()
  })

  test('when it throws, then that is a fault', () => {
    const cause = new Error('no table')
    const call = () =>
      callHook('minorUnits', () => {
        throw cause
      })
    expect(call).toThrow(expect.objectContaining({ code: 'HOOK_FAILED', message: 'minorUnits threw', cause }))
  })

  test.each([
    ['resolves', async () => 2],
    ['rejects', () => Promise.reject(new Error('no table'))],
  ])('when it returns a promise that %s, then that is a fault of its own', async (_, hook) => {
    expect(() => callHook('minorUnits', hook)).toThrow(
      expect.objectContaining({
        code: 'HOOK_FAILED',
        message: 'minorUnits must not be async: it returned a promise',
      }),
    )
    await afterRejections()
  })
})
