/**
 * The default of onError: what an operator reads when something fails, and how much of it.
 *
 * @vitest-environment-options {"process":"fault-log"}
 */
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createHttpHandler } from '../../src/http/index.js'
import { createFaultLog } from '../../src/http/log.js'
import { WalletError } from '../../src/index.js'
import type { WalletStore } from '../../src/store.js'
import { createPostgresStore } from '../../src/stores/postgres/index.js'
import { anna, placeBetRequest } from './calls.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const request = placeBetRequest()

function stage() {
  const lines: string[] = []
  return { lines, log: createFaultLog(line => void lines.push(line)) }
}

/** A fault as a handler throws it. */
function fault(code: WalletError['code'], n: number, cause?: unknown): WalletError {
  const error = new WalletError(code, 'commit failed', cause === undefined ? {} : { cause })
  error.call = { operation: 'placebet', transactionId: `t-${n}`, betId: `b-${n}`, playerId: 'anna' }
  return error
}

const refusedConnection = () =>
  Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' })

/** The lines of a wallet over this store, without onError. */
async function linesOf(store: Partial<WalletStore>, calls = 1, options = {}): Promise<string[]> {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const handle = createHttpHandler({ ...anna(), ...store }, { authenticate: () => true, ...options })
  for (let call = 0; call < calls; call += 1) await handle(placeBetRequest())
  const lines = log.mock.calls.map(args => {
    expect(args).toHaveLength(1)
    return String(args[0])
  })
  log.mockRestore()
  return lines
}

test('given ids with invisible characters and a path with a query, then the log shows the first and not the second', () => {
  const { lines, log } = stage()
  const error = fault('COMMIT_UNKNOWN', 1)
  error.call = { operation: 'placebet', transactionId: 't\u202e1', betId: 'b\u200b1', playerId: 'anna' }
  log(error, request)
  log(new Error('no pool'), { ...request, path: '/placebet?token=secret' })
  expect(lines[0]).toContain('transactionId="t\\u202e1" betId="b\\u200b1" playerId="anna"')
  expect(lines[1]).toMatch(/^bet-wallet: POST \/placebet: /)
})

describe('given a console that throws', () => {
  test.each([1, 2])('on line %d, then no call and no timer fails, and later lines are written', failing => {
    const lines: string[] = []
    let written = 0
    const log = createFaultLog(line => {
      written += 1
      if (written === failing) throw new Error('EPIPE')
      lines.push(line)
    })
    log(fault('UNAVAILABLE', 1), request)
    log(fault('UNAVAILABLE', 2), request)
    vi.advanceTimersByTime(10_000)
    log(fault('UNAVAILABLE', 3), request)
    vi.advanceTimersByTime(10_000)
    expect(written).toBe(3)
    expect(lines).toHaveLength(2)
  })
})

describe('a fault', () => {
  test('is one line with operation, ids, code and cause', async () => {
    const cause = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    expect(await linesOf({ commit: () => Promise.reject(cause) })).toEqual([
      'bet-wallet: placebet transactionId="t-1" betId="b-1" playerId="anna": ' +
        'COMMIT_UNKNOWN: commit failed and its transaction is not recorded; cause: ECONNRESET: read ECONNRESET',
    ])
  })

  test('has the cause why a store is unavailable: a server that does not listen', async () => {
    const pool = new pg.Pool({ connectionString: 'postgres://127.0.0.1:1/x' })
    const [line, ...others] = await linesOf(createPostgresStore(pool), 3)
    expect(others).toEqual([])
    expect(line).toMatch(
      /^bet-wallet: placebet transactionId="t-1" .*: UNAVAILABLE: .*; cause: ECONNREFUSED: connect ECONNREFUSED 127\.0\.0\.1:1$/,
    )
    await pool.end()
  })

  test('of a hook names the place where it was thrown', async () => {
    const authorizeRequest = () => {
      throw new TypeError('limits is not a function')
    }
    const [line = '', ...others] = await linesOf({}, 1, { authorizeRequest })
    expect(others).toEqual([])
    expect(line).toMatch(/HOOK_FAILED: .*; cause: TypeError: limits is not a function \(at .*fault-log\.test/)
    expect(line).not.toContain('\n')
  })

  test('outside of the handlers has the method and the path', async () => {
    const authenticate = () => Promise.reject(new Error('the directory is down'))
    const [line] = await linesOf({}, 1, { authenticate })
    expect(line).toMatch(/^bet-wallet: POST \/placebet: Error: the directory is down \(at /)
  })

  test('has all of its causes, to a limit', () => {
    const { lines, log } = stage()
    const both = new AggregateError([refusedConnection(), new Error('the follow-up')])
    log(fault('COMMIT_UNKNOWN', 1, both), request)
    expect(lines[0]).toMatch(/; cause: AggregateError; cause: ECONNREFUSED: .*; cause: Error: the follow-up/)
    const circle = new Error('a circle')
    circle.cause = circle
    log(circle, request)
    expect(lines[1]).toMatch(/POST \/placebet: Error: a circle \(at/)
  })

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['a text', 'no'],
    ['an object without prototype', Object.create(null)],
    ['an error with a stack of numbers', Object.assign(new Error('x'), { stack: 5 })],
    [
      'a getter that throws',
      Object.defineProperty({}, 'message', {
        get() {
          throw new Error('hidden')
        },
      }),
    ],
  ])('may be anything: %s', (_, thrown) => {
    const { lines, log } = stage()
    log(thrown, undefined as never)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^bet-wallet: [^\n]*$/)
  })

  test('stays on one line, of limited length, whatever a caller sends', () => {
    const { lines, log } = stage()
    const evil = `\nbet-wallet: forged\u2028\u0085${'x'.repeat(9_000)}`
    log(Object.assign(new Error(evil), { code: evil }), { ...request, path: evil, method: evil })
    expect(lines[0]).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
    expect(lines[0]?.length).toBeLessThan(2_000)
  })
})

describe('repeated faults', () => {
  test('are counted: a database that is down prints two lines in ten seconds', () => {
    const { lines, log } = stage()
    for (let n = 1; n <= 5_000; n += 1) log(fault('UNAVAILABLE', n, refusedConnection()), request)
    expect(lines).toHaveLength(1)
    vi.advanceTimersByTime(9_999)
    expect(lines).toHaveLength(1)
    vi.advanceTimersByTime(1)
    expect(lines).toEqual([
      expect.stringContaining('transactionId="t-1"'),
      'bet-wallet: 4999 more in 10 s, the last: placebet transactionId="t-5000" betId="b-5000" playerId="anna": ' +
        'UNAVAILABLE: commit failed; cause: ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:5432',
    ])
    expect(lines.join('')).not.toContain('    at ')
  })

  test('are counted until ten seconds are over without one; then the next is logged again', () => {
    const { lines, log } = stage()
    log(fault('UNAVAILABLE', 1), request)
    log(fault('UNAVAILABLE', 2), request)
    vi.advanceTimersByTime(10_000)
    log(fault('UNAVAILABLE', 3), request)
    expect(lines).toHaveLength(2)
    vi.advanceTimersByTime(10_000)
    expect(lines).toHaveLength(3)
    vi.advanceTimersByTime(10_000)
    expect([lines.length, vi.getTimerCount()]).toEqual([3, 0])
    log(fault('UNAVAILABLE', 4), request)
    expect(lines.at(-1)).toMatch(/^bet-wallet: placebet transactionId="t-4"/)
  })

  test('are told apart by code, cause and text without values', () => {
    const { lines, log } = stage()
    log(fault('UNAVAILABLE', 1), request)
    log(fault('COMMIT_UNKNOWN', 2), request)
    log(fault('COMMIT_UNKNOWN', 3, refusedConnection()), request)
    for (const value of ['"a"', '"b"', '7']) {
      log(new WalletError('STORE_CONTRACT', `snapshot.bet.stake must be decimal, but is ${value}`), request)
    }
    log(new WalletError('STORE_CONTRACT', 'load().player.balance must be decimal, but is "a"'), request)
    expect(lines).toHaveLength(5)
  })

  test('of more than twenty kinds count as one', () => {
    const { lines, log } = stage()
    for (let n = 0; n < 1_000; n += 1) {
      log(Object.assign(new Error('x'), { code: `E${String.fromCodePoint(1_000 + n)}` }), request)
    }
    expect(lines).toHaveLength(21)
    vi.advanceTimersByTime(10_000)
    expect(lines.at(-1)).toMatch(/^bet-wallet: 979 more in 10 s, the last: /)
  })

  test('do not keep the process alive', () => {
    vi.useRealTimers()
    const { log } = stage()
    const timers = vi.spyOn(globalThis, 'setTimeout')
    log(fault('UNAVAILABLE', 1), request)
    const timer = timers.mock.results[0]?.value as NodeJS.Timeout
    expect(timer.hasRef()).toBe(false)
    clearTimeout(timer)
    timers.mockRestore()
  })
})

test('when onError is given, then nothing is logged by default', async () => {
  expect(await linesOf({ commit: async () => ({ status: 'unavailable' }) }, 3, { onError() {} })).toEqual([])
})
