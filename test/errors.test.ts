import { describe, expect, test } from 'vitest'
import { isRetryable, WalletError, type WalletErrorCode } from '../src/errors.js'

const frames = (error: Error) => (error.stack ?? '').split('\n').filter(line => line.startsWith('    at '))

describe('given a fault that a load brings by the thousand', () => {
  test.each<WalletErrorCode>(['UNAVAILABLE', 'CONFLICT', 'DEADLINE_PASSED'])(
    'when its code is %s, then it has no stack trace, but its message and cause',
    code => {
      const limit = Error.stackTraceLimit
      const cause = new Error('the cause')
      const error = new WalletError(code, 'no changes were made', { cause })
      expect(frames(error)).toEqual([])
      expect(error).toMatchObject({ code, retryable: true, message: 'no changes were made', cause })
      expect(error.stack).toContain('no changes were made')
      expect(isRetryable(error)).toBe(true)
      expect(Error.stackTraceLimit).toBe(limit)
      expect(frames(new Error('any other')).length).toBeGreaterThan(0)
    },
  )

  test('when the built-in objects are frozen, then it is created all the same, with its stack trace', () => {
    const descriptor = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit') as PropertyDescriptor
    Object.defineProperty(Error, 'stackTraceLimit', { ...descriptor, writable: false })
    try {
      const error = new WalletError('UNAVAILABLE', 'no changes were made')
      expect(error).toMatchObject({ code: 'UNAVAILABLE', retryable: true })
      expect(frames(error).length).toBeGreaterThan(0)
    } finally {
      Object.defineProperty(Error, 'stackTraceLimit', descriptor)
    }
  })
})

test.each<WalletErrorCode>([
  'COMMIT_UNKNOWN',
  'AMOUNT_NOT_REPRESENTABLE',
  'LOAD_FAILED',
  'STORE_CONTRACT',
  'HOOK_FAILED',
  'INVALID_OPTIONS',
])('given the unexpected fault %s, then it has its stack trace', code => {
  expect(frames(new WalletError(code, 'unexpected')).length).toBeGreaterThan(0)
})
