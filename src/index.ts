/** bet-wallet: the wallet side of a sportsbook's callback interface. */
export { describeError } from './describe-error.js'
export type {
  BatchMessage,
  CommitMessage,
  DecideMessage,
  DiagnosticMessage,
  HttpMessage,
  HttpRejection,
  LoadMessage,
  LockWaitMessage,
  OutcomeEvent,
  WalletChannels,
} from './diagnostics.js'
export { type FaultyCall, WalletError, type WalletErrorCode, WalletRefusal } from './errors.js'
export { handlePlaceBet, handleRollbackBet, handleUnsettlement, recordSettlement } from './handlers.js'
export type { CallMessage, PlaceBetCall, WalletOptions } from './options.js'
export {
  type ErrorCode,
  errorCodes,
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
  Account,
  Bet,
  CommitResult,
  Credit,
  Decimal,
  Operation,
  SettlementType,
  Transaction,
  WalletChanges,
  WalletKeys,
  WalletSnapshot,
  WalletStore,
} from './store.js'
