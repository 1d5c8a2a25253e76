/** The subjects of commits, as CONTRIBUTING.md says. Earlier ones, and merges, are as they are. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const checkedSince = '2026-11-23T09:00:00Z'
const form = /^(?:Add|Fix|Change|Remove|Rename|Move|Document|Test) .{1,68}$/

function subjects(): string[] | null {
  try {
    const options = ['log', '--no-merges', '--format=%s', `--since=${checkedSince}`]
    return execFileSync('git', options, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim().split('\n')
  } catch {
    return null // no git, or no repository
  }
}

const found = subjects()

test.skipIf(found === null)(
  'each begins with a verb of the list and has at most 72 characters (needs git)',
  () => {
    expect(found?.filter(subject => subject !== '' && (!form.test(subject) || subject.length > 72))).toEqual(
      [],
    )
  },
)

test('a subject without a verb, or too long, is found', () => {
  expect(
    ['Fixes a bug', 'Say it in other words', `Add ${'x'.repeat(69)}`].filter(each => form.test(each)),
  ).toEqual([])
  expect(form.test('Add lock-wait metrics')).toBe(true)
})
