/**
 * Concurrent requests under fast-check's scheduler, which runs every load and every commit in a random order.
 * Two kinds of checks, because each sees what the other misses: some sequential order of the model must give
 * the same answers and the same final state; and the money must add up, whatever the rules are.
 */
import type { WalletStore } from 'bet-wallet'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  amount,
  concurrentBurst,
  hook,
  initialPlayers,
  permissivePolicy,
  start,
} from '../../src/testing/arbitraries.js'
import {
  type Cents,
  type HistoryStep,
  Model,
  type ModelAnswer,
  type ModelRequest,
  type SessionHook,
} from '../../src/testing/model.js'
import {
  sameAnswer,
  sameModelBet,
  someOrderExplains,
  toModelBet,
} from '../../src/testing/model-comparison.js'
import { fromCents } from '../../src/testing/platform.js'
import { expectBalancesToAddUp, expectBetsToAddUp, sumOf } from './money.js'
import { runs, timeoutMs } from './runs.js'
import { openWallet, type Wallet } from './wallet.js'

type Scheduler = fc.Scheduler

/** One turn per load, one per commit. */
const atomicLoads =
  (s: Scheduler) =>
  (store: WalletStore): WalletStore => ({
    contractVersion: 2,
    addsCredits: true,
    async load(keys) {
      await s.schedule(Promise.resolve(), `load ${keys.operation} ${keys.transactionId}`)
      return store.load(keys)
    },
    async commit(changes) {
      await s.schedule(
        Promise.resolve(),
        `commit ${changes.transaction.operation} ${changes.transaction.transactionId}`,
      )
      return store.commit(changes)
    },
  })

/** Three reads per load, as the contract permits: the bet, the transaction, the player. */
const threeReads =
  (s: Scheduler) =>
  (store: WalletStore): WalletStore => ({
    contractVersion: 2,
    addsCredits: true,
    async load(keys) {
      const turnOf = (part: string) =>
        s.schedule(Promise.resolve(), `load ${part} for ${keys.operation} ${keys.transactionId}`)
      await turnOf('bet')
      const { bet } = await store.load(keys)
      await turnOf('transaction')
      const { transaction } = await store.load(keys)
      await turnOf('player')
      const { accounts } = await store.load(keys)
      return { bet, transaction, accounts }
    },
    commit: changes => atomicLoads(s)(store).commit(changes),
  })

const loadKinds = { 'atomic loads': atomicLoads, 'loads of three reads': threeReads }

/** Performs `before` sequentially, and then `concurrent` under the scheduler. */
async function perform(
  s: Scheduler,
  loads: keyof typeof loadKinds,
  before: readonly HistoryStep[],
  concurrent: readonly HistoryStep[],
) {
  let isScheduled = false
  const wallet = openWallet(initialPlayers, permissivePolicy, store => {
    const scheduled = loadKinds[loads](s)(store)
    return {
      contractVersion: 2,
      addsCredits: true,
      load: keys => (isScheduled ? scheduled : store).load(keys),
      commit: changes => (isScheduled ? scheduled : store).commit(changes),
    }
  })
  for (const step of before) await wallet.perform(step)
  isScheduled = true
  const observed = await s.waitFor(
    Promise.all(
      concurrent.map(async step => {
        if (step.step !== 'call') await s.schedule(Promise.resolve(), `${step.step} ${step.playerId}`)
        return wallet.perform(step)
      }),
    ),
  )
  return { wallet, observed }
}

/**
 * A load of three reads may miss a bet and still see the balance after it. The refusal is then right and
 * final, but its error code may be one that no sequential order gives. Only this difference is accepted.
 */
function sameExceptErrorCode(step: HistoryStep, expected: ModelAnswer, answer: ModelAnswer): boolean {
  const refusals = ['INSUFFICIENT_FUNDS', 'INVALID_BET', 'INVALID_SESSION_TOKEN']
  const either = (one: ModelAnswer) => typeof one !== 'string' && !one.ok && refusals.includes(one.errorCode)
  if (step.step === 'call' && step.request.operation === 'placebet' && either(expected) && either(answer)) {
    return typeof expected !== 'string' && typeof answer !== 'string' && expected.replayed === answer.replayed
  }
  return sameAnswer(step, expected, answer)
}

const bets = ['b1', 'b2', 'b3', 'b4', 'b5']

function isFinalStateOf(wallet: Wallet) {
  return (model: Model) =>
    initialPlayers.every(
      ({ playerId }) => wallet.memory.account(playerId)?.balance === fromCents(model.balance(playerId)),
    ) && bets.every(betId => sameModelBet(toModelBet(wallet.memory.bet(betId)), model.bet(betId)))
}

const callOf = (request: ModelRequest, hook: SessionHook = 'none'): HistoryStep => ({
  step: 'call',
  request,
  defect: 'none',
  fault: 'none',
  format: 'text',
  hook,
})

function netOf(wallet: Wallet, betId: string, operation?: ModelRequest['operation']): Cents {
  const own = wallet.memory
    .transactions()
    .filter(one => one.betId === betId && (operation === undefined || one.operation === operation))
  return sumOf(own)
}

describe.each(Object.keys(loadKinds) as (keyof typeof loadKinds)[])('concurrent requests, %s', loads => {
  // Seen red without guard 1, and with a load that reads the transaction before the bet.
  test(
    'get the answers of some sequential order, and leave its final state',
    () =>
      fc.assert(
        fc.asyncProperty(fc.scheduler(), concurrentBurst, async (s, { before, concurrent }) => {
          const { wallet, observed } = await perform(s, loads, before, concurrent)
          const model = new Model(initialPlayers, permissivePolicy)
          for (const step of before) model.perform(step)
          const steps = concurrent.map((step, index) => ({
            step,
            answer: observed[index]?.answer ?? 'fault',
          }))
          const same = loads === 'loads of three reads' ? sameExceptErrorCode : sameAnswer
          if (!someOrderExplains(model, steps, same, isFinalStateOf(wallet))) {
            throw new Error(`No sequential order gives ${fc.stringify(observed.map(({ answer }) => answer))}`)
          }
        }),
        runs(1200),
      ),
    timeoutMs,
  )

  // Seen red without guard 2.
  test(
    'leave balances that add up and are never negative, and bets whose movements match their state',
    () =>
      fc.assert(
        fc.asyncProperty(fc.scheduler(), concurrentBurst, async (s, { before, concurrent }) => {
          const { wallet, observed } = await perform(s, loads, before, concurrent)
          expectBalancesToAddUp(wallet.memory, initialPlayers, wallet.external)
          expectBetsToAddUp(wallet.memory)

          // Every answered success is recorded with the answered walletTransactionId; every replayed refusal
          // is recorded.
          const recorded = wallet.memory.transactions()
          for (const [index, step] of concurrent.entries()) {
            const { answer, walletTransactionId } = observed[index] ?? {}
            if (step.step !== 'call' || answer === undefined || typeof answer === 'string') continue
            const { operation, transactionId } = step.request
            const record = recorded.find(
              one => one.operation === operation && one.transactionId === transactionId,
            )
            if (answer.ok) {
              expect(record).toMatchObject({ refusal: null, walletTransactionId })
            } else if (answer.replayed) {
              expect(record?.refusal?.errorCode).toBe(answer.errorCode)
            }
          }
        }),
        runs(600),
      ),
    timeoutMs,
  )

  // Seen red without the tombstone.
  test(
    'net to zero for a bet whose placebet and rollback are among them',
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          start,
          fc.record({
            stake: amount,
            placebets: fc.integer({ min: 1, max: 3 }),
            rollbacks: fc.array(fc.constantFrom('x-place', 'x-rollback', 'x-rollback-2'), {
              minLength: 1,
              maxLength: 3,
            }),
            placedBefore: fc.boolean(),
            hook,
          }),
          async (s, before, { stake, placebets, rollbacks, placedBefore, hook }) => {
            const ids = { betId: 'x', playerId: 'ann' }
            const placed = { transactionId: 'x-place', ...ids, amount: stake, currency: 'EUR' }
            const place = callOf({ operation: 'placebet', ...placed, sessionEnded: false }, hook)
            const rollback = (transactionId: string) =>
              callOf({ operation: 'rollbackbet', transactionId, ...ids, type: 'TECHNICAL_ERROR' })
            const concurrent = [...Array<HistoryStep>(placebets).fill(place), ...rollbacks.map(rollback)]
            const { wallet, observed } = await perform(
              s,
              loads,
              placedBefore ? [...before, place] : before,
              concurrent,
            )

            expect(netOf(wallet, 'x')).toBe(0n)
            expect(wallet.memory.bet('x')?.status).toBe('ROLLED_BACK')
            for (const { answer } of observed.slice(placebets)) expect(answer).toMatchObject({ ok: true })
            const successes = observed
              .slice(0, placebets)
              .map(({ answer }) => typeof answer !== 'string' && answer.ok)
            expect(new Set(successes).size).toBe(1)
            expectBalancesToAddUp(wallet.memory, initialPlayers, wallet.external)
          },
        ),
        runs(500),
      ),
    timeoutMs,
  )

  // Seen red without the floor (guard 3).
  test(
    'succeed exactly as often as the balance covers, if they are bets on the same balance',
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          start,
          fc.constantFrom(20_00n, 30_00n, 60_00n, 10n),
          fc.integer({ min: 2, max: 6 }),
          fc.array(hook, { minLength: 6, maxLength: 6 }),
          async (s, before, stake, count, hooks) => {
            const bet = (number: number) => {
              const ids = { transactionId: `x${number}`, betId: `x${number}`, playerId: 'ann' }
              const placed = { operation: 'placebet', ...ids, amount: stake, currency: 'EUR' } as const
              return callOf({ ...placed, sessionEnded: false }, hooks[number])
            }
            const model = new Model(initialPlayers, permissivePolicy)
            for (const step of before) model.perform(step)
            const affordable = model.balance('ann') / stake

            const { wallet, observed } = await perform(
              s,
              loads,
              before,
              Array.from({ length: count }, (_, n) => bet(n)),
            )
            const accepted = observed.filter(({ answer }) => typeof answer !== 'string' && answer.ok).length
            expect(accepted).toBe(affordable < BigInt(count) ? Number(affordable) : count)
            expectBalancesToAddUp(wallet.memory, initialPlayers, wallet.external)
          },
        ),
        runs(300),
      ),
    timeoutMs,
  )

  // Seen red with a credit that stays live after an uncollected clawback.
  test(
    'collect a credit once, or leave it to the platform and never collect it, if unsettlements are among them',
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          fc.record({
            paid: fc.constantFrom(60_00n, 100_00n, 200_00n),
            spent: fc.constantFrom(0n, 60_00n, 120_00n),
            unsettlements: fc.array(fc.constantFrom('u1', 'u2', 'u3'), { minLength: 2, maxLength: 4 }),
            external: fc.array(
              fc.record({ step: fc.constantFrom('deposit' as const, 'withdraw' as const), amount }),
              { maxLength: 2 },
            ),
            rollback: fc.boolean(),
          }),
          async (s, { paid, spent, unsettlements, external, rollback }) => {
            const ids = { betId: 'x', playerId: 'ann' }
            const money = { ...ids, currency: 'EUR' }
            const credit = callOf({
              operation: 'settlement',
              transactionId: 's',
              ...money,
              type: 'BET_PAID',
              amount: paid,
            })
            const before: HistoryStep[] = [
              callOf({
                operation: 'placebet',
                transactionId: 'p',
                ...money,
                amount: 30_00n,
                sessionEnded: false,
              }),
              credit,
              { step: 'withdraw', playerId: 'ann', amount: spent },
            ]
            const rollBack = {
              operation: 'rollbackbet',
              transactionId: 'r',
              ...ids,
              type: 'TECHNICAL_ERROR',
            } as const
            const concurrent: HistoryStep[] = [
              ...unsettlements.map(transactionId =>
                callOf({ operation: 'unsettlement', transactionId, ...ids, type: 'UNSCORED' }),
              ),
              credit,
              ...external.map(step => ({ ...step, playerId: 'ann' })),
              ...(rollback ? [callOf(rollBack)] : []),
            ]
            const { wallet, observed } = await perform(s, loads, before, concurrent)

            // By id: the answers that the platform received. One collected the credit, or left it to the
            // platform.
            const results = new Map<string, string>()
            for (const [index, transactionId] of unsettlements.entries()) {
              const answer = observed[index]?.answer ?? 'fault'
              if (typeof answer === 'string') throw new Error(answer)
              const result = answer.ok ? 'ok' : answer.errorCode
              expect(result).toBe(results.get(transactionId) ?? result)
              results.set(transactionId, result)
            }
            const collected = [...results.values()].filter(result => result === 'ok').length
            const uncollected = [...results.values()].filter(result => result === 'INSUFFICIENT_FUNDS').length
            expect(collected + uncollected).toBe(1)
            expect(netOf(wallet, 'x', 'unsettlement')).toBe(collected === 1 ? -paid : 0n)
            expect(netOf(wallet, 'x', 'settlement')).toBe(paid)
            // An uncollected clawback blocks the rollback as well (D13).
            if (uncollected === 1) expect(netOf(wallet, 'x', 'rollbackbet')).toBe(0n)
            expectBalancesToAddUp(wallet.memory, initialPlayers, wallet.external)
          },
        ),
        runs(500),
      ),
    timeoutMs,
  )
})

// Seen red without the currency check (guard 3).
test(
  'a currency change during a request never changes a balance in the wrong currency',
  () =>
    fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.constantFrom('placebet', 'settlement', 'unsettlement', 'rollbackbet'),
        hook,
        async (s, operation, hook) => {
          const ids = { betId: 'x', playerId: 'ann' }
          const money = { ...ids, amount: 30_00n, currency: 'EUR' }
          const place: ModelRequest = {
            operation: 'placebet',
            transactionId: 'p',
            ...money,
            sessionEnded: false,
          }
          const pay: ModelRequest = {
            operation: 'settlement',
            transactionId: 's',
            ...money,
            type: 'BET_PAID',
          }
          const requests: Record<ModelRequest['operation'], ModelRequest[]> = {
            placebet: [place],
            settlement: [place, pay],
            unsettlement: [
              place,
              pay,
              { operation: 'unsettlement', transactionId: 'u', ...ids, type: 'UNSCORED' },
            ],
            rollbackbet: [
              place,
              { operation: 'rollbackbet', transactionId: 'r', ...ids, type: 'TECHNICAL_ERROR' },
            ],
          }
          const steps = requests[operation].map(request => callOf(request, hook))
          const before = steps.slice(0, -1)
          const concurrent: HistoryStep[] = [
            ...steps.slice(-1),
            { step: 'change-currency', playerId: 'ann', currency: 'BTC' },
          ]
          const { wallet, observed } = await perform(s, 'atomic loads', before, concurrent)
          const model = new Model(initialPlayers, permissivePolicy)
          for (const step of before) model.perform(step)
          const [answer] = observed.map(one => one.answer)
          const answered = [
            { step: concurrent[0] as HistoryStep, answer: answer ?? 'fault' },
            { step: concurrent[1] as HistoryStep, answer: 'done' as const },
          ]
          expect(someOrderExplains(model, answered, sameAnswer, isFinalStateOf(wallet))).toBe(true)
          expect(wallet.wrongCurrency).toEqual([])
        },
      ),
      runs(60),
    ),
  timeoutMs,
)
