/** Creates the platform's transactions: ids, and the bodies of their requests (spec 4). */
import { type Account, type Bet, type SimulatedOperation, shown, type Transaction } from './books.js'
import type { DecidedTransaction } from './report.js'

interface TransactionContent {
  /** @default null */
  type?: Transaction['type']
  /** In units. @default 0n */
  amount?: bigint
  /** @default the player's */
  currency?: string
  /**
   * For a call that changes nothing: `account` differs from the bet's, or `of` is sent again with another
   * amount.
   */
  misuse?: { account?: Account; of?: Transaction }
}

const betTypes = ['SINGLE', 'MULTIPLE', 'TEASER']

export class Transactions {
  #ids = 0

  /** @param date milliseconds since 1970 */
  constructor(
    readonly runId: string,
    readonly date: () => number,
  ) {}

  /** A new id of the run: `"run-b7"` for the kind `b`. */
  newId(kind: string): string {
    this.#ids += 1
    return `${this.runId}-${kind}${this.#ids}`
  }

  /** Creates a transaction of a bet, and adds it to the bet if it may change a balance. */
  create(bet: Bet, operation: SimulatedOperation, content: TransactionContent): Transaction {
    const { type = null, amount = 0n, misuse } = content
    const { account = bet.account, of = null } = misuse ?? {}
    const transactionId = of?.transactionId ?? this.newId(operation[0] as string)
    const currency = content.currency ?? bet.account.currency
    const transaction: Transaction = {
      operation,
      transactionId,
      account,
      bet,
      amount,
      type,
      changesBalance: misuse === undefined,
      // Built by hand: JSON.stringify would double the cost of a request. Ids consist of letters, digits and
      // "-"; values of the operator are escaped.
      body:
        `{"transactionId":"${transactionId}","betId":"${bet.betId}","playerId":${JSON.stringify(account.playerId)},` +
        `${this.#fieldsOf(operation, type, account)}${moneyOf(operation, amount, bet.account, currency)}` +
        `"transactionDate":"${new Date(this.date()).toISOString()}"}`,
      low: 0n,
      high: 0n,
      sentAt: 0,
      first: of?.first ?? null,
      firstAt: 0,
    }
    if (misuse === undefined) bet.transactions.push(transaction)
    return transaction
  }

  #fieldsOf(operation: SimulatedOperation, type: Transaction['type'], { sessionId }: Account): string {
    if (operation !== 'placebet') return `"type":"${type}",`
    const odds = `${1 + (this.#ids % 7)}.${10 + (this.#ids % 90)}`
    return `"sessionId":${JSON.stringify(sessionId)},"odds":${odds},"betType":"${betTypes[this.#ids % 3]}",`
  }
}

function moneyOf(operation: SimulatedOperation, amount: bigint, account: Account, currency: string): string {
  if (operation !== 'placebet' && operation !== 'settlement') return ''
  return `"amount":${shown(amount, account)},"currency":${JSON.stringify(currency)},`
}

/** For the platform's report. */
export function decidedOf(transaction: Transaction): DecidedTransaction {
  const { operation, transactionId, bet, account, amount, type, body, first } = transaction
  const { currency = account.currency, transactionDate } = JSON.parse(body)
  return {
    operation,
    transactionId,
    betId: bet.betId,
    playerId: account.playerId,
    transactionDate,
    type: type === 'TECHNICAL_ERROR' ? null : type,
    amount: operation === 'rollbackbet' ? null : shown(amount, account),
    currency: currency === '' ? null : currency,
    accepted: first?.kind === 'success',
  }
}
