/** The sentences of docs/interface.md that cases quote, without their marks. */
export const sentences = {
  'stake-debited': 'funds suffice | the stake is debited',
  'placebet-undone': 'the bet exists | the placebet is undone',
  'funds-insufficient': 'funds do not suffice | none: INSUFFICIENT_FUNDS',
  'rollback-of-unknown-bet': 'If no bet has this betId, the answer is a success',
  'unknown-player': 'the player is unknown or invalid',
  'bet-types': 'SINGLE, MULTIPLE or TEASER; for information',
  'bet-id': 'identifies the bet; connects it with its settlements, unsettlements and rollbacks',
  'one-transaction':
    'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
  'current-balance': "A success reports the player's current balance and its currency.",
  'rollback-corrects': 'If it fails or times out, the platform sends a rollback to correct the balance.',
  'funds-required': 'The player must have the funds.',
  'unscored-debits':
    'the wallet debits what the BET_PAID settlement of the bet credited, or answers INSUFFICIENT_FUNDS',
  'unvoided-debits': 'the wallet debits what the void settlement of the bet credited',
  'clawback-refused':
    "If the player's funds are insufficient, or the PAM cannot debit a balance, the answer is INSUFFICIENT_FUNDS.",
  'debt-of-player': 'The platform then books the amount as a debt of the player',
  'platform-retries': 'The platform retries this call.',
  'reverses-settlement': 'reverses the settlement that a bet has received',
  'error-body': 'Its body has errorCode and description, and nothing else.',
  'amount-required': 'amount | decimal | yes',
  'unsettlement-types': 'unsettlement: UNVOIDED or UNSCORED',
  'insufficient-funds-code': 'the answer is INSUFFICIENT_FUNDS.',
  'unknown-player-in-any-call':
    'rollbackbet, and any call that names a player | the player is unknown or invalid',
  'transaction-id': 'identifies the transaction; the key of idempotency',
  'post-of-json': 'Every call is a POST with Content-Type: application/json.',
} as const

export type Sentence = keyof typeof sentences
