/**
 * Commits that are lost before or after they are written, or delayed until after the error, the follow-up
 * read and even the platform's rollback. The simulated platform behaves as the specification says: it rolls
 * back placebets without an answer, retries every other request, and nets uncollected clawbacks off later
 * winnings. At the end, when everything is delivered, its books and the wallet must agree.
 */
import { type Transaction, WalletError, type WalletOutcome, type WalletStore } from 'bet-wallet'
import type { MemoryStore } from 'bet-wallet/memory'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hook } from '../../src/testing/arbitraries.js'
import {
  type Cents,
  type InitialPlayer,
  keyOf,
  type ModelRequest,
  type SessionHook,
  type WalletPolicy,
} from '../../src/testing/model.js'
import { toCents } from '../../src/testing/platform.js'
import { expectBalancesToAddUp, expectBetsToAddUp, sumOf } from './money.js'
import { runs, timeoutMs } from './runs.js'
import { moveExternally, openMemory, send } from './wallet.js'

/** The number of turns of the schedule that a delay takes. */
const turns = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 5, max: 40 }))

/** `readThrows`: the follow-up read after the lost commit throws too. */
type CommitFault =
  | { commit: 'none' | 'conflict' | 'unavailable' }
  | { commit: 'lost-request' | 'lost-answer'; readThrows: boolean }
  | { commit: 'delayed'; readThrows: boolean; turns: number }

type LoadFault = 'none' | 'throws' | 'unavailable'

/** A fault of the network between the platform and the wallet. */
type NetworkFault =
  | { network: 'none' | 'lost-request' | 'lost-answer' }
  | { network: 'delayed-request' | 'duplicate'; turns: number }

interface Faults {
  commits: CommitFault[]
  loads: LoadFault[]
  network: NetworkFault[]
}

const readThrows = fc.constantFrom(false, false, true)

const commitFault: fc.Arbitrary<CommitFault> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<CommitFault>({ commit: 'none' }) },
  {
    weight: 1,
    arbitrary: fc.record({ commit: fc.constantFrom('conflict' as const, 'unavailable' as const) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      commit: fc.constantFrom('lost-request' as const, 'lost-answer' as const),
      readThrows,
    }),
  },
  { weight: 3, arbitrary: fc.record({ commit: fc.constant('delayed' as const), readThrows, turns }) },
)

const faults: fc.Arbitrary<Faults> = fc.record({
  commits: fc.array(commitFault, { maxLength: 12, size: 'max' }),
  loads: fc.array(fc.constantFrom<LoadFault[]>('none', 'none', 'none', 'throws', 'unavailable'), {
    maxLength: 10,
    size: 'max',
  }),
  network: fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant<NetworkFault>({ network: 'none' }) },
      {
        weight: 2,
        arbitrary: fc.record({ network: fc.constantFrom('lost-request' as const, 'lost-answer' as const) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          network: fc.constantFrom('delayed-request' as const, 'duplicate' as const),
          turns,
        }),
      },
    ),
    { maxLength: 12, size: 'max' },
  ),
})

/** The schedule, and the tasks that still run on it. */
class Schedule {
  readonly #s: fc.Scheduler
  readonly #tasks: Promise<unknown>[] = []

  constructor(s: fc.Scheduler) {
    this.#s = s
  }

  async turns(label: string, count = 1): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) await this.#s.schedule(Promise.resolve(), label)
  }

  /** Runs a task in the background. */
  background(task: () => Promise<unknown>): void {
    this.#tasks.push(task())
  }

  /** Waits for the work, and then for all background tasks. */
  async finish(work: Promise<unknown>): Promise<void> {
    await this.#s.waitFor(work)
    for (let task = this.#tasks.shift(); task !== undefined; task = this.#tasks.shift()) {
      await this.#s.waitFor(task)
    }
  }
}

/** A store with injected faults, one per call; the calls after the last fault meet none. */
function unreliableStore(
  memory: MemoryStore,
  schedule: Schedule,
  faults: Pick<Faults, 'commits' | 'loads'>,
): WalletStore {
  const commits = faults.commits.values()
  const loads = faults.loads.values()
  const readsThatThrow = new Set<string>()
  const injectedFault = () => new Error('Injected fault')

  return {
    contractVersion: 2,
    async load(keys) {
      await schedule.turns(`load ${keyOf(keys)}`)
      if (readsThatThrow.delete(keyOf(keys))) throw injectedFault()
      const fault: LoadFault = loads.next().value ?? 'none'
      if (fault === 'throws') throw injectedFault()
      if (fault === 'unavailable') throw Object.assign(injectedFault(), { code: 'UNAVAILABLE' })
      return memory.load(keys)
    },
    async commit(changes) {
      const key = keyOf(changes.transaction)
      const fault: CommitFault = commits.next().value ?? { commit: 'none' }
      await schedule.turns(`commit ${key}`)
      switch (fault.commit) {
        case 'none':
          return memory.commit(changes)
        case 'conflict':
          return { status: 'conflict' }
        case 'unavailable':
          return { status: 'unavailable' }
        default:
      }
      if (fault.readThrows) readsThatThrow.add(key)
      if (fault.commit === 'lost-answer') await memory.commit(changes)
      if (fault.commit === 'delayed') {
        schedule.background(async () => {
          await schedule.turns(`commit ${key}, delayed`, fault.turns)
          await memory.commit(changes)
        })
      }
      throw injectedFault()
    },
  }
}

/** The hook decides whether placebets are committed without a load. */
type Policy = WalletPolicy & { hook: SessionHook }

/** An outcome that some caller received. A fault is not an answer. */
interface Received {
  request: ModelRequest
  outcome: WalletOutcome | WalletError
}

/** Sends requests to the wallet over a network with injected faults. */
function unreliableNetwork(
  store: WalletStore,
  policy: Policy,
  schedule: Schedule,
  faults: Iterator<NetworkFault>,
  received: Received[],
) {
  async function deliver(request: ModelRequest): Promise<WalletOutcome | WalletError> {
    let outcome: WalletOutcome | WalletError
    try {
      outcome = await send(store, request, policy, { hook: policy.hook })
    } catch (error) {
      if (!(error instanceof WalletError) || error.code === 'STORE_CONTRACT') throw error
      outcome = error
    }
    received.push({ request, outcome })
    return outcome
  }

  /** Returns `null` if the platform receives nothing. */
  return async (request: ModelRequest): Promise<WalletOutcome | WalletError | null> => {
    const fault: NetworkFault = faults.next().value ?? { network: 'none' }
    await schedule.turns(`send ${keyOf(request)}`)
    switch (fault.network) {
      case 'lost-request':
        return null
      case 'lost-answer':
        await deliver(request)
        return null
      case 'delayed-request':
        schedule.background(async () => {
          await schedule.turns(`${keyOf(request)}, delayed`, fault.turns)
          await deliver(request)
        })
        return null
      case 'duplicate':
        schedule.background(async () => {
          await schedule.turns(`${keyOf(request)}, duplicate`, fault.turns)
          await deliver(request)
        })
        return deliver(request)
      default:
        return deliver(request)
    }
  }
}

interface Result {
  type: 'BET_PAID' | 'VOIDED' | 'CASHOUT'
  /** Several settlements may make one result (D17). */
  amounts: Cents[]
  reversed: boolean
  /** The unsettlement does not wait for the answer to the settlement (D19). */
  overtakes: boolean
}

interface BetPlan {
  playerId: string
  stake: Cents
  rollbackReusesId: boolean
  results: Result[]
}

const players: readonly InitialPlayer[] = [
  { playerId: 'ann', currency: 'EUR', balance: 100_00n, known: true },
  { playerId: 'cy', currency: 'EUR', balance: 30_00n, known: true },
]

const smallAmount = fc.constantFrom(30_00n, 60_00n, 10n, 20n, 100_00n, 0n)

const plan: fc.Arbitrary<BetPlan> = fc.record({
  playerId: fc.constantFrom('ann', 'ann', 'cy'),
  stake: smallAmount,
  rollbackReusesId: fc.boolean(),
  results: fc.array(
    fc.record({
      type: fc.constantFrom('BET_PAID' as const, 'BET_PAID' as const, 'VOIDED' as const, 'CASHOUT' as const),
      amounts: fc.array(smallAmount, { minLength: 1, maxLength: 2 }),
      reversed: fc.constantFrom(true, true, false),
      overtakes: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
})

/** The simulated platform. Its books come only from the answers that it received. */
class Platform {
  /** Per bet: the sum of all changes of the player's balance. */
  readonly netByBet = new Map<string, Cents>()
  /** Per player: the result of all bets as if every debt had been collected. */
  readonly due = new Map<string, Cents>()
  /** Per player: uncollected clawbacks that are not netted yet. */
  readonly debt = new Map<string, Cents>()
  /** Per player: the sum of all uncollected clawbacks. */
  readonly uncollected = new Map<string, Cents>()
  readonly #sendOnce: (request: ModelRequest) => Promise<WalletOutcome | WalletError | null>

  constructor(sendOnce: (request: ModelRequest) => Promise<WalletOutcome | WalletError | null>) {
    this.#sendOnce = sendOnce
  }

  async playBet(betId: string, { playerId, stake, rollbackReusesId, results }: BetPlan): Promise<void> {
    const ids = { betId, playerId }
    const placeId = `${betId}-place`
    const place: ModelRequest = {
      operation: 'placebet',
      transactionId: placeId,
      ...ids,
      amount: stake,
      currency: 'EUR',
      sessionEnded: false,
    }

    // A placebet is never retried: without an answer it is rolled back, and the rollback is retried.
    const answer = await this.#sendOnce(place)
    if (answer === null || answer instanceof WalletError) {
      const transactionId = rollbackReusesId ? placeId : `${betId}-rollback`
      const result = await this.#untilAnswered({
        operation: 'rollbackbet',
        transactionId,
        ...ids,
        type: 'TECHNICAL_ERROR',
      })
      expect(result).toBe('ok')
      return
    }
    if (!answer.ok) {
      expect(answer.errorCode).toBe('INSUFFICIENT_FUNDS')
      return
    }
    add(this.netByBet, betId, -stake)
    add(this.due, playerId, -stake)

    const live = new Map<string, { sent: Cents; netted: Cents }>()
    for (const [number, result] of results.entries()) {
      const seen = results.slice(0, number).some(({ type }) => type === result.type)
      if (!seen) live.set(result.type, { sent: 0n, netted: 0n })
      const credit = live.get(result.type) as { sent: Cents; netted: Cents }
      await this.#settle(
        ids,
        `${betId}-${number}`,
        { ...result, overtakes: result.overtakes && !seen },
        credit,
      )
    }
  }

  /** @param live the live credit of this type: as sent to the wallet, and as netted before */
  async #settle(
    ids: { betId: string; playerId: string },
    id: string,
    result: Result,
    live: { sent: Cents; netted: Cents },
  ): Promise<void> {
    const { type, reversed } = result
    const { betId, playerId } = ids
    // An overtaken settlement is the only one of its result: the unsettlement might find one of two.
    const amounts = result.overtakes ? result.amounts.slice(0, 1) : result.amounts

    const settle = async () => {
      for (const [part, won] of amounts.entries()) {
        // Spec 4.2 rule 2: debts are kept back from future winnings.
        const debt = type === 'BET_PAID' ? (this.debt.get(playerId) ?? 0n) : 0n
        const net = won < debt ? won : debt
        const amount = won - net
        add(this.debt, playerId, -net)
        live.sent += amount
        live.netted += net
        const result = await this.#untilAnswered({
          operation: 'settlement',
          transactionId: `${id}-${part}`,
          ...ids,
          type,
          amount,
          currency: 'EUR',
        })
        expect(result).toBe('ok')
        add(this.netByBet, betId, amount)
        add(this.due, playerId, won)
      }
    }

    const unsettle = async () => {
      const result = await this.#untilAnswered({
        operation: 'unsettlement',
        transactionId: `${id}-reversal`,
        ...ids,
        type: type === 'BET_PAID' ? 'UNSCORED' : 'UNVOIDED',
      })
      // D18: everything that is live, earlier results included.
      const { sent, netted } = live
      Object.assign(live, { sent: 0n, netted: 0n })
      if (result === 'ok') add(this.netByBet, betId, -sent)
      else {
        expect(result).toBe('INSUFFICIENT_FUNDS')
        add(this.debt, playerId, sent)
        add(this.uncollected, playerId, sent)
      }
      add(this.debt, playerId, netted) // the winnings are gone: the netted amount is a debt again
      add(this.due, playerId, -(sent + netted))
    }

    const isReversed = reversed && type !== 'CASHOUT'
    if (isReversed && result.overtakes) await Promise.all([settle(), unsettle()])
    else {
      await settle()
      if (isReversed) await unsettle()
    }
  }

  /** Retries until the answer is definite. A fault is not, and neither is SETTLEMENT_NOT_FOUND (D19). */
  async #untilAnswered(request: ModelRequest): Promise<string> {
    for (let tries = 0; tries < 500; tries += 1) {
      const answer = await this.#sendOnce(request)
      if (answer === null || answer instanceof WalletError) continue
      if (answer.ok) return 'ok'
      if (answer.errorCode !== 'SETTLEMENT_NOT_FOUND') return answer.errorCode
    }
    throw new Error(`${keyOf(request)} was never answered`)
  }
}

function add(sums: Map<string, Cents>, key: string, amount: Cents): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount)
}

const externalMoves = fc.array(
  fc.record({
    step: fc.constantFrom('deposit' as const, 'withdraw' as const, 'withdraw' as const),
    playerId: fc.constantFrom('ann', 'cy'),
    amount: fc.constantFrom(30_00n, 60_00n, 100_00n),
    turns,
  }),
  { maxLength: 5 },
)

/** Every received answer matches the record, so that all callers received the same one. */
function expectRecordsToMatch(received: readonly Received[], memory: MemoryStore): void {
  const records = new Map(memory.transactions().map((one): [string, Transaction] => [keyOf(one), one]))
  for (const { request, outcome } of received) {
    if (outcome instanceof WalletError) continue
    const record = records.get(keyOf(request))
    if (outcome.ok) {
      expect(record).toMatchObject({ refusal: null, walletTransactionId: outcome.walletTransactionId })
    } else if (request.operation === 'placebet' || outcome.errorCode === 'INSUFFICIENT_FUNDS') {
      expect(record?.refusal).toEqual({ errorCode: outcome.errorCode, description: outcome.description })
    }
  }
}

describe('with commits that are lost or delayed', () => {
  // Seen red with a lost commit answered as a refusal.
  test(
    "money is neither lost nor duplicated: at the end the wallet and the platform's books agree",
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          faults,
          fc.array(plan, { minLength: 1, maxLength: 3 }),
          externalMoves,
          fc.constantFrom(true, true, true, false),
          hook,
          async (s, faults, plans, moves, clawbacks, hook) => {
            const memory = openMemory(players)
            const schedule = new Schedule(s)
            const received: Received[] = []
            const policy: Policy = { clawbacks, debitMax: 10n ** 30n, hook }
            const store = unreliableStore(memory, schedule, faults)
            const platform = new Platform(
              unreliableNetwork(store, policy, schedule, faults.network.values(), received),
            )
            const external = new Map<string, Cents>()

            await schedule.finish(
              Promise.all([
                ...plans.map((plan, index) => platform.playBet(`b${index}`, plan)),
                ...moves.map(async ({ turns, ...step }) => {
                  await schedule.turns(`${step.step} ${step.playerId}`, turns)
                  const sign = step.step === 'deposit' ? 1n : -1n
                  if (moveExternally(memory, step)) add(external, step.playerId, sign * step.amount)
                }),
              ]),
            )

            const externalOf = (playerId: string) => external.get(playerId) ?? 0n
            for (const index of plans.keys()) {
              const betId = `b${index}`
              const net = sumOf(memory.transactions().filter(one => one.betId === betId))
              expect(net, `net of ${betId}`).toBe(platform.netByBet.get(betId) ?? 0n)
            }
            for (const { playerId, balance: initial } of players) {
              const balance = toCents(memory.account(playerId)?.balance ?? '')
              const debt = platform.debt.get(playerId) ?? 0n
              expect(balance - debt, `balance of ${playerId} less the debt`).toBe(
                initial + externalOf(playerId) + (platform.due.get(playerId) ?? 0n),
              )
              expect(toCents(Object.values(memory.owed(playerId))[0] ?? '0')).toBe(
                platform.uncollected.get(playerId) ?? 0n,
              )
            }
            expectBalancesToAddUp(memory, players, externalOf)
            expectBetsToAddUp(memory)
            expectRecordsToMatch(received, memory)
          },
        ),
        runs(1500),
      ),
    timeoutMs,
  )

  // Seen red without guard 2.
  test(
    'a bet that the platform rolled back costs nothing, whenever its commits are delivered',
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          fc.array(commitFault, { minLength: 1, maxLength: 6 }),
          fc.boolean(),
          hook,
          async (s, commits, sameId, hook) => {
            const memory = openMemory(players)
            const schedule = new Schedule(s)
            const policy: Policy = { clawbacks: true, debitMax: 10n ** 30n, hook }
            const store = unreliableStore(memory, schedule, { commits, loads: [] })
            const ids = { betId: 'x', playerId: 'ann' }
            const placed = {
              transactionId: 'p',
              ...ids,
              amount: 30_00n,
              currency: 'EUR',
              sessionEnded: false,
            }
            const transactionId = sameId ? 'p' : 'r'
            const attempt = (request: ModelRequest) =>
              send(store, request, policy, { hook: policy.hook }).catch((fault: WalletError) => {
                if (fault.code === 'STORE_CONTRACT') throw fault
                return fault
              })

            await schedule.finish(
              (async () => {
                // The platform does not wait for the answer: its timeout was shorter.
                schedule.background(() => attempt({ operation: 'placebet', ...placed }))
                for (let tries = 0; tries < 100; tries += 1) {
                  const outcome = await attempt({
                    operation: 'rollbackbet',
                    transactionId,
                    ...ids,
                    type: 'TECHNICAL_ERROR',
                  })
                  if (!(outcome instanceof WalletError)) {
                    expect(outcome.ok).toBe(true)
                    return
                  }
                }
                throw new Error('The rollback was never answered')
              })(),
            )
            expect(sumOf(memory.transactions())).toBe(0n)
            expectBalancesToAddUp(memory, players, () => 0n)
          },
        ),
        runs(600),
      ),
    timeoutMs,
  )

  // Seen red with a follow-up read that answers with the attempted decision.
  test(
    'all copies of one request are answered with the recorded decision',
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          faults,
          fc.constantFrom('placebet' as const, 'unsettlement' as const),
          fc.integer({ min: 2, max: 4 }),
          externalMoves,
          hook,
          async (s, faults, operation, copies, moves, hook) => {
            const memory = openMemory(players)
            const schedule = new Schedule(s)
            const policy: Policy = { clawbacks: true, debitMax: 10n ** 30n, hook }
            const money = { betId: 'x', playerId: 'ann', currency: 'EUR', amount: 60_00n }
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
            const unsettle: ModelRequest = {
              operation: 'unsettlement',
              transactionId: 'u',
              betId: 'x',
              playerId: 'ann',
              type: 'UNSCORED',
            }
            if (operation === 'unsettlement') {
              await send(memory, place, policy)
              await send(memory, pay, policy)
            }
            const received: Received[] = []
            const sendOnce = unreliableNetwork(
              unreliableStore(memory, schedule, faults),
              policy,
              schedule,
              [].values(),
              received,
            )
            await schedule.finish(
              Promise.all([
                ...Array.from({ length: copies }, () =>
                  sendOnce(operation === 'placebet' ? place : unsettle),
                ),
                ...moves.map(async ({ turns, ...step }) => {
                  await schedule.turns(`${step.step} ${step.playerId}`, turns)
                  moveExternally(memory, step)
                }),
              ]),
            )
            expectRecordsToMatch(received, memory)
            expectBetsToAddUp(memory)
          },
        ),
        runs(800),
      ),
    timeoutMs,
  )

  // Seen red with a lost commit reported as retryable.
  test(
    'a fault that reports no changes is true, and stays true',
    () =>
      fc.assert(
        fc.asyncProperty(fc.scheduler(), faults, hook, async (s, faults, hook) => {
          const memory = openMemory(players)
          const schedule = new Schedule(s)
          const policy: Policy = { clawbacks: true, debitMax: 10n ** 30n, hook }
          const received: Received[] = []
          const store = unreliableStore(memory, schedule, faults)
          const sendOnce = unreliableNetwork(store, policy, schedule, [].values(), received)
          const money = { betId: 'x', playerId: 'ann', currency: 'EUR', amount: 60_00n }
          await schedule.finish(
            sendOnce({ operation: 'placebet', transactionId: 'p', ...money, sessionEnded: false }),
          )
          const [first] = received
          if (first?.outcome instanceof WalletError && first.outcome.code !== 'COMMIT_UNKNOWN') {
            expect(memory.transactions()).toEqual([])
            expect(memory.bets()).toEqual([])
          }
        }),
        runs(400),
      ),
    timeoutMs,
  )
})
