import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

/** Every report so far: the message without its stack, and the name of the warning. */
function reports(): [message: string, name: string][] {
  return vi
    .mocked(process.emitWarning)
    .mock.calls.map(([message, name]) => [String(message).split('\n', 1)[0] ?? '', String(name)])
}

const afterRejections = () => new Promise(resolve => setImmediate(resolve))

let notify: (hook: string, call: () => unknown) => void

beforeEach(async () => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  vi.resetModules() // as in a new process: nothing is reported yet
  notify = (await import('../src/notify.js')).notify
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

  test('when two hooks throw, then each of them is reported', () => {
    for (const hook of ['onOutcome', 'onError', 'onOutcome']) {
      notify(hook, () => {
        throw new Error(hook)
      })
    }
    expect(reports().map(([message]) => message.split(' ', 1)[0])).toEqual(['onOutcome', 'onError'])
  })

  test.each<[string, unknown, string]>([
    ['text', 'full', 'full'],
    ['undefined', undefined, 'undefined'],
    ['an error without a stack', Object.assign(new Error('full'), { stack: undefined }), 'full'],
    ['an object without a prototype', Object.create(null), '[unprintable value]'],
    [
      'an error whose stack throws',
      Object.defineProperty(new Error('full'), 'stack', {
        get() {
          throw new Error('no stack')
        },
      }),
      'full',
    ],
  ])('when it throws %s, then that is reported as text', (_what, thrown, text) => {
    notify('onOutcome', () => {
      throw thrown
    })
    expect(reports()).toEqual([
      [`onOutcome threw; its errors are ignored (reported once): ${text}`, 'BetWalletWarning'],
    ])
  })
})
