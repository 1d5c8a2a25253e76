/** The life of a bet in words: a rule for each call, and a verdict that claims only what is recorded. */
import { describe, expect, it } from 'vitest'
import type { Decision } from '../../src/decide/decision.js'
import { decidePlaceBet } from '../../src/decide/place-bet.js'
import { decideUnsettlement } from '../../src/decide/unsettlement.js'
import {
  type BetHistory,
  explainBet,
  type RecordedBet,
  type RecordedTransaction,
  sentenceOf,
} from '../../src/lookups/index.js'
import type { WalletSnapshot } from '../../src/store.js'

let minute = 0

function transaction(fields: Partial<RecordedTransaction> = {}): RecordedTransaction {
  minute += 1
  const time = `2026-11-22T10:${String(minute % 60).padStart(2, '0')}:00.000Z`
  return {
    ...{ operation: 'placebet', transactionId: 't-1', playerId: 'anna', betId: 'b-1', amount: '30' },
    ...{
      currency: 'EUR',
      type: null,
      delta: '-30',
      refusal: null,
      reason: 'ACCEPTED',
      walletTransactionId: '1',
    },
    ...{ transactionDate: time, recordedAt: time, balanceAfter: '70', accountCurrency: null },
    ...fields,
  }
}

const of = (operation: RecordedTransaction['operation'], fields: Partial<RecordedTransaction>) =>
  transaction({
    ...{ operation, transactionId: `${operation}-1`, amount: null, currency: null, delta: '0' },
    ...{ accountCurrency: operation === 'settlement' ? null : 'EUR' },
    ...{ type: operation === 'rollbackbet' ? 'TECHNICAL_ERROR' : 'UNSCORED' },
    ...fields,
  })

const settlement = (amount: string, type = 'BET_PAID') =>
  of('settlement', { amount, delta: amount, currency: 'EUR', type })

type Refusal = Pick<RecordedTransaction, 'refusal' | 'reason'>

const refused = (refusal: Refusal, fields: Partial<RecordedTransaction> = {}) =>
  transaction({ transactionId: 't-2', delta: '0', ...refusal, ...fields })

const refusedWith = (errorCode: string, description: string, reason = 'REFUSED_BY_OPERATOR'): Refusal => ({
  refusal: { errorCode, description },
  reason,
})
const early = (fields: Partial<RecordedTransaction> = {}) =>
  of('rollbackbet', { reason: 'TOMBSTONE_CREATED', ...fields })

/** The refusals that the rules themselves record. */
const request = {
  ...{ transactionId: 't-2', playerId: 'anna', betId: 'b-1', transactionDate: '2026-11-22T10:00:00.000Z' },
  ...{
    amount: '30',
    currency: 'EUR',
    type: 'UNSCORED' as const,
    sessionId: 's',
    odds: '2',
    betType: 'SINGLE',
  },
}
const snapshot = (fields: Partial<WalletSnapshot>): WalletSnapshot => ({
  ...{ accounts: [{ playerId: 'anna', balance: '1', currency: 'EUR' }], bet: null, transaction: null },
  ...fields,
})
const refusalOf = ({ changes }: Decision): Refusal => {
  const { refusal = null, reason = '' } = changes?.transaction ?? {}
  return { refusal, reason }
}
const placed = { ...request, stake: '30', status: 'PLACED' as const, revision: 1 }
const paid = snapshot({ bet: { ...placed, credits: { BET_PAID: { live: '75', reversed: '0', owed: '0' } } } })
const used = refusalOf(decidePlaceBet(request, snapshot({ bet: { ...placed, credits: {} } })))
const othersBet = refusalOf(
  decidePlaceBet(request, snapshot({ bet: { ...placed, credits: {}, playerId: 'kenji' } })),
)
const lateBet = refusalOf(
  decidePlaceBet(request, snapshot({ bet: { ...placed, credits: {}, status: 'ROLLED_BACK' } })),
)
const noFunds = refusalOf(decidePlaceBet(request, snapshot({})))
const otherCurrency = refusalOf(decidePlaceBet({ ...request, currency: 'USD' }, snapshot({})))
const noFundsToReverse = refusalOf(decideUnsettlement(request, paid))
const noClawbacks = refusalOf(decideUnsettlement(request, paid, { clawbacks: false, defaultCurrency: null }))

const bet = (fields: Partial<RecordedBet> = {}): RecordedBet => ({
  ...{ betId: 'b-1', playerId: 'anna', currency: 'EUR', stake: '30', status: 'PLACED', credits: {} },
  ...{ revision: 1, recordedAt: '2026-11-22T10:00:00.000Z' },
  ...fields,
})

const history = (record: RecordedBet | null, ...transactions: RecordedTransaction[]): BetHistory => ({
  ...{ betId: 'b-1', bet: record, transactions },
})

const tombstone = bet({ status: 'ROLLED_BACK', stake: '0' })

describe('the verdict', () => {
  it.each<[BetHistory, string]>([
    [history(bet(), transaction()), 'Taken once, for 30.00 EUR; not settled.'],
    [
      history(bet(), transaction(), refused(used), refused(used)),
      'Taken once, for 30.00 EUR; not settled; 2 other placebets were refused and debited nothing.',
    ],
    [
      history(bet({ status: 'ROLLED_BACK' }), transaction(), of('rollbackbet', { delta: '30' })),
      'Taken once, for 30.00 EUR; rolled back, the stake was returned.',
    ],
    [
      history(tombstone, early(), refused(lateBet)),
      'Never taken: its rollback came first, so nothing was debited; 1 later placebet was refused and debited nothing.',
    ],
    [
      history(null, refused(noFunds)),
      'Never taken: its placebet was refused (INSUFFICIENT_FUNDS) and debited nothing.',
    ],
    [
      history(null, refused(refusedWith('A', 'x')), refused(refusedWith('B', 'y'), { transactionId: 't-3' })),
      'Never taken: each of its 2 placebets was refused (A, B) and debited nothing.',
    ],
    [
      history(
        bet({ credits: { BET_PAID: { live: '75', reversed: '0', owed: '0' } } }),
        transaction(),
        settlement('75'),
      ),
      'Taken once, for 30.00 EUR; settled: 75.00 EUR credited as BET_PAID.',
    ],
    [
      history(
        bet({ credits: { BET_PAID: { live: null, reversed: '0', owed: '75' } } }),
        ...[transaction(), settlement('75')],
        of('unsettlement', { ...noFundsToReverse }),
      ),
      'Taken once, for 30.00 EUR; not settled any more: 75.00 EUR of BET_PAID uncollected, owed to the platform.',
    ],
    [history(bet()), 'A bet of the legacy integration, for 30.00 EUR; not settled.'],
    [
      history(bet(), transaction(), transaction({ transactionId: 't-9' })),
      'TAKEN 2 TIMES: more than one placebet was accepted, which the rules do not allow (D10).',
    ],
  ])('%#', (found, verdict) => {
    expect(explainBet(found).verdict).toBe(verdict)
  })
})

describe('the rule of each call', () => {
  const before = transaction()
  it.each<[string, BetHistory, string, RegExp]>([
    ['an accepted bet', history(bet(), before), 'spec 4.1', /^the stake of 30\.00 EUR was debited$/],
    [
      'no funds',
      history(null, refused(noFunds)),
      'D6',
      /^the balance of 70\.00 EUR did not cover the stake of 30\.00 EUR; nothing was debited, and/,
    ],
    [
      'currency',
      history(null, refused(otherCurrency, { currency: 'USD' })),
      'D23',
      /^the bet was in USD, in which the player has no account;/,
    ],
    ['a used betId', history(bet(), before, refused(used)), 'D10', /had placed the bet already;/],
    [
      'another player',
      history(bet(), before, refused(othersBet, { playerId: 'kenji' })),
      ...(['D15', /belongs to another player/] as const),
    ],
    [
      'a late bet',
      history(tombstone, early(), refused(lateBet)),
      ...(['D10, D11', /^the platform had rolled the bet back already; nothing was debited$/] as const),
    ],
    [
      'a bet after its rollback',
      history(
        bet({ status: 'ROLLED_BACK' }),
        ...[before, of('rollbackbet', { delta: '30' })],
        refused(lateBet),
      ),
      ...(['D10, D11', /had rolled the bet back already; nothing was debited/] as const),
    ],
    [
      'the operator',
      history(null, refused(refusedWith('LIMIT_REACHED', 'the limit'))),
      'D6',
      /rule of the operator refused it: the limit;/,
    ],
    [
      'a rule with a code of ours',
      history(null, refused(refusedWith('INVALID_BET', 'no cash-outs'))),
      'D6',
      /no cash-outs/,
    ],
    [
      'the same code by a rule of the operator',
      history(null, refused(refusedWith('INSUFFICIENT_FUNDS', 'amount: above the limit'))),
      ...(['D6', /rule of the operator refused it: amount: above the limit;/] as const),
    ],
    [
      'a limit of the column',
      history(
        null,
        refused(
          refusedWith(
            'INVALID_AMOUNT',
            'amount: not representable in the balance column',
            'REFUSED_BY_STORE',
          ),
        ),
      ),
      ...([
        'D6',
        /rule of the database refused it: amount: not representable in the balance column;/,
      ] as const),
    ],
    [
      'a settlement',
      history(bet(), before, settlement('5', 'VOIDED')),
      'D17',
      /^the bet was declared void: the amount of 5\.00 EUR was returned$/,
    ],
    [
      'a clawback',
      history(bet(), before, of('unsettlement', { delta: '-5' })),
      'D18',
      /^the platform corrected the result, so the payout of 5\.00 EUR was taken back$/,
    ],
    [
      'a clawback of 0',
      history(bet(), before, of('unsettlement', { type: 'UNVOIDED' })),
      ...([
        'D18',
        /^the platform declared the bet valid again; the refund was 0\.00 EUR, so nothing/,
      ] as const),
    ],
    [
      'uncollected',
      history(bet(), before, of('unsettlement', { ...noFundsToReverse, balanceAfter: '5' })),
      ...([
        'D7',
        /^the platform corrected the result, but the balance of 5\.00 EUR did not cover the payout: nothing was taken back, and the amount is owed to the platform/,
      ] as const),
    ],
    [
      'no clawbacks',
      history(bet(), before, of('unsettlement', { ...noClawbacks })),
      ...([
        'D20',
        /but this wallet cannot take the payout back, and the amount is owed to the platform/,
      ] as const),
    ],
    [
      'no funds, without a balance',
      ...([history(null, refused(noFunds, { balanceAfter: null })), 'D6', /^the balance did not/] as const),
    ],
    [
      'a lost bet',
      ...([
        history(bet(), before, settlement('0')),
        'D17',
        /^the bet was settled without a payout$/,
      ] as const),
    ],
    [
      'a cash-out',
      ...([
        history(bet(), before, settlement('5', 'CASHOUT')),
        'D17',
        /cashed out: the amount of 5\.00 EUR was/,
      ] as const),
    ],
    [
      'a stake of 0',
      ...([
        history(bet(), transaction({ amount: '0', delta: '0' })),
        'spec 4.1',
        /^the stake was 0\.00 EUR: nothing/,
      ] as const),
    ],
    [
      'a rollback',
      history(bet(), before, of('rollbackbet', { delta: '30' })),
      'spec 4.3',
      /^the platform rolled the bet back: the stake of 30\.00 EUR was returned$/,
    ],
    [
      'a tombstone',
      history(tombstone, early()),
      'D11',
      /never taken: no stake was debited, so nothing was returned/,
    ],
    [
      'a second rollback',
      history(tombstone, early(), of('rollbackbet', { transactionId: 'r-2', reason: 'ALREADY_ROLLED_BACK' })),
      ...(['D12', /^the bet was rolled back already/] as const),
    ],
    [
      'a rollback of a stake of 0',
      history(
        bet({ status: 'ROLLED_BACK', stake: '0' }),
        transaction({ amount: '0', delta: '0' }),
        of('rollbackbet', {}),
      ),
      ...(['spec 4.3', /its stake was 0\.00 EUR$/] as const),
    ],
    [
      'an imported bet',
      history(bet(), transaction({ reason: 'IMPORTED' })),
      ...(['D27', /^the legacy integration accepted it$/] as const),
    ],
    [
      'an imported refusal',
      history(null, refused(refusedWith('LIMIT', 'the limit', 'IMPORTED'))),
      ...(['D27', /^the legacy integration refused it: the limit; nothing was debited$/] as const),
    ],
    [
      'a refusal of a newer version',
      history(null, refused(refusedWith('LIMIT', 'the limit', 'toString'))),
      ...([
        'toString',
        /^a newer version of the wallet refused it: the limit; nothing was debited$/,
      ] as const),
    ],
    [
      'a clawback that the database refused',
      history(bet(), before, of('unsettlement', { ...noFundsToReverse, reason: 'REFUSED_BY_STORE' })),
      ...(['D20', /but a rule of the database refused the debit, and the amount is owed/] as const),
    ],
    [
      'a rollback of a legacy bet',
      history(bet(), of('rollbackbet', { delta: '30' })),
      'spec 4.3',
      /returned/,
    ],
  ])('%s', (_, found, rule, why) => {
    const last = explainBet(found).steps.at(-1)
    expect(last?.rule).toBe(rule)
    expect(last?.why).toMatch(why)
  })
})

describe('the order of the steps', () => {
  const idsOf = (...transactions: RecordedTransaction[]) =>
    explainBet(history(bet(), ...transactions)).steps.map(
      ({ transaction: { transactionId } }) => transactionId,
    )
  const win = (id: string, amount: string) => ({ ...settlement(amount), transactionId: id })
  const clawback = (id: string, amount: string) =>
    of('unsettlement', { delta: `-${amount}`, transactionId: id })

  it('given a payout recorded before the clawback of an earlier one, then the clawback stands before it', () => {
    expect(idsOf(transaction(), win('s-1', '75'), win('s-2', '20'), clawback('u-1', '75'))).toEqual([
      ...['t-1', 's-1', 'u-1', 's-2'],
    ])
    expect(idsOf(transaction(), win('s-1', '0'), win('s-2', '20'), clawback('u-1', '0'))).toEqual([
      ...['t-1', 's-1', 'u-1', 's-2'],
    ])
  })

  it('given a clawback recorded before its payout, then it stands after the payout', () => {
    expect(idsOf(transaction(), clawback('u-1', '75'), win('s-1', '75'))).toEqual(['t-1', 's-1', 'u-1'])
  })

  it('given a rollback recorded before the clawback that allowed it, then it stands after the clawback', () => {
    const rollback = of('rollbackbet', { delta: '30' })
    expect(idsOf(transaction(), win('s-1', '75'), rollback, clawback('u-1', '75'))).toEqual([
      ...['t-1', 's-1', 'u-1', 'rollbackbet-1'],
    ])
  })

  it('given a placebet that was refused and then rolled back, then it was not the rollback that came first', () => {
    const found = history(tombstone, refused(noFunds), early())
    const { verdict, steps, now } = explainBet(found)
    expect(verdict).toBe(
      'Never taken: its placebet was refused (INSUFFICIENT_FUNDS) and debited nothing; its rollback had nothing to return.',
    )
    expect(steps[1]?.why).toMatch(/^the platform rolled back a bet that was never taken:/)
    expect(now[0]).toMatch(/^Refused, /)
  })

  it('given amounts that no order explains, and a rollback that came first, then it is that of recording', () => {
    expect(idsOf(transaction(), clawback('u-1', '9'), win('s-1', '75'))).toEqual(['t-1', 'u-1', 's-1'])
    expect(idsOf(early(), refused(lateBet))).toEqual(['rollbackbet-1', 't-2'])
    const twice = [
      transaction(),
      win('s-1', '75'),
      clawback('u-1', '75'),
      win('s-2', '75'),
      clawback('u-2', '75'),
    ]
    expect(idsOf(...twice)).toEqual(['t-1', 's-1', 'u-1', 's-2', 'u-2'])
  })
})

describe('what the records do not explain', () => {
  const notesOf = (found: BetHistory) => explainBet(found).notes.slice(0, -2)

  it('a credit by other code', () => {
    const credited = bet({ credits: { BET_PAID: { live: '75', reversed: '10', owed: '5' } } })
    expect(notesOf(history(credited, transaction(), settlement('60')))).toEqual([
      "30.00 EUR of BET_PAID is in no recorded settlement: the PAM's own code credited it, or it was imported.",
    ])
  })

  it('a credit that was removed by other code', () => {
    expect(notesOf(history(bet(), transaction(), settlement('60')))).toEqual([
      'Recorded settlements credited 60.00 EUR more as BET_PAID than the bet holds: its row was changed by other code.',
    ])
  })

  it('imports', () => {
    expect(notesOf(history(bet()))).toEqual(['No placebet of this bet is recorded: it was imported (D27).'])
    expect(notesOf(history(bet(), transaction({ balanceAfter: null })))).toEqual([
      'Transactions without a balance were imported: their time is that of the import.',
    ])
  })

  it('a rollback without a bet, which may be of a bet that was not imported', () => {
    const note =
      'If the stake was debited before the cut-over, the bet was not imported (D27): its rollback found no bet, and returned nothing.'
    expect(notesOf(history(tombstone, early()))).toEqual([note])
    const late = refused(lateBet)
    expect(notesOf(history(tombstone, early(), late))).toEqual([])
  })

  it('a player who was forgotten', () => {
    const playerId = 'forgotten-0189d3a2-7d1c-4a8e-9f00-4b6c1d2e3f40'
    expect(notesOf(history(bet({ playerId }), transaction({ playerId })))).toEqual([
      'The player was forgotten: every later call for this bet is refused with INVALID_PLAYER.',
    ])
    expect(notesOf(history(bet({ playerId: 'forgotten-joe' }), transaction()))).toEqual([])
  })

  it('and it never claims to know retries', () => {
    expect(explainBet(history(bet(), transaction())).notes).toEqual([
      'Retries are not recorded: each was answered with the first decision, and changed nothing (D2).',
      'Refusals that a retry may still turn into a success are not recorded either (D8), nor are faults (D9).',
    ])
  })
})

it.each([
  ['placebet', 'The platform had rolled the bet back already; nothing was debited (D10, D11).'],
  ['settlement', 'The bet was rolled back before; nothing was debited or credited (D17, D19).'],
  ['unsettlement', 'The bet was rolled back before; nothing was debited or credited (D17, D19).'],
] as const)('says of a %s after the rollback of its bet what it did not change', (operation, sentence) => {
  expect(sentenceOf({ operation, reason: 'BET_ROLLED_BACK' })).toBe(sentence)
})
