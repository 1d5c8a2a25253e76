/** The page of `bet-wallet try`: players, buttons, calls as they went over the wire, bets and books. */
import { createHash } from 'node:crypto'
import { type BetExplanation, explainBet } from '../../lookups/bet-explanation.js'
import { stateOf } from '../../lookups/bet-state.js'
import type { BetHistory, PlayerHistory } from '../../lookups/records.js'
import type { Account } from '../../store.js'
import { parseDecimal, textOf, zero } from '../numbers/decimal.js'
import { isoMinorUnits } from '../numbers/minor-units.js'
import { betId, changes, happened, recorded, tableOf } from '../records/calls.js'
import { countText } from '../report/figures.js'
import { html, Markup } from '../report/markup.js'
import { code, documentOf, tableOf as renderTable } from '../report/page.js'
import type { TryCall } from './platform.js'
import { newBetScenarios, placedBetScenarios } from './scenarios.js'

/** The calls of one click, the newest first on the page. */
export interface TryEvent {
  /** `Lose the answer: bet-k2-1`. */
  title: string
  description: string
  calls: readonly TryCall[]
}

/** What the page shows. */
export interface TryState {
  /** Where the data is: one sentence. */
  storage: string
  baseUrl: string
  players: readonly PlayerHistory[]
  /** The newest first. */
  bets: readonly BetHistory[]
  events: readonly TryEvent[]
  hasDeposits: boolean
  /** Of the last click, if it has sent nothing: why, or what it did instead; `null` otherwise. */
  notice: string | null
}

/** Sends a click without loading the page again, and keeps the focus. Without it the forms work too. */
const script = `
addEventListener('submit', async event => {
  event.preventDefault()
  const focused = document.activeElement.id
  const result = document.getElementById('result')
  try {
    const answer = await fetch(event.submitter.formAction, { method: 'POST', body: new URLSearchParams(new FormData(event.target)) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(text)
    const page = new DOMParser().parseFromString(text, 'text/html')
    document.getElementById('state').replaceWith(page.getElementById('state'))
    result.replaceChildren(...page.getElementById('result').childNodes)
    const bet = event.target.elements.betId?.value
    const next = document.getElementById(focused || 'none') ?? document.getElementById('send-again-' + bet)
    next?.focus()
  } catch (error) {
    result.textContent = 'The page does not answer. Is its process still running? ' + error.message
  }
})
`

const style = `
form { display: flex; flex-wrap: wrap; gap: .6rem; align-items: end; margin: .6rem 0 }
label { display: grid; font-size: .85rem; color: var(--soft) }
button, input, select { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: 3px; padding: .35rem .7rem }
button { cursor: pointer } button:hover { background: var(--wash) }
button.first { background: var(--call); border-color: var(--call); color: var(--paper); font-weight: 600 }
button:focus-visible, input:focus-visible, select:focus-visible { outline: 2px solid var(--call); outline-offset: 2px }
input { width: 8rem } body { max-width: 76rem } html { scroll-padding-bottom: 5rem }
#result { position: sticky; bottom: 0; background: var(--paper); font-weight: 600 }
#result:not(:empty) { border-top: 2px solid var(--ink); padding: .6rem 0; margin-top: 2rem }
h1 { font-size: 2rem; margin: 1.4rem 0 .4rem } .event { margin-top: 1.6rem } .event h3, .bet h3 { font: 600 1.15rem/1.3 var(--serif) }
.exchange { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .2rem 1rem; margin-top: .8rem }
.exchange h4, .exchange p { grid-column: 1 / -1; margin: 0 } .exchange h4 { color: var(--ink) }
.exchange pre { margin: 0 }
.lost pre + pre { text-decoration: line-through; text-decoration-color: var(--fail) }
.bet { margin-top: 1.8rem } .bet h3 span { margin-left: .6rem; color: var(--soft) } .books h3 { margin-top: 1.4rem } 
details summary { color: var(--call); margin-top: 1rem }
@media (max-width: 44rem) { .exchange { grid-template-columns: minmax(0, 1fr) } }
`

const policy = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
].join('; ')

/** @returns the complete document */
export function renderTryPage(state: TryState): string {
  const head = new Markup(`<style>${style}</style>\n<script type="module">${script}</script>\n`)
  const body = html`<header class="kind"><b>bet-wallet</b> <span>${state.baseUrl}</span></header>
<h1>Try the wallet</h1>
<p class="lead">${state.storage} Each button sends the platform's calls over HTTP, and shows what went over the wire.</p>
<section aria-labelledby="new"><h2 id="new">A new bet</h2>
<form method="post" action="/try/place">
${playerChoice(state.players)}
<label>Stake <input name="stake" value="10" inputmode="decimal" autocomplete="off"/></label>
${newBetScenarios.map(({ name, label }, index) => button(name, label, { id: name, kind: index === 0 ? 'first' : '' }))}
</form>
${state.hasDeposits ? depositForm(state.players) : null}</section>
<main id="state">
${playersOf(state.players)}
${eventsOf(state.events)}
<section aria-labelledby="bets"><h2 id="bets">The life of each bet</h2>${state.bets.length === 0 ? html`<p class="quiet">No bet yet.</p>` : state.bets.map(betOf)}</section>
<section class="books" aria-labelledby="books"><h2 id="books">The books</h2>
<p class="lead">Every change of a balance by the platform has its transaction: here are the newest 50 of each player. A deposit is none.</p>
${state.players.map(accountsOf)}</section>
</main>
<p id="result" role="status">${resultOf(state)}</p>`
  return documentOf('Try bet-wallet', body, policy, head)
}

const playerChoice = (players: readonly PlayerHistory[]) =>
  html`<label>Player <select name="playerId">${players.map(({ playerId }) => html`<option>${playerId}</option>`)}</select></label>`

/** Funds for the audit, after the play. */
const depositForm = (players: readonly PlayerHistory[]) => html`<form method="post" action="/try/deposit">
${playerChoice(players)}
<label>Amount <input name="amount" value="10000" inputmode="decimal" autocomplete="off"/></label>
${button('deposit', 'Deposit', { id: 'deposit' })}</form>
`

const button = (name: string, label: string, { id = '', kind = '' }) =>
  html`<button formaction="/try/${name}" id="${id}" class="${kind}">${label}</button>
`

/** One sentence for the reader of the newest click, also aloud. */
function resultOf({ notice, events }: TryState): Markup | string {
  const newest = events[0]
  if (notice !== null || newest === undefined) return notice ?? ''
  const answers = newest.calls.map(({ response, problem }) => statusOf(response) ?? problem)
  return html`${newest.title}: ${countText(newest.calls.length, 'call')}, answered ${answers.join(', ')}. <a href="#calls">Calls and answers</a>`
}

const statusOf = (response: string | null) => /^HTTP\/1\.1 (\d{3})/.exec(response ?? '')?.[1] ?? null

function playersOf(players: readonly PlayerHistory[]) {
  return html`<section class="players" aria-labelledby="players"><h2 id="players">Players</h2><table>
<thead><tr><th scope="col">Player</th><th scope="col" class="number">Balance</th></tr></thead><tbody>
${players.map(({ playerId, accounts }) => html`<tr><th scope="row">${playerId}</th><td class="number">${moneyOf(accounts)}</td></tr>`)}
</tbody></table></section>`
}

const moneyOf = (accounts: readonly Account[]) =>
  accounts
    .map(
      ({ balance, currency }) =>
        `${textOf(parseDecimal(balance) ?? zero, isoMinorUnits(currency))} ${currency}`,
    )
    .join(', ')

function eventsOf([newest, ...older]: readonly TryEvent[]) {
  return html`<section aria-labelledby="calls"><h2 id="calls">Calls and answers</h2>
${newest === undefined ? html`<p class="quiet">Place a bet, or press a button that makes something go wrong.</p>` : eventOf(newest)}
${older.length === 0 ? null : html`<details><summary>${countText(older.length, 'click')} before</summary>${older.map(eventOf)}</details>`}
</section>`
}

const eventOf = ({ title, description, calls }: TryEvent) =>
  html`<article class="event"><h3>${title}</h3><p>${description}</p>${calls.map(callOf)}</article>`

/** HTTP ends its lines by CR LF. */
const linesOf = (text: string) => text.replaceAll('\r\n', '\n')

const callOf = ({ title, lost, rule, request, response, problem }: TryCall, index: number) =>
  html`<div class="exchange${lost ? ' lost' : ''}"><h4>${index + 1}. ${title}${lost ? ' – the answer is lost: the platform never receives it' : ''}</h4>
${code(linesOf(request), 'request')}${response === null ? html`<p class="quiet">No answer: ${problem}</p>` : code(linesOf(response), 'response')}
<p class="rule">${rule}</p></div>`

function betOf(history: BetHistory) {
  const explanation = explainBet(history)
  const { betId, verdict, steps, now } = explanation
  const transactions = steps.map(({ transaction }) => transaction)
  return html`<article class="bet"><h3>${betId} <span>${stateOf(history)}</span></h3><p>${verdict}</p>
${history.bet === null || !steps.some(isPlaced) ? null : betButtons(history)}
${renderTable(tableOf([recorded, happened, ...changes(explanation)], transactions))}
<ul>${now.map(line => html`<li>${line}</li>`)}</ul></article>`
}

const isPlaced = ({ accepted, transaction }: BetExplanation['steps'][number]) =>
  accepted && transaction.operation === 'placebet'

function betButtons(history: BetHistory) {
  const { betId } = history
  const buttons = placedBetScenarios.filter(({ applies }) => applies(history))
  return html`<form method="post" action="/try/send-again"><input type="hidden" name="betId" value="${betId}"/>
${buttons.map(({ name, label }) => button(name, label, { id: `${name}-${betId}` }))}</form>`
}

function accountsOf({ playerId, accounts, transactions }: PlayerHistory) {
  const columns = [recorded, betId, happened, ...changes({ playerId, currency: null })]
  return html`<h3>${playerId}: ${moneyOf(accounts)}</h3>${transactions.length === 0 ? html`<p class="quiet">No transaction yet.</p>` : renderTable(tableOf(columns, transactions))}`
}
