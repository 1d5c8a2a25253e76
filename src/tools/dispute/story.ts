/** What happened, call by call: a sentence for the player, the balance before and after, and small print. */
import type { BetExplanation } from '../../lookups/bet-explanation.js'
import { money } from '../../lookups/money-text.js'
import type { RecordedTransaction } from '../../lookups/records.js'
import { capitalized } from '../../lookups/rules.js'
import type { BetStep } from '../../lookups/steps.js'
import { isInOther } from '../../lookups/text.js'
import { isNegative, isZero, subtract } from '../../money.js'
import { momentText } from '../html/figures.js'
import { html, type Markup } from '../html/markup.js'

/** The balance that a call found and left, as text; `null`: it, or its currency, is unknown. */
export function balancesOf(
  transaction: RecordedTransaction,
  currency: string | null,
): { before: string; after: string } | null {
  const { balanceAfter, delta } = transaction
  if (balanceAfter === null || isInOther(transaction, currency)) return null
  return { before: money(subtract(balanceAfter, delta), currency), after: money(balanceAfter, currency) }
}

/** `+12.50 EUR`, `-3.00 EUR`, `0.00 EUR`. */
export const signedMoney = (amount: string, currency: string | null) =>
  `${isNegative(amount) || isZero(amount) ? '' : '+'}${money(amount, currency)}`

export const sentenceOf = ({ why }: Pick<BetStep, 'why'>) => `${capitalized(why)}.`

export const time = (iso: string) => html`<time datetime="${iso}">${momentText(iso)}</time>`

/**
 * @param explanation whose player the balances belong to, and their currency
 * @param subject what the call is about, where the page has not said it
 */
export function storyRow(
  step: BetStep,
  { playerId, currency }: Pick<BetExplanation, 'playerId' | 'currency'>,
  subject: Markup | null = null,
): Markup {
  const { transaction, accepted } = step
  const { operation, type, transactionId, betId, walletTransactionId, transactionDate, refusal } = transaction
  const isOther = transaction.playerId !== playerId
  const balances = isOther ? null : balancesOf(transaction, currency)
  const terms = [
    `${operation}${type === null ? '' : ` ${type}`} ${transactionId}`,
    `bet ${betId}`,
    ...(isOther ? [`player ${transaction.playerId}`] : []),
    refusal === null ? 'accepted' : `refused ${refusal.errorCode}`,
    `rule ${step.rule}`,
    `wallet id ${walletTransactionId}`,
    `platform's date ${transactionDate}`,
  ]
  return html`<li class="${accepted ? 'none' : 'warn'}"><p class="when">${time(transaction.recordedAt)} ${subject}</p>
<div><p>${sentenceOf(step)}</p><p class="terms">${terms.join(' · ')}</p></div>
${changeCell(transaction.delta, currency, balances)}</li>
`
}

/** The change, and below it the balance before and after. */
export const changeCell = (
  delta: string,
  currency: string | null,
  balances: ReturnType<typeof balancesOf>,
): Markup =>
  html`<p class="change"><b>${signedMoney(delta, currency)}</b>${balances === null ? null : html`<span>balance ${balances.before === balances.after ? '' : `${balances.before} → `}${balances.after}</span>`}</p>`

export const storyList = (rows: readonly Markup[]) => html`<ol class="story">${rows}</ol>`

export const foot = html`<footer><h2>How to read this</h2>
<p>Times are UTC, by the clock of the wallet's database. Rolled back: the platform cancelled the bet, and its stake goes back. Declared void: the bet does not count, and is settled by returning money. Taken back: the platform corrected a result, and the wallet debits what the wrong result had credited; if the balance does not cover it, nothing is debited, and the platform nets it off later winnings. Final: the same call is answered alike, whatever the balance is by then.</p>
<p>The small print has the terms of the interface: the call and its transactionId, the decision, the rule, and the ids with which wallet and platform find it. This page shows a player's data. It loads nothing and runs no scripts.</p>
</footer>`
