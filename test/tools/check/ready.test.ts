/** How a problem of `ready()` becomes findings. */
import { expect, test } from 'vitest'
import { StoreError, type StoreErrorCode } from '../../../src/stores/database/errors.js'
import { readyFindings } from '../../../src/tools/check/ready.js'

test.each([
  ['UNAVAILABLE', 'unknown'],
  ['DATABASE_REJECTED', 'problem'],
] satisfies [StoreErrorCode, string][])('%s: %s', async (code, state) => {
  const [first, ...others] = await readyFindings(async () => {
    throw new StoreError('postgres', code, 'what it was')
  }, false)
  expect(first).toMatchObject({ subject: 'server', state, text: `${code}: what it was` })
  expect(new Set(others.map(each => each.state))).toEqual(new Set(['skipped']))
})
