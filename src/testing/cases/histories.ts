/** Random histories against the model, and random schedules of concurrent requests. Failures are shrunk. */
import fc from 'fast-check'
import type { WalletStore } from '../../store.js'
import {
  concurrentBurst,
  history,
  initialPlayers,
  ofSeveralAccounts,
  permissivePolicy,
  severalAccounts,
} from '../arbitraries.js'
import { type CaseContext, casesOf } from '../case-context.js'
import { type CommitFault, type FaultyStore, faultyStore } from '../faulty-store.js'
import type { StoreHarness } from '../harness.js'
import { type Cents, type HistoryStep, keyOf, Model, type ModelAnswer, type ModelRequest } from '../model.js'
import { sameAnswer, sameModelBet, someOrderExplains } from '../model-comparison.js'
import {
  canInject,
  type FinalState,
  finalStateOf,
  type Sandbox,
  Sandboxes,
  type Schedule,
  shownAnswer,
  shownState,
  withPlayerScopedIds,
} from '../sandbox.js'
import { optionalParts } from '../stores-around.js'
import { CaseFailed } from '../trace.js'

export const historyCases = casesOf({
  'WS-95 Random histories get the answers and the final state of the model': {
    runAlone: context => runHistories(context, false),
  },
  'WS-96 Random histories with a crash at a random step get the answers and the final state of the model': {
    needs: ['crash'],
    async runAlone(context) {
      context.keepsIdsApart()
      const sandboxes = new Sandboxes(context, false)
      await everyRun(context, fc.tuple(history, fc.nat(12)), async ([steps, crashAt]) => {
        await runHistory(context, await sandboxes.next(), steps, false, async (sandbox, index) => {
          if (index === crashAt) await sandbox.crash()
        })
      })
    },
  },
  'WS-97 Concurrent requests get answers and a final state that some sequential order explains, under any schedule':
    { runAlone: context => runSchedules(context, false) },
  'WS-98 Lost answers and delayed commits neither lose nor duplicate money after the platform’s retries and rollbacks':
    {
      async runAlone(context) {
        context.keepsIdsApart()
        const sandboxes = new Sandboxes(context, false)
        const anyFault = fc.option(fc.constantFrom<CommitFault>('lost-request', 'lost-answer', 'delayed'))
        const runs = fc.tuple(
          fc.scheduler(),
          concurrentBurst,
          fc.array(anyFault, { maxLength: 6 }),
          fc.boolean(),
        )
        await everyRun(context, runs, async ([scheduler, { before, concurrent }, faults, deliverFirst]) => {
          const sandbox = await sandboxes.next()
          const earlier = supported(context, before, false)
          for (const step of earlier) await sandbox.perform(step)
          const steps = supported(context, concurrent, false).map(withoutFault)
          const { store, schedule } = scheduled(scheduler, sandbox.wallet.store)
          const faulty = faultyStore(store, faults)
          const observed = await scheduler.waitFor(
            Promise.all(steps.map(step => sandbox.perform(step, faulty, schedule))),
          )

          faulty.clearFaults()
          if (deliverFirst) await scheduler.waitFor(faulty.deliverDelayed())
          const answers = observed.map(({ answer }) => answer)
          const definite = await recover(scheduler, sandbox, { faulty, schedule }, steps, answers)
          await scheduler.waitFor(faulty.deliverDelayed())

          for (const { request, answer } of definite) await sandbox.expectRecord(request, answer)
          await sandbox.expectMoneyToAddUp([...earlier, ...steps])
        })
      },
    },
})

/** @param several whether a player has two accounts */
export async function runHistories(context: CaseContext, several: boolean): Promise<void> {
  context.keepsIdsApart()
  const sandboxes = new Sandboxes(context, several)
  await everyRun(context, fc.tuple(history), async ([steps]) => {
    await runHistory(context, await sandboxes.next(), steps, several)
  })
  const { addsCredits } = (await sandboxes.next()).wallet
  if (addsCredits && context.options.runs >= settlingRuns) context.expectCredits()
}

/** So many histories have a settlement of a placed bet. */
const settlingRuns = 50

export async function runSchedules(context: CaseContext, several: boolean): Promise<void> {
  context.keepsIdsApart()
  const sandboxes = new Sandboxes(context, several)
  const runs = fc.tuple(fc.scheduler(), concurrentBurst)
  await everyRun(context, runs, async ([scheduler, { before, concurrent }]) => {
    const sandbox = await sandboxes.next()
    const model = modelWhere(several)
    const earlier = supported(context, before, several)
    for (const step of earlier) {
      await sandbox.perform(step)
      model.perform(step)
    }
    const steps = supported(context, concurrent, several).map(withoutFault)
    const { store, schedule } = scheduled(scheduler, sandbox.wallet.store)
    const observed = await scheduler.waitFor(
      Promise.all(steps.map(step => sandbox.perform(step, store, schedule))),
    )
    const answered = steps.map((step, index) => ({ step, answer: observed[index]?.answer ?? 'fault' }))
    const state = await sandbox.finalState()
    context.check(
      someOrderExplains(model, answered, sameAnswer, end => sameState(end, state)),
      'the answers and the final state of some sequential order',
      answered.map(({ answer }) => shownAnswer(answer)).join('; '),
    )
    await sandbox.expectMoneyToAddUp([...earlier, ...steps])
  })
}

const modelWhere = (several: boolean) =>
  new Model(several ? severalAccounts : initialPlayers, permissivePolicy)

/**
 * After faults the platform rolls back its placebets and retries every other request. Returns all definite
 * answers.
 */
async function recover(
  scheduler: fc.Scheduler,
  sandbox: Sandbox,
  { faulty, schedule }: { faulty: FaultyStore; schedule: Schedule },
  steps: readonly HistoryStep[],
  answers: readonly ModelAnswer[],
): Promise<{ request: ModelRequest; answer: ModelAnswer }[]> {
  const definite: { request: ModelRequest; answer: ModelAnswer }[] = []
  for (const [index, step] of steps.entries()) {
    if (step.step !== 'call') continue
    const { request } = step
    const answer = answers[index] ?? 'fault'
    if (answer !== 'fault') definite.push({ request, answer })
    else if (request.operation === 'placebet') await scheduler.waitFor(sandbox.rollBack(faulty, request))
    else {
      const retried = await scheduler.waitFor(sandbox.perform(withoutFault(step), faulty, schedule))
      definite.push({ request, answer: retried.answer })
    }
  }
  return definite
}

/** Checks a property, and throws the failure of the smallest counterexample. */
export async function everyRun<T>(
  context: CaseContext,
  arbitrary: fc.Arbitrary<T>,
  run: (value: T) => Promise<void>,
  { seed, runs: numRuns }: Pick<CaseContext['options'], 'seed' | 'runs'> = context.options,
): Promise<void> {
  const property = fc.asyncProperty(arbitrary, async value => {
    try {
      await run(value)
    } catch (error) {
      if (error instanceof CaseFailed) throw error
      context.check(false, 'no fault', error) // adds the steps that led to it
    }
  })
  const { failed, errorInstance } = await fc.check(property, { seed, numRuns })
  if (failed) throw errorInstance
}

/** Performs the steps one after the other, and compares every answer and the final state with the model. */
async function runHistory(
  context: CaseContext,
  sandbox: Sandbox,
  steps: readonly HistoryStep[],
  several: boolean,
  beforeStep: (sandbox: Sandbox, index: number) => Promise<void> = async () => {},
): Promise<void> {
  const model = modelWhere(several)
  const firstIds = new Map<string, string | null>()
  for (const [index, step] of supported(context, steps, several).entries()) {
    await beforeStep(sandbox, index)
    const { answer, walletTransactionId } = await sandbox.perform(step)
    const expected = model.perform(step)
    context.check(sameAnswer(step, expected, answer), shownAnswer(expected), shownAnswer(answer))
    if (step.step === 'call' && typeof answer !== 'string' && answer.ok) {
      const key = keyOf(step.request)
      const first = firstIds.get(key) ?? walletTransactionId
      context.check(
        first === walletTransactionId,
        `the walletTransactionId of the first answer, ${first}`,
        walletTransactionId,
      )
      firstIds.set(key, walletTransactionId)
    }
  }
  const state = await sandbox.finalState()
  context.check(
    sameState(model, state),
    `the final state ${shownState(finalStateOf(model, context.harness.idScope, several))}`,
    shownState(state),
  )
  await sandbox.expectOwnRows()
}

function sameState(model: Model, { balances, bets }: FinalState): boolean {
  return (
    [...balances].every(([account, balance]) => {
      const [playerId = '', currency] = account.split(' ')
      return model.balance(playerId, currency) === balance
    }) && [...bets].every(([betId, bet]) => sameModelBet(model.bet(betId), bet))
  )
}

/**
 * Drops the steps that this harness does not support: external writers need their hook, amounts must fit its
 * limits. With `idScope: 'player'` the ids of each player are its own.
 */
function supported(context: CaseContext, all: readonly HistoryStep[], several: boolean): HistoryStep[] {
  const { depositExternally, idScope, limits = { digits: 33, scale: 18 } }: StoreHarness = context.harness
  const largest = 10n ** BigInt(Math.max(limits.digits - limits.scale, 0) + 2) / 1000n
  const fits = (amount: Cents) => amount <= largest && (limits.scale >= 2 || amount % 100n === 0n)
  const steps = several ? all.map(ofSeveralAccounts) : all
  return steps.flatMap((step): HistoryStep[] => {
    if (step.step === 'deposit' || step.step === 'withdraw') {
      return depositExternally !== undefined && fits(step.amount) ? [step] : []
    }
    if (step.step !== 'call' || ('amount' in step.request && !fits(step.request.amount))) return []
    return [withPlayerScopedIds(canInject(step.fault) ? step : withoutFault(step), idScope)]
  })
}

function withoutFault(step: HistoryStep): HistoryStep {
  return step.step === 'call' ? { ...step, fault: 'none' } : step
}

/**
 * Every load and every commit waits for its turn, and the next turn waits until it ends. The schedule alone
 * decides the order, whatever the store.
 */
function scheduled(scheduler: fc.Scheduler, store: WalletStore): { store: WalletStore; schedule: Schedule } {
  let last: Promise<unknown> = Promise.resolve()
  const schedule: Schedule = async (label, action) => {
    await scheduler.schedule(Promise.resolve(), label)
    const result = last.then(action)
    last = result.catch(() => undefined)
    return result
  }
  return {
    schedule,
    store: {
      contractVersion: store.contractVersion,
      load: keys => schedule(`load ${keyOf(keys)}`, () => store.load(keys)),
      ...optionalParts(store, (keys, loadConfirmed) =>
        schedule(`loadConfirmed ${keyOf(keys)}`, () => loadConfirmed(keys)),
      ),
      commit: changes => schedule(`commit ${keyOf(changes.transaction)}`, () => store.commit(changes)),
    },
  }
}
