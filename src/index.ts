/** bet-wallet: the wallet side of a sportsbook's callback interface. */
export { WalletError, type WalletErrorCode, WalletRefusal } from './errors.js'
export { handlePlaceBet, handleRollbackBet, handleUnsettlement, recordSettlement } from './handlers.js'
export type { WalletOptions } from './options.js'
export {
  type ErrorCode,
  errorCodes,
  type OutcomeEvent,
  type OutcomeReason,
  type WalletOutcome,
} from './outcomes.js'
export { partitionStore } from './partition-store.js'
export type {
  PlaceBetRequest,
  RequestOptions,
  RollbackBetRequest,
  SettlementRequest,
  UnsettlementRequest,
} from './requests.js'
export type {
  Bet,
  CommitResult,
  Credit,
  Decimal,
  Operation,
  Player,
  SettlementType,
  Transaction,
  WalletChanges,
  WalletKeys,
  WalletSnapshot,
  WalletStore,
} from './store.js'
