/** Creates the platform's transactions: ids, and the bodies of their requests (spec 4). */
import { textOfUnits } from '../numbers/decimal.js'
import { type Account, type Bet, type SimulatedOperation, shown, type Transaction } from './books.js'

interface TransactionContent {
  type: Transaction['type']
  /** In units. */
  amount: bigint
  /** @default 0n */
  recovered?: bigint
  /** The fields that only this operation has, as JSON: each followed by a comma. */
  fields: string
}

export class Transactions {
  readonly #runId: string
  readonly #date: () => number
  #ids = 0

  /** @param date milliseconds since 1970 */
  constructor(runId: string, date: () => number) {
    this.#runId = runId
    this.#date = date
  }

  /** A new id of the run: `"run-b7"` for the kind `b`. */
  newId(kind: string): string {
    this.#ids += 1
    return `${this.#runId}-${kind}${this.#ids}`
  }

  /** Creates a transaction of a bet, and adds it to the bet. */
  create(bet: Bet, operation: SimulatedOperation, content: TransactionContent): Transaction {
    const { type, amount, recovered = 0n, fields } = content
    const { account, betId } = bet
    const transactionId = this.newId(operation[0] as string)
    // Built by hand: JSON.stringify would double the cost of a request. Ids consist of letters, digits and
    // "-"; values of the operator are escaped.
    const body =
      `{"transactionId":"${transactionId}","betId":"${betId}","playerId":${JSON.stringify(account.playerId)},` +
      `${fields}"transactionDate":"${new Date(this.#date()).toISOString()}"}`
    const transaction: Transaction = {
      operation,
      transactionId,
      account,
      bet,
      amount,
      type,
      body,
      recovered,
      low: 0n,
      high: 0n,
      sentAt: 0,
      first: null,
      faults: 0,
    }
    bet.transactions.push(transaction)
    return transaction
  }
}

export function placeBetFields({ stake, account, foreignCurrency }: Bet, odds: bigint, legs: number): string {
  const money = moneyFields(stake, account, foreignCurrency ?? account.currency)
  return (
    `"sessionId":${JSON.stringify(account.sessionId)},${money}` +
    `"odds":${textOfUnits(odds, 2 * legs, 2)},"betType":"${legs === 1 ? 'SINGLE' : 'MULTIPLE'}",`
  )
}

export function typeField(type: string): string {
  return `"type":"${type}",`
}

export function moneyFields(amount: bigint, account: Account, currency = account.currency): string {
  return `"amount":${shown(amount, account)},"currency":${JSON.stringify(currency)},`
}
