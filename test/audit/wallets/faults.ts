/**
 * What can be wrong with a wallet, each in one place and switched on by name. The sentence says what the faulty
 * wallet does; everything else about it is sound.
 */
export const faults = {
  // Repeats
  'refusal-not-recorded': 'A placebet refused for funds is decided afresh when it is repeated',
  'repeat-debits-again': 'A repeated placebet is debited again',
  'repeat-answers-old-balance': 'A repeat carries the balance of the first answer, not the current one',
  'repeat-answers-new-reference': 'Every answer to a repeat has another walletTransactionId',
  'repeat-refused': 'A repeat of a success is refused as a duplicate with 409',
  'changed-amount-taken-as-repeat': 'The same transactionId with another amount is answered as a repeat',
  'changed-currency-taken-as-repeat': 'The same transactionId with another currency is answered as a repeat',
  'changed-player-taken-as-repeat': 'The same transactionId with another player is answered as a repeat',
  'changed-bet-taken-as-repeat': 'The same transactionId with another bet is answered as a repeat',
  'changed-type-taken-as-repeat': 'The same transactionId with another type is answered as a repeat',
  'changed-odds-refused': 'A repeat with other odds is refused as a conflict',
  'changed-session-refused': 'A repeat with another sessionId is refused as a conflict',
  'changed-date-refused': 'A repeat with another transactionDate is refused as a conflict',
  'amounts-compared-as-text': 'A repeat that writes 10 as 10.00 is refused as a conflict',
  'player-checked-before-repeat':
    'A changed transaction of an unknown player is INVALID_PLAYER, not a conflict',
  'ids-unique-per-player':
    'Two players may use the same transactionId, so a changed player is a new transaction',
  'ids-unique-per-bet': 'Two bets may use the same transactionId, so a changed bet is a new transaction',
  'one-id-space': 'A rollback with the id of its placebet is taken for a repeat of it and pays nothing',

  // Placebet
  'second-placebet-debits': 'A placebet of a known bet under a new transactionId is debited too',
  'second-placebet-taken-as-repeat': 'A placebet of a known bet under a new transactionId is answered 200',
  'no-tombstone': 'The rollback of an unknown bet leaves no trace, so the late placebet is debited',
  'rolled-back-bet-placed-again': 'A rolled back bet can be placed once more under a new transactionId',
  'repeat-after-rollback-debits': 'The rollback forgets the placebet, so a repeat of the placebet is debited',
  'funds-not-checked': 'A stake above the balance is taken and the balance goes below zero',
  'whole-balance-refused': 'An amount of exactly the whole balance is refused for funds',
  'zero-stake-needs-funds': 'An amount of 0 is refused for funds when the balance is 0',
  'refusal-debits': 'A stake is taken before the funds are checked and not given back on the refusal',
  'currency-mismatch-accepted': 'A placebet in a currency other than the player’s is debited one to one',
  'unknown-player-404': 'An unknown player is answered 404 instead of 400',
  'unknown-player-success': 'An unknown player is answered 200 with a balance of 0',

  // Rollback
  'rollback-pays-nothing': 'A rollback succeeds and the stake stays taken',
  'rollback-new-id-pays-again': 'A second rollback under a new transactionId pays the stake again',
  'rollback-repeat-pays-again': 'A repeated rollback pays the stake again',
  'rollback-of-rolled-back-refused': 'A second rollback under a new transactionId is refused',
  'rollback-of-settled-pays': 'The rollback of a settled bet succeeds and pays the stake',
  'rollback-of-voided-pays': 'The rollback looks at paid credits only, so a voided stake is returned twice',
  'rollback-of-lost-pays': 'A bet settled with 0 counts as unsettled, so its rollback pays the stake',
  'rollback-of-closed-pays': 'The rollback of a bet whose credit was closed, not reversed, pays the stake',
  'rollback-after-reversal-refused':
    'A bet that was settled once can never be rolled back, even when unsettled',
  'rollback-of-unknown-refused': 'The rollback of an unknown bet is refused with 400',
  'rollback-of-refused-pays': 'The rollback of a placebet that was refused for funds pays the stake',
  'rollback-of-other-player-pays': 'A rollback that names another player than the bet’s pays that player',

  // Settlement and unsettlement
  'settlement-repeat-pays-again': 'A repeated settlement is credited again',
  'settlement-of-rolled-back-pays': 'A settlement of a rolled back bet is credited',
  'unsettlement-repeat-deducts-again': 'A repeated unsettlement is deducted again',
  'unsettlement-deducts-partially': 'An unsettlement takes what the balance has and succeeds',
  'unsettlement-goes-negative': 'An unsettlement takes the whole amount and the balance goes below zero',
  'refused-unsettlement-collects-later':
    'An unsettlement refused for funds succeeds when it is retried later',
  'refused-unsettlement-not-recorded':
    'An unsettlement refused for funds closes the credit, but its repeat is a 400',
  'closed-credit-collected-again':
    'What an unsettlement could not collect is collected under a new transactionId',
  'unsettlement-reverses-twice': 'A reversed credit is reversed once more under a new transactionId',
  'unvoided-takes-paid': 'UNVOIDED deducts what BET_PAID has credited',
  'unscored-takes-void': 'UNSCORED deducts what VOIDED has credited too',
  'unscored-of-unsettled-succeeds': 'UNSCORED of a bet that was never settled succeeds and moves nothing',
  'unscored-of-unsettled-is-final': 'UNSCORED of a bet that was never settled is a 400',
  'settlement-not-found-sticks': 'UNSCORED ahead of its settlement is remembered, and refused after it too',
  'unsettlement-of-lost-refused': 'UNSCORED of a bet that was settled with 0 is refused',
  'resettlement-not-unsettled': 'A bet that was unsettled once and settled again cannot be unsettled again',
  'unsettlement-takes-last-only': 'UNSCORED of a bet with two payments reverses only the last one',
  'unsettlement-takes-all-ever': 'UNSCORED of a bet that was settled again takes the first payment too',
  'unsettlement-of-unknown-succeeds': 'An unsettlement of an unknown bet succeeds and moves nothing',
  'unsettlement-of-other-player-deducts':
    'An unsettlement that names another player deducts from that player',
  'date-decides-order': 'An operation dated before the latest one of its bet is refused',

  // Values
  'float-arithmetic': 'Balances are kept in floating point',
  'float-amounts': 'Amounts are read through floating point cents, which large amounts do not survive',
  'third-decimal-rounded': 'A decimal too many is rounded instead of refused',
  'trailing-zeros-refused': 'The decimals are counted as written, so 10.500 is refused',
  'negative-amount-accepted': 'A negative stake is accepted and raises the balance',
  'exponent-500': 'An amount with a huge exponent is answered 500',
  'amount-text-refused': 'An amount written as a JSON string is refused',
  'yen-with-decimals': 'Every currency has two decimals, so half a yen is accepted',
  'dinar-with-two-decimals': 'No currency has more than two decimals, so a thousandth of a dinar is refused',
  'ids-trimmed': 'Blanks around an id do not count',
  'ids-case-folded': 'Capital and small letters of an id are the same',
  'ids-normalised': 'Ids are brought to one Unicode form',
  'ids-as-numbers': 'Ids of digits are kept as numbers, so 007 is 7',
  'ids-truncated': 'Ids are cut to 64 characters',
  'ids-in-plain-object': 'Bets are kept in an object literal, so a bet called constructor exists already',
  'nul-500': 'An id with a NUL character is answered 500',
  'half-surrogate-500': 'An id with half a surrogate pair is answered 500',
  'long-id-500': 'An id of more than 255 characters is answered 500',
  'dates-need-zone': 'A transactionDate without a zone is refused',
  'dates-need-utc': 'A transactionDate with an offset other than Z is refused',
  'dates-unchecked': 'A transactionDate may be anything',
  'bet-type-unchecked': 'A betType may be anything',
  'unsettlement-type-unchecked': 'Every unknown unsettlement type is taken for UNSCORED',
  'null-odds-refused': 'odds: null is refused',
  'extra-fields-refused': 'A field that the interface does not describe is refused',

  // Answers
  'error-has-extra-fields': 'An error carries a stack and a statement beside errorCode and description',
  'error-as-200': 'An error is answered with status 200',
  'error-without-code': 'An error has a description only',
  'error-as-html': 'An error is answered as an HTML page',
  'funds-refusal-as-500': 'A refusal for funds is answered as 500',
  'balance-as-text': 'The balance is a JSON string',
  'success-without-currency': 'A success has no currency',
  'balance-of-first-player': 'Every success carries the balance of the first player',

  // Authentication
  'no-authentication': 'Everybody is let in',
  'authentication-after-body': 'The body is read and judged before the credentials are',
  'authentication-by-name': 'Only the user name is compared',
  'authentication-after-effect': 'A call without credentials is answered 401, but carried out',
  'no-www-authenticate': 'A 401 has no WWW-Authenticate header',

  // HTTP
  'malformed-json-500': 'A body that is no JSON is answered 500',
  'missing-field-500': 'A missing field is answered 500',
  'not-an-object-500': 'A body that is JSON but no object is answered 500',
  'half-body-accepted': 'A body that breaks off before its declared length is carried out',
  'oversize-body-500': 'A body beyond the limit is answered 500',
  'oversize-body-kills-connection': 'A body beyond the limit is cut off without an answer',
  'put-accepted': 'PUT is carried out as if it were POST',
  'any-content-type': 'A body of any content type is read as JSON',

  // Races and lost connections
  'race-repeat': 'Between the look for a repeat and the record of it another request may pass',
  'race-funds': 'Between the check of the funds and the debit another stake may be taken',
  'race-lost-update': 'The new balance is computed from one read before other requests',
  'race-bet': 'Between the look for the bet and its placement a rollback or a second placebet may pass',
  'race-rollback': 'Between the look for the bet and the payment of the rollback other requests may pass',
  'race-unsettlement': 'Between the look at the credit and its reversal another unsettlement may pass',
  'hang-up-forgets-record': 'When the client has gone the stake stays taken and the record is dropped',
  'hang-up-forgets-debit': 'When the client has gone the record stays and the stake is given back',
} as const satisfies Record<string, string>

export type FaultName = keyof typeof faults
