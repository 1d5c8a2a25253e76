/** docs/go-live.md has the recipes of the clusters that test/programs/recipes plays, each with the same faults. */
import { expect, test } from 'vitest'
import { recipes, setUps } from '../programs/recipes/set-ups.js'

const kindsIn = (names: readonly string[]) =>
  [...new Set(names.map(name => name.toLowerCase().split('-')[0]))].sort()

test('there is a recipe for each cluster', () => {
  expect([...recipes.keys()]).toEqual(Object.values(setUps).map(({ name }) => name))
})

test.each(Object.values(setUps))('$name has the faults that are played', ({ name, faults }) => {
  const prose = recipes.get(name)?.replaceAll(/`[^`]*`/g, '') ?? ''
  expect(kindsIn(prose.match(/\b(?:kill|freeze|cut)\b/gi) ?? [])).toEqual(
    kindsIn(faults.map(([fault]) => fault)),
  )
})
