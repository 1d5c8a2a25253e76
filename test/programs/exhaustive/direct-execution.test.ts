/** The explorer merges states that it has reached before. Direct execution, which never does, reaches the same ends. */
import { expect, test } from 'vitest'
import { startNamed } from './starts.js'
import { compare } from './tasks.js'

test.each([
  ['low balance', 'load-first'],
  ['uncollected', 'commit-first'],
] as const)('from "%s", %s, both reach exactly the same ends', async (name, placebets) => {
  const { schedules, differences } = await compare(startNamed(name), 2, placebets)
  expect(differences).toEqual([])
  expect(schedules).toBeGreaterThan(1000)
})
