/** The recorded calls of a bet or a player as tables: for support, finance and the platform. */
import { isoMinorUnits } from '../../currencies.js'
import { money } from '../../lookups/money-text.js'
import type { RecordedTransaction } from '../../lookups/records.js'
import { capitalized, explain } from '../../lookups/rules.js'
import { type Decimal, format, isNegative, isZero, subtract } from '../../money.js'
import { type Column, type Section, section } from '../report/model.js'

/** A column of a table of calls. */
export interface CallColumn extends Column {
  text(transaction: RecordedTransaction): string
}

/** `2026-11-21 18:00:00.000123`: UTC, by the clock of the wallet's database. */
export const timeText = (iso: string) => iso.replace('T', ' ').replace('Z', '')

export const signed = (amount: string) => (isNegative(amount) || isZero(amount) ? amount : `+${amount}`)

/** `+12.50 EUR`, `-3.00 EUR`, `0.00 EUR` */
export const signedMoney = (amount: Decimal, currency: string | null) => signed(money(amount, currency))

/** In words that support can read to the player. */
export const sentenceOf = (transaction: RecordedTransaction) => `${capitalized(explain(transaction).why)}.`

/** The balance that a call found and left; `null`: it is unknown. */
export function balancesOf({ balanceAfter, delta, accountCurrency }: RecordedTransaction) {
  if (balanceAfter === null) return null
  return {
    before: money(subtract(balanceAfter, delta), accountCurrency),
    after: money(balanceAfter, accountCurrency),
  }
}

export const recorded: CallColumn = {
  name: 'Recorded (UTC)',
  text: ({ recordedAt }) => timeText(recordedAt),
}
export const betId: CallColumn = { name: 'Bet', text: transaction => transaction.betId }
export const playerId: CallColumn = { name: 'Player', text: transaction => transaction.playerId }
export const happened: CallColumn = { name: 'What happened', text: sentenceOf }

/** Whose balance is shown. `null`: of any player, or in any currency. */
export interface Shown {
  playerId: string | null
  currency: string | null
}

/** Amounts of another account than the one that is shown have its currency beside them. */
export function changes(account: Shown): CallColumn[] {
  const amount = (value: Decimal, { currency, accountCurrency }: RecordedTransaction) => {
    const of = accountCurrency ?? account.currency ?? currency
    if (of === null) return value
    return of === (account.currency ?? of) ? format(value, isoMinorUnits(of)) : money(value, of)
  }
  return [
    { name: 'Change', isNumber: true, text: each => signed(amount(each.delta, each)) },
    {
      name: 'Balance after',
      isNumber: true,
      text: each => {
        if (account.playerId !== null && each.playerId !== account.playerId) return ''
        if (each.balanceAfter === null) return '?'
        return amount(each.balanceAfter, each)
      },
    },
  ]
}

export const tableOf = (columns: readonly CallColumn[], transactions: readonly RecordedTransaction[]) => ({
  kind: 'table' as const,
  columns,
  rows: transactions.map(transaction => columns.map(({ text }) => text(transaction))),
})

/** The decision, its rule, and the ids with which wallet and platform find a call. */
export const termsOf = (transactions: readonly RecordedTransaction[]): Section =>
  section(
    'In the terms of the interface',
    tableOf(
      [
        { name: 'Transaction', text: ({ transactionId }) => transactionId },
        {
          name: 'Call',
          text: ({ operation, type }) => (type === null ? operation : `${operation} ${type}`),
        },
        {
          name: 'Decision',
          text: ({ refusal }) => (refusal === null ? 'accepted' : `refused ${refusal.errorCode}`),
        },
        { name: 'Rule', text: transaction => explain(transaction).rule },
        betId,
        playerId,
        { name: 'Wallet id', text: ({ walletTransactionId }) => walletTransactionId },
        { name: "Platform's date", text: ({ transactionDate }) => transactionDate },
      ],
      transactions,
    ),
  )

export const footnotes = [
  "Times are UTC, by the clock of the wallet's database. Rolled back: the platform cancelled the bet, and its stake goes back. Declared void: the bet does not count, and is settled by returning money. Taken back: the platform corrected a result, and the wallet debits what the wrong result had credited; if the balance does not cover it, nothing is debited, and the platform nets it off later winnings. Final: the same call is answered alike, whatever the balance is by then.",
  "This page shows a player's data.",
]
