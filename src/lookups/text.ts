/** Lookups as text for a terminal. */
import { isoMinorUnits } from '../currencies.js'
import { type Decimal, format, isNegative, isZero, subtract } from '../money.js'
import type { Credit } from '../store.js'
import type { BetExplanation } from './bet-explanation.js'
import { betState } from './bet-state.js'
import { money } from './money-text.js'
import type { OwedReport } from './owed.js'
import type { Page, PlayerHistory, RecordedBet, RecordedTransaction } from './records.js'

interface Column<Row> {
  title: string
  /** Numbers are on the right. */
  right?: boolean
  text(row: Row): string
}

/** The verdict, a line per recorded call, what the bet holds now, and notes. */
export function formatBet(story: BetExplanation): string {
  const { betId, playerId, currency } = story
  const rule = new Map(story.steps.map(step => [step.transaction, `${step.why} (${step.rule})`]))
  const columns: Column<RecordedTransaction>[] = [
    when,
    operation,
    transactionId,
    ...changeColumns(currency),
    { title: 'Decision', text: transaction => `${decisionOf(transaction)}: ${rule.get(transaction)}` },
  ]
  const transactions = story.steps.map(({ transaction }) => transaction)
  const strangers = [...new Set(transactions.map(transaction => transaction.playerId))]
    .filter(id => id !== playerId)
    .map(id => `Player ${id} is named by a transaction too.`)
  return [
    `Bet ${betId} of player ${playerId}`,
    story.verdict,
    '',
    ...table(columns, transactions),
    '',
    ...listed('Now', story.now),
    ...listed('Notes', [...strangers, ...story.notes]),
  ].join('\n')
}

/** A line per operation that has used the id. */
export function formatTransaction(transactionId: string, found: readonly RecordedTransaction[]): string {
  const columns: Column<RecordedTransaction>[] = [
    when,
    operation,
    ...whose,
    amount,
    ...changeColumns(null),
    { title: 'Wallet id', text: transaction => transaction.walletTransactionId },
    { title: 'Decision', text: decisionWithWords },
  ]
  return [`Transaction ${transactionId}`, '', ...table(columns, found)].join('\n')
}

/**
 * The account, a page of transactions, the newest first, and their bets.
 *
 * @param page as it was given to `player`: whether the newest transaction is the player's last is known from
 *   it
 */
export function formatPlayer(history: PlayerHistory, page: Page = {}): string {
  const { playerId, player, transactions, bets, next } = history
  const currency = player?.currency ?? null
  const account =
    player === null ? "is not in the players' table" : `has ${money(player.balance, player.currency)} now`
  const columns: Column<RecordedTransaction>[] = [
    when,
    operation,
    transactionId,
    { title: 'Bet', text: ({ betId }) => betId },
    ...otherChanges(transactions, currency),
    ...changeColumns(currency),
    { title: 'Decision', text: decisionWithWords },
  ]
  return [
    `Player ${playerId} ${account}`,
    '',
    ...(transactions.length === 0 ? ['No transactions.'] : table(columns, transactions)),
    ...balancesAround(history, page),
    ...(bets.length === 0 ? [] : ['', ...table(betColumns, bets)]),
    ...(next === null ? [] : ['', `Older transactions: --cursor ${next}`]),
  ].join('\n')
}

/** The sum of each currency, a line per bet, and what the wallet cannot know. */
export function formatOwed({ totals, bets, withoutTime }: OwedReport): string {
  const counted = (count: number) => `${count} bet${count === 1 ? '' : 's'}`
  const sums = totals.map(
    ({ owed, currency, bets: count }) => `${money(owed, currency)}, of ${counted(count)}`,
  )
  return [
    ...(sums.length === 0 ? ['Nothing is owed to the platform.'] : listed('Owed', sums)),
    ...(bets.length === 0 ? [] : ['', ...table(owedColumns, bets)]),
    '',
    ...(withoutTime === 0
      ? []
      : [
          `Left out: ${counted(withoutTime)}, imported with what is owed, and without the time of the refusal.`,
        ]),
    ...owedNotes,
  ].join('\n')
}

const owedNotes = [
  "The platform asked for these amounts back, and the player's balance did not cover them, or this wallet cannot debit.",
  'The platform nets them off later winnings. The wallet cannot know what it has netted off since: compare with the',
  "platform's own statement. No later call debits them here (D7).",
]

const timeText = (recordedAt: string) => recordedAt.replace('T', ' ').replace('Z', '')

const owedColumns: Column<OwedReport['bets'][number]>[] = [
  {
    title: 'Refused (UTC)',
    text: ({ refusedAt }) => (refusedAt === null ? 'imported' : timeText(refusedAt)),
  },
  { title: 'Player', text: ({ playerId }) => playerId },
  { title: 'Bet', text: ({ betId }) => betId },
  { title: 'Unsettlement', text: ({ transactionIds }) => transactionIds.join(', ') },
  { title: 'Owed', right: true, text: ({ owed, currency }) => money(owed, currency) },
]

const when: Column<RecordedTransaction> = {
  title: 'Recorded (UTC)',
  text: ({ recordedAt }) => timeText(recordedAt),
}
const operation: Column<RecordedTransaction> = {
  title: 'Call',
  text: ({ operation: name, type }) => (type === null ? name : `${name} ${type}`),
}
const transactionId: Column<RecordedTransaction> = {
  title: 'Transaction',
  text: transaction => transaction.transactionId,
}
const whose: Column<RecordedTransaction>[] = [
  { title: 'Player', text: ({ playerId }) => playerId },
  { title: 'Bet', text: ({ betId }) => betId },
]
const amount: Column<RecordedTransaction> = {
  title: 'Amount',
  right: true,
  text: ({ amount: asked, currency }) => (asked === null ? '' : money(asked, currency)),
}

/** @param currency of all of them; `null`: of each transaction, as far as it or its bet names one */
function changeColumns(currency: string | null): Column<RecordedTransaction>[] {
  const plain = (value: Decimal, { currency: own, betCurrency }: RecordedTransaction) => {
    const of = currency ?? own ?? betCurrency
    return of === null ? value : format(value, isoMinorUnits(of))
  }
  return [
    { title: 'Change', right: true, text: transaction => signed(plain(transaction.delta, transaction)) },
    {
      title: 'Balance after',
      right: true,
      text: transaction => {
        const { balanceAfter } = transaction
        if (balanceAfter === null) return '?'
        return isInOther(transaction, currency) ? balanceAfter : plain(balanceAfter, transaction)
      },
    },
  ]
}

/**
 * Whether the balance that a refused call found is in another currency than this.
 *
 * @param currency `null`: that of the call
 */
export const isInOther = ({ reason, currency: own }: RecordedTransaction, currency: string | null) =>
  reason === 'CURRENCY_MISMATCH' && (currency === null || own === currency)

/**
 * What changed the balance between a transaction and the one before it: deposits, casino games, a correction.
 * No column where nothing did.
 *
 * @param transactions of one player, the newest first
 */
function otherChanges(
  transactions: readonly RecordedTransaction[],
  currency: string | null,
): Column<RecordedTransaction>[] {
  const changes = new Map<RecordedTransaction, string>()
  for (const [index, transaction] of transactions.entries()) {
    const before = transactions[index + 1]?.balanceAfter ?? null
    const { balanceAfter, delta } = transaction
    if (before === null || balanceAfter === null) continue
    const change = subtract(subtract(balanceAfter, delta), before)
    if (!isZero(change))
      changes.set(transaction, signed(currency === null ? change : format(change, isoMinorUnits(currency))))
  }
  if (changes.size === 0) return []
  return [{ title: 'Other changes', right: true, text: transaction => changes.get(transaction) ?? '' }]
}

/** What other code changed after these transactions, and the balance that the first of them found. */
function balancesAround({ player, transactions }: PlayerHistory, { to, cursor }: Page): string[] {
  const [newest, oldest] = [transactions[0], transactions.at(-1)]
  const lines: string[] = []
  const isLast = to === undefined && cursor === undefined
  if (isLast && player !== null && newest !== undefined && newest.balanceAfter !== null) {
    const change = subtract(player.balance, newest.balanceAfter)
    if (!isZero(change))
      lines.push(`Other changes since the newest line: ${signed(money(change, player.currency))}.`)
  }
  if (oldest !== undefined && oldest.balanceAfter !== null) {
    const before = subtract(oldest.balanceAfter, oldest.delta)
    lines.push(`Before the oldest line the balance was ${money(before, player?.currency ?? null)}.`)
  }
  return lines.length === 0 ? [] : ['', ...lines]
}

const signed = (value: string) => (isNegative(value) || isZero(value) ? value : `+${value}`)

const decisionOf = ({ refusal }: RecordedTransaction) =>
  refusal === null ? 'accepted' : `refused ${refusal.errorCode}`

const decisionWithWords = (transaction: RecordedTransaction) =>
  transaction.refusal === null
    ? decisionOf(transaction)
    : `${decisionOf(transaction)} (${transaction.refusal.description})`

const betColumns: Column<RecordedBet>[] = [
  { title: 'Bet', text: ({ betId }) => betId },
  { title: 'State', text: betState },
  { title: 'Stake', right: true, text: ({ stake, currency }) => money(stake, currency) },
  creditColumn('Live', ({ live }) => live),
  creditColumn('Reversed', ({ reversed }) => (isZero(reversed) ? null : reversed)),
  creditColumn('Uncollected', ({ owed }) => (isZero(owed) ? null : owed)),
]

/** @param part its amounts are listed, each with its settlement type */
function creditColumn(title: string, part: (credit: Credit) => Decimal | null): Column<RecordedBet> {
  const text = ({ credits, currency }: RecordedBet) =>
    Object.entries(credits)
      .flatMap(([type, credit]) => {
        const value = part(credit)
        return value === null ? [] : [`${money(value, currency)} ${type}`]
      })
      .join(', ')
  return { title, text }
}

function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  const cells = rows.map(row => columns.map(({ text }) => text(row)))
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map(row => row[index]?.length ?? 0)),
  )
  const line = (texts: readonly string[]) =>
    texts
      .map((text, index) =>
        columns[index]?.right ? text.padStart(widths[index] ?? 0) : text.padEnd(widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return [line(columns.map(({ title }) => title)), ...cells.map(line)]
}

const listed = (title: string, items: readonly string[]): string[] =>
  items.map((item, index) => `${(index === 0 ? `${title}:` : '').padEnd(7)}${item}`)
