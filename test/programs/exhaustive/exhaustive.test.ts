import { describe, expect, test } from 'vitest'
import { letters, playerId } from './alphabet.js'
import { someOrder } from './checker.js'
import { Explorer } from './explorer.js'
import { faultyVariants } from './faulty-variants.js'
import type { Reads } from './handler.js'
import { neverCollected } from './money.js'
import { unchanged, type Variant, withSnapshots } from './observed-store.js'
import { type SearchResult, search, words } from './search.js'
import { startNamed, starts } from './starts.js'
import { attemptsThatSuffice, StateSpace } from './state-space.js'

const letterNamed = (name: string) => letters.findIndex(letter => letter.name === name)

const tracesOf = (violated: SearchResult['violated']) =>
  [...violated.values()].map(({ text }) => text).join('\n\n')

async function schedulesOf(start: string, ...names: string[]): Promise<number> {
  return await schedulesWith('single', start, ...names)
}

async function schedulesWith(reads: Reads, start: string, ...names: string[]): Promise<number> {
  const explorer = new Explorer(
    await StateSpace.from(startNamed(start), unchanged, attemptsThatSuffice, reads),
  )
  return (await explorer.explore(names.map(letterNamed))).schedules
}

describe('every schedule of one and of two concurrent requests, with at most one fault', () => {
  test.each(starts)('from "$name"', async start => {
    const { totals, violated } = await search(start, { sizes: [0, 1, 2] })
    expect(tracesOf(violated)).toBe('')
    expect(totals.get(1)?.configurations).toBe(letters.length)
    expect(totals.get(2)?.configurations).toBe((letters.length * (letters.length + 1)) / 2)
  })

  test.each(starts)('from "$name", with a single attempt per request', async start => {
    const { violated } = await search(start, { sizes: [1, 2], attemptsMax: 1 })
    expect(tracesOf(violated)).toBe('')
  })
})

describe('every schedule of two concurrent requests on a store without loadConfirmed', () => {
  test.each(starts)('from "$name", on a single database', async start => {
    const { violated } = await search(start, { sizes: [1, 2], reads: 'single' })
    expect(tracesOf(violated)).toBe('')
  })

  // Each final refusal is true at some moment of its call: no order explains one that a stale load decided.
  test('with stale loads, a refusal that was never true is detected', async () => {
    const { violated } = await search(startNamed('placed'), { sizes: [2], reads: 'unconfirmed' })
    expect([...violated.keys()]).toContain(someOrder)
    expect(tracesOf(violated)).toContain('loads: load is stale')
  })
})

describe('every schedule of two concurrent requests, with conflicts that return a snapshot', () => {
  test.each(starts)('from "$name"', async start => {
    const { violated } = await search(start, { sizes: [1, 2], variant: withSnapshots })
    expect(tracesOf(violated)).toBe('')
  })

  test('a snapshot without the bet, as of a replica, is detected', async () => {
    const ofReplica: Variant = memory => ({
      ...memory,
      async commit(changes) {
        const result = await withSnapshots(memory).commit(changes)
        return result.status === 'conflict' && result.snapshot
          ? { ...result, snapshot: { ...result.snapshot, bet: null } }
          : result
      },
    })
    const { violated } = await search(startNamed('placed'), { sizes: [2], variant: ofReplica })
    expect([...violated.keys()]).toContain(someOrder)
  })
})

describe('every schedule of two concurrent requests, with placebets and settlements that load first', () => {
  // Seen red with a refusal that is decided on a stale load.
  test.each(starts)('from "$name"', async start => {
    const { totals, violated } = await search(start, { sizes: [1, 2], placebets: 'load-first' })
    expect(tracesOf(violated)).toBe('')
    // Of the 18 letters 7 are placebets and 2 settlements; the words without them are explored above.
    expect(totals.get(1)?.configurations).toBe(9)
    expect(totals.get(2)?.configurations).toBe((18 * 19 - 9 * 10) / 2)
  })
})

describe('every faulty variant is detected', () => {
  test.each(faultyVariants)('$name: $violates', async ({ variant, violates, placebets = 'commit-first' }) => {
    const seen = new Set<string>()
    for (const start of starts) {
      const { violated } = await search(start, { sizes: [2], variant, placebets })
      for (const [name, { text, steps }] of violated) {
        seen.add(name)
        expect(text).toContain(`Violated: ${name}\n  expected: `)
        expect(text).toContain(`\n${steps}. `)
      }
    }
    // By an invariant of the money alone, and by comparison with the model as well.
    expect(seen).toContain(violates)
    expect(seen).toContain(someOrder)
  })

  test('an uncollected clawback whose credit stays live is collected after a deposit', async () => {
    const { variant, violates } =
      faultyVariants.find(({ name }) => name === 'uncollected credit stays live') ?? {}
    if (variant === undefined) throw new Error('no such variant')
    const explorer = new Explorer(await StateSpace.from(startNamed('uncollected'), variant))
    const word = ['unscored under another id', 'deposit'].map(letterNamed)
    const actual: string[] = []
    await explorer.explore(word, end => {
      for (const violation of explorer.checker.explain(end))
        if (violation.invariant === violates) actual.push(violation.actual)
    })
    expect(actual).toContain('60.00 collected and 60.00 left to the platform')
  })

  test('a settlement that loads first and overwrites an uncollected clawback is detected', async () => {
    const { variant } = faultyVariants.find(({ name }) => name.includes('settlement')) ?? {}
    const start = startNamed('paid')
    const space = await StateSpace.from(start, variant, attemptsThatSuffice, 'replicated', 'load-first')
    const word = ['settle', 'unscored', 'unscored under another id'].map(letterNamed)
    const { violated } = await new Explorer(space).explore(word)
    expect([...violated.keys()]).toContain(neverCollected)
  })
})

test('an order must keep requests that did not overlap: a stale balance after a deposit is detected', async () => {
  // The replayed placebet answers a balance that existed earlier. Some order would explain it if it could
  // ignore time.
  const stale: Variant = memory => {
    let shown = memory.account(playerId, 'EUR')
    return {
      ...memory,
      deposit(...deposited) {
        shown = memory.account(playerId, 'EUR')
        return memory.deposit(...deposited)
      },
      async load(keys) {
        const snapshot = await memory.load(keys)
        return {
          ...snapshot,
          accounts: shown === null || snapshot.transaction === null ? snapshot.accounts : [shown],
        }
      },
      async commit(changes) {
        const result = await memory.commit(changes)
        shown = memory.account(playerId, 'EUR')
        return result
      },
    }
  }
  const explorer = new Explorer(await StateSpace.from(startNamed('placed'), stale))
  const { violated } = await explorer.explore(['placebet', 'deposit'].map(letterNamed))
  expect([...violated.keys()]).toEqual([someOrder])
})

describe('the explorer', () => {
  // The number of steps of a request, for every fault. Without a fault, a rollback has two: a load and a commit.
  const faultsOfRollback = [
    1, // its load throws
    1, // its load is unavailable
    3, // the commit is lost before the write; follow-up read
    3, // the commit is lost after the write; follow-up read
    4, // the commit is delivered before the follow-up read
    4, // the commit is delivered after the follow-up read
    2, // the commit is unavailable
  ]
  // Without a fault, a placebet has one: its commit.
  const faultsOfPlacebet = [
    2, // the commit is lost before the write; follow-up read
    2, // the commit is lost after the write; follow-up read
    3, // the commit is delivered before the follow-up read
    3, // the commit is delivered after the follow-up read
    1, // the commit is unavailable
    3, // the store refuses; load and commit
  ]

  /** The number of interleavings of `a` steps with `b` steps. */
  const interleavings = (a: number, b: number): number =>
    a === 0 || b === 0 ? 1 : interleavings(a - 1, b) + interleavings(a, b - 1)
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

  test('counts the schedules of one request', async () => {
    expect(await schedulesOf('no bet', 'deposit')).toBe(1)
    expect(await schedulesOf('no bet', 'rollback')).toBe(1 + faultsOfRollback.length)
    expect(await schedulesOf('no bet', 'placebet')).toBe(1 + faultsOfPlacebet.length)
  })

  test('counts the schedules of two independent requests', async () => {
    expect(await schedulesOf('no bet', 'deposit', 'spend')).toBe(2)
    expect(await schedulesOf('no bet', 'placebet', 'deposit')).toBe(
      sum([1, ...faultsOfPlacebet].map(steps => interleavings(steps, 1))),
    )
    expect(await schedulesOf('no bet', 'placebet of another bet', 'rollback')).toBe(
      interleavings(1, 2) +
        sum(faultsOfPlacebet.map(steps => interleavings(steps, 2))) +
        sum(faultsOfRollback.map(steps => interleavings(1, steps))),
    )
  })

  test('counts the schedules of three independent requests', async () => {
    expect(await schedulesOf('no bet', 'placebet of another bet', 'rollback', 'deposit')).toBe(
      interleavings(1, 2) * 4 +
        sum(faultsOfPlacebet.map(steps => interleavings(steps, 2) * (steps + 3))) +
        sum(faultsOfRollback.map(steps => interleavings(1, steps) * (steps + 2))),
    )
  })

  test('counts the schedules of placebets and settlements that load first', async () => {
    const { totals } = await search(startNamed('no bet'), { sizes: [1], placebets: 'load-first' })
    // Its load throws, or is unavailable; then the commit and its faults. Each letter begins in the same way.
    // In yen there is no account: the refusal confirms its load, and the store cannot refuse it.
    const inYen = 1 + 2 * 2 + faultsOfPlacebet.length - 1
    // Without a bet, the refusal of a settlement confirms its load too.
    const settlement = 1 + 2 * 2
    expect(totals.get(1)?.schedules).toBe(6 * (1 + 2 + faultsOfPlacebet.length) + inYen + 2 * settlement)
  })

  test('counts the schedules with stale loads', async () => {
    // The load is stale only after the deposit; then the commit follows.
    expect(await schedulesWith('replicated', 'no bet', 'rollback', 'deposit')).toBe(
      (await schedulesOf('no bet', 'rollback', 'deposit')) + 1,
    )
  })

  test('treats identical requests as interchangeable', async () => {
    expect(await schedulesOf('no bet', 'deposit', 'deposit', 'deposit')).toBe(1)
    expect(await schedulesOf('rolled back', 'rollback', 'rollback')).toBe(
      // Each loads and is answered, or one of them meets a fault of its load.
      (2 + 4 * 2) / 2,
    )
  })

  test('generates all multisets', () => {
    expect(words(3)).toHaveLength((letters.length * (letters.length + 1) * (letters.length + 2)) / 6)
    expect(new Set(words(3).map(word => word.join())).size).toBe(words(3).length)
  })
})
