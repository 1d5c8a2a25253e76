/** Sequential requests against the model. */
import type { OutcomeReason } from 'bet-wallet'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { history, initialPlayers, policy } from '../../src/testing/arbitraries.js'
import { keyOf, Model } from '../../src/testing/model.js'
import { toModelBet } from '../../src/testing/model-comparison.js'
import { fromCents, observe, toCents } from '../../src/testing/platform.js'
import { expectBalancesToAddUp, expectBetsToAddUp } from './money.js'
import { runs, timeoutMs } from './runs.js'
import { listeners, openWallet, send } from './wallet.js'

const bets = ['b1', 'b2', 'b3', 'b4', 'b5']

describe('any sequence of the four operations', () => {
  // Seen red without the tombstone.
  test(
    'gets the answers of the model, and leaves the balances and bets of the model',
    () =>
      fc.assert(
        fc.asyncProperty(history, policy, async (steps, rules) => {
          const wallet = openWallet(initialPlayers, rules)
          const model = new Model(initialPlayers, rules)
          const ids = new Map<string, string>()
          for (const step of steps) {
            const { answer, walletTransactionId } = await wallet.perform(step)
            expect(answer, JSON.stringify(step, printable)).toEqual(model.perform(step))

            for (const { playerId } of initialPlayers) {
              expect(wallet.memory.account(playerId)?.balance).toBe(fromCents(model.balance(playerId)))
            }
            for (const betId of bets) expect(toModelBet(wallet.memory.bet(betId))).toEqual(model.bet(betId))

            // D2: every success has a unique walletTransactionId, the same in every replay.
            if (step.step === 'call' && walletTransactionId !== null) {
              const key = keyOf(step.request)
              expect(walletTransactionId).toBe(ids.get(key) ?? walletTransactionId)
              ids.set(key, walletTransactionId)
            }
          }
          expect(new Set(ids.values()).size).toBe(ids.size)
        }),
        runs(1500),
      ),
    timeoutMs,
  )

  // Seen red with amounts added as floats.
  test(
    'leaves balances that are the initial balance plus all recorded deltas, never negative, after every step',
    () =>
      fc.assert(
        fc.asyncProperty(history, policy, async (steps, rules) => {
          const wallet = openWallet(initialPlayers, rules)
          for (const step of steps) {
            await wallet.perform(step)
            expectBalancesToAddUp(wallet.memory, initialPlayers, wallet.external)
          }
        }),
        runs(1000),
      ),
    timeoutMs,
  )

  // Seen red with a rollback of a bet whose clawback was uncollected.
  test(
    'leaves bets whose movements match their state, after every step',
    () =>
      fc.assert(
        fc.asyncProperty(history, policy, async (steps, rules) => {
          const wallet = openWallet(initialPlayers, rules)
          for (const step of steps) {
            await wallet.perform(step)
            expectBetsToAddUp(wallet.memory)
          }
        }),
        runs(1000),
      ),
    timeoutMs,
  )

  // Seen red with the replay check after the bet check.
  test(
    'can be retried in any order, any number of times: recorded answers are replayed without changes',
    () =>
      fc.assert(
        fc.asyncProperty(
          history.chain(steps =>
            fc.record({ steps: fc.constant(steps), order: fc.array(fc.nat(Math.max(steps.length - 1, 0))) }),
          ),
          policy,
          async ({ steps, order }, rules) => {
            const wallet = openWallet(initialPlayers, rules)
            const recorded = () => wallet.memory.transactions().length
            const first = new Map<number, { ok: boolean; result: string | null }>()
            for (const [index, step] of steps.entries()) {
              const before = recorded()
              const { answer, walletTransactionId } = await wallet.perform(step)
              if (recorded() === before || typeof answer === 'string') continue
              first.set(index, {
                ok: answer.ok,
                result: answer.ok ? walletTransactionId : answer.errorCode,
              })
            }
            for (const playerId of ['ann', 'bo', 'cy', 'new'])
              await wallet.perform({ step: 'restore-player', playerId })

            const { memory } = wallet
            const all = () => [
              memory.transactions(),
              memory.bets(),
              initialPlayers.map(p => memory.account(p.playerId)),
            ]
            const before = all()
            for (const index of order) {
              const [step, expected] = [steps[index], first.get(index)]
              if (step?.step !== 'call' || expected === undefined) continue
              const { answer, walletTransactionId } = observe(
                await send(memory, step.request, rules, { hook: step.hook ?? 'none' }),
              )
              if (typeof answer === 'string') throw new Error(answer)
              const result = answer.ok ? walletTransactionId : answer.errorCode
              expect({ ok: answer.ok, result }).toEqual(expected)
              expect(answer.replayed).toBe(true)
              if (answer.ok) {
                expect(answer.balance).toBe(toCents(memory.account(step.request.playerId)?.balance ?? ''))
              }
            }
            expect(all()).toEqual(before)
          },
        ),
        runs(600),
      ),
    timeoutMs,
  )
})

// Seen red with a credit that stays live after an uncollected clawback.
test('the sample of histories reaches every reason and every code', async () => {
  const reasons = new Map<OutcomeReason, number>()
  const codes = new Map<string, number>()
  const listener = ({ reason, outcome }: Parameters<Parameters<typeof listeners.add>[0]>[0]) => {
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    const code = outcome === null ? 'fault' : outcome.ok ? 'ok' : outcome.errorCode
    codes.set(code, (codes.get(code) ?? 0) + 1)
  }
  listeners.add(listener)
  try {
    for (const [steps, rules] of fc.sample(fc.tuple(history, policy), { seed: 1, numRuns: 1000 })) {
      const wallet = openWallet(initialPlayers, rules)
      for (const step of steps) await wallet.perform(step)
    }
  } finally {
    listeners.delete(listener)
  }
  if (process.env.BET_WALLET_STATISTICS) console.log(reasons, codes)
  expect([...reasons.keys()].sort()).toEqual(Object.keys(everyReason).sort())
  expect([...codes.keys()].sort()).toEqual(everyCode)
})

/** A record, so that the compiler reports a missing reason. */
const everyReason: Record<OutcomeReason, true> = {
  ACCEPTED: true,
  TOMBSTONE_CREATED: true,
  ALREADY_ROLLED_BACK: true,
  REPLAYED: true,
  INVALID_REQUEST: true,
  PAYLOAD_MISMATCH: true,
  UNKNOWN_PLAYER: true,
  BET_OF_ANOTHER_PLAYER: true,
  BET_ALREADY_EXISTS: true,
  UNKNOWN_BET: true,
  BET_ROLLED_BACK: true,
  BET_SETTLED: true,
  ALREADY_UNSETTLED: true,
  CLAWBACK_UNCOLLECTED: true,
  SETTLEMENT_NOT_FOUND: true,
  CURRENCY_MISMATCH: true,
  BET_CURRENCY_MISMATCH: true,
  INSUFFICIENT_FUNDS: true,
  CLAWBACKS_DISABLED: true,
  REFUSED_BY_OPERATOR: true,
  REFUSED_BY_STORE: true,
  FAULT: true,
}

const everyCode = [
  'DEBIT_LIMIT_EXCEEDED',
  'INSUFFICIENT_FUNDS',
  'INVALID_BET',
  'INVALID_CURRENCY',
  'INVALID_PLAYER',
  'INVALID_REQUEST',
  'INVALID_SESSION_TOKEN',
  'SETTLEMENT_NOT_FOUND',
  'TRANSACTION_CONFLICT',
  'fault',
  'ok',
]

const printable = (_: string, value: unknown) => (typeof value === 'bigint' ? fromCents(value) : value)
