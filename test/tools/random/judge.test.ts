/** The judge: which answers are allowed, in whatever order they arrive, and which are differences. */
import { describe, expect, test } from 'vitest'
import type { Decimal } from '../../../src/tools/numbers/decimal.js'
import { parseDecimal } from '../../../src/tools/numbers/decimal.js'
import { Account, Bet, type Transaction } from '../../../src/tools/random/books.js'
import { Judge } from '../../../src/tools/random/judge.js'
import { readingOf } from '../../../src/tools/random/reading.js'
import { noCounts } from '../../../src/tools/random/tally.js'

const ok = (balance: string, reference = 'W1') =>
  readingOf(
    {
      status: 200,
      head: '',
      body: `{"balance":${balance},"currency":"EUR","walletTransactionId":"${reference}"}`,
    },
    true,
  )
const no = (status: number, errorCode: string) =>
  readingOf({ status, head: '', body: `{"errorCode":"${errorCode}","description":"x"}` }, true)
const lost = readingOf({ error: 'timed out' }, true)

const decimal = (text: string) => parseDecimal(text) as Decimal

function table(opening = '100.00') {
  const counts = noCounts()
  const judge = new Judge({ differencesMax: 100, onDifference: () => {} }, counts)
  const account = new Account('ann', 'session')
  account.open(decimal(opening), 'EUR', 2)
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
      changesBalance: true,
      low: 0n,
      high: 0n,
      sentAt: 0,
      first: null,
      firstAt: 0,
    }
    bet.transactions.push(transaction)
    return transaction
  }
  function newBet(stake: bigint) {
    const bet = new Bet(`b${ids}`, account, stake)
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
  return { judge, counts, account, newBet, call, kinds: () => judge.differences.map(({ kind }) => kind) }
}

describe('allowed is', () => {
  test('a replay that was answered before the rollback, and arrives after it', () => {
    const { judge, newBet, call, kinds } = table()
    const { placed, rollback } = newBet(30_00n)
    call(placed, ok('70'))
    const undo = judge.sent(rollback())
    const again = judge.sent(placed)
    judge.answered(undo, ok('100', 'W2'))
    judge.answered(again, ok('70'))
    expect(kinds()).toEqual([])
  })

  test('a replay of a decision whose answer was lost, when the funds are gone', () => {
    const { newBet, call, kinds } = table()
    const first = newBet(80_00n)
    call(first.placed, lost)
    call(first.rollback(), ok('100', 'W2'))
    const second = newBet(100_00n)
    call(second.placed, ok('0', 'W3'))
    call(first.placed, ok('0'))
    expect(kinds()).toEqual([])
  })

  test('any balance in the range of the requests in flight, and none beyond', () => {
    for (const [balance, differences] of [
      ['100', []],
      ['85', []],
      ['70', []],
      ['100.01', ['balance']],
      ['69.99', ['balance']],
    ] as const) {
      const { judge, newBet, kinds } = table()
      judge.sent(newBet(15_00n).placed)
      judge.sent(newBet(15_00n).placed)
      const zero = newBet(0n)
      judge.answered(judge.sent(zero.placed), ok(balance))
      expect(kinds()).toEqual(differences)
    }
  })

  test('a refusal of the operator’s own', () => {
    const { newBet, call, kinds } = table()
    call(newBet(10_00n).placed, no(400, 'INVALID_SESSION_TOKEN'))
    call(newBet(100_01n).placed, no(402, 'INSUFFICIENT_FUNDS'))
    expect(kinds()).toEqual([])
  })

  test('a refusal that was decided before the settlement arrived, and is received after the success', () => {
    const { judge, newBet, call, kinds } = table()
    const { placed, transact } = newBet(10_00n)
    call(placed, ok('90'))
    call(transact('settlement', 5_00n), ok('95', 'W2'))
    const unsettlement = transact('unsettlement', 5_00n)
    const early = judge.sent(unsettlement)
    call(unsettlement, ok('90', 'W3'))
    judge.answered(early, no(400, 'INVALID_BET'))
    expect(kinds()).toEqual([])
    call(unsettlement, no(400, 'INVALID_BET')) // but not of a retry that was sent after the success
    expect(kinds()).toEqual(['replay'])
  })
})

describe('a difference, with its amount, is', () => {
  test('a bet accepted after its rollback was answered', () => {
    const { judge, newBet, call } = table()
    const { placed, rollback } = newBet(30_00n)
    call(rollback(), ok('100'))
    call(placed, ok('70', 'W2'))
    expect(
      judge.differences.map(({ kind, betId, playerId, amount }) => [kind, playerId, betId, amount]),
    ).toEqual([
      ['late-bet', 'ann', 'b0', '-30.00'],
      ['balance', 'ann', 'b0', '-30.00'],
    ])
  })

  test('a bet accepted beyond the funds', () => {
    const { judge, newBet, call } = table()
    call(newBet(100_01n).placed, ok('-0.01'))
    expect(judge.differences.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['overspent', '-0.01'],
      ['overspent', '-0.01'],
    ])
  })

  test('a bet refused although the funds suffice, unless a bet in flight may have debited them', () => {
    const one = table()
    one.call(one.newBet(100_00n).placed, no(402, 'INSUFFICIENT_FUNDS'))
    expect(one.kinds()).toEqual(['refused'])

    const two = table()
    two.judge.sent(two.newBet(1n).placed)
    two.call(two.newBet(100_00n).placed, no(402, 'INSUFFICIENT_FUNDS'))
    expect(two.kinds()).toEqual([])
  })

  test('a refused settlement, unsettlement or rollback', () => {
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
  ])('a retry that is answered differently: %s', (_, first, then) => {
    const { newBet, call, kinds } = table('9.00')
    const { placed } = newBet(10_00n)
    call(placed, first)
    call(placed, then)
    expect(kinds().some(kind => kind === 'replay' || kind === 'refused')).toBe(true)
  })

  test.each([
    ['another code', no(400, 'LIMIT'), no(400, 'EXCLUDED')],
    ['another status', no(400, 'LIMIT'), no(409, 'LIMIT')],
  ])('not a retry that is refused again, with %s', (_, first, then) => {
    const { counts, newBet, call, kinds } = table('9.00')
    const { placed } = newBet(10_00n)
    call(placed, first)
    call(placed, then)
    expect(kinds()).toEqual([])
    expect(counts.replaysAbsorbed).toBe(1)
  })

  test('one error once, and all of them in the closing balance', () => {
    const { judge, account, newBet, call } = table()
    call(newBet(10_00n).placed, ok('85')) // 5 too little
    call(newBet(10_00n).placed, ok('75', 'W2'))
    call(newBet(10_00n).placed, ok('64.50', 'W3')) // and half a euro more
    const never: Bet = { ...newBet(0n).bet, placed: null, betId: 'never' }
    judge.closingBalance({ ...(newBet(0n).placed as Transaction), bet: never }, decimal('64.50'))
    expect(judge.differences.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['balance', '-5.00'],
      ['balance', '-0.50'],
      ['closing-balance', '-5.50'],
    ])
    expect(account.actual).toEqual(decimal('64.50'))
  })
})
