/** What the network does to requests: it turns them around, and brings them twice. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { amount, initialPlayers, permissivePolicy, start } from '../../src/testing/arbitraries.js'
import type { Cents, HistoryStep, ModelRequest } from '../../src/testing/model.js'
import { toCents } from '../../src/testing/platform.js'
import { expectBalancesToAddUp, expectBetsToAddUp, sumOf } from './money.js'
import { runs, timeoutMs } from './runs.js'
import { openWallet, type Wallet } from './wallet.js'

const ann = { playerId: 'ann', currency: 'EUR' }

const callOf = (request: ModelRequest): HistoryStep => ({
  step: 'call',
  request,
  flaw: 'none',
  line: 'up',
  writing: 'text',
})

const moneyStep: fc.Arbitrary<HistoryStep> = fc.record({
  step: fc.constantFrom('deposit' as const, 'withdraw' as const),
  playerId: fc.constant('ann'),
  amount,
})

function movedFor(wallet: Wallet, betId: string): Cents {
  return sumOf(wallet.memory.transactions().filter(moved => moved.betId === betId))
}

describe('a placebet and its rollback', () => {
  /** The bet `x` in as many copies as the network likes, in any order, with the player's other life in between. */
  const deliveries = fc
    .record({
      stake: amount,
      sessionEnded: fc.constantFrom(false, false, false, true),
      // D1: some platforms use the placebet's id for its rollback.
      rollbackId: fc.constantFrom('x-back', 'x-place'),
      placebets: fc.nat({ max: 3 }),
      rollbacks: fc.integer({ min: 1, max: 3 }),
      underAnotherId: fc.nat({ max: 1 }),
      life: fc.array(moneyStep, { maxLength: 3 }),
    })
    .chain(({ stake, sessionEnded, rollbackId, placebets, rollbacks, underAnotherId, life }) => {
      const place = callOf({
        operation: 'placebet',
        transactionId: 'x-place',
        betId: 'x',
        ...ann,
        amount: stake,
        sessionEnded,
      })
      const back = (transactionId: string) =>
        callOf({
          operation: 'rollbackbet',
          transactionId,
          betId: 'x',
          playerId: ann.playerId,
          type: 'TECHNICAL_ERROR',
        })
      const all = [
        ...Array<HistoryStep>(placebets).fill(place),
        ...Array<HistoryStep>(rollbacks).fill(back(rollbackId)),
        ...Array<HistoryStep>(underAnotherId).fill(back('x-again')),
        ...life,
      ]
      return fc.shuffledSubarray(all, { minLength: all.length })
    })

  // Seen red with a tombstone that was not written.
  test(
    'net to zero in any order, with any duplication, and every rollback is answered with success',
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
            // Not only in the end: from the first rollback on.
            if (rolledBack) expect(movedFor(wallet, 'x')).toBe(0n)
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
  /** What the platform sends for the paid and voided bet `x`, and what the player does in the meantime. */
  const news = fc.oneof(
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
      { weight: 6, arbitrary: news },
      { weight: 2, arbitrary: fc.constant('all is spent' as const) },
      { weight: 2, arbitrary: moneyStep },
    ),
    { minLength: 3, maxLength: 24, size: 'max' },
  )

  // Seen red with a credit that a 402 did not close (D7).
  test(
    'is collected at most once, by the wallet or by the platform, never by both',
    () =>
      fc.assert(
        fc.asyncProperty(start, amounts, steps, fc.boolean(), async (before, amounts, steps, clawbacks) => {
          const house = { ...permissivePolicy, clawbacks }
          const wallet = openWallet(initialPlayers, house)
          for (const step of before) await wallet.perform(step)
          await wallet.perform({ step: 'deposit', playerId: 'ann', amount: 30_00n })
          const placed = { operation: 'placebet', transactionId: 'x', betId: 'x', ...ann } as const
          await wallet.perform(callOf({ ...placed, amount: 30_00n, sessionEnded: false }))

          // The platform's books, kept from the answers alone. It nets what was answered 402 off future winnings.
          const live = { BET_PAID: 0n, VOIDED: 0n }
          const books = { credited: 0n, collectedByWallet: 0n, collectedByPlatform: 0n }
          const firstWord = new Map<string, string>()

          for (const step of steps) {
            if (step === 'all is spent') {
              const balance = wallet.memory.player('ann')?.balance ?? '0'
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
            const word = answer.ok ? 'ok' : answer.errorCode
            const known = firstWord.get(key)
            if (known !== undefined) {
              // What was taken for an answer stays the answer, whatever the player has by now.
              expect(word).toBe(known)
              continue
            }
            if (word !== 'ok' && word !== 'INSUFFICIENT_FUNDS') continue
            firstWord.set(key, word)

            if (step.operation === 'settlement') {
              books.credited += amounts[step.transactionId]
              live[step.type] += amounts[step.transactionId]
            } else if (step.operation === 'unsettlement') {
              const type = step.type === 'UNSCORED' ? 'BET_PAID' : 'VOIDED'
              if (word === 'ok') books.collectedByWallet += live[type]
              else books.collectedByPlatform += live[type]
              live[type] = 0n
            }

            const recorded = wallet.memory.transactions('ann').filter(({ betId }) => betId === 'x')
            const moved = (operation: string) => sumOf(recorded.filter(one => one.operation === operation))
            expect(moved('settlement')).toBe(books.credited)
            expect(-moved('unsettlement')).toBe(books.collectedByWallet)
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
