/** Proof that the audit can fail: wallets with one defect each, and the cases that must find it. */
import { auditCases, auditWallet } from 'bet-wallet/audit'
import { describe, expect, it } from 'vitest'
import { type FrontName, fronts, startBrokenFront } from './broken-wallets.js'
import { type FaultName, faults, startPlainWallet } from './wallets/plain.js'

/** By defect of the independent wallet: the cases that find it. */
const caught: Record<FaultName, readonly number[]> = {
  // Retries
  'refusal-not-recorded': [209, 925, 945],
  'retry-debits-again': [201, 202, 203, 217, 218, 308, 532, 803, 902, 907, 921, 941],
  'retry-answers-old-balance': [202, 204, 510],
  'retry-answers-new-reference': [211],
  'retry-refused': [201, 203, 204, 205, 305, 510, 511, 551, 902, 903, 904],
  'changed-amount-taken-as-retry': [231],
  'changed-currency-taken-as-retry': [233],
  'changed-player-taken-as-retry': [234, 235, 622],
  'changed-bet-taken-as-retry': [232, 235, 529],
  'changed-type-taken-as-retry': [529],
  'changed-odds-refused': [219],
  'changed-session-refused': [219],
  'changed-date-refused': [219, 220, 530],
  'amounts-compared-as-text': [221],
  'player-checked-before-retry': [622],
  'ids-unique-per-player': [120],
  'ids-unique-per-bet': [217, 218, 223, 232, 235],
  'one-id-space': [222],
  'retry-checks-funds': [236],
  'unsettlement-retry-checks-funds': [554],
  'refused-id-reused': [238],
  'last-1000-remembered': [241],
  'last-1000-settlements-remembered': [241],
  'old-unsettlement-debits-resettlement': [544, 926, 946],

  // Placebet
  'second-placebet-debits': [214, 216],
  'second-placebet-taken-as-retry': [215, 119, 621, 623],
  'no-tombstone': [301, 302, 303, 304, 305, 307, 309, 922, 942],
  'last-300-tombstones': [242],
  'tombstones-of-first-player': [311],
  'no-tombstone-of-refused': [310],
  'rolled-back-bet-placed-again': [224],
  'retry-after-rollback-debits': [212, 213, 308],
  'funds-not-checked': [102, 103, 401, 531],
  'whole-balance-refused': [103, 405, 505],
  'zero-stake-needs-funds': [117],
  'refusal-debits': [102],
  'currency-mismatch-accepted': [111],
  'currency-case-folded': [121],
  'players-created-by-bets': [122],
  'unknown-player-404': [610],
  'unknown-player-success': [106, 107, 108],

  // Rollback
  'rollback-pays-nothing': [104, 924, 944],
  'rollback-new-id-pays-again': [206, 208],
  'rollback-retry-pays-again': [204, 205, 903, 923, 943],
  'rollback-of-rolled-back-refused': [207],
  'rollback-of-settled-pays': [520, 521, 534],
  'rollback-of-voided-pays': [520],
  'rollback-of-lost-pays': [537],
  'rollback-of-uncollected-pays': [509],
  'rollback-of-cashed-out-pays': [546],
  'rollback-of-part-voided-pays': [549],
  'rollback-after-resettlement-pays': [550],
  'refused-rollback-recorded': [547],
  'rollback-after-reversal-refused': [522],
  'rollback-after-unvoided-refused': [522],
  'rollback-of-unknown-refused': [105],
  'rollback-of-refused-pays': [113],
  'rollback-of-free-bet-refused': [123],
  'rollback-of-other-player-pays': [118],

  // Settlement and unsettlement
  'settlement-retry-pays-again': [501],
  'settlement-of-rolled-back-pays': [533],
  'settlement-of-tombstone-pays': [555],
  'settlement-of-unknown-pays': [552],
  'unsettlement-retry-deducts-again': [510, 511, 904],
  'unsettlement-deducts-partially': [504],
  'unsettlement-goes-negative': [504, 531],
  'refused-unsettlement-collects-later': [506, 515, 928, 948],
  'refused-unsettlement-not-recorded': [571],
  'uncollected-credit-collected-again': [507, 508, 515],
  'unsettlement-reverses-twice': [512, 513],
  'refused-unvoided-collects-later': [506],
  'unvoided-debits-again': [507, 512, 513],
  'unvoided-reverses-paid': [503, 523],
  'unscored-reverses-void': [523],
  'unscored-reverses-both': [540],
  'unvoided-debits-stake': [538, 539, 540],
  'unvoided-debits-last-only': [539],
  'equal-payouts-debited-once': [516],
  'unscored-of-unsettled-succeeds': [517, 518, 519],
  'unscored-of-unsettled-is-final': [519],
  'settlement-not-found-is-final': [518],
  'unsettlement-of-lost-refused': [528],
  'resettlement-not-unsettled': [514],
  'unsettlement-debits-last-only': [516],
  'unsettlement-debits-all-ever': [514],
  'unsettlement-of-unknown-succeeds': [524, 525],
  'unsettlement-of-other-player-deducts': [536],
  'date-decides-order': [225],

  // Values
  'float-arithmetic': [404, 405, 403],
  'float-amounts': [413],
  'third-decimal-rounded': [406, 407],
  'trailing-zeros-refused': [408],
  'negative-amount-accepted': [409],
  'exponent-500': [415],
  'amount-text-refused': [412],
  'yen-with-decimals': [407],
  'dinar-with-two-decimals': [416],
  'ids-trimmed': [807],
  'ids-case-folded': [807],
  'ids-normalised': [807],
  'ids-as-latin1': [817],
  'ids-as-low-bytes': [817],
  'ids-as-numbers': [808],
  'ids-truncated': [806],
  // The betId would be the same in every audit: a correct wallet that has received it before answers in the same way.
  'ids-in-plain-object': [],
  'nul-500': [810],
  'half-surrogate-500': [810],
  'long-id-500': [810],
  'dates-need-zone': [609],
  'dates-need-utc': [609],
  'dates-of-six-decimals': [609],
  'dates-unchecked': [607],
  'bet-type-unchecked': [607],
  'unsettlement-type-unchecked': [607, 608],
  'null-odds-refused': [110],
  'extra-fields-refused': [110],

  // Answers
  'error-has-extra-fields': [601, 602, 613],
  'error-as-200': [102, 106, 107, 108, 410, 411, 524, 526, 601, 604, 701],
  'error-without-code': [601, 602],
  'error-as-html': [601, 602, 612],
  'funds-refusal-as-500': [610, 611],
  'balance-as-text': [115],
  'success-without-currency': [101, 104, 105],
  'reference-never-changes': [116],
  'balance-of-first-player': [118],

  // Authentication
  'no-authentication': [701, 702, 703, 704],
  'authentication-after-body': [706, 707],
  'unsettlement-unauthenticated': [701, 702, 704, 708],
  'any-bearer-accepted': [710],
  'authentication-by-name': [702, 708],
  'authentication-by-password': [709],
  'password-empty-accepted': [708],
  'password-prefix-accepted': [708],
  'password-case-folded': [708],
  'authentication-after-effect': [701, 702, 703],
  'no-www-authenticate': [705],

  // HTTP
  'malformed-json-500': [603, 624, 811],
  'missing-field-500': [605],
  'not-an-object-500': [603],
  'half-body-accepted': [911],
  'oversize-body-500': [802],
  // The audit treats a closed connection as a refusal: a caller with 4 MiB may not be able to read the answer.
  'oversize-body-kills-connection': [],
  'put-accepted': [814, 614],
  'any-content-type': [812],

  // Races and lost connections
  'race-retry': [203],
  'race-funds': [401, 402],
  'race-lost-update': [403],
  'race-bet': [216],
  'race-rollback': [208, 548],
  'race-unsettlement': [513],
  'race-unsettlement-of-settlement': [545],
  'race-unsettlement-lost-update': [531, 534],
  'race-settlement-retry': [541],
  'race-settlement-lost-update': [542, 543],
  'race-settlement-of-bet': [543],
  'race-settlement-of-rollback': [548],
  'locks-crossed-by-rollback': [909],
  'locks-crossed-by-unsettlement': [909],
  'locks-crossed-by-settlement': [909],
  'disconnect-forgets-record': [902],
  'disconnect-forgets-debit': [902],
}

/** By defective proxy in front of a correct wallet: the cases that find it. */
const caughtInFront: Record<FrontName, readonly number[]> = {
  'balance-before-the-bet': [101],
  'bet-types-forgotten': [109],
  'rollback-undoes-the-last-bet': [112],
  'unsettlement-of-the-last-bet': [527],
  'unsettlement-of-rolled-back-succeeds': [526],
  'amounts-by-number': [410],
  'amounts-by-parse-int': [414],
  'stake-of-a-cent-free': [416],
  'ids-made-up': [604],
  'prototype-merged': [805],
  'keys-folded': [815],
  'like-in-sql': [816],
  'query-objects': [816],
  'both-amounts': [803],
  'charset-refused': [813],
  'length-required': [910],
  'first-piece-read': [906],
  'cut-body-repaired': [905],
  'chunks-decoded-apart': [907],
  'one-call-at-a-time': [908],
  'dies-of-depth': [801],
  'dies-of-size': [802],
  'get-places-bets': [814],
  'cent-kept': [991],
  'rollback-refused-when-old': [226],
  'rollback-refused-a-day-later': [226],
  'stakes-of-14-digits': [418],
  'tombstones-for-singles': [310],
  'clawback-refused-under-another-code': [625],
  'unknown-player-under-another-code': [626],
  'unsettled-bet-503': [556],
  'replay-under-another-status': [237],
  'lost-answer-work-done-twice': [901, 902],
  'success-with-more': [114],
  'duplicate-refused-otherwise': [210],
  'every-seventh-call-fails': [981],
  'cash-out-is-a-payout': [535, 553],
  'ids-coerced': [606],
  'ascii-only': [809],
  'unsettlement-debits-nothing': [502, 927, 947],
  'rollback-misses-a-bet-in-flight': [306],
}

/** Defects that appear only with certain currencies. */
const currencies: Partial<Record<FaultName, { currency: string; balance: string }>> = {
  'yen-with-decimals': { currency: 'JPY', balance: '10000' },
  'dinar-with-two-decimals': { currency: 'KWD', balance: '100.000' },
}

const idOf = (number: number) => `AU-${number}`

/** Cases that need earlier cases: AU-981 counts their faults, AU-991 compares the balances that they have left. */
const withCompany: Record<number, readonly number[]> = { 981: [104, 112, 981], 991: [104, 112, 991] }

async function failuresOf(
  wallet: { url: string; credentials: { username: string; password: string } },
  numbers: readonly number[],
  currency = 'EUR',
): Promise<string[]> {
  const report = await auditWallet({
    baseUrl: wallet.url,
    credentials: wallet.credentials,
    playerId: 'player-1',
    otherPlayerId: 'player-2',
    currency,
    settle: { url: '/settlement' },
    timeoutMs: 1_000,
    pauseMs: 1,
    restart: () => {},
    only: numbers.flatMap(number => withCompany[number] ?? [number]).map(idOf),
  })
  return report.results.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id)
}

describe('a wallet with one defect fails the cases that look for it', () => {
  const broken = (Object.keys(faults) as FaultName[]).filter(fault => caught[fault].length > 0)

  it.each(broken)('%s', async fault => {
    const { currency, balance } = currencies[fault] ?? { currency: 'EUR', balance: '100.00' }
    const players = ['player-1', 'player-2'].map(playerId => ({ playerId, currency, balance }))
    const wallet = await startPlainWallet({ fault, players })
    try {
      const failures = await failuresOf(wallet, caught[fault], currency)
      expect(failures).toEqual(expect.arrayContaining(caught[fault].map(idOf)))
    } finally {
      await wallet.close()
    }
  })

  it.each(Object.keys(fronts) as FrontName[])('%s', async name => {
    const wallet = await startBrokenFront(name)
    try {
      const failures = await failuresOf(wallet, caughtInFront[name])
      expect(failures).toEqual(expect.arrayContaining(caughtInFront[name].map(idOf)))
    } finally {
      await wallet.close()
    }
  })

  it('a wallet that stops answering has not passed, whichever case ended it', async () => {
    const wallet = await startBrokenFront('dies-of-size')
    try {
      const report = await auditWallet({
        baseUrl: wallet.url,
        credentials: wallet.credentials,
        playerId: 'player-1',
        currency: 'EUR',
        timeoutMs: 1_000,
        only: ['AU-802', 'AU-803'],
      })
      expect(report.results.map(({ verdict }) => verdict)).toEqual(['failed', 'skipped'])
      expect(report.passed).toBe(false)
    } finally {
      await wallet.close()
    }
  })

  it('every MUST and every SHOULD fails for some defect', () => {
    const seen = new Set([...Object.values(caught), ...Object.values(caughtInFront)].flat().map(idOf))
    const unseen = (level: string) =>
      auditCases.filter(item => item.level === level && !seen.has(item.id)).map(({ id }) => id)
    expect(unseen('MUST')).toEqual([])
    expect(unseen('SHOULD')).toEqual([])
    expect(broken.length + Object.keys(fronts).length).toBeGreaterThanOrEqual(30)
  })
})
