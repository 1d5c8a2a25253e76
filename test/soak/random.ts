/** Random numbers that a seed gives again. What runs at the same time is still in no fixed order. */

export interface Random {
  /** From 0 up to, and without, 1. */
  next(): number
  /** A whole number, both ends included. */
  int(least: number, most: number): number
  /** True in so many of a hundred cases. */
  percent(share: number): boolean
  pick<T>(list: readonly [T, ...T[]]): T
}

/** The generator mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    int: (least, most) => least + Math.floor(next() * (most - least + 1)),
    percent: share => next() * 100 < share,
    pick: list => list[Math.floor(next() * list.length)] ?? list[0],
  }
}
