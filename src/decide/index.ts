/**
 * `bet-wallet/decide`: the rules alone, pure and synchronous, for use inside your own database transaction:
 * parse the request, load the snapshot, decide, write `changes` under the guards of `WalletChanges`, answer
 * `outcome`. A lock on the player is not enough: bets and transactions are unique over all players (D1), so
 * the database must enforce the unique ids of guards 1 and 2. These functions do not check the snapshot; the
 * handlers do.
 */

export type { ErrorCode, OutcomeReason, WalletOutcome } from '../outcomes.js'
export type {
  ParseResult,
  PlaceBetRequest,
  RequestOptions,
  RequestParser,
  Requests,
  RollbackBetRequest,
  SettlementRequest,
  UnsettlementRequest,
} from '../requests.js'
export { createRequestParser } from '../requests.js'
export type * from '../store.js'
export type { Decision, Policy, Refusal, Rule } from './decision.js'
export { decidePlaceBet, placeBetRule } from './place-bet.js'
export { decideRollbackBet, rollbackBetRule } from './rollback-bet.js'
export { decideSettlement, settlementRule } from './settlement.js'
export { decideUnsettlement, unsettlementRule } from './unsettlement.js'
