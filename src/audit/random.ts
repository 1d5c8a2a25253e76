/** Chance from a seed: the same seed gives the same numbers, on every machine. */

export interface Random {
  /** 0 up to, and without, 1. */
  next(): number
  /** Whether something happens that happens with this probability. */
  chance(probability: number): boolean
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number
  /** One of several. */
  pick<T>(items: readonly T[]): T
}

/**
 * The generator sfc32 (Chris Doty-Humphrey's), which passes the usual tests and needs no big numbers.
 *
 * @param stream chances of its own for each user, so that leaving one out changes no other
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
  // The first numbers still show the seed.
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
