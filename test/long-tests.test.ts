import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { filesBelow, root } from './docs/pages.js'
import { longTests, releaseTests } from './long-tests.js'

it('each long test exists, and is named once: a wrong name would move it into npm test', () => {
  const named = [...longTests, ...releaseTests]
  expect(named.filter(path => !existsSync(root + path))).toEqual([])
  expect(new Set(named).size).toBe(named.length)
})

it('a file of npm test that mocks a module, or subscribes for good, shares its process with no other', () => {
  const files = filesBelow('test')
    .filter(path => path.endsWith('.test.ts') && !path.startsWith('test/libraries/'))
    .filter(path => !longTests.includes(path) && !releaseTests.includes(path))
    .map(path => readFileSync(root + path, 'utf8'))
  const lasting = /vi\.(?:doMock|mock)\(|^.*\b(?:collectMetrics|traceWallet|logCalls|startTryPage)\(/m
  const alone = files.filter(text => lasting.test(text))
  expect(alone.length).toBeGreaterThan(4)
  const processes = alone.map(text => /@vitest-environment-\w+ (.+)/.exec(text)?.[1])
  expect(processes).not.toContain(undefined)
  expect(new Set(processes).size).toBe(alone.length)
})
