import type { CaseDefinition } from './case.js'

export const historyCases: readonly CaseDefinition[] = []
