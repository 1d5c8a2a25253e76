/** A player's transactions as a report: the balance over time, each change in words, and the bets. */
import { isoMinorUnits } from '../../currencies.js'
import { betState } from '../../lookups/bet-state.js'
import { money } from '../../lookups/money-text.js'
import type { Page, PlayerHistory, RecordedBet, RecordedTransaction } from '../../lookups/records.js'
import { add, type Decimal, format, isZero, subtract } from '../../money.js'
import type { Account, Credit } from '../../store.js'
import type { Chart } from '../report/chart.js'
import { countText } from '../report/figures.js'
import { onPage, type Report, section, type Table } from '../report/model.js'
import {
  betId,
  type CallColumn,
  changes,
  footnotes,
  happened,
  recorded,
  signed,
  signedMoney,
  tableOf,
  termsOf,
  timeText,
} from './calls.js'

/** @param page as it was given to `player`: whether the newest transaction is the player's last */
export function playerReport(history: PlayerHistory, page: Page = {}): Report {
  const { playerId, accounts, bets, next } = history
  const transactions = inOrderOfBalances(
    history.transactions.toReversed().map(each => withCurrency(each, bets)),
  )
  const currencies = [...new Set([...accounts.map(currencyOfAccount), ...transactions.map(currencyOf)])]
  const balances =
    accounts.length === 0
      ? "not in the players' table"
      : `balance ${accounts.map(({ balance, currency }) => money(balance, currency)).join(' and ')}`
  const account: CallColumn = { name: 'Account', text: each => currencyOf(each) ?? '' }
  const columns = [
    ...[recorded, betId, happened],
    ...(currencies.length > 1 ? [account] : []),
    ...otherChanges(transactions),
    ...changes({ playerId, currency: null }),
  ]
  const [oldest, newest] = [transactions[0], transactions.at(-1)]
  return {
    title: `Player ${playerId}`,
    verdict: {
      tone: 'none',
      word: accounts.length === 0 ? 'Unknown' : 'Known',
      sentence: `${balances}; ${countText(transactions.length, 'transaction')} shown`,
    },
    facts: [
      ...(oldest && newest
        ? ([
            ['From', `${timeText(oldest.recordedAt)} UTC`],
            ['To', `${timeText(newest.recordedAt)} UTC`],
          ] as const)
        : []),
      ...(next === null ? [] : [['Older transactions', `--cursor ${next}`] as const]),
    ],
    sections: [
      onPage('Balance over time', {
        kind: 'charts',
        charts: currencies.flatMap(currency => chartOf(transactions, currency)),
      }),
      section('What happened', tableOf(columns, transactions), {
        kind: 'list',
        items: currencies.flatMap(each => balancesAround(history, transactions, each, page)),
      }),
      termsOf(transactions),
      section('Bets', betsTable(bets)),
    ],
    footnotes,
  }
}

/** Of an id that nothing names. */
export const unknownPlayerReport = (playerId: string): Report => ({
  title: `Player ${playerId} is unknown: neither the players' table nor a transaction has this id`,
  verdict: { tone: 'none', word: 'Unknown', sentence: 'ids are compared exactly (D24).' },
  sections: [],
})

const currencyOfAccount = ({ currency }: Account): string | null => currency
const currencyOf = ({ accountCurrency }: RecordedTransaction) => accountCurrency

/** An imported transaction names no account. */
function withCurrency(transaction: RecordedTransaction, bets: readonly RecordedBet[]): RecordedTransaction {
  const { accountCurrency, currency, betId } = transaction
  const bet = bets.find(each => each.betId === betId)
  return { ...transaction, accountCurrency: accountCurrency ?? currency ?? bet?.currency ?? null }
}

/** The calls of one account. */
const ofAccount = (transactions: readonly RecordedTransaction[], currency: string | null) =>
  transactions.filter(each => currencyOf(each) === currency)

/** From the balance that the first transaction of the account found; none without one. */
function chartOf(all: readonly RecordedTransaction[], currency: string | null): Chart[] {
  const transactions = ofAccount(all, currency)
  if (transactions.length === 0) return []
  const points = transactions.flatMap(({ recordedAt, balanceAfter, delta }, index) => {
    if (balanceAfter === null) return []
    const balances = index === 0 ? [subtract(balanceAfter, delta), balanceAfter] : [balanceAfter]
    const at = Date.parse(recordedAt)
    return balances.map(balance => ({ at, value: Number(balance), text: money(balance, currency) }))
  })
  return [
    {
      title: transactions.length === all.length ? 'Balance' : `Balance in ${currency}`,
      lines: [{ name: '', points }],
      from: points[0]?.at ?? 0,
      to: points.at(-1)?.at ?? 0,
      timeText: at => new Date(at).toISOString().slice(0, 19).replace('T', ' '),
      steps: true,
    },
  ]
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
  let balances = ordered.reduce(balancesAfterCall, noBalances)
  while (rest.length > 0) {
    const following = concurrentOf(rest).filter(each => isZero(otherChangeOf(balances, each)))
    // One without a balance may follow any other: those that fit go first.
    const fitting =
      following.find(each => balances.has(currencyOf(each)) && each.balanceAfter !== null) ?? following[0]
    if (fitting === undefined) breaks += 1
    const next = rest.splice(fitting === undefined ? 0 : rest.indexOf(fitting), 1)
    ordered.push(...next)
    balances = next.reduce(balancesAfterCall, balances)
  }
  return { ordered, breaks }
}

/** Of the oldest, with itself. */
function concurrentOf(transactions: readonly RecordedTransaction[]): readonly RecordedTransaction[] {
  const until = Date.parse(transactions[0]?.recordedAt ?? '') + concurrentMs
  const end = transactions.findIndex(({ recordedAt }) => Date.parse(recordedAt) > until)
  return end === -1 ? transactions : transactions.slice(0, end)
}

/** The known balance of each account. */
type Balances = ReadonlyMap<string | null, Decimal>

const noBalances: Balances = new Map()

/** An imported call has no balance: what it moved is added to the one before. */
function balancesAfterCall(before: Balances, call: RecordedTransaction): Balances {
  const known = before.get(currencyOf(call))
  const after = call.balanceAfter ?? (known === undefined ? undefined : add(known, call.delta))
  return after === undefined ? before : new Map(before).set(currencyOf(call), after)
}

/** What changed the balance of its account before a call: deposits, other games, a correction. */
function otherChangeOf(balances: Balances, call: RecordedTransaction): Decimal {
  const before = balances.get(currencyOf(call))
  if (before === undefined || call.balanceAfter === null) return '0'
  return subtract(subtract(call.balanceAfter, call.delta), before)
}

/** No column where nothing did. @param transactions of one player, the oldest first */
function otherChanges(transactions: readonly RecordedTransaction[]): CallColumn[] {
  const found = new Map<RecordedTransaction, string>()
  let balances = noBalances
  for (const transaction of transactions) {
    const change = otherChangeOf(balances, transaction)
    balances = balancesAfterCall(balances, transaction)
    const currency = currencyOf(transaction)
    if (!isZero(change))
      found.set(transaction, signed(currency === null ? change : format(change, isoMinorUnits(currency))))
  }
  if (found.size === 0) return []
  return [{ name: 'Other changes', isNumber: true, text: transaction => found.get(transaction) ?? '' }]
}

/** The balance that the oldest call of an account found, and what other code changed after the newest. */
function balancesAround(
  { accounts }: PlayerHistory,
  transactions: readonly RecordedTransaction[],
  currency: string | null,
  { to, cursor }: Page,
): string[] {
  const calls = ofAccount(transactions, currency)
  const [oldest] = calls
  const balance = calls.reduce(balancesAfterCall, noBalances).get(currency)
  const account = accounts.find(each => each.currency === currency)
  const lines: string[] = []
  if (oldest !== undefined && oldest.balanceAfter !== null) {
    const before = money(subtract(oldest.balanceAfter, oldest.delta), currency)
    lines.push(`Before the first line the balance was ${before}.`)
  }
  const isLast = to === undefined && cursor === undefined
  if (isLast && account !== undefined && balance !== undefined) {
    const change = subtract(account.balance, balance)
    if (!isZero(change)) lines.push(`Other changes since the last line: ${signedMoney(change, currency)}.`)
  }
  return lines
}

const betsTable = (bets: readonly RecordedBet[]): Table => ({
  kind: 'table',
  columns: [
    ...[{ name: 'Bet' }, { name: 'State' }],
    ...['Stake', 'Live', 'Reversed', 'Uncollected'].map(name => ({ name, isNumber: true })),
  ],
  rows: bets.map(bet => [
    ...[bet.betId, betState(bet), money(bet.stake, bet.currency)],
    creditsOf(bet, ({ live }) => live),
    creditsOf(bet, ({ reversed }) => (isZero(reversed) ? null : reversed)),
    creditsOf(bet, ({ owed }) => (isZero(owed) ? null : owed)),
  ]),
})

/** The amounts of this part, each after its settlement type. */
const creditsOf = ({ credits, currency }: RecordedBet, part: (credit: Credit) => Decimal | null) =>
  Object.entries(credits)
    .flatMap(([type, credit]) => {
      const value = part(credit)
      return value === null ? [] : [`${type} ${money(value, currency)}`]
    })
    .join(', ')
