/** Judgements of single answers: pure functions of the books, a delivery and a reading. */
import { describe, expect, test } from 'vitest'
import {
  isUncollected,
  recordDelivery,
  recordRefusal,
  recordSuccess,
} from '../../../src/tools/random/bookkeeping.js'
import { Bet } from '../../../src/tools/random/books.js'
import {
  type Finding,
  isForFunds,
  isReplay,
  judgeBalance,
  judgeForm,
  judgeRefusal,
  judgeReplay,
  judgeSuccess,
} from '../../../src/tools/random/judgements.js'
import { readingOf } from '../../../src/tools/random/reading.js'
import { fault, newBet, openedAccount, refusal, success, transactionOf } from './objects.js'

const short = (findings: readonly Finding[]) => findings.map(({ kind, units = null }) => [kind, units])

describe('the form of an answer', () => {
  test.each([
    ['a success', success('1'), []],
    ['a refusal with a code', refusal('LIMIT'), []],
    ['a fault', fault(503), []],
    ['a refusal without a code', refusal(''), ['unreadable']],
    ['an unreadable success', readingOf({ status: 200, head: '', body: 'ok' }, true), ['unreadable']],
    ['a request rejected unread', refusal('AUTHENTICATION_FAILED', 401), ['refused']],
    ['a request rejected unread, without a code', refusal('', 413), ['unreadable', 'refused']],
    ['a request rejected unread by a gateway', refusal('FORBIDDEN', 403), ['refused']],
    ['a refusal with 403 that says why', refusal('INSUFFICIENT_FUNDS', 403), []],
    ['a code of its own with 401', refusal('INSUFFICIENT_FUNDS', 401), ['refused']],
  ] as const)('%s', (_, reading, kinds) => {
    expect(judgeForm(reading as Parameters<typeof judgeForm>[0]).map(({ kind }) => kind)).toEqual(kinds)
  })
})

describe('a success of a placebet', () => {
  test('within the funds is correct', () => {
    const { placed } = newBet(openedAccount('10.00'), 10_00n)
    expect(judgeSuccess(recordDelivery(placed, 1), success())).toEqual([])
  })

  test('beyond the funds is overspent, by the missing amount', () => {
    const { placed } = newBet(openedAccount('10.00'), 10_01n)
    expect(short(judgeSuccess(recordDelivery(placed, 1), success()))).toEqual([['overspent', -1n]])
  })

  test('is correct if a credit in flight may have covered it', () => {
    const account = openedAccount('10.00')
    const other = newBet(account, 0n)
    recordDelivery(transactionOf(other.bet, 'settlement', 5_00n, 'BET_PAID'), 1)
    const { placed } = newBet(account, 15_00n)
    expect(judgeSuccess(recordDelivery(placed, 2), success())).toEqual([])
  })

  test('after its rollback was answered is late (D11)', () => {
    const { bet, placed } = newBet(openedAccount('10.00'), 3_00n)
    recordSuccess(recordDelivery(transactionOf(bet, 'rollbackbet'), 1), success(), 2)
    expect(short(judgeSuccess(recordDelivery(placed, 3), success()))).toEqual([['late-bet', -3_00n]])
  })
})

describe('a bet in another currency than the player’s', () => {
  const foreign = () => {
    const bet = new Bet('f', openedAccount('10.00'), 1_00n, {
      kind: 'currency',
      reason: 'the bet is in eur',
    })
    return recordDelivery(transactionOf(bet, 'placebet', 1_00n), 1)
  }

  test('is a difference if it is accepted (D23)', () => {
    const [finding] = judgeSuccess(foreign(), success())
    expect(finding).toMatchObject({ kind: 'currency', units: -1_00n })
    expect(finding?.expected).toBe('a refusal: the bet is in eur')
  })

  test.each(['INVALID_CURRENCY', 'INVALID_REQUEST', 'INVALID_BET', 'INSUFFICIENT_FUNDS'])(
    'is refused, with any code: %s',
    errorCode => {
      expect(judgeRefusal(foreign(), refusal(errorCode))).toEqual([])
      expect(isForFunds(foreign(), refusal(errorCode))).toBe(false)
    },
  )
})

describe('a clawback', () => {
  const clawback = (opening: string) => {
    const { bet } = newBet(openedAccount(opening), 3_00n)
    return recordDelivery(transactionOf(bet, 'unsettlement', 5_00n, 'UNSCORED'), 1)
  }

  test('beyond the funds is overspent', () => {
    expect(short(judgeSuccess(clawback('4.99'), success()))).toEqual([['overspent', -1n]])
    expect(judgeSuccess(clawback('5.00'), success())).toEqual([])
  })

  test.each([
    ['4.99', 'NOT_ENOUGH_MONEY', true],
    ['5.00', 'NOT_ENOUGH_MONEY', false],
    ['5.00', 'INSUFFICIENT_FUNDS', true],
    ['4.99', 'SETTLEMENT_NOT_FOUND', false],
    ['4.99', 'INVALID_BET', false],
  ])('with funds of %s, refused with %s: uncollected %s', (opening, errorCode, uncollected) => {
    const delivery = clawback(opening)
    const answer = refusal(errorCode)
    expect(isUncollected(delivery, answer)).toBe(uncollected)
    expect(judgeRefusal(delivery, answer)).toHaveLength(uncollected ? 0 : 1)
    recordRefusal(delivery, answer, 2)
    expect(delivery.transaction.first?.kind).toBe(uncollected ? 'refusal' : undefined)
  })

  test('refused once its funds have come is uncollected: the answer to an earlier delivery was lost', () => {
    const { transaction } = clawback('5.00')
    const retry = recordDelivery(transaction, 2)
    expect(isUncollected(retry, refusal('NOT_ENOUGH_MONEY'))).toBe(true)
    expect(judgeRefusal(retry, refusal('NOT_ENOUGH_MONEY'))).toEqual([])
    expect(judgeRefusal(retry, refusal('INVALID_BET'))).toHaveLength(1)
  })

  test('refused while its funds are in doubt is uncollected', () => {
    const delivery = clawback('5.00')
    const { account } = delivery.transaction
    recordDelivery(newBet(account, 1n).placed, 2)
    expect(isUncollected(delivery, refusal('NOT_ENOUGH_MONEY'))).toBe(true)
  })
})

describe('a refusal of a placebet', () => {
  const judge = (opening: string, stake: bigint, errorCode: string) =>
    short(judgeRefusal(recordDelivery(newBet(openedAccount(opening), stake).placed, 1), refusal(errorCode)))

  test.each([
    ['for funds that are missing', '10.00', 10_01n, 'INSUFFICIENT_FUNDS', []],
    ['for funds that suffice', '10.00', 10_00n, 'INSUFFICIENT_FUNDS', [['refused', null]]],
    ['by the operator', '10.00', 1n, 'SELF_EXCLUDED', []],
    ['for funds, with a code of its own', '10.00', 10_01n, 'NOT_ENOUGH_MONEY', []],
    ['as an invalid bet', '10.00', 1n, 'INVALID_BET', [['refused', null]]],
    ['as a conflict', '10.00', 1n, 'TRANSACTION_CONFLICT', [['refused', null]]],
    ['as an invalid request, with a valid amount', '10.00', 1n, 'INVALID_REQUEST', [['refused', null]]],
  ] as const)('%s', (_, opening, stake, errorCode, findings) => {
    expect(judge(opening, stake, errorCode)).toEqual(findings)
  })

  test('while its rollback is on its way is correct, with any code', () => {
    const { bet, placed } = newBet(openedAccount('10.00'), 1n)
    const delivery = recordDelivery(placed, 1)
    recordDelivery(transactionOf(bet, 'rollbackbet'), 2)
    expect(judgeRefusal(delivery, refusal('INVALID_BET'))).toEqual([])
  })
})

describe('a refusal of another operation', () => {
  test.each([
    ['settlement', 'INVALID_BET', [['refused', -5_00n]]],
    ['unsettlement', 'INVALID_BET', [['refused', 5_00n]]],
    ['unsettlement', 'INSUFFICIENT_FUNDS', []],
    ['unsettlement', 'REFUSED', [['refused', 5_00n]]],
    ['rollbackbet', 'INVALID_BET', [['refused', -3_00n]]],
  ] as const)('%s %s', (operation, errorCode, findings) => {
    const { bet, placed } = newBet(openedAccount('10.00'), 3_00n)
    recordSuccess(recordDelivery(placed, 1), success(), 2)
    const delivery = recordDelivery(transactionOf(bet, operation, 5_00n), 3)
    expect(short(judgeRefusal(delivery, refusal(errorCode)))).toEqual(findings)
  })

  test('of a rollback of a bet that was never placed changes no amount', () => {
    const bet = new Bet('n', openedAccount(), 0n)
    const delivery = recordDelivery(transactionOf(bet, 'rollbackbet'), 1)
    expect(short(judgeRefusal(delivery, refusal('INVALID_BET')))).toEqual([['refused', null]])
  })
})

describe('a replay', () => {
  const first = success('100', 'W1')
  const refused = refusal('LIMIT')
  test.each([
    ['the same success', first, success('70', 'W1'), true],
    ['another reference', first, success('70', 'W2'), false],
    ['a refusal after a success', first, refusal('LIMIT'), false],
    ['the same refusal', refused, refusal('LIMIT'), true],
    ['another code', refused, refusal('OTHER'), true],
    ['another status', refused, refusal('LIMIT', 402), true],
    ['a success after a refusal', refused, success('70', 'W1'), false],
  ] as const)('%s', (_, answer, reading, isSame) => {
    const { placed } = newBet(openedAccount(), 1n)
    const delivery = recordDelivery(placed, 9)
    expect(isReplay(answer, reading)).toBe(isSame)
    const kinds = judgeReplay(delivery, answer, reading).map(({ kind }) => kind)
    expect(kinds).toEqual(isSame ? [] : ['replay'])
  })

  test('that was refused before the success was decided is allowed, except for a placebet (D8)', () => {
    const { bet, placed } = newBet(openedAccount(), 1n)
    const unsettlement = recordDelivery(transactionOf(bet, 'unsettlement', 1n), 1)
    for (const transaction of [unsettlement.transaction, placed]) transaction.firstAt = 5
    expect(judgeReplay(unsettlement, first, refusal('INVALID_BET'))).toEqual([])
    expect(judgeReplay(recordDelivery(placed, 2), first, refusal('INVALID_BET'))).toHaveLength(1)
  })
})

describe('a balance', () => {
  const placeOne = () => {
    const account = openedAccount('100.00')
    const { placed } = newBet(account, 30_00n)
    const delivery = recordDelivery(placed, 1)
    recordSuccess(delivery, success(), 2)
    return { account, delivery }
  }

  test.each([
    ['70', 'exact', 0n],
    ['70.00', 'exact', 0n],
    ['69.99', 'wrong', -1n],
    ['100', 'wrong', 30_00n],
  ])('of %s after a stake of 30 on 100 is %s', (balance, result, off) => {
    const { delivery } = placeOne()
    expect(judgeBalance(delivery, success(balance))).toMatchObject({ result, off })
  })

  test('is judged by a range while other requests are in flight', () => {
    const { account, delivery } = placeOne()
    recordDelivery(newBet(account, 5_00n).placed, 3)
    for (const [balance, result] of [
      ['70', 'in-range'],
      ['65', 'in-range'],
      ['64.99', 'wrong'],
      ['70.01', 'wrong'],
    ] as const)
      expect(judgeBalance(delivery, success(balance)).result).toBe(result)
  })

  test('with more decimals than all amounts is wrong', () => {
    const { delivery } = placeOne()
    expect(short(judgeBalance(delivery, success('70.001')).findings)).toEqual([['balance', null]])
  })

  test('in another currency is wrong', () => {
    const { delivery } = placeOne()
    const judged = judgeBalance(delivery, { ...success('70'), currency: 'USD' })
    expect(judged.findings).toEqual([{ kind: 'currency', expected: 'EUR', actual: 'USD' }])
  })

  test('below 0 is overspent', () => {
    const account = openedAccount('10.00')
    const delivery = recordDelivery(newBet(account, 11_00n).placed, 1)
    recordSuccess(delivery, success(), 2)
    expect(short(judgeBalance(delivery, success('-1')).findings)).toEqual([['overspent', -1_00n]])
  })
})

describe('the books', () => {
  test('know the balance exactly when everything is answered', () => {
    const account = openedAccount('100.00')
    const { bet, placed } = newBet(account, 30_00n)
    const delivery = recordDelivery(placed, 1)
    expect([account.low, account.high]).toEqual([70_00n, 100_00n])
    recordSuccess(delivery, success(), 2)
    expect([account.low, account.high]).toEqual([70_00n, 70_00n])
    const settlement = recordDelivery(transactionOf(bet, 'settlement', 50_00n, 'BET_PAID'), 3)
    expect([account.low, account.high]).toEqual([70_00n, 120_00n])
    recordRefusal(settlement, refusal('INVALID_BET'), 4)
    expect([account.low, account.high]).toEqual([70_00n, 70_00n])
    recordSuccess(recordDelivery(transactionOf(bet, 'rollbackbet'), 5), success(), 6)
    expect([account.low, account.high]).toEqual([100_00n, 100_00n])
  })

  test('remember final refusals only (D6, D7, D8)', () => {
    const { bet, placed } = newBet(openedAccount(), 1n)
    recordRefusal(recordDelivery(placed, 1), refusal('LIMIT'), 2)
    expect(placed.first).toEqual(refusal('LIMIT'))
    const unsettlement = transactionOf(bet, 'unsettlement', 1n)
    recordRefusal(recordDelivery(unsettlement, 3), refusal('INVALID_BET'), 4)
    expect(unsettlement.first).toBeNull()
    recordRefusal(recordDelivery(unsettlement, 5), refusal('INSUFFICIENT_FUNDS', 402), 6)
    expect(unsettlement.first).toEqual(refusal('INSUFFICIENT_FUNDS', 402))
  })
})
