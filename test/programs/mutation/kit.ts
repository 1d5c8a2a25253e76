/** The kit against the memory store: its model is an oracle for the rules. Not a test of `npm test`, which has it. */
import { expect, test } from 'vitest'
import { checkWalletStore } from '../../../src/testing/index.js'
import { memoryHarness } from '../../testing/memory.js'

test('given the memory store, when the kit judges it, then no case fails', async () => {
  const { results } = await checkWalletStore(memoryHarness, { print: null })
  expect(results.filter(({ result }) => result === 'failed')).toEqual([])
})
