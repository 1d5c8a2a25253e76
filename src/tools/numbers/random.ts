/** Seeded random numbers: the same seed returns the same numbers on every machine. */

export interface Random {
  /** From 0 (included) to 1 (excluded). */
  next(): number
  /** `true` with this probability. */
  chance(probability: number): boolean
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number
  pick<T>(items: readonly T[]): T
}

/**
 * The generator sfc32 by Chris Doty-Humphrey, which passes the usual tests and needs 32-bit numbers only.
 *
 * @param stream name of an independent sequence, so that skipping one case does not change the others
 */
export function createRandom(seed: number, stream: number | string): Random {
  let [a, b, c, counter] = [seed | 0, Math.trunc(seed / 0x1_0000_0000) | 0, hashOf(stream), 1]

  function next32(): number {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return sum >>> 0
  }
  // The first numbers depend too much on the seed.
  for (let round = 0; round < 15; round += 1) next32()

  const next = () => next32() / 0x1_0000_0000
  return {
    next,
    chance: probability => next() < probability,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    pick: items => items[Math.floor(next() * items.length)] as (typeof items)[number],
  }
}

function hashOf(stream: number | string): number {
  if (typeof stream === 'number') return stream | 0
  let hash = 0
  for (const character of stream) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) | 0
  return hash
}
