/** Records what the library compares in constant time, during one file of tests. */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { afterAll, beforeAll, beforeEach } from 'vitest'

/** @returns the pairs of the current test. The library imports the function by its name, so its exports are written again. */
export function recordComparisons(): [sent: Uint8Array, expected: Uint8Array][] {
  const compared: [Uint8Array, Uint8Array][] = []
  const { timingSafeEqual } = crypto
  beforeAll(() => {
    crypto.timingSafeEqual = (sent, expected) => {
      compared.push([sent as Uint8Array, expected as Uint8Array])
      return timingSafeEqual(sent, expected)
    }
    syncBuiltinESMExports()
  })
  beforeEach(() => {
    compared.length = 0
  })
  afterAll(() => {
    crypto.timingSafeEqual = timingSafeEqual
    syncBuiltinESMExports()
  })
  return compared
}
