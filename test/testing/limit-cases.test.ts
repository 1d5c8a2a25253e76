/** The cases about limits, without a database. Broken rules on a real one: test/examples/limits.test.ts. */
import { expect, test } from 'vitest'
import { createMemoryStore, type MemoryStore } from '../../src/stores/memory.js'
import { checkLimits, type LimitHarness, limitCases } from '../../src/testing/index.js'

/** A PAM that sets limits and does not keep them. */
const withoutRule: LimitHarness<{ store: MemoryStore }> = {
  open: players => ({ store: createMemoryStore(players) }),
  limitStakes() {},
  limitLosses: null,
}

const shared = [
  'bets up to exactly the limit are accepted; a refused bet is final and does not count',
  'concurrent bets of one player, also in one list, never exceed the limit; other players can bet',
  'the limit holds over two connections',
  'copies and retries of a bet count once',
  'a bet whose answer was lost, or whose commit came late, counts once; one that never came does not',
  'a bet counts as soon as it is committed, before it is answered',
  'a rollback makes room again, once',
  'a void makes room again, once, and its clawback takes it',
  'a bet that another rule refuses does not count',
  'a lower limit holds at once',
  'the transactionDate of the platform does not decide when a bet counts (D25)',
  'the next period has the whole limit, and a rollback of an earlier bet adds nothing',
  'random bets, retries, rollbacks, voids, wins and clawbacks',
]
const numbered = (first: number, subject: string) =>
  shared.map((name, index) => `WL-${String(first + index).padStart(2, '0')} ${subject}: ${name}`)

/** The meaning of each id. It never changes: a case with another meaning gets a new id. */
const meanings = [
  ...numbered(1, 'Stakes per day'),
  'WL-19 Stakes per day: a win makes no room, and its clawback takes none',
  ...numbered(21, 'Losses per week'),
  'WL-38 Losses per week: a win makes room for what it credits, once, and its clawback takes it',
  'WL-39 Losses per week: a clawback that the funds do not cover changes nothing (D7)',
  'WL-41 Exclusion: no bet is accepted, not even with a stake of 0; money still returns; other players can bet',
  'WL-42 Exclusion: it holds from its moment, also for bets that are about to be committed',
  'WL-43 Exclusion: it holds on a second connection too',
  'WL-44 Exclusion: a cool-off ends at its time',
]

test('the cases keep the meaning of their ids', () => {
  expect(limitCases(withoutRule).map(({ id, name }) => `${id} ${name}`)).toEqual(meanings)
})

test('given a rule that does not hold, then the report says which limit was exceeded, and by which bets', async () => {
  const lines: string[] = []
  const { passed } = await checkLimits(withoutRule, { only: ['WL-01'], print: line => lines.push(line) })
  expect(passed).toBe(false)
  expect(lines.join('\n')).toContain(
    `  expected: stakes of at most 100.00, and no refusal of a bet within the limit
  actual:   limit exceeded: anna had staked 60.00 of 100.00, and a bet of 40.01 was accepted
  rerun:    checkLimits(harness, { only: ['WL-01'], seed: 1, runs: 200 })`,
  )
})

test('given a kind of limit that is null or missing, then its cases are skipped, and say so', async () => {
  const { results, complete } = await checkLimits(withoutRule, {
    only: ['WL-21', 'WL-41'],
    print: null,
  })
  expect(results).toMatchObject([
    { result: 'skipped', applies: false, detail: 'does not apply: limitLosses is null' },
    { result: 'skipped', applies: true, detail: 'the harness has no exclude' },
  ])
  expect(complete).toBe(false)
})

test('given an id of the other kit, then it is unknown', () => {
  expect(() => limitCases(withoutRule, { only: ['WS-01'] })).toThrow('only: unknown case WS-01')
})
