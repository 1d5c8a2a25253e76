/** Each seeded difference is found and named, alone and among many; nothing is found where nothing was seeded. */
import { describe, expect, test } from 'vitest'
import { differenceKinds, type Reconciliation } from '../../../src/tools/reconcile/index.js'
import { equalities, type Seeded, seeded } from './seeded.js'
import { createWorld, csvOf, foundIn, lookupsOf, reconcileWorld, type World } from './world.js'

function worldWith(...cases: readonly Seeded[]): World {
  const world = createWorld()
  for (const { seed } of cases) seed(world)
  return world
}

/** Per currency, what players have more in the wallet; currencies without a difference are left out. */
const effectsIn = ({ currencies }: Reconciliation) =>
  Object.fromEntries(
    currencies
      .filter(({ currency, difference }) => currency !== null && difference !== '0')
      .map(({ currency, difference }) => [currency, difference]),
  )

test('there are more than a hundred seeded differences, of every kind', () => {
  expect(seeded.length).toBeGreaterThan(100)
  expect(new Set(seeded.map(({ name }) => name)).size).toBeGreaterThan(100)
  const kinds = new Set(seeded.flatMap(({ expected }) => expected.map(found => found.split(':')[0])))
  expect([...kinds].sort()).toEqual([...differenceKinds].sort())
})

describe('a seeded difference is named', () => {
  test.each(seeded)('$name', async each => {
    const result = await reconcileWorld(worldWith(each))
    expect(foundIn(result)).toEqual(each.expected.toSorted())
    expect(result.verdict).toBe('different')
    expect(effectsIn(result)).toEqual(each.effects)
  })

  test.each(seeded)('as the first row of the report, and as the last one: $name', async each => {
    const world = worldWith(each)
    const id = each.expected[0]?.split(' ').at(-1)
    const isIt = ({ transactionId }: { transactionId: string }) => transactionId === id
    const rows = world.rows.filter(row => !isIt(row))
    const these = world.rows.filter(isIt)
    for (const order of [
      [...these, ...rows],
      [...rows, ...these],
    ]) {
      expect(foundIn(await reconcileWorld({ ...world, rows: order }))).toEqual(each.expected.toSorted())
    }
  })
})

describe('what is no difference is not found', () => {
  test.each(equalities)('$name', async each => {
    const result = await reconcileWorld(worldWith(each))
    expect(foundIn(result)).toEqual([])
    expect(result.verdict).toBe('equal')
    expect(effectsIn(result)).toEqual(each.effects)
  })
})

describe('among other differences', () => {
  /** Cases that touch other transactions than these. */
  function compatible(cases: readonly Seeded[]): Seeded[] {
    const taken = new Set<string>()
    return cases.filter(({ expected, name }) => {
      const ids = expected.map(found => found.split(' ').at(-1) ?? '')
      // These cases use other ids than they are found by.
      if (!name.match(/ in [A-Z]{3}$/) || ids.some(id => taken.has(id))) return false
      for (const id of ids) taken.add(id)
      return true
    })
  }

  test.each([0, 30, 60, 90])('each is still named, from case %i on', async start => {
    const rotated = [...seeded.slice(start), ...seeded.slice(0, start)]
    const cases = compatible(rotated)
    expect(cases.length).toBeGreaterThan(15)
    const result = await reconcileWorld(worldWith(...cases))
    expect(foundIn(result)).toEqual(cases.flatMap(({ expected }) => expected).sort())
  })
})

describe('without what a report or a wallet may lack', () => {
  const lookUpCases = seeded.filter(
    ({ name }) =>
      !name.startsWith('out-of-range: BET_PAID in BTC') && !name.startsWith('out-of-range: UNSCORED in BTC'),
  )

  test.each(lookUpCases)('without single lookups: $name', async each => {
    const world = worldWith(each)
    const { transactions } = lookupsOf(world.records)
    const found = foundIn(await reconcileWorld(world, { lookups: { transactions } }))
    // Only the bet says whether it ever came, and was rolled back before. Without it, the facts are named.
    const facts = ['tombstone', 'never-arrived', 'refused-by-wallet', 'missing-in-report', 'other-amount']
    const expected = each.expected.toSorted().map(name => {
      const [kind = '', rest = ''] = name.split(': ')
      const needsBet = ['tombstone', 'rolled-back-twice', 'credited-in-part'].includes(kind)
      return needsBet ? expect.stringMatching(`^(?:${facts.join('|')}): ${rest}$`) : name
    })
    expect(found).toEqual(expected)
  })

  test.each(['playerId', 'type', 'status', 'transactionDate'] as const)(
    'without the column %s nothing is made up',
    async name => {
      const world = createWorld()
      const { columns } = await import('./world.js')
      const rows = world.rows.filter(({ status }) => status === 'accepted')
      const names = columns.filter(column => column !== name)
      async function* report() {
        yield csvOf(rows, names)
      }
      const result = await reconcileWorld({ ...world, rows }, { report: report() })
      expect(result.verdict).toBe('equal')
      expect(result.notes).toHaveLength(1)
    },
  )
})
