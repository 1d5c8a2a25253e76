/** Random numbers, reproducible by their seed. The order of concurrent work is not reproducible. */

export interface Random {
  /** At least 0 and below 1. */
  next(): number
  /** A whole number within both limits, included. */
  int(least: number, most: number): number
  /** True with this probability, in percent. */
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
