/** Equality of stored records, with amounts compared by value: 30 equals 30.00. */
import { compare, isDecimal } from '../money.js'
import type { Bet, Transaction } from '../store.js'

export function sameAmount(a: unknown, b: unknown): boolean {
  if (a === null || b === null) return a === b
  return isDecimal(a) && isDecimal(b) && compare(a, b) === 0
}

/** What is compared as it is. */
const bet = ['betId', 'playerId', 'currency', 'status', 'revision'] as const
const ids = ['operation', 'transactionId', 'playerId', 'betId'] as const
const transaction = [...ids, 'currency', 'type', 'accountCurrency'] as const

export function sameBet(a: Bet, b: Bet): boolean {
  const types = ['BET_PAID', 'VOIDED', 'CASHOUT'] as const
  return (
    bet.every(name => a[name] === b[name]) &&
    sameAmount(a.stake, b.stake) &&
    types.every(type => {
      const [x, y] = [a.credits[type], b.credits[type]]
      if (x === undefined || y === undefined) return x === y
      return sameAmount(x.live, y.live) && sameAmount(x.reversed, y.reversed) && sameAmount(x.owed, y.owed)
    })
  )
}

export function sameTransaction(a: Transaction, b: Transaction): boolean {
  return (
    transaction.every(name => a[name] === b[name]) &&
    sameAmount(a.amount, b.amount) &&
    sameAmount(a.delta, b.delta) &&
    a.refusal?.errorCode === b.refusal?.errorCode &&
    a.refusal?.description === b.refusal?.description &&
    (a.refusal === null) === (b.refusal === null)
  )
}
