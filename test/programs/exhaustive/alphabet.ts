/**
 * The alphabet of the exhaustive search: one player, one bet and a few related transactions. A letter is one
 * request of the platform, or one movement by an external writer. A letter that occurs twice is a request
 * sent twice concurrently.
 */
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
  type WalletKeys,
  type WalletOptions,
  type WalletOutcome,
  type WalletStore,
} from 'bet-wallet'
import type { Cents, ModelRequest } from '../../../src/testing/model.js'
import { requestBody } from '../../../src/testing/platform.js'

export const playerId = 'ann'

export interface Call {
  name: string
  request: ModelRequest
  /** Fields that a retry may change (D3). */
  refreshed: Record<string, unknown>
}

export interface Move {
  name: string
  step: 'deposit' | 'withdraw'
  amount: Cents
}

export type Letter = Call | Move

/** No two sums of these amounts are equal, so that one error cannot hide another. */
export const stake = 30_00n
export const paid = 60_00n
export const voided = 35_00n

const money = { playerId, currency: 'EUR' }

const call = (name: string, request: ModelRequest, refreshed: Record<string, unknown> = {}): Call => ({
  name,
  request,
  refreshed,
})

const place = (transactionId: string, betId: string, amount: Cents, currency = 'EUR'): ModelRequest => ({
  operation: 'placebet',
  transactionId,
  betId,
  playerId,
  currency,
  amount,
  sessionEnded: false,
})

const rollback = (transactionId: string): ModelRequest => ({
  operation: 'rollbackbet',
  transactionId,
  betId: 'b1',
  playerId,
  type: 'TECHNICAL_ERROR',
})

const settle = (transactionId: string, type: 'BET_PAID' | 'VOIDED', amount: Cents): ModelRequest => ({
  operation: 'settlement',
  transactionId,
  betId: 'b1',
  ...money,
  type,
  amount,
})

const unsettle = (transactionId: string, type: 'UNSCORED' | 'UNVOIDED'): ModelRequest => ({
  operation: 'unsettlement',
  transactionId,
  betId: 'b1',
  playerId,
  type,
})

const retriedLater = { transactionDate: '2026-11-21T10:05:00Z' }

export const placebet = call('placebet', place('p1', 'b1', stake))
/** Of the same bet, in the currency of the second account. */
export const placebetInYen = call('placebet in yen', place('y1', 'b1', 4_00n, 'JPY'))
export const rollbackbet = call('rollback', rollback('r1'))
export const unscored = call('unscored', unsettle('u1', 'UNSCORED'))

/** The alphabet. Its order is the order of a multiset's members. */
export const letters: readonly Letter[] = [
  placebet,
  call('placebet retried', place('p1', 'b1', stake), {
    ...retriedLater,
    amount: '30.00',
    odds: '2.5',
    sessionId: 'another session',
  }),
  call('placebet with another amount', place('p1', 'b1', 40_00n)),
  call('placebet with another bet', place('p1', 'b2', stake)),
  call('placebet under another id', place('p3', 'b1', stake)),
  placebetInYen,
  call('placebet of another bet', place('p2', 'b2', 80_00n)),
  rollbackbet,
  call('rollback retried', rollback('r1'), retriedLater),
  call('rollback under another id', rollback('r2')),
  call('settle', settle('s1', 'BET_PAID', paid)),
  call('void', settle('v1', 'VOIDED', voided)),
  unscored,
  call('unscored retried', unsettle('u1', 'UNSCORED'), retriedLater),
  call('unscored under another id', unsettle('u2', 'UNSCORED')),
  call('unvoided', unsettle('w1', 'UNVOIDED')),
  { name: 'deposit', step: 'deposit', amount: 50_00n },
  { name: 'spend', step: 'withdraw', amount: 45_00n },
]

/** Requests that belong to the past of some start states. */
export const settledBefore = call('settle before', settle('s0', 'BET_PAID', paid))
export const lostBefore = call('settle before, lost', settle('s0', 'BET_PAID', 0n))
export const voidedBefore = call('void before', settle('v0', 'VOIDED', voided))

export const isCall = (letter: Letter): letter is Call => 'request' in letter

export const keysOf = ({ request }: Call): WalletKeys => {
  const { operation, transactionId, betId } = request
  return { operation, transactionId, playerId, betId }
}

const handlers = {
  placebet: handlePlaceBet,
  unsettlement: handleUnsettlement,
  rollbackbet: handleRollbackBet,
  settlement: recordSettlement,
}

/** Sends the request to the real handler. */
export function send(
  { request, refreshed }: Call,
  store: WalletStore,
  options: WalletOptions,
): Promise<WalletOutcome> {
  const body = { ...(requestBody(request) as Record<string, unknown>), ...refreshed }
  return handlers[request.operation](store, body, options)
}
