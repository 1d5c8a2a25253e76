/** Reordered and duplicated requests. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { amount, hook, initialPlayers, permissivePolicy, start } from '../../src/testing/arbitraries.js'
import type { Cents, HistoryStep, ModelRequest, SessionHook } from '../../src/testing/model.js'
import { toCents } from '../../src/testing/platform.js'
import { expectBalancesToAddUp, expectBetsToAddUp, sumOf } from './money.js'
import { runs, timeoutMs } from './runs.js'
import { openWallet, type Wallet } from './wallet.js'

const ann = { playerId: 'ann', currency: 'EUR' }

const callOf = (request: ModelRequest, hook: SessionHook = 'none'): HistoryStep => ({
  step: 'call',
  request,
  defect: 'none',
  fault: 'none',
  format: 'text',
  hook,
})

const moneyStep: fc.Arbitrary<HistoryStep> = fc.record({
  step: fc.constantFrom('deposit' as const, 'withdraw' as const),
  playerId: fc.constant('ann'),
  amount,
})

function netOf(wallet: Wallet, betId: string): Cents {
  return sumOf(wallet.memory.transactions().filter(one => one.betId === betId))
}

describe('a placebet and its rollback', () => {
  /** Copies of the requests for bet `x`, in any order, with deposits and withdrawals in between. */
  const deliveries = fc
    .record({
      stake: amount,
      sessionEnded: fc.constantFrom(false, false, false, true),
      // D1: some platforms reuse the id of the placebet for its rollback.
      rollbackId: fc.constantFrom('x-rollback', 'x-place'),
      placebets: fc.nat({ max: 3 }),
      rollbacks: fc.integer({ min: 1, max: 3 }),
      underAnotherId: fc.nat({ max: 1 }),
      external: fc.array(moneyStep, { maxLength: 3 }),
      hook,
    })
    .chain(({ stake, sessionEnded, rollbackId, placebets, rollbacks, underAnotherId, external, hook }) => {
      const ids = { transactionId: 'x-place', betId: 'x', ...ann }
      const place = callOf({ operation: 'placebet', ...ids, amount: stake, sessionEnded }, hook)
      const rollback = (transactionId: string) =>
        callOf({
          operation: 'rollbackbet',
          transactionId,
          betId: 'x',
          playerId: ann.playerId,
          type: 'TECHNICAL_ERROR',
        })
      const all = [
        ...Array<HistoryStep>(placebets).fill(place),
        ...Array<HistoryStep>(rollbacks).fill(rollback(rollbackId)),
        ...Array<HistoryStep>(underAnotherId).fill(rollback('x-rollback-2')),
        ...external,
      ]
      return fc.shuffledSubarray(all, { minLength: all.length })
    })

  // Seen red without the tombstone.
  test(
    'net to zero in any order and with any duplicates, and every rollback succeeds',
    () =>
      fc.assert(
        fc.asyncProperty(start, deliveries, async (before, steps) => {
          const wallet = openWallet(initialPlayers, permissivePolicy)
          for (const step of before) await wallet.perform(step)

          let rolledBack = false
          for (const step of steps) {
            const { answer } = await wallet.perform(step)
            if (step.step === 'call' && step.request.operation === 'rollbackbet') {
              expect(answer).toMatchObject({ ok: true })
              rolledBack = true
            }
            // From the first rollback on, and not only at the end.
            if (rolledBack) expect(netOf(wallet, 'x')).toBe(0n)
          }
          expect(rolledBack).toBe(true)
          expect(wallet.memory.bet('x')?.status).toBe('ROLLED_BACK')
          expectBalancesToAddUp(wallet.memory, initialPlayers, wallet.external)
          expectBetsToAddUp(wallet.memory)
        }),
        runs(600),
      ),
    timeoutMs,
  )
})

describe('a clawback', () => {
  /** Requests of the platform for the paid and voided bet `x`. */
  const requests = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        operation: fc.constant('settlement' as const),
        transactionId: fc.constantFrom('s1', 's2', 's3'),
        type: fc.constantFrom('BET_PAID' as const, 'VOIDED' as const),
      }),
    },
    {
      weight: 16,
      arbitrary: fc.record({
        operation: fc.constant('unsettlement' as const),
        transactionId: fc.constantFrom('u1', 'u2', 'u3', 'u4'),
        type: fc.constantFrom('UNSCORED' as const, 'UNVOIDED' as const),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        operation: fc.constant('rollbackbet' as const),
        transactionId: fc.constantFrom('r1', 'r2'),
        type: fc.constant('TECHNICAL_ERROR' as const),
      }),
    },
  )
  const amounts = fc.record({ s1: amount, s2: amount, s3: amount })
  const steps = fc.array(
    fc.oneof(
      { weight: 6, arbitrary: requests },
      { weight: 2, arbitrary: fc.constant('withdraw-all' as const) },
      { weight: 2, arbitrary: moneyStep },
    ),
    { minLength: 3, maxLength: 24, size: 'max' },
  )

  // Seen red with a credit that stays live after an uncollected clawback (D7).
  test(
    'is collected at most once, by the wallet or by the platform, never by both',
    () =>
      fc.assert(
        fc.asyncProperty(start, amounts, steps, fc.boolean(), async (before, amounts, steps, clawbacks) => {
          const wallet = openWallet(initialPlayers, { ...permissivePolicy, clawbacks })
          for (const step of before) await wallet.perform(step)
          await wallet.perform({ step: 'deposit', playerId: 'ann', amount: 30_00n })
          const placed = { operation: 'placebet', transactionId: 'x', betId: 'x', ...ann } as const
          await wallet.perform(callOf({ ...placed, amount: 30_00n, sessionEnded: false }))

          // The platform's books, kept from the answers alone. It nets uncollected clawbacks off future
          // winnings.
          const live = { BET_PAID: 0n, VOIDED: 0n }
          const books = { credited: 0n, collectedByWallet: 0n, collectedByPlatform: 0n }
          const firstResults = new Map<string, string>()

          for (const step of steps) {
            if (step === 'withdraw-all') {
              const balance = wallet.memory.account('ann')?.balance ?? '0'
              await wallet.perform({ step: 'withdraw', playerId: 'ann', amount: toCents(balance) })
              continue
            }
            if ('step' in step) {
              await wallet.perform(step)
              continue
            }
            const request: ModelRequest =
              step.operation === 'settlement'
                ? { ...step, betId: 'x', ...ann, amount: amounts[step.transactionId] }
                : { ...step, betId: 'x', playerId: 'ann' }
            const { answer } = await wallet.perform(callOf(request))
            if (typeof answer === 'string') throw new Error(answer)

            const key = `${step.operation} ${step.transactionId} ${step.type}`
            const result = answer.ok ? 'ok' : answer.errorCode
            const known = firstResults.get(key)
            if (known !== undefined) {
              // A final answer is replayed, whatever the balance is now.
              expect(result).toBe(known)
              continue
            }
            if (result !== 'ok' && result !== 'INSUFFICIENT_FUNDS') continue
            firstResults.set(key, result)

            if (step.operation === 'settlement') {
              books.credited += amounts[step.transactionId]
              live[step.type] += amounts[step.transactionId]
            } else if (step.operation === 'unsettlement') {
              const type = step.type === 'UNSCORED' ? 'BET_PAID' : 'VOIDED'
              if (result === 'ok') books.collectedByWallet += live[type]
              else books.collectedByPlatform += live[type]
              live[type] = 0n
            }

            const recorded = wallet.memory.transactions('ann').filter(({ betId }) => betId === 'x')
            const netOfOperation = (operation: string) =>
              sumOf(recorded.filter(one => one.operation === operation))
            expect(netOfOperation('settlement')).toBe(books.credited)
            expect(-netOfOperation('unsettlement')).toBe(books.collectedByWallet)
            expect(books.collectedByWallet + books.collectedByPlatform + live.BET_PAID + live.VOIDED).toBe(
              books.credited,
            )
          }
          expectBalancesToAddUp(wallet.memory, initialPlayers, wallet.external)
          expectBetsToAddUp(wallet.memory)
        }),
        runs(1000),
      ),
    timeoutMs,
  )
})
