import { describe, expect, test } from 'vitest'
import type { SettlementRequest } from '../../../src/requests.js'
import { settleDirectly } from '../../../src/tools/wire/settle.js'

const settlement: SettlementRequest = {
  transactionId: 's-1',
  betId: 'b-1',
  playerId: 'anna',
  type: 'BET_PAID',
  amount: '60.00',
  currency: 'EUR',
  transactionDate: '2026-11-21T18:00:00Z',
}

const unmasked = (text: string) => text

describe('given a settle command that hangs', () => {
  // The shell runs the last command itself, or waits for a process of its own, or ignores SIGTERM.
  test.each(['sleep 3600', 'sleep 3600; true', 'cat | (sleep 3600)', 'trap "" TERM; sleep 3600; true'])(
    'when its time is over (%s), then the outcome is unknown at once',
    async command => {
      const settled = await settleDirectly({ command }, settlement, 300, unmasked)
      expect(settled).toEqual({ kind: 'unknown', reason: 'not done within 300 ms' })
    },
  )
})

describe('given a settle command that ends', () => {
  test('when its exit code is 0, then the settlement is done, and it has read one line of JSON', async () => {
    const command = `node -e 'process.exit(JSON.parse(require("fs").readFileSync(0)).amount === 60 ? 0 : 1)'`
    expect(await settleDirectly({ command }, settlement, 30_000, unmasked)).toEqual({
      kind: 'done',
      answer: null,
    })
  })

  test('when its exit code is another one, then the outcome is unknown, with its last output', async () => {
    const settled = await settleDirectly(
      { command: 'echo no such bet >&2; exit 3' },
      settlement,
      30_000,
      unmasked,
    )
    expect(settled).toEqual({ kind: 'unknown', reason: 'the command ended with code 3: no such bet' })
  })
})

describe('given a settle function', () => {
  test.each([
    [undefined, { kind: 'done', answer: null }],
    [
      { ok: true, balance: '1.00' },
      { kind: 'done', answer: { ok: true, balance: '1.00' } },
    ],
    [
      { ok: false, errorCode: 'INVALID_BET' },
      { kind: 'refused', errorCode: 'INVALID_BET' },
    ],
  ])('when it returns %j, then that is the outcome', async (returned, outcome) => {
    expect(await settleDirectly(() => returned as never, settlement, 1_000, unmasked)).toEqual(outcome)
  })

  test.each([false, true, 'done', {}, { ok: 'yes' }])(
    'when it returns %j, then the outcome is unknown and the reason names the value',
    async returned => {
      const settled = await settleDirectly(() => returned as never, settlement, 1_000, unmasked)
      expect(settled).toMatchObject({
        kind: 'unknown',
        reason: expect.stringContaining('must return nothing'),
      })
    },
  )
})
