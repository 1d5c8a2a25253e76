/** Chance from a seed: the same choices for the same seed, on every machine. */

export interface Random {
  /** A whole number, both ends among them. */
  between(least: number, most: number): number
}

/** Mulberry32. `stream` gives each case chances of its own, so that leaving one out changes no other. */
export function openRandom(seed: number, stream: string): Random {
  let state = seed >>> 0
  for (const character of stream) state = (Math.imul(state, 31) + (character.codePointAt(0) ?? 0)) >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
  return { between: (least, most) => least + Math.floor(next() * (most - least + 1)) }
}
