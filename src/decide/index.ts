/**
 * `bet-wallet/decide`: the rules alone, pure and synchronous, for those who want them inside a transaction of
 * their own: read the request, load the snapshot, decide, write `changes` under the guards of `WalletChanges`,
 * answer `outcome`.
 */

export type { ErrorCode, OutcomeReason, WalletOutcome } from '../outcomes.js'
export type {
  PlaceBetRequest,
  ReadRequest,
  RequestOptions,
  RequestReader,
  Requests,
  RollbackBetRequest,
  SettlementRequest,
  UnsettlementRequest,
} from '../requests.js'
export { createRequestReader } from '../requests.js'
export type * from '../store.js'
export type { Decision, Refusal, Rule, Rules } from './decision.js'
export { decidePlaceBet, placeBet } from './place-bet.js'
export { decideRollbackBet, rollbackBet } from './rollback-bet.js'
export { decideSettlement, settlement } from './settlement.js'
export { decideUnsettlement, unsettlement } from './unsettlement.js'
