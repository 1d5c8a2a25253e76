/** Accounts, transactions and answers for tests of the parts. */
import { type Decimal, parseDecimal } from '../../../src/tools/numbers/decimal.js'
import { createRandom, type Random } from '../../../src/tools/numbers/random.js'
import { Account, Bet, type SimulatedOperation, type Transaction } from '../../../src/tools/random/books.js'
import type { Fault, Refusal, Success } from '../../../src/tools/random/reading.js'

export const decimal = (text: string) => parseDecimal(text) as Decimal

/** A player with an open account. */
export function openedAccount(opening = '100.00', currency = 'EUR', minorUnits = 2): Account {
  const account = new Account('ann', 'session')
  account.open(decimal(opening), currency, minorUnits)
  return account
}

let ids = 0

/** A new transaction of the bet; it becomes the bet's placebet or rollback, if it is one and the first. */
export function transactionOf(
  bet: Bet,
  operation: SimulatedOperation,
  amount = 0n,
  type: Transaction['type'] = null,
): Transaction {
  ids += 1
  const state = { body: '', changesBalance: true, low: 0n, high: 0n, sentAt: 0, first: null, firstAt: 0 }
  const transaction: Transaction = {
    operation,
    transactionId: `t${ids}`,
    account: bet.account,
    bet,
    amount,
    type,
    ...state,
  }
  bet.transactions.push(transaction)
  if (operation === 'placebet') bet.placed ??= transaction
  if (operation === 'rollbackbet') bet.rollback ??= transaction
  return transaction
}

/** A bet with its placebet, not sent yet. */
export function newBet(account: Account, stake: bigint): { bet: Bet; placed: Transaction } {
  ids += 1
  const bet = new Bet(`b${ids}`, account, stake)
  return { bet, placed: transactionOf(bet, 'placebet', stake) }
}

export const success = (balance: string | null = null, reference = 'W1'): Success => ({
  kind: 'success',
  status: 200,
  balance: balance === null ? null : decimal(balance),
  currency: balance === null ? null : 'EUR',
  reference,
})
export const refusal = (errorCode: string, status = 400): Refusal => ({ kind: 'refusal', status, errorCode })
export const fault = (status = 500, errorCode = ''): Fault => ({
  kind: 'fault',
  status,
  errorCode,
  problem: null,
})

/** Random numbers from a list; after its end, the last one again. */
export function fixedRandom(...numbers: number[]): Random {
  const left = [...numbers]
  const next = () => (left.length > 1 ? left.shift() : left[0]) ?? 0
  return {
    next,
    chance: probability => next() < probability,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    pick: items => items[Math.floor(next() * items.length)] as (typeof items)[number],
  }
}

/** The same random numbers in every run. */
export const seeded = (seed = 1): Random => createRandom(seed, 1)
