/**
 * Likely causes of failures: the case that shows a cause best, and the cases that fail with it. Data for
 * {@link findingsOf}; a case that is in no list stands for itself.
 */

/** `executed`: a call that must change nothing was accepted, or changed the balance. */
export type Symptom = 'too much' | 'too little' | 'accepted' | 'refused' | 'executed' | 'other'

export interface Cause {
  /** The case that shows it best. Without its failure, the cause is not assumed. */
  shownBy: number
  /** How that case fails then. */
  as: Symptom
  /** What the wallet does wrong, in one sentence. */
  says: string
  /** The cases that fail with it, if they fail in the same direction. */
  explains: readonly number[]
}

/** A case that several causes explain follows the first of them that was found. */
export const causes: readonly Cause[] = [
  {
    shownBy: 102,
    as: 'accepted',
    says: 'Funds are not checked: a stake above the funds is accepted.',
    explains: [103, 113, 209, 210, 238, 310, 401, 402, 411, 531, 601, 610, 611, 612],
  },
  {
    shownBy: 104,
    as: 'too little',
    says: 'A rollbackbet does not credit the stake.',
    explains: [112, 203, 216, 217, 218, 222, 225, 308, 403, 816, 901, 902, 991],
  },
  {
    shownBy: 106,
    as: 'accepted',
    says: 'Calls for unknown players succeed.',
    explains: [107, 108, 122, 601, 610, 611, 626],
  },
  {
    shownBy: 111,
    as: 'executed',
    says: 'The currency of a stake is not checked.',
    explains: [218, 233, 610],
  },
  {
    shownBy: 301,
    as: 'too little',
    says: 'The rollback of an unknown bet leaves no tombstone: a placebet that arrives later is executed.',
    explains: [242, 302, 303, 304, 305, 306, 307, 308, 309, 310, 311, 901, 621],
  },
  {
    shownBy: 201,
    as: 'too little',
    says: 'A retried placebet is not recognised by its transactionId.',
    explains: [
      ...[120, 202, 203, 209, 210, 211, 212, 213, 215, 217, 218, 219, 221, 231, 232, 233, 234, 238, 241, 622],
      ...[236, 237, 303, 308, 532, 551, 611, 803, 902, 907],
    ],
  },
  {
    shownBy: 201,
    as: 'refused',
    says: 'Retries are refused instead of answered like the first call.',
    explains: [
      ...[202, 203, 204, 205, 211, 213, 219, 220, 221, 231, 232, 233, 234, 305, 308, 510, 511, 530, 551],
      ...[236, 237, 554, 803, 902, 903, 904, 907],
    ],
  },
  {
    shownBy: 204,
    as: 'too much',
    says: 'A retried rollbackbet is not recognised by its transactionId.',
    explains: [205, 206, 208, 211, 220, 235, 237, 305, 308, 903, 241, 622],
  },
  {
    shownBy: 510,
    as: 'too little',
    says: 'A retried unsettlement is not recognised by its transactionId.',
    explains: [511, 529, 530, 554, 556, 904, 241, 544, 571, 622],
  },
  {
    shownBy: 218,
    as: 'executed',
    says: 'A transactionId is known only together with another value of the call.',
    explains: [120, 217, 223, 231, 232, 233, 234, 235, 529, 622],
  },
  {
    shownBy: 231,
    as: 'accepted',
    says: 'The amount of a call with a known transactionId is not compared with the first one.',
    explains: [232, 233, 234, 235, 529, 611, 622],
  },
  {
    shownBy: 232,
    as: 'accepted',
    says: 'The betId of a call with a known transactionId is not compared with the first one.',
    explains: [235, 529, 622],
  },
  {
    shownBy: 234,
    as: 'accepted',
    says: 'The playerId of a call with a known transactionId is not compared with the first one.',
    explains: [235, 622],
  },
  {
    shownBy: 120,
    as: 'other',
    says: 'A transactionId is known per player only.',
    explains: [217, 218, 234, 235, 622],
  },
  {
    shownBy: 212,
    as: 'too little',
    says: 'After a rollback, the placebet of the bet is decided as new.',
    explains: [213, 224, 308],
  },
  {
    shownBy: 209,
    as: 'executed',
    says: 'A refused placebet is decided anew when it is retried.',
    explains: [210, 238, 601, 925, 945],
  },
  {
    shownBy: 214,
    as: 'too little',
    says: 'A bet can be placed twice under different transactionIds.',
    explains: [119, 215, 216, 611, 621, 623],
  },
  {
    shownBy: 206,
    as: 'too much',
    says: 'A second rollback of a bet credits the stake again.',
    explains: [205, 207, 208, 308, 903],
  },
  {
    shownBy: 203,
    as: 'too little',
    says: 'Concurrent copies of one call are executed: a race between look-up and record.',
    explains: [202, 216, 217, 306, 307, 308, 901, 902],
  },
  {
    shownBy: 216,
    as: 'too little',
    says: 'Concurrent placebets of one bet are executed: a race between look-up and record.',
    explains: [306, 307, 308, 901, 902],
  },
  {
    shownBy: 205,
    as: 'too much',
    says: 'Concurrent rollbacks of one bet are executed: a race between look-up and record.',
    explains: [208, 308, 903],
  },
  {
    shownBy: 208,
    as: 'too much',
    says: 'Concurrent rollbacks of one bet are executed: a race between look-up and record.',
    explains: [308, 903],
  },
  {
    shownBy: 306,
    as: 'too little',
    says: 'A placebet and its rollback that meet are both executed: a race.',
    explains: [307, 308, 901],
  },
  {
    shownBy: 401,
    as: 'other',
    says: 'Concurrent bets are checked against the same funds: a race.',
    explains: [402, 403, 531],
  },
  {
    shownBy: 403,
    as: 'too much',
    says: 'Concurrent changes of a balance overwrite each other.',
    explains: [401, 402, 542],
  },
  { shownBy: 406, as: 'executed', says: 'Amounts are rounded.', explains: [407, 414, 416] },
  { shownBy: 409, as: 'executed', says: 'Negative stakes are accepted.', explains: [415, 624] },
  {
    shownBy: 410,
    as: 'executed',
    says: 'Amounts that are no decimals are accepted.',
    explains: [415, 604, 606, 624],
  },
  { shownBy: 411, as: 'executed', says: 'Huge amounts are accepted.', explains: [415, 624] },
  {
    shownBy: 502,
    as: 'too much',
    says: 'UNSCORED does not debit the payout.',
    explains: [
      ...[503, 505, 507, 508, 510, 511, 512, 513, 514, 515, 516, 518, 522, 527, 528, 529, 530, 534, 540, 543],
      ...[413, 550, 904],
    ],
  },
  {
    shownBy: 501,
    as: 'too much',
    says: 'A retried settlement is not recognised by its transactionId.',
    explains: [241, 541],
  },
  {
    shownBy: 503,
    as: 'too much',
    says: 'UNVOIDED does not debit the void.',
    explains: [512, 513, 538, 539, 540, 550],
  },
  {
    shownBy: 516,
    as: 'too much',
    says: 'Of several credits of a bet, an unsettlement debits only one.',
    explains: [539, 543],
  },
  {
    shownBy: 512,
    as: 'too little',
    says: 'A credit that was clawed back is clawed back again.',
    explains: [507, 508, 511, 513, 514, 534, 556, 904],
  },
  {
    shownBy: 511,
    as: 'too little',
    says: 'Concurrent unsettlements of one bet are executed: a race.',
    explains: [513, 531, 904],
  },
  {
    shownBy: 513,
    as: 'too little',
    says: 'Concurrent unsettlements of one bet are executed: a race.',
    explains: [531, 904],
  },
  {
    shownBy: 504,
    as: 'executed',
    says: 'A clawback that exceeds the funds debits money.',
    explains: [506, 507, 508, 509, 515, 531, 571],
  },
  {
    shownBy: 506,
    as: 'executed',
    says: 'A refused clawback is collected later.',
    explains: [507, 508, 515, 571],
  },
  {
    shownBy: 507,
    as: 'executed',
    says: 'A refused clawback is collected later.',
    explains: [506, 508, 515, 571],
  },
  {
    shownBy: 520,
    as: 'too much',
    says: 'A settled bet can be rolled back.',
    explains: [509, 521, 534, 537, 546, 548, 549, 550, 621],
  },
  {
    shownBy: 533,
    as: 'too much',
    says: 'A settlement of a rolled-back bet is credited.',
    explains: [548, 552],
  },
  {
    shownBy: 517,
    as: 'executed',
    says: 'An unsettlement before its settlement succeeds.',
    explains: [518, 519],
  },
  {
    shownBy: 523,
    as: 'too little',
    says: 'UNSCORED and UNVOIDED reverse each other’s credits.',
    explains: [503, 509, 535, 540],
  },
  { shownBy: 524, as: 'executed', says: 'An unsettlement of an unknown bet succeeds.', explains: [525] },
  { shownBy: 526, as: 'executed', says: 'An unsettlement of a rolled-back bet succeeds.', explains: [525] },
  {
    shownBy: 118,
    as: 'executed',
    says: 'The player of a call is not compared with the player of the bet.',
    explains: [119, 536, 623],
  },
  { shownBy: 604, as: 'accepted', says: 'Required fields are not required.', explains: [605, 805, 815, 624] },
  {
    shownBy: 608,
    as: 'executed',
    says: 'Unlisted types of an unsettlement are accepted.',
    explains: [605, 606, 607],
  },
  { shownBy: 607, as: 'accepted', says: 'Values of fields are not checked.', explains: [605, 606, 624] },
  {
    shownBy: 701,
    as: 'executed',
    says: 'Calls without credentials are executed.',
    explains: [702, 703, 704, 706, 707, 708, 709, 710],
  },
  { shownBy: 702, as: 'executed', says: 'Wrong credentials are accepted.', explains: [703, 704, 708] },
  {
    shownBy: 601,
    as: 'other',
    says: 'Errors do not have exactly errorCode and description.',
    explains: [602, 605, 614, 704],
  },
]
