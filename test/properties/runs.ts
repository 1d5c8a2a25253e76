/** Number of runs and seed of the properties. Both are fixed unless the environment overrides them. */
import type fc from 'fast-check'

/** `BET_WALLET_SEED=7 BET_WALLET_RUNS=20000 npx vitest run --config test/vitest.config.ts test/properties` */
const { BET_WALLET_SEED, BET_WALLET_RUNS } = process.env

const seed = Number(BET_WALLET_SEED ?? 20_261_121)

/** Parameters of a property whose default number of runs is `runs`. */
export function runs<Ts>(runs: number): fc.Parameters<Ts> {
  return { seed, numRuns: Number(BET_WALLET_RUNS ?? runs) }
}

/** Long enough for many more runs, and for shrinking a counterexample. */
export const timeoutMs = 600_000
