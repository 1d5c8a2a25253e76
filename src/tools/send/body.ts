/** The body of one call, with defaults for every field that a platform makes up. */
import type { Operation } from '../../store.js'
import type { Json } from '../platform/json.js'
import { amountOf } from '../try/scenarios.js'

/** `undefined`: the default. */
export interface CallFields {
  transactionId?: string
  betId?: string
  playerId: string
  amount?: string
  currency?: string
  type?: string
  transactionDate?: string
  sessionId?: string
  odds?: string
  betType?: string
}

const types: Readonly<Record<Exclude<Operation, 'placebet'>, string>> = {
  settlement: 'BET_PAID',
  unsettlement: 'UNSCORED',
  rollbackbet: 'TECHNICAL_ERROR',
}

/** Its numbers keep all digits. */
export type CallBody = Readonly<Record<string, Json>>

/** @param id makes new ids unique */
export function bodyOf(operation: Operation, fields: CallFields, id: string, now: Date): CallBody {
  const {
    betId = `bet-${id}`,
    transactionId = `${betId}/${operation}-${id}`,
    playerId,
    currency = '',
  } = fields
  const { transactionDate = now.toISOString(), type, odds = '1.85' } = fields
  const ids: Record<string, Json> = { transactionId, betId, playerId }
  if (operation === 'placebet')
    return {
      ...ids,
      sessionId: fields.sessionId ?? 'session-1',
      amount: amountOf(fields.amount ?? '1'),
      currency,
      odds: amountOf(odds),
      betType: fields.betType ?? 'SINGLE',
      transactionDate,
    }
  const typed = { ...ids, type: type ?? types[operation], transactionDate }
  if (operation !== 'settlement') return typed
  return {
    ...typed,
    amount: amountOf(fields.amount ?? '2'),
    currency,
  }
}
