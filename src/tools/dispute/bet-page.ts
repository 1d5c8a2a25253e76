/** A bet as one HTML page for a dispute: in words that support can read to the player. */
import { type BetExplanation, explainBet } from '../../lookups/bet-explanation.js'
import { stateOf } from '../../lookups/bet-state.js'
import { money } from '../../lookups/money-text.js'
import { owedOf } from '../../lookups/owed.js'
import type { BetHistory } from '../../lookups/records.js'
import { type BetStep, isLegacy } from '../../lookups/steps.js'
import { add, isZero } from '../../money.js'
import { documentOf, factList, section } from '../html/document.js'
import { countText } from '../html/figures.js'
import { html, type Markup } from '../html/markup.js'
import { balancesOf, foot, sentenceOf, signedMoney, storyList, storyRow, time } from './story.js'

/**
 * Renders a bet as one self-contained HTML file, without scripts and external resources: its Content Security
 * Policy forbids both. All text is treated as hostile and escaped.
 *
 * @returns a complete document in UTF-8, which is also well-formed XML
 */
export function renderBet(history: BetHistory): string {
  const explanation = explainBet(history)
  const { betId, playerId, currency, verdict, steps, now, notes } = explanation
  const state = stateOf(history)
  const body = html`<header class="head none">
<p class="kind">Bet ${betId} <span>Player ${playerId}</span></p>
<h1 class="subject">${state}</h1>
${answers(history, explanation)}
</header>
<main>
${section(true, 'story', 'What happened', storyList(steps.map(step => storyRow(step, { playerId, currency }))))}
${section(true, 'interface', 'In the terms of the interface', html`<ul class="not-seen">${[verdict, ...now, ...notes].map(line => html`<li>${line}</li>`)}</ul>`)}
</main>
${foot}`
  return documentOf(`${state}: bet ${betId}`, body)
}

/** The page of an id that nothing names. */
export function renderUnknownBet(betId: string): string {
  const body = html`<header class="head none"><p class="kind">Bet ${betId}</p>
<h1 class="subject">Unknown</h1></header>
<main>${unknownBet.map(sentence => html`<p class="sentence">${sentence}</p>`)}</main>`
  return documentOf(`Unknown: bet ${betId}`, body)
}

/** What it means that nothing names a betId. */
export const unknownBet = [
  'The wallet has neither a bet nor a recorded call of this id. Ids are compared exactly: upper and lower case, and spaces.',
  'The call of a bet leaves no record if it did not arrive, failed in the wallet, had wrong credentials or an invalid body, or named an unknown player: then it debited nothing.',
  'A bet from before this wallet was in use is known only if it was imported.',
]

/** The sum of all changes of the balance by a bet of its own player. */
export const sumOf = ({ transactions }: BetHistory, playerId: string) =>
  transactions
    .filter(transaction => transaction.playerId === playerId)
    .reduce((sum, { delta }) => add(sum, delta), '0')

/** The questions of players and of finance. */
function answers(history: BetHistory, explanation: BetExplanation): Markup {
  const { playerId, currency, steps } = explanation
  const ofCalls = (wanted: (step: BetStep) => boolean) => answerOf(steps.filter(wanted), explanation)
  const isBet = ({ transaction }: BetStep) => transaction.operation === 'placebet'
  const owed = owedOf(history.bet ?? { credits: {} })
  const facts: (readonly [string, Markup | string | null])[] = [
    ['Stake', ofCalls(step => isBet(step) && step.accepted) ?? withoutPlacebet(history)],
    ['Refused', ofCalls(step => isBet(step) && !step.accepted)],
    [
      'Result',
      ofCalls(({ transaction: { type } }) => resultTypes.includes(type)) ??
        (stateOf(history) === 'Open' ? 'None has arrived.' : null),
    ],
    [
      'Refund',
      ofCalls(
        ({ transaction: { operation, type } }) => operation === 'rollbackbet' || refundTypes.includes(type),
      ) ?? (history.bet === null ? null : 'None: the bet was neither rolled back nor declared void.'),
    ],
    [
      'Owed',
      isZero(owed) ? null : `${money(owed, currency)}, to the platform: it nets this off later winnings.`,
    ],
    ['In sum', `${signedMoney(sumOf(history, playerId), currency)} by the calls below.`],
  ]
  return html`<div class="answers">${factList(facts.flatMap(([name, text]) => (text === null ? [] : [[name, text] as const])))}</div>`
}

/** What was credited, and what was taken back of it: in the order of time. */
const resultTypes: readonly (string | null)[] = ['BET_PAID', 'CASHOUT', 'UNSCORED']
const refundTypes: readonly (string | null)[] = ['VOIDED', 'UNVOIDED']

const answeredMax = 3

/** The sentences of the last of these calls, each with its time and the balance; `null` without calls. */
function answerOf(steps: readonly BetStep[], { playerId, currency }: BetExplanation): Markup | null {
  if (steps.length === 0) return null
  const lines = steps.slice(-answeredMax).map(step => {
    const { transaction } = step
    const balances = transaction.playerId === playerId ? balancesOf(transaction, currency) : null
    const change =
      balances === null || balances.before === balances.after
        ? ''
        : `, and the balance went from ${balances.before} to ${balances.after}`
    return html`<p>${sentenceOf(step)} <span class="quiet">That was on ${time(transaction.recordedAt)}${change}.</span></p>`
  })
  const more = steps.length - lines.length
  return html`${more > 0 ? html`<p class="quiet">Before that ${countText(more, 'call')}, below.</p>` : null}${lines}`
}

function withoutPlacebet(history: BetHistory): string {
  return isLegacy(history) && history.bet !== null
    ? `${money(history.bet.stake, history.bet.currency)}, debited before this wallet was in use, or by other code.`
    : 'Nothing was debited.'
}
