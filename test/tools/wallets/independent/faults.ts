/** The defects of the independent wallet, each switched on by its name. Everything else stays correct. */
export const faults = {
  // Retries
  'refusal-not-recorded': 'The retry of a placebet refused for insufficient funds is decided again',
  'retry-debits-again': 'A retried placebet is debited again',
  'retry-answers-old-balance':
    'The answer to a retry has the balance of the first answer instead of the current one',
  'retry-answers-new-reference': 'Every answer to a retry has a new walletTransactionId',
  'retry-refused': 'The retry of a successful call is refused as a duplicate with 409',
  'changed-amount-taken-as-retry': 'The same transactionId with another amount is answered as a retry',
  'changed-currency-taken-as-retry': 'The same transactionId with another currency is answered as a retry',
  'changed-player-taken-as-retry': 'The same transactionId with another player is answered as a retry',
  'changed-bet-taken-as-retry': 'The same transactionId with another bet is answered as a retry',
  'changed-type-taken-as-retry': 'The same transactionId with another type is answered as a retry',
  'changed-odds-refused': 'A retry with other odds is refused as a conflict',
  'changed-session-refused': 'A retry with another sessionId is refused as a conflict',
  'changed-date-refused': 'A retry with another transactionDate is refused as a conflict',
  'amounts-compared-as-text': 'A retry that writes 10 as 10.00 is refused as a conflict',
  'player-checked-before-retry':
    'A changed transaction of an unknown player is INVALID_PLAYER, not a conflict',
  'ids-unique-per-player':
    'Two players may use the same transactionId, so a changed player is a new transaction',
  'ids-unique-per-bet': 'Two bets may use the same transactionId, so a changed bet is a new transaction',
  'one-id-space': 'A rollback with the id of its placebet is treated as its retry and credits nothing',
  'retry-checks-funds': 'The retry of an accepted placebet is refused when the funds are spent by then',
  'unsettlement-retry-checks-funds':
    'The retry of a collected unsettlement is refused when the funds are spent by then',
  'refused-id-reused': 'The transactionId of a refused placebet may be used for another bet',
  'last-1000-remembered': 'Only the last 1,000 transactions are remembered: an older retry is executed again',
  'last-1000-settlements-remembered':
    'Only the last 1,000 settlements and the last 1,000 unsettlements are remembered: an older retry is executed again',
  'old-unsettlement-debits-resettlement':
    'The retry of an unsettlement debits the payout of a later settlement of the bet',

  // Placebet
  'second-placebet-debits': 'A placebet of a known bet under a new transactionId is debited too',
  'second-placebet-taken-as-retry': 'A placebet of a known bet under a new transactionId is answered 200',
  'no-tombstone': 'The rollback of an unknown bet leaves no tombstone, so the late placebet is debited',
  'last-300-tombstones': 'Only the last 300 tombstones are kept',
  'tombstones-of-first-player': 'Tombstones are kept for the first player only',
  'no-tombstone-of-refused':
    'The rollback of a refused placebet leaves no tombstone: the bet can be placed under a new transactionId',
  'rolled-back-bet-placed-again': 'A rolled-back bet can be placed again under a new transactionId',
  'retry-after-rollback-debits': 'The rollback deletes the placebet, so a retry of the placebet is debited',
  'funds-not-checked': 'A stake above the balance is debited and the balance becomes negative',
  'whole-balance-refused': 'An amount of exactly the balance is refused for insufficient funds',
  'zero-stake-needs-funds': 'An amount of 0 is refused for insufficient funds when the balance is 0',
  'refusal-debits': 'A stake is debited before the funds are checked and not returned on the refusal',
  'currency-mismatch-accepted': 'A placebet in a currency other than the player’s is debited one to one',
  'currency-case-folded': 'Currency codes are compared without case: a placebet in eur is debited in EUR',
  'players-created-by-bets': 'A placebet of an unknown player creates the player with a balance of 0',
  'unknown-player-404': 'An unknown player is answered 404 instead of 400',
  'unknown-player-success': 'An unknown player is answered 200 with a balance of 0',

  // Rollback
  'rollback-pays-nothing': 'A rollback succeeds but does not credit the stake',
  'rollback-new-id-pays-again': 'A second rollback under a new transactionId credits the stake again',
  'rollback-retry-pays-again': 'A retried rollback credits the stake again',
  'rollback-of-rolled-back-refused': 'A second rollback under a new transactionId is refused',
  'rollback-of-settled-pays': 'The rollback of a settled bet succeeds and credits the stake',
  'rollback-of-voided-pays': 'The rollback checks paid credits only, so a voided stake is returned twice',
  'rollback-of-lost-pays': 'A bet settled with 0 counts as unsettled, so its rollback credits the stake',
  'rollback-of-uncollected-pays': 'The rollback of a bet with an uncollected clawback credits the stake',
  'rollback-of-cashed-out-pays': 'A bet that was cashed out can be rolled back',
  'rollback-of-part-voided-pays':
    'Only a void of the whole stake counts: a bet that was voided in part can be rolled back',
  'rollback-after-resettlement-pays':
    'A bet that was unsettled once can be rolled back, even when settled again',
  'refused-rollback-recorded': 'A refused rollback is recorded: its retry is always refused',
  'rollback-after-reversal-refused':
    'A bet that was settled once can never be rolled back, even when unsettled',
  'rollback-after-unvoided-refused': 'A bet whose void was reversed can never be rolled back',
  'rollback-of-unknown-refused': 'The rollback of an unknown bet is refused with 400',
  'rollback-of-refused-pays': 'The rollback of a placebet refused for insufficient funds credits the stake',
  'rollback-of-free-bet-refused': 'A bet with a stake of 0 cannot be rolled back',
  'rollback-of-other-player-pays': 'A rollback that names another player credits that player',

  // Settlement and unsettlement
  'settlement-retry-pays-again': 'A retried settlement is credited again',
  'settlement-of-rolled-back-pays': 'A settlement of a rolled-back bet is credited',
  'settlement-of-tombstone-pays': 'A settlement of a bet that was rolled back before it arrived is credited',
  'settlement-of-unknown-pays': 'A settlement of an unknown bet is credited',
  'unsettlement-retry-debits-again': 'A retried unsettlement is debited again',
  'unsettlement-debits-partially': 'An unsettlement debits as much as the balance covers and succeeds',
  'unsettlement-goes-negative': 'An unsettlement debits the whole amount and the balance becomes negative',
  'refused-unsettlement-collects-later':
    'An unsettlement refused for insufficient funds succeeds when it is retried later',
  'refused-unsettlement-not-recorded': 'The retry of an unsettlement refused for insufficient funds is a 400',
  'uncollected-credit-collected-again': 'An uncollected clawback is collected under a new transactionId',
  'unsettlement-reverses-twice': 'A reversed credit is reversed again under a new transactionId',
  'refused-unvoided-collects-later':
    'An UNVOIDED refused for insufficient funds succeeds when it is retried later',
  'unvoided-debits-again': 'A void that was reversed, or is owed, is debited by another UNVOIDED',
  'unvoided-reverses-paid': 'UNVOIDED reverses the credit of BET_PAID',
  'unscored-reverses-void': 'UNSCORED reverses the credit of VOIDED too',
  'unscored-reverses-both': 'UNSCORED of a bet with a payout and a void debits both',
  'unvoided-debits-stake': 'UNVOIDED debits the stake, whatever amount the void credited',
  'unvoided-debits-last-only': 'UNVOIDED of a bet with several voids debits the last one only',
  'equal-payouts-debited-once': 'UNSCORED of a bet with two equal payouts debits one of them',
  'unscored-of-unsettled-succeeds': 'UNSCORED of a bet that was never settled succeeds without a change',
  'unscored-of-unsettled-is-final': 'UNSCORED of a bet that was never settled is a 400',
  'settlement-not-found-is-final': 'UNSCORED before its settlement is recorded, and refused after it too',
  'unsettlement-of-lost-refused': 'UNSCORED of a bet that was settled with 0 is refused',
  'resettlement-not-unsettled': 'A bet that was unsettled once and settled again cannot be unsettled again',
  'unsettlement-debits-last-only': 'UNSCORED of a bet with two payments reverses only the last one',
  'unsettlement-debits-all-ever': 'UNSCORED of a bet that was settled again debits the first payment too',
  'unsettlement-of-unknown-succeeds': 'An unsettlement of an unknown bet succeeds without a change',
  'unsettlement-of-other-player-debits': 'An unsettlement that names another player debits that player',
  'date-decides-order': 'An operation dated before the latest one of its bet is refused',

  // Values
  'float-arithmetic': 'Balances are kept in floating point',
  'float-amounts': 'Amounts are read as floating-point cents, which corrupts large amounts',
  'third-decimal-rounded': 'An additional decimal is rounded instead of refused',
  'trailing-zeros-refused': 'The decimals are counted as written, so 10.500 is refused',
  'negative-amount-accepted': 'A negative stake is accepted and credited',
  'exponent-500': 'An amount with a huge exponent is answered 500',
  'amount-text-refused': 'An amount written as a JSON string is refused',
  'yen-with-decimals': 'Every currency has two decimals, so half a yen is accepted',
  'dinar-with-two-decimals': 'No currency has more than two decimals, so a thousandth of a dinar is refused',
  'ids-trimmed': 'Spaces around an id are ignored',
  'ids-case-folded': 'Upper and lower case of an id are equal',
  'ids-normalised': 'Ids are normalised to one Unicode form',
  'ids-as-latin1': 'Ids are stored in Latin-1: every other character becomes a question mark',
  'ids-as-low-bytes': 'Of each character of an id, only the low byte is stored',
  'ids-as-numbers': 'Ids of digits are stored as numbers, so 007 is 7',
  'ids-truncated': 'Ids are cut to 64 characters',
  'ids-in-plain-object': 'Bets are stored in an object literal, so a bet called constructor already exists',
  'nul-500': 'An id with a NUL character is answered 500',
  'half-surrogate-500': 'An id with half a surrogate pair is answered 500',
  'long-id-500': 'An id of more than 255 characters is answered 500',
  'dates-need-zone': 'A transactionDate without a zone is refused',
  'dates-need-utc': 'A transactionDate with an offset other than Z is refused',
  'dates-of-six-decimals': 'A transactionDate with seven decimals is refused',
  'dates-unchecked': 'A transactionDate may be anything',
  'bet-type-unchecked': 'A betType may be anything',
  'unsettlement-type-unchecked': 'Every unknown unsettlement type is treated as UNSCORED',
  'null-odds-refused': 'odds: null is refused',
  'extra-fields-refused': 'A field that the interface does not define is refused',

  // Answers
  'error-has-extra-fields': 'An error has a stack trace and a statement beside errorCode and description',
  'error-as-200': 'An error is answered with status 200',
  'error-without-code': 'An error has a description only',
  'error-as-html': 'An error is answered as an HTML page',
  'funds-refusal-as-500': 'A refusal for insufficient funds is answered as 500',
  'balance-as-text': 'The balance is a JSON string',
  'success-without-currency': 'A success has no currency',
  'reference-never-changes': 'Every success has the same walletTransactionId',
  'balance-of-first-player': 'Every success has the balance of the first player',

  // Authentication
  'no-authentication': 'Every call is accepted without authentication',
  'authentication-after-body': 'The body is read and checked before the credentials',
  'unsettlement-unauthenticated': 'An unsettlement needs no authentication',
  'any-bearer-accepted': 'Any Bearer token is accepted instead of the password',
  'authentication-by-name': 'Only the user name is compared',
  'authentication-by-password': 'Only the password is compared',
  'password-empty-accepted': 'An empty password is accepted',
  'password-prefix-accepted': 'The passwords are compared up to the length of the given one',
  'password-case-folded': 'Upper and lower case of the password are equal',
  'authentication-after-effect': 'A call without credentials is answered 401, but executed',
  'no-www-authenticate': 'A 401 has no WWW-Authenticate header',

  // HTTP
  'malformed-json-500': 'A body that is not JSON is answered 500',
  'missing-field-500': 'A missing field is answered 500',
  'not-an-object-500': 'A body that is JSON but not an object is answered 500',
  'half-body-accepted': 'A body that ends before its declared length is executed',
  'oversize-body-500': 'A body beyond the limit is answered 500',
  'oversize-body-kills-connection': 'A body beyond the limit is cut off without an answer',
  'put-accepted': 'PUT is executed like POST',
  'any-content-type': 'A body of any content type is read as JSON',

  // Races and lost connections
  'race-retry': 'Other requests can run between the check for a retry and its record',
  'race-funds': 'Other requests can run between the check of the funds and the debit',
  'race-lost-update': 'The new balance is computed from a value read before other requests',
  'race-bet': 'Other requests can run between the check of the bet and its placement',
  'race-rollback': 'Other requests can run between the check of the bet and the credit of the rollback',
  'race-unsettlement': 'Other requests can run between the check of the credit and its reversal',
  'race-unsettlement-of-settlement':
    'A settlement between the sum and the reversal of an unsettlement is reversed, but not debited',
  'race-unsettlement-lost-update':
    'An unsettlement computes the new balance from a value read before other requests',
  'race-settlement-retry': 'Other requests can run between the check for a retried settlement and its record',
  'race-settlement-lost-update':
    'A settlement computes the new balance from a value read before other requests',
  'race-settlement-of-bet':
    'A settlement writes the credits of its bet as they were read before other settlements of the bet',
  'race-settlement-of-rollback':
    'A rollback between the check of the bet and the credit of a settlement is not seen by the settlement',
  'locks-crossed-by-rollback':
    'A rollback locks the bet and then the player, all other calls the player first',
  'locks-crossed-by-unsettlement':
    'An unsettlement locks the bet and then the player, all other calls the player first',
  'locks-crossed-by-settlement':
    'A settlement locks the bet and then the player, all other calls the player first',
  'disconnect-forgets-record': 'When the client has disconnected, the debit remains and the record is lost',
  'disconnect-forgets-debit': 'When the client has disconnected, the record remains and the debit is lost',
} as const satisfies Record<string, string>

export type FaultName = keyof typeof faults
