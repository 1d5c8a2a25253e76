/**
 * Many requests at once, under fast-check's scheduler: every load and every commit waits until it is its turn, in any
 * order. Two judges, because each is blind where the other sees: the model says whether there is an order, one after
 * the other, that gives the same answers and the same end; and the money is counted by those who know no rules.
 */
import type { WalletStore } from 'bet-wallet'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  amount,
  concurrentBurst,
  initialPlayers,
  permissivePolicy,
  start,
} from '../../src/testing/arbitraries.js'
import { sameAnswer, sameBetSaid, someOrderGives, tellBet } from '../../src/testing/judge.js'
import {
  type Cents,
  type HistoryStep,
  Model,
  type ModelAnswer,
  type ModelRequest,
} from '../../src/testing/model.js'
import { fromCents } from '../../src/testing/platform.js'
import { expectBalancesToAddUp, expectBetsToAddUp, sumOf } from './money.js'
import { runs, timeoutMs } from './runs.js'
import { openWallet, type Wallet } from './wallet.js'

type Scheduler = fc.Scheduler

/** One moment per load, one per commit. */
const atOneMoment =
  (s: Scheduler) =>
  (store: WalletStore): WalletStore => ({
    contractVersion: 1,
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

/** As the contract allows it: the bet, then the transaction, then the player, each at a moment of its own. */
const inPieces =
  (s: Scheduler) =>
  (store: WalletStore): WalletStore => ({
    contractVersion: 1,
    async load(keys) {
      const at = (piece: string) =>
        s.schedule(Promise.resolve(), `load ${piece} for ${keys.operation} ${keys.transactionId}`)
      await at('bet')
      const { bet } = await store.load(keys)
      await at('transaction')
      const { transaction } = await store.load(keys)
      await at('player')
      const { player } = await store.load(keys)
      return { bet, transaction, player }
    },
    commit: changes => atOneMoment(s)(store).commit(changes),
  })

const ways = { 'at one moment': atOneMoment, 'in pieces': inPieces }

/** A wallet with a past, and then everything at once. Before it, nothing waits. */
async function perform(
  s: Scheduler,
  way: keyof typeof ways,
  before: readonly HistoryStep[],
  atOnce: readonly HistoryStep[],
) {
  let waits = false
  const wallet = openWallet(initialPlayers, permissivePolicy, store => {
    const scheduled = ways[way](s)(store)
    return {
      contractVersion: 1,
      load: keys => (waits ? scheduled : store).load(keys),
      commit: changes => (waits ? scheduled : store).commit(changes),
    }
  })
  for (const step of before) await wallet.perform(step)
  waits = true
  const heard = await s.waitFor(
    Promise.all(
      atOnce.map(async step => {
        if (step.step !== 'call') await s.schedule(Promise.resolve(), `${step.step} ${step.playerId}`)
        return wallet.perform(step)
      }),
    ),
  )
  return { wallet, heard }
}

/**
 * A load in pieces may find a bet not there yet and the funds gone already. The refusal is right and for ever, and
 * nothing moves; which of the two reasons it names is the one thing that no order has to explain.
 */
function sameButForTheReason(step: HistoryStep, expected: ModelAnswer, answer: ModelAnswer): boolean {
  const refusals = ['INSUFFICIENT_FUNDS', 'INVALID_BET', 'INVALID_SESSION_TOKEN']
  const either = (one: ModelAnswer) => typeof one !== 'string' && !one.ok && refusals.includes(one.errorCode)
  if (step.step === 'call' && step.request.operation === 'placebet' && either(expected) && either(answer)) {
    return typeof expected !== 'string' && typeof answer !== 'string' && expected.replayed === answer.replayed
  }
  return sameAnswer(step, expected, answer)
}

const bets = ['b1', 'b2', 'b3', 'b4', 'b5']

function isEndOf(wallet: Wallet) {
  return (model: Model) =>
    initialPlayers.every(
      ({ playerId }) => wallet.memory.player(playerId)?.balance === fromCents(model.balance(playerId)),
    ) && bets.every(betId => sameBetSaid(tellBet(wallet.memory.bet(betId)), model.bet(betId)))
}

const callOf = (request: ModelRequest): HistoryStep => ({
  step: 'call',
  request,
  flaw: 'none',
  line: 'up',
  writing: 'text',
})

function movedFor(wallet: Wallet, betId: string, operation?: ModelRequest['operation']): Cents {
  const own = wallet.memory
    .transactions()
    .filter(moved => moved.betId === betId && (operation === undefined || moved.operation === operation))
  return sumOf(own)
}

describe.each(Object.keys(ways) as (keyof typeof ways)[])('requests at once, with loads %s', way => {
  // Seen red with a commit without guard 1, and a load that read the transaction before the bet.
  test(
    'are answered as in some order one after the other, and leave what it leaves',
    () =>
      fc.assert(
        fc.asyncProperty(fc.scheduler(), concurrentBurst, async (s, { before, atOnce }) => {
          const { wallet, heard } = await perform(s, way, before, atOnce)
          const model = new Model(initialPlayers, permissivePolicy)
          for (const step of before) model.perform(step)
          const steps = atOnce.map((step, index) => ({ step, answer: heard[index]?.answer ?? 'fault' }))
          const same = way === 'in pieces' ? sameButForTheReason : sameAnswer
          if (!someOrderGives(model, steps, same, isEndOf(wallet))) {
            throw new Error(`No order gives the answers ${fc.stringify(heard.map(({ answer }) => answer))}`)
          }
        }),
        runs(1200),
      ),
    timeoutMs,
  )

  // Seen red with a commit without guard 2.
  test(
    'leave balances that add up, never below zero, and bets whose movements are what their state says',
    () =>
      fc.assert(
        fc.asyncProperty(fc.scheduler(), concurrentBurst, async (s, { before, atOnce }) => {
          const { wallet, heard } = await perform(s, way, before, atOnce)
          expectBalancesToAddUp(wallet.memory, initialPlayers, wallet.external)
          expectBetsToAddUp(wallet.memory)

          // Whoever heard of a success has it in the books, under the reference that was named; whoever did not, has not.
          const recorded = wallet.memory.transactions()
          for (const [index, step] of atOnce.entries()) {
            const { answer, reference } = heard[index] ?? {}
            if (step.step !== 'call' || answer === undefined || typeof answer === 'string') continue
            const { operation, transactionId } = step.request
            const record = recorded.find(
              one => one.operation === operation && one.transactionId === transactionId,
            )
            if (answer.ok) {
              expect(record).toMatchObject({ refusal: null, walletTransactionId: reference })
            } else if (answer.replayed) {
              expect(record?.refusal?.errorCode).toBe(answer.errorCode)
            }
          }
        }),
        runs(600),
      ),
    timeoutMs,
  )

  // Seen red with a tombstone that was not written.
  test(
    'of which some are a placebet and its rollback, net to zero',
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          start,
          fc.record({
            stake: amount,
            placebets: fc.integer({ min: 1, max: 3 }),
            rollbacks: fc.array(fc.constantFrom('x-place', 'x-back', 'x-again'), {
              minLength: 1,
              maxLength: 3,
            }),
            earlier: fc.boolean(),
          }),
          async (s, before, { stake, placebets, rollbacks, earlier }) => {
            const ids = { betId: 'x', playerId: 'ann' }
            const place = callOf({
              operation: 'placebet',
              transactionId: 'x-place',
              ...ids,
              amount: stake,
              currency: 'EUR',
              sessionEnded: false,
            })
            const back = (transactionId: string) =>
              callOf({ operation: 'rollbackbet', transactionId, ...ids, type: 'TECHNICAL_ERROR' })
            const atOnce = [...Array<HistoryStep>(placebets).fill(place), ...rollbacks.map(back)]
            const { wallet, heard } = await perform(s, way, earlier ? [...before, place] : before, atOnce)

            expect(movedFor(wallet, 'x')).toBe(0n)
            expect(wallet.memory.bet('x')?.status).toBe('ROLLED_BACK')
            for (const { answer } of heard.slice(placebets)) expect(answer).toMatchObject({ ok: true })
            const words = heard
              .slice(0, placebets)
              .map(({ answer }) => typeof answer !== 'string' && answer.ok)
            expect(new Set(words).size).toBe(1)
            expectBalancesToAddUp(wallet.memory, initialPlayers, wallet.external)
          },
        ),
        runs(500),
      ),
    timeoutMs,
  )

  // Seen red with a commit that tested no floor (guard 3).
  test(
    'that are bets on the same funds succeed as often as the funds suffice',
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          start,
          fc.constantFrom(20_00n, 30_00n, 60_00n, 10n),
          fc.integer({ min: 2, max: 6 }),
          async (s, before, stake, count) => {
            const bet = (number: number) =>
              callOf({
                operation: 'placebet',
                transactionId: `x${number}`,
                betId: `x${number}`,
                playerId: 'ann',
                amount: stake,
                currency: 'EUR',
                sessionEnded: false,
              })
            const model = new Model(initialPlayers, permissivePolicy)
            for (const step of before) model.perform(step)
            const suffices = model.balance('ann') / stake

            const { wallet, heard } = await perform(
              s,
              way,
              before,
              Array.from({ length: count }, (_, n) => bet(n)),
            )
            const accepted = heard.filter(({ answer }) => typeof answer !== 'string' && answer.ok).length
            expect(accepted).toBe(suffices < BigInt(count) ? Number(suffices) : count)
            expectBalancesToAddUp(wallet.memory, initialPlayers, wallet.external)
          },
        ),
        runs(300),
      ),
    timeoutMs,
  )

  // Seen red with a 402 that left the credit live.
  test(
    'of which some claw the same credit back, collect it once, or leave it to the platform and never touch it',
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          fc.record({
            paid: fc.constantFrom(60_00n, 100_00n, 200_00n),
            spent: fc.constantFrom(0n, 60_00n, 120_00n),
            unsettlements: fc.array(fc.constantFrom('u1', 'u2', 'u3'), { minLength: 2, maxLength: 4 }),
            life: fc.array(
              fc.record({ step: fc.constantFrom('deposit' as const, 'withdraw' as const), amount }),
              { maxLength: 2 },
            ),
            rollback: fc.boolean(),
          }),
          async (s, { paid, spent, unsettlements, life, rollback }) => {
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
            const back = {
              operation: 'rollbackbet',
              transactionId: 'r',
              ...ids,
              type: 'TECHNICAL_ERROR',
            } as const
            const atOnce: HistoryStep[] = [
              ...unsettlements.map(transactionId =>
                callOf({ operation: 'unsettlement', transactionId, ...ids, type: 'UNSCORED' }),
              ),
              credit,
              ...life.map(step => ({ ...step, playerId: 'ann' })),
              ...(rollback ? [callOf(back)] : []),
            ]
            const { wallet, heard } = await perform(s, way, before, atOnce)

            // By id: what the platform heard. One of them took the credit, or was told to take it itself.
            const words = new Map<string, string>()
            for (const [index, transactionId] of unsettlements.entries()) {
              const answer = heard[index]?.answer ?? 'fault'
              if (typeof answer === 'string') throw new Error(answer)
              const word = answer.ok ? 'ok' : answer.errorCode
              expect(word).toBe(words.get(transactionId) ?? word)
              words.set(transactionId, word)
            }
            const took = [...words.values()].filter(word => word === 'ok').length
            const left = [...words.values()].filter(word => word === 'INSUFFICIENT_FUNDS').length
            expect(took + left).toBe(1)
            expect(movedFor(wallet, 'x', 'unsettlement')).toBe(took === 1 ? -paid : 0n)
            expect(movedFor(wallet, 'x', 'settlement')).toBe(paid)
            // What is left to the platform is never given away by a rollback either (D13).
            if (left === 1) expect(movedFor(wallet, 'x', 'rollbackbet')).toBe(0n)
            expectBalancesToAddUp(wallet.memory, initialPlayers, wallet.external)
          },
        ),
        runs(500),
      ),
    timeoutMs,
  )
})

// Seen red with a commit that tested no currency (guard 3).
test(
  'a currency that changes under a request moves nothing in the other one',
  () =>
    fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.constantFrom('placebet', 'settlement', 'unsettlement', 'rollbackbet'),
        async (s, operation) => {
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
          const steps = requests[operation].map(callOf)
          const before = steps.slice(0, -1)
          const atOnce: HistoryStep[] = [
            ...steps.slice(-1),
            { step: 'change currency', playerId: 'ann', currency: 'BTC' },
          ]
          const { wallet, heard } = await perform(s, 'at one moment', before, atOnce)
          const model = new Model(initialPlayers, permissivePolicy)
          for (const step of before) model.perform(step)
          const [answer] = heard.map(one => one.answer)
          const told = [
            { step: atOnce[0] as HistoryStep, answer: answer ?? 'fault' },
            { step: atOnce[1] as HistoryStep, answer: 'done' as const },
          ]
          expect(someOrderGives(model, told, sameAnswer, isEndOf(wallet))).toBe(true)
          expect(wallet.strays).toEqual([])
        },
      ),
      runs(60),
    ),
  timeoutMs,
)
