/**
 * A store of the kit around the store under test that loses `addsCredits` fails the cases that are about it.
 *
 * @vitest-environment-options {"process":"lost-capability"}
 */
import { expect, test, vi } from 'vitest'
import { walletStoreCases } from '../../src/testing/cases.js'
import { memoryHarness } from './memory.js'

vi.mock(import('../../src/testing/stores-around.js'), async original => {
  const actual = await original()
  const optionalParts: typeof actual.optionalParts = (...of) => {
    const { addsCredits: _, ...parts } = actual.optionalParts(...of)
    return parts
  }
  return { ...actual, optionalParts }
})

test.each(['WS-95', 'WS-106', 'WS-114'])('%s', async id => {
  const [only] = walletStoreCases(memoryHarness, { only: [id] })
  await expect(only?.run()).rejects.toThrow(/expected: +settlements that are committed without a load/)
  expect(only?.remark).toBeNull()
})
