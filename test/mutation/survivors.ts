/** Every mutant that may survive, with the reason. See `score.ts` for the kinds. */
import type { KnownSurvivor } from './score.js'

export const survivors: readonly KnownSurvivor[] = []
