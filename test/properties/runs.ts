/** How often and from which seed the properties run: the same every time, unless the environment asks for others. */
import type fc from 'fast-check'

/** `BET_WALLET_SEED=7 BET_WALLET_RUNS=20000 npx vitest run --config test/vitest.config.ts test/properties` */
const { BET_WALLET_SEED, BET_WALLET_RUNS } = process.env

const seed = Number(BET_WALLET_SEED ?? 20_261_121)

/** The parameters of a property that by default runs `runs` times. */
export function runs<Ts>(runs: number): fc.Parameters<Ts> {
  return { seed, numRuns: Number(BET_WALLET_RUNS ?? runs) }
}

/** For tests whose length is up to whoever asks for more runs, and which take their time to shrink what they find. */
export const timeoutMs = 600_000
