/** The judge by itself, moment by moment: what is lawful however late it is heard, and what is not. */
import { describe, expect, test } from 'vitest'
import {
  type Account,
  type Bet,
  createAccount,
  openAccount,
  type Transaction,
} from '../../../src/audit/simulator/books.js'
import { createJudge } from '../../../src/audit/simulator/judge.js'
import { readingOf } from '../../../src/audit/simulator/reading.js'

const ok = (balance: string, reference = 'W1') =>
  readingOf(
    { status: 200, body: `{"balance":${balance},"currency":"EUR","walletTransactionId":"${reference}"}` },
    true,
  )
const no = (status: number, errorCode: string) =>
  readingOf({ status, body: `{"errorCode":"${errorCode}","description":"x"}` }, true)
const lost = readingOf({ broken: 'timed out' }, true)

function table(opening = '100.00') {
  const judge = createJudge({ differencesMax: 100, step: () => 1, onDifference: () => {} })
  const account: Account = createAccount('ann', 'session')
  openAccount(account, opening, 'EUR', 2)
  let ids = 0

  function transact(bet: Bet, operation: Transaction['operation'], amount: bigint): Transaction {
    ids += 1
    const transaction: Transaction = {
      operation,
      transactionId: `t${ids}`,
      account,
      bet,
      amount,
      type: null,
      body: '',
      recovered: 0n,
      low: 0n,
      high: 0n,
      sentAt: 0,
      first: null,
      faults: 0,
    }
    bet.transactions.push(transaction)
    return transaction
  }
  function newBet(stake: bigint) {
    const base = { account, stake, rolledBackAt: 0, state: 'placing' as const, transactions: [] }
    const bet: Bet = { ...base, betId: `b${ids}`, placed: null, rollback: null }
    const placed = transact(bet, 'placebet', stake)
    bet.placed = placed
    const rollback = () => {
      const transaction = transact(bet, 'rollbackbet', 0n)
      bet.rollback ??= transaction
      return transaction
    }
    return { bet, placed, rollback, transact: transact.bind(null, bet) }
  }
  const call = (transaction: Transaction, reading: ReturnType<typeof ok>) =>
    judge.answered(judge.sent(transaction), reading)
  return { judge, account, newBet, call, found: () => judge.differences.map(({ kind }) => kind) }
}

describe('lawful is', () => {
  test('a repeat that was answered before its rollback, and is heard after it', () => {
    const { judge, newBet, call, found } = table()
    const { placed, rollback } = newBet(30_00n)
    call(placed, ok('70'))
    const undo = judge.sent(rollback())
    const again = judge.sent(placed)
    judge.answered(undo, ok('100', 'W2'))
    judge.answered(again, ok('70'))
    expect(found()).toEqual([])
  })

  test('a repeat of what a call has done whose answer was lost, when the funds are gone', () => {
    const { newBet, call, found } = table()
    const first = newBet(80_00n)
    call(first.placed, lost)
    call(first.rollback(), ok('100', 'W2'))
    const second = newBet(100_00n)
    call(second.placed, ok('0', 'W3'))
    call(first.placed, ok('0'))
    expect(found()).toEqual([])
  })

  test('any balance that calls on their way allow, and none beyond', () => {
    for (const [balance, differences] of [
      ['100', []],
      ['85', []],
      ['70', []],
      ['100.01', ['balance']],
      ['69.99', ['balance']],
    ] as const) {
      const { judge, newBet, found } = table()
      judge.sent(newBet(15_00n).placed)
      judge.sent(newBet(15_00n).placed)
      const zero = newBet(0n)
      judge.answered(judge.sent(zero.placed), ok(balance))
      expect(found()).toEqual(differences)
    }
  })

  test('a refusal of the operator’s own', () => {
    const { newBet, call, found } = table()
    call(newBet(10_00n).placed, no(400, 'INVALID_SESSION_TOKEN'))
    call(newBet(100_01n).placed, no(402, 'INSUFFICIENT_FUNDS'))
    expect(found()).toEqual([])
  })

  test('a refusal that was decided before its settlement came, and is heard after the success', () => {
    const { judge, newBet, call, found } = table()
    const { placed, transact } = newBet(10_00n)
    call(placed, ok('90'))
    call(transact('settlement', 5_00n), ok('95', 'W2'))
    const unsettlement = transact('unsettlement', 5_00n)
    const early = judge.sent(unsettlement)
    call(unsettlement, ok('90', 'W3'))
    judge.answered(early, no(400, 'INVALID_BET'))
    expect(found()).toEqual([])
    call(unsettlement, no(400, 'INVALID_BET')) // but not when it is asked after the success was heard
    expect(found()).toEqual(['repeat'])
  })
})

describe('told, with the cents, is', () => {
  test('a bet that comes after its rollback was answered', () => {
    const { judge, newBet, call } = table()
    const { placed, rollback } = newBet(30_00n)
    call(rollback(), ok('100'))
    call(placed, ok('70', 'W2'))
    expect(
      judge.differences.map(({ kind, betId, playerId, amount }) => [kind, playerId, betId, amount]),
    ).toEqual([
      ['late bet', 'ann', 'b0', '-30.00'],
      ['balance', 'ann', 'b0', '-30.00'],
    ])
  })

  test('a bet beyond the funds', () => {
    const { judge, newBet, call } = table()
    call(newBet(100_01n).placed, ok('-0.01'))
    expect(judge.differences.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['overspent', '-0.01'],
      ['overspent', '-0.01'],
    ])
  })

  test('a bet refused for funds that are there, and not one that another may have taken', () => {
    const one = table()
    one.call(one.newBet(100_00n).placed, no(402, 'INSUFFICIENT_FUNDS'))
    expect(one.found()).toEqual(['refused'])

    const two = table()
    two.judge.sent(two.newBet(1n).placed)
    two.call(two.newBet(100_00n).placed, no(402, 'INSUFFICIENT_FUNDS'))
    expect(two.found()).toEqual([])
  })

  test('a settlement, an unsettlement or a rollback that is refused', () => {
    const { judge, newBet, call } = table()
    const { placed, transact, rollback } = newBet(10_00n)
    call(placed, ok('90'))
    call(transact('settlement', 5_00n), no(400, 'INVALID_BET'))
    call(transact('unsettlement', 5_00n), no(400, 'INVALID_BET'))
    call(rollback(), no(400, 'INVALID_BET'))
    expect(judge.differences.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['refused', '-5.00'],
      ['refused', '5.00'],
      ['refused', '-10.00'],
    ])
  })

  test.each([
    ['402, then success', no(402, 'INSUFFICIENT_FUNDS'), ok('90')],
    ['success, then 402', ok('90'), no(402, 'INSUFFICIENT_FUNDS')],
    ['another reference', ok('90'), ok('90', 'W2')],
    ['another code', no(400, 'LIMIT'), no(400, 'EXCLUDED')],
    ['another status', no(400, 'LIMIT'), no(403, 'LIMIT')],
  ])('a repeat that is answered otherwise: %s', (_, first, then) => {
    const { newBet, call, found } = table('9.00')
    const { placed } = newBet(10_00n)
    call(placed, first)
    call(placed, then)
    expect(found().some(what => what === 'repeat' || what === 'refused')).toBe(true)
  })

  test('one fault once, and all of it in the closing balance', () => {
    const { judge, account, newBet, call } = table()
    call(newBet(10_00n).placed, ok('85')) // 5 too little
    call(newBet(10_00n).placed, ok('75', 'W2'))
    call(newBet(10_00n).placed, ok('64.50', 'W3')) // and half a euro more
    const never: Bet = { ...newBet(0n).bet, placed: null, betId: 'never' }
    judge.closingBalance({ ...(newBet(0n).placed as Transaction), bet: never }, '64.50')
    expect(judge.differences.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['balance', '-5.00'],
      ['balance', '-0.50'],
      ['closing balance', '-5.50'],
    ])
    expect(account.found).toBe('64.50')
  })
})
