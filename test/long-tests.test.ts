import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { longTests, releaseTests } from './long-tests.js'

const root = fileURLToPath(new URL('..', import.meta.url))

it('each long test exists, and is named once: a wrong name would move it into npm test', () => {
  const named = [...longTests, ...releaseTests]
  expect(named.filter(path => !existsSync(root + path))).toEqual([])
  expect(new Set(named).size).toBe(named.length)
})
