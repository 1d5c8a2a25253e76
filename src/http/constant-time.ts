/** Comparison of secrets. */
import { timingSafeEqual } from 'node:crypto'

/**
 * Whether the bytes are the expected ones. It always compares as many bytes as are expected, so its duration
 * reveals neither their content nor the position of a wrong byte.
 */
export function isExpected(sent: Buffer, expected: Uint8Array): boolean {
  const compared = Buffer.alloc(expected.length)
  sent.copy(compared) // truncated or zero-padded to the expected length
  const same = timingSafeEqual(compared, expected)
  return sent.length === expected.length && same
}
