/** A player's transactions as one HTML page: the balance over time, and each change in words. */
import { explainBet } from '../../lookups/bet-explanation.js'
import { stateOf } from '../../lookups/bet-state.js'
import { money } from '../../lookups/money-text.js'
import { owedOf } from '../../lookups/owed.js'
import type { BetHistory, Page, PlayerHistory, RecordedTransaction } from '../../lookups/records.js'
import { isZero, subtract } from '../../money.js'
import { type ChartPoint, chart } from '../html/chart.js'
import { documentOf, factList, section, wideTable } from '../html/document.js'
import { countText } from '../html/figures.js'
import { html, type Markup } from '../html/markup.js'
import { sumOf } from './bet-page.js'
import { changeCell, foot, signedMoney, storyList, storyRow, time } from './story.js'

/**
 * Renders a page of a player's transactions as one self-contained HTML file, without scripts and external
 * resources: its Content Security Policy forbids both. All text is treated as hostile and escaped.
 *
 * @param bets of these transactions, each with its whole life: why a call was refused is known from it
 * @param page as it was given to `player`
 * @returns a complete document in UTF-8, which is also well-formed XML
 */
export function renderPlayer(history: PlayerHistory, bets: readonly BetHistory[], page: Page = {}): string {
  const { playerId, player } = history
  const transactions = history.transactions.toReversed()
  const ordered = inOrderOfBalances(transactions)
  const [oldest, newest] = [transactions[0], transactions.at(-1)]
  const account = player === null ? "Not in the players' table" : money(player.balance, player.currency)
  const facts: [string, Markup | string][] = [
    ['Balance now', account],
    ['Shown', countText(transactions.length, 'transaction')],
    ...(oldest && newest
      ? [
          ['From', time(oldest.recordedAt)] as [string, Markup],
          ['To', time(newest.recordedAt)] as [string, Markup],
        ]
      : []),
  ]
  const body = html`<header class="head none">
<p class="kind">Player ${playerId} <span>Transactions of bets</span></p>
<h1 class="subject">${account}</h1>
<div class="answers">${factList(facts)}</div>
${history.next === null ? null : html`<p class="lead">Older transactions exist: --cursor ${history.next}</p>`}
</header>
<main>
${section(transactions.length > 0, 'curve', 'Balance over time', balanceChart(ordered, player?.currency ?? null))}
${section(transactions.length > 0, 'story', 'What happened', storyList(rowsOf(history, ordered, bets, page)))}
${section(bets.length > 0, 'bets', 'Bets', betsTable(playerId, bets))}
</main>
${foot}`
  return documentOf(`Player ${playerId}`, body)
}

/** From the balance that the first transaction found. */
function balanceChart(transactions: readonly RecordedTransaction[], currency: string | null): Markup {
  const points = transactions.flatMap(({ recordedAt, balanceAfter, delta }, index): ChartPoint[] => {
    if (balanceAfter === null) return []
    const balances = index === 0 ? [subtract(balanceAfter, delta), balanceAfter] : [balanceAfter]
    return balances.map(balance => ({
      at: Date.parse(recordedAt),
      value: Number(balance),
      text: money(balance, currency),
    }))
  })
  return chart({
    title: 'Balance',
    lines: [{ name: '', points }],
    from: points[0]?.at ?? 0,
    to: points.at(-1)?.at ?? 0,
    timeText: at => new Date(at).toISOString().slice(0, 19).replace('T', ' '),
    steps: true,
  })
}

/** Calls are taken for concurrent if their database transactions began within this time. */
const concurrentMs = 10_000

/**
 * The order with the fewest other changes. `recordedAt` is when a database transaction began: of concurrent
 * calls, one that began later may have changed the balance first.
 *
 * @param transactions the oldest first
 */
function inOrderOfBalances(transactions: readonly RecordedTransaction[]): readonly RecordedTransaction[] {
  const orders = concurrentOf(transactions)
    .slice(0, 10)
    .map((_, first) => chainFrom(transactions, first))
  return orders.toSorted((one, other) => one.breaks - other.breaks)[0]?.ordered ?? []
}

function chainFrom(transactions: readonly RecordedTransaction[], first: number) {
  const rest = [...transactions]
  const ordered = rest.splice(first, 1)
  let breaks = 0
  while (rest.length > 0) {
    const balance = ordered.at(-1)?.balanceAfter ?? null
    const next = concurrentOf(rest).findIndex(each => isZero(otherChangeOf(balance, each)))
    if (next === -1) breaks += 1
    ordered.push(...rest.splice(Math.max(next, 0), 1))
  }
  return { ordered, breaks }
}

/** Of the oldest, with itself. */
function concurrentOf(transactions: readonly RecordedTransaction[]): readonly RecordedTransaction[] {
  const until = Date.parse(transactions[0]?.recordedAt ?? '') + concurrentMs
  const end = transactions.findIndex(({ recordedAt }) => Date.parse(recordedAt) > until)
  return end === -1 ? transactions : transactions.slice(0, end)
}

/** What other code changed since the balance was this; `null`: unknown. */
const otherChangeOf = (balance: string | null, { balanceAfter, delta }: RecordedTransaction): string =>
  balance === null || balanceAfter === null ? '0' : subtract(subtract(balanceAfter, delta), balance)

/** The calls, and between them what other code changed. */
function rowsOf(
  { playerId, player }: PlayerHistory,
  transactions: readonly RecordedTransaction[],
  bets: readonly BetHistory[],
  { to, cursor }: Page,
): Markup[] {
  const currency = player?.currency ?? null
  const steps = new Map(
    bets.flatMap(bet => explainBet(bet).steps).map(step => [keyOf(step.transaction), step]),
  )
  const rows = transactions.flatMap((transaction, index) => {
    const other = otherChangeOf(transactions[index - 1]?.balanceAfter ?? null, transaction)
    const known = steps.get(keyOf(transaction))
    // Its bet has been forgotten meanwhile.
    const step = known ?? { transaction, accepted: transaction.refusal === null, rule: '?', why: 'recorded' }
    const bet = html`<b>Bet ${transaction.betId}</b>`
    return [...otherChange(other, currency), storyRow(step, { playerId, currency }, bet)]
  })
  const newest = transactions.at(-1)?.balanceAfter ?? null
  const isLast = to === undefined && cursor === undefined
  const since = isLast && player !== null && newest !== null ? subtract(player.balance, newest) : '0'
  return [...rows, ...otherChange(since, currency)]
}

const keyOf = ({ operation, transactionId }: RecordedTransaction) => `${operation} ${transactionId}`

const otherChange = (change: string, currency: string | null): Markup[] =>
  isZero(change)
    ? []
    : [
        html`<li class="none"><p class="when"></p><div><p>Other changes: deposits, withdrawals, other games, or corrections.</p></div>${changeCell(change, currency, null)}</li>
`,
      ]

function betsTable(playerId: string, bets: readonly BetHistory[]): Markup {
  const rows = bets.map(history => {
    const { bet, betId } = history
    const currency = bet?.currency ?? explainBet(history).currency
    const owed = owedOf(bet ?? { credits: {} })
    return html`<tr><th scope="row">${betId}</th><td class="none" data-name="State">${stateOf(history)}</td><td class="none" data-name="Stake">${bet === null ? '–' : money(bet.stake, currency)}</td><td class="none" data-name="In sum">${signedMoney(sumOf(history, playerId), currency)}</td><td class="none" data-name="Owed to the platform">${isZero(owed) ? '–' : money(owed, currency)}</td></tr>
`
  })
  return wideTable(['Bet', 'State', 'Stake', 'In sum', 'Owed to the platform'], null, rows)
}
