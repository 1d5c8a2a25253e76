import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { withTimeout } from '../src/timeout.js'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const never = new Promise<string>(() => {})

describe('given a promise that settles in time', () => {
  test('when it resolves, then its value is returned and the timer is cleared', async () => {
    expect(await withTimeout(Promise.resolve('done'), 1_000, () => 'late')).toBe('done')
    expect(vi.getTimerCount()).toBe(0)
  })

  test('when it rejects, then its error is thrown and the timer is cleared', async () => {
    const failing = withTimeout(Promise.reject(new Error('failed')), 1_000, () => 'late')
    await expect(failing).rejects.toThrow('failed')
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('given a promise that does not settle', () => {
  test('when the time is over, and not before, then the value of onTimeout is returned', async () => {
    const onTimeout = vi.fn(() => 'late')
    const waiting = withTimeout(never, 1_000, onTimeout)
    await vi.advanceTimersByTimeAsync(999)
    expect(onTimeout).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(await waiting).toBe('late')
  })

  test('when onTimeout throws, then its error is thrown', async () => {
    const waiting = withTimeout(never, 1_000, () => {
      throw new Error('timed out')
    })
    const thrown = expect(waiting).rejects.toThrow('timed out')
    await vi.advanceTimersByTimeAsync(1_000)
    await thrown
  })

  test('when it rejects after the timeout, then the rejection is handled', async () => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    let reject: (error: Error) => void = () => {}
    const late = new Promise<string>((_, fail) => {
      reject = fail
    })
    const waiting = withTimeout(late, 1_000, () => 'late')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await waiting).toBe('late')
    reject(new Error('too late'))
    vi.useRealTimers()
    await new Promise(resolve => setImmediate(resolve))
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })
})
