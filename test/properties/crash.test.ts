/**
 * A line that breaks: before the commit, after it, or so that the commit lands later, when the throw, the look for
 * the transaction and even the platform's rollback are over. On the other side of the wallet a platform that does
 * what the specification says of it: it rolls back what it did not hear of, tries again what it must, and nets what
 * was answered 402. When everything has landed, its books and the wallet's must be the same.
 */
import { type Transaction, WalletError, type WalletOutcome, type WalletStore } from 'bet-wallet'
import type { MemoryStore } from 'bet-wallet/memory'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Cents,
  type InitialPlayer,
  keyOf,
  type ModelRequest,
  type WalletPolicy,
} from '../../src/testing/model.js'
import { toCents } from '../../src/testing/platform.js'
import { expectBalancesToAddUp, expectBetsToAddUp, sumOf } from './money.js'
import { runs, timeoutMs } from './runs.js'
import { moveExternally, openMemory, send } from './wallet.js'

/** How many turns of the schedule something takes that is late. */
const turns = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 5, max: 40 }))

type CommitFault =
  | { commit: 'works' }
  | { commit: 'meets a conflict' | 'is unavailable' }
  | { commit: 'throws before' | 'throws after'; lookThrows: boolean }
  | { commit: 'lands late'; lookThrows: boolean; turns: number }

type LoadFault = 'works' | 'throws' | 'is unavailable'

/** What befalls a request on its way between the platform and the wallet. */
type WayFault =
  | { way: 'works' | 'request lost' | 'answer lost' }
  | { way: 'request late' | 'comes twice'; turns: number }

interface Faults {
  commits: CommitFault[]
  loads: LoadFault[]
  ways: WayFault[]
}

const lookThrows = fc.constantFrom(false, false, true)

const commitFault: fc.Arbitrary<CommitFault> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<CommitFault>({ commit: 'works' }) },
  {
    weight: 1,
    arbitrary: fc.record({ commit: fc.constantFrom('meets a conflict' as const, 'is unavailable' as const) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      commit: fc.constantFrom('throws before' as const, 'throws after' as const),
      lookThrows,
    }),
  },
  { weight: 3, arbitrary: fc.record({ commit: fc.constant('lands late' as const), lookThrows, turns }) },
)

const faults: fc.Arbitrary<Faults> = fc.record({
  commits: fc.array(commitFault, { maxLength: 12, size: 'max' }),
  loads: fc.array(fc.constantFrom<LoadFault[]>('works', 'works', 'works', 'throws', 'is unavailable'), {
    maxLength: 10,
    size: 'max',
  }),
  ways: fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant<WayFault>({ way: 'works' }) },
      {
        weight: 2,
        arbitrary: fc.record({ way: fc.constantFrom('request lost' as const, 'answer lost' as const) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          way: fc.constantFrom('request late' as const, 'comes twice' as const),
          turns,
        }),
      },
    ),
    { maxLength: 12, size: 'max' },
  ),
})

/** The schedule, and all that is still under way on it. */
class Course {
  readonly #s: fc.Scheduler
  readonly #underWay: Promise<unknown>[] = []

  constructor(s: fc.Scheduler) {
    this.#s = s
  }

  async turns(label: string, count = 1): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) await this.#s.schedule(Promise.resolve(), label)
  }

  /** Goes on by itself, whoever waits for it. */
  aside(task: () => Promise<unknown>): void {
    this.#underWay.push(task())
  }

  /** Until the work is done and everything that is late has come. */
  async until(work: Promise<unknown>): Promise<void> {
    await this.#s.waitFor(work)
    for (let task = this.#underWay.shift(); task !== undefined; task = this.#underWay.shift()) {
      await this.#s.waitFor(task)
    }
  }
}

/** A store at the end of a bad line. Each fault is used up by the call that it befalls; then the line is good. */
function storeOnABadLine(
  memory: MemoryStore,
  course: Course,
  faults: Pick<Faults, 'commits' | 'loads'>,
): WalletStore {
  const commits = faults.commits.values()
  const loads = faults.loads.values()
  const looksThatThrow = new Set<string>()
  const brokenLine = () => new Error('the line broke')

  return {
    contractVersion: 1,
    async load(keys) {
      await course.turns(`load ${keyOf(keys)}`)
      if (looksThatThrow.delete(keyOf(keys))) throw brokenLine()
      const fault: LoadFault = loads.next().value ?? 'works'
      if (fault === 'throws') throw brokenLine()
      if (fault === 'is unavailable') throw Object.assign(brokenLine(), { code: 'UNAVAILABLE' })
      return memory.load(keys)
    },
    async commit(changes) {
      const key = keyOf(changes.transaction)
      const fault: CommitFault = commits.next().value ?? { commit: 'works' }
      await course.turns(`commit ${key}`)
      switch (fault.commit) {
        case 'works':
          return memory.commit(changes)
        case 'meets a conflict':
          return { status: 'conflict' }
        case 'is unavailable':
          return { status: 'unavailable' }
        default:
      }
      if (fault.lookThrows) looksThatThrow.add(key)
      if (fault.commit === 'throws after') await memory.commit(changes)
      if (fault.commit === 'lands late') {
        course.aside(async () => {
          await course.turns(`commit ${key}, late`, fault.turns)
          await memory.commit(changes)
        })
      }
      throw brokenLine()
    },
  }
}

/** What somebody heard of a request: a fault is not an answer. */
interface Word {
  request: ModelRequest
  outcome: WalletOutcome | WalletError
}

/** The wallet as it is reached over a network. */
function walletOverANetwork(
  store: WalletStore,
  house: WalletPolicy,
  course: Course,
  ways: Iterator<WayFault>,
  words: Word[],
) {
  async function deliver(request: ModelRequest): Promise<WalletOutcome | WalletError> {
    let outcome: WalletOutcome | WalletError
    try {
      outcome = await send(store, request, house)
    } catch (error) {
      if (!(error instanceof WalletError) || error.code === 'STORE_CONTRACT') throw error
      outcome = error
    }
    words.push({ request, outcome })
    return outcome
  }

  /** `null`: the platform heard nothing. */
  return async (request: ModelRequest): Promise<WalletOutcome | WalletError | null> => {
    const fault: WayFault = ways.next().value ?? { way: 'works' }
    await course.turns(`send ${keyOf(request)}`)
    switch (fault.way) {
      case 'request lost':
        return null
      case 'answer lost':
        await deliver(request)
        return null
      case 'request late':
        course.aside(async () => {
          await course.turns(`${keyOf(request)}, late`, fault.turns)
          await deliver(request)
        })
        return null
      case 'comes twice':
        course.aside(async () => {
          await course.turns(`${keyOf(request)}, again`, fault.turns)
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
  wrong: boolean
  /** The reversal does not wait for the settlement (D19). */
  overtakes: boolean
}

interface BetPlan {
  playerId: string
  stake: Cents
  rollbackUnderTheSameId: boolean
  results: Result[]
}

const openings: readonly InitialPlayer[] = [
  { playerId: 'ann', currency: 'EUR', balance: 100_00n, known: true },
  { playerId: 'cy', currency: 'EUR', balance: 30_00n, known: true },
]

const smallAmount = fc.constantFrom(30_00n, 60_00n, 10n, 20n, 100_00n, 0n)

const plan: fc.Arbitrary<BetPlan> = fc.record({
  playerId: fc.constantFrom('ann', 'ann', 'cy'),
  stake: smallAmount,
  rollbackUnderTheSameId: fc.boolean(),
  results: fc.array(
    fc.record({
      type: fc.constantFrom('BET_PAID' as const, 'BET_PAID' as const, 'VOIDED' as const, 'CASHOUT' as const),
      amounts: fc.array(smallAmount, { minLength: 1, maxLength: 2 }),
      wrong: fc.constantFrom(true, true, false),
      overtakes: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
})

/** What the platform believes: kept from the answers that it heard, and from nothing else. */
class Platform {
  /** Per bet, what the player's balance has moved by. */
  readonly moved = new Map<string, Cents>()
  /** Per player: what the bets came to, had every debt been collected by now. */
  readonly due = new Map<string, Cents>()
  /** Per player: what was answered 402 and is not yet netted. */
  readonly debt = new Map<string, Cents>()
  /** Per player: the amounts that were answered 402, in sum. */
  readonly left = new Map<string, Cents>()
  readonly #sendOnce: (request: ModelRequest) => Promise<WalletOutcome | WalletError | null>

  constructor(sendOnce: (request: ModelRequest) => Promise<WalletOutcome | WalletError | null>) {
    this.#sendOnce = sendOnce
  }

  async playOut(betId: string, { playerId, stake, rollbackUnderTheSameId, results }: BetPlan): Promise<void> {
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

    // A placebet is not tried again: what is not heard of is rolled back until that is heard of.
    const heard = await this.#sendOnce(place)
    if (heard === null || heard instanceof WalletError) {
      const transactionId = rollbackUnderTheSameId ? placeId : `${betId}-back`
      const word = await this.#untilAnswered({
        operation: 'rollbackbet',
        transactionId,
        ...ids,
        type: 'TECHNICAL_ERROR',
      })
      expect(word).toBe('ok')
      return
    }
    if (!heard.ok) {
      expect(heard.errorCode).toBe('INSUFFICIENT_FUNDS')
      return
    }
    add(this.moved, betId, -stake)
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

  /** @param live what the bet has of this type, as sent to the wallet, and as netted before */
  async #settle(
    ids: { betId: string; playerId: string },
    id: string,
    result: Result,
    live: { sent: Cents; netted: Cents },
  ): Promise<void> {
    const { type, wrong } = result
    const { betId, playerId } = ids
    // An overtaken settlement is the only one of its result: of two the reversal might find one.
    const amounts = result.overtakes ? result.amounts.slice(0, 1) : result.amounts

    const settle = async () => {
      for (const [part, won] of amounts.entries()) {
        // Spec 4.2 rule 2: debts are deducted from future winnings.
        const debt = type === 'BET_PAID' ? (this.debt.get(playerId) ?? 0n) : 0n
        const net = won < debt ? won : debt
        const amount = won - net
        add(this.debt, playerId, -net)
        live.sent += amount
        live.netted += net
        const word = await this.#untilAnswered({
          operation: 'settlement',
          transactionId: `${id}-${part}`,
          ...ids,
          type,
          amount,
          currency: 'EUR',
        })
        expect(word).toBe('ok')
        add(this.moved, betId, amount)
        add(this.due, playerId, won)
      }
    }

    const unsettle = async () => {
      const word = await this.#untilAnswered({
        operation: 'unsettlement',
        transactionId: `${id}-undone`,
        ...ids,
        type: type === 'BET_PAID' ? 'UNSCORED' : 'UNVOIDED',
      })
      // D18: all that is live, also of results before.
      const { sent, netted } = live
      Object.assign(live, { sent: 0n, netted: 0n })
      if (word === 'ok') add(this.moved, betId, -sent)
      else {
        expect(word).toBe('INSUFFICIENT_FUNDS')
        add(this.debt, playerId, sent)
        add(this.left, playerId, sent)
      }
      add(this.debt, playerId, netted) // what was netted off winnings that are none is a debt again
      add(this.due, playerId, -(sent + netted))
    }

    const isReversed = wrong && type !== 'CASHOUT'
    if (isReversed && result.overtakes) await Promise.all([settle(), unsettle()])
    else {
      await settle()
      if (isReversed) await unsettle()
    }
  }

  /** 2xx or 4xx: everything else is tried again, the settlement that has not arrived (503) among it. */
  async #untilAnswered(request: ModelRequest): Promise<string> {
    for (let tries = 0; tries < 500; tries += 1) {
      const heard = await this.#sendOnce(request)
      if (heard === null || heard instanceof WalletError) continue
      if (heard.ok) return 'ok'
      if (heard.errorCode !== 'SETTLEMENT_NOT_FOUND') return heard.errorCode
    }
    throw new Error(`${keyOf(request)} is never answered`)
  }
}

function add(sums: Map<string, Cents>, key: string, amount: Cents): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount)
}

const life = fc.array(
  fc.record({
    step: fc.constantFrom('deposit' as const, 'withdraw' as const, 'withdraw' as const),
    playerId: fc.constantFrom('ann', 'cy'),
    amount: fc.constantFrom(30_00n, 60_00n, 100_00n),
    turns,
  }),
  { maxLength: 5 },
)

/** No answer is taken back: what anybody heard is what is recorded, and all who heard heard the same. */
function expectWordsToHold(words: readonly Word[], memory: MemoryStore): void {
  const records = new Map(memory.transactions().map((one): [string, Transaction] => [keyOf(one), one]))
  for (const { request, outcome } of words) {
    if (outcome instanceof WalletError) continue
    const record = records.get(keyOf(request))
    if (outcome.ok) {
      expect(record).toMatchObject({ refusal: null, walletTransactionId: outcome.walletTransactionId })
    } else if (request.operation === 'placebet' || outcome.errorCode === 'INSUFFICIENT_FUNDS') {
      expect(record?.refusal).toEqual({ errorCode: outcome.errorCode, description: outcome.description })
    }
  }
}

describe('on a line that breaks before or after a commit, or lets it land late', () => {
  // Seen red with a lost commit that was answered as a refusal.
  test(
    "money is neither lost nor doubled: in the end the wallet has what the platform's books say",
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          faults,
          fc.array(plan, { minLength: 1, maxLength: 3 }),
          life,
          fc.constantFrom(true, true, true, false),
          async (s, faults, plans, life, clawbacks) => {
            const memory = openMemory(openings)
            const course = new Course(s)
            const words: Word[] = []
            const house: WalletPolicy = { clawbacks: clawbacks, takenAtOnceMax: 10n ** 30n }
            const store = storeOnABadLine(memory, course, faults)
            const platform = new Platform(
              walletOverANetwork(store, house, course, faults.ways.values(), words),
            )
            const external = new Map<string, Cents>()

            await course.until(
              Promise.all([
                ...plans.map((plan, index) => platform.playOut(`b${index}`, plan)),
                ...life.map(async ({ turns, ...step }) => {
                  await course.turns(`${step.step} ${step.playerId}`, turns)
                  const sign = step.step === 'deposit' ? 1n : -1n
                  if (moveExternally(memory, step)) add(external, step.playerId, sign * step.amount)
                }),
              ]),
            )

            const externalOf = (playerId: string) => external.get(playerId) ?? 0n
            for (const index of plans.keys()) {
              const betId = `b${index}`
              const moved = sumOf(memory.transactions().filter(one => one.betId === betId))
              expect(moved, `moved for ${betId}`).toBe(platform.moved.get(betId) ?? 0n)
            }
            for (const { playerId, balance: opening } of openings) {
              const balance = toCents(memory.player(playerId)?.balance ?? '')
              const debt = platform.debt.get(playerId) ?? 0n
              expect(balance - debt, `what ${playerId} has and owes`).toBe(
                opening + externalOf(playerId) + (platform.due.get(playerId) ?? 0n),
              )
              expect(toCents(memory.owed(playerId))).toBe(platform.left.get(playerId) ?? 0n)
            }
            expectBalancesToAddUp(memory, openings, externalOf)
            expectBetsToAddUp(memory)
            expectWordsToHold(words, memory)
          },
        ),
        runs(1500),
      ),
    timeoutMs,
  )

  // Seen red with a commit without guard 2.
  test(
    'a bet that the platform gave up costs nothing, whenever its commits land',
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          fc.array(commitFault, { minLength: 1, maxLength: 6 }),
          fc.boolean(),
          async (s, commits, sameId) => {
            const memory = openMemory(openings)
            const course = new Course(s)
            const house: WalletPolicy = { clawbacks: true, takenAtOnceMax: 10n ** 30n }
            const store = storeOnABadLine(memory, course, { commits, loads: [] })
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
              send(store, request, house).catch((fault: WalletError) => {
                if (fault.code === 'STORE_CONTRACT') throw fault
                return fault
              })

            await course.until(
              (async () => {
                // Whatever became of it: the time-out was shorter than the answer.
                course.aside(() => attempt({ operation: 'placebet', ...placed }))
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
                throw new Error('the rollback is never answered')
              })(),
            )
            expect(sumOf(memory.transactions())).toBe(0n)
            expectBalancesToAddUp(memory, openings, () => 0n)
          },
        ),
        runs(600),
      ),
    timeoutMs,
  )

  // Seen red with a look-up that answered with the decision it had attempted.
  test(
    'copies of one request are all answered with what is recorded',
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          faults,
          fc.constantFrom('placebet' as const, 'unsettlement' as const),
          fc.integer({ min: 2, max: 4 }),
          life,
          async (s, faults, operation, copies, life) => {
            const memory = openMemory(openings)
            const course = new Course(s)
            const house: WalletPolicy = { clawbacks: true, takenAtOnceMax: 10n ** 30n }
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
            const undo: ModelRequest = {
              operation: 'unsettlement',
              transactionId: 'u',
              betId: 'x',
              playerId: 'ann',
              type: 'UNSCORED',
            }
            if (operation === 'unsettlement') {
              await send(memory, place, house)
              await send(memory, pay, house)
            }
            const words: Word[] = []
            const sendOnce = walletOverANetwork(
              storeOnABadLine(memory, course, faults),
              house,
              course,
              [].values(),
              words,
            )
            await course.until(
              Promise.all([
                ...Array.from({ length: copies }, () => sendOnce(operation === 'placebet' ? place : undo)),
                ...life.map(async ({ turns, ...step }) => {
                  await course.turns(`${step.step} ${step.playerId}`, turns)
                  moveExternally(memory, step)
                }),
              ]),
            )
            expectWordsToHold(words, memory)
            expectBetsToAddUp(memory)
          },
        ),
        runs(800),
      ),
    timeoutMs,
  )

  // Seen red with a lost commit that was called retryable.
  test(
    'a fault that says that nothing was done is true, also later',
    () =>
      fc.assert(
        fc.asyncProperty(fc.scheduler(), faults, async (s, faults) => {
          const memory = openMemory(openings)
          const course = new Course(s)
          const house: WalletPolicy = { clawbacks: true, takenAtOnceMax: 10n ** 30n }
          const words: Word[] = []
          const store = storeOnABadLine(memory, course, faults)
          const sendOnce = walletOverANetwork(store, house, course, [].values(), words)
          const money = { betId: 'x', playerId: 'ann', currency: 'EUR', amount: 60_00n }
          await course.until(
            sendOnce({ operation: 'placebet', transactionId: 'p', ...money, sessionEnded: false }),
          )
          const [word] = words
          if (word?.outcome instanceof WalletError && word.outcome.code !== 'COMMIT_UNKNOWN') {
            expect(memory.transactions()).toEqual([])
            expect(memory.bets()).toEqual([])
          }
        }),
        runs(400),
      ),
    timeoutMs,
  )
})
