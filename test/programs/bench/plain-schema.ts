/**
 * The floor of the benchmarks: the fields of the interface with plain types, as an engineer would write them
 * first. Nothing of the library.
 */
import { z } from 'zod'

const ids = { transactionId: z.string(), betId: z.string(), playerId: z.string() }

export const plainPlaceBet = z.object({
  ...ids,
  sessionId: z.string(),
  amount: z.number(),
  currency: z.string(),
  odds: z.number().optional(),
  betType: z.enum(['SINGLE', 'MULTIPLE', 'TEASER']),
  transactionDate: z.string(),
})

export const plainRollbackBet = z.object({
  ...ids,
  type: z.enum(['TECHNICAL_ERROR']),
  transactionDate: z.string(),
})
