/** A bet as a report, for a dispute: in words that support can read to the player. */
import { explainBet } from '../../lookups/bet-explanation.js'
import { stateOf } from '../../lookups/bet-state.js'
import { money } from '../../lookups/money-text.js'
import { owedOf } from '../../lookups/owed.js'
import type { BetHistory, RecordedTransaction } from '../../lookups/records.js'
import { isLegacy } from '../../lookups/steps.js'
import { add, isZero } from '../../money.js'
import { countText, momentText } from '../report/figures.js'
import { type Fact, type Report, section } from '../report/model.js'
import {
  balancesOf,
  changes,
  footnotes,
  happened,
  recorded,
  type Shown,
  sentenceOf,
  signedMoney,
  tableOf,
  termsOf,
} from './calls.js'

export function betReport(history: BetHistory): Report {
  const { betId, playerId, currency, verdict, steps, now, notes } = explainBet(history)
  const transactions = steps.map(({ transaction }) => transaction)
  const strangers = [...new Set(transactions.map(transaction => transaction.playerId))]
    .filter(id => id !== playerId)
    .map(id => `Player ${id} is named by a transaction too.`)
  return {
    title: `Bet ${betId} of player ${playerId}`,
    verdict: { tone: 'none', word: stateOf(history), sentence: sumOf(transactions, { playerId, currency }) },
    facts: answersOf(history, transactions, { playerId, currency }),
    sections: [
      section(
        'What happened',
        tableOf([recorded, happened, ...changes({ playerId, currency })], transactions),
      ),
      termsOf(transactions),
      section('Now', { kind: 'list', items: [verdict, ...now] }),
      section('Notes', { kind: 'list', items: [...strangers, ...notes] }),
    ],
    footnotes,
  }
}

/** Of the balance of the bet's own player. */
function sumOf(transactions: readonly RecordedTransaction[], { playerId, currency }: Shown): string {
  const own = transactions.filter(transaction => transaction.playerId === playerId)
  const sum = own.reduce((total, { delta }) => add(total, delta), '0')
  return `${signedMoney(sum, currency)} in sum, by these calls`
}

/** Of an id that nothing names. */
export const unknownBetReport = (betId: string): Report => ({
  title: `Bet ${betId} is unknown`,
  verdict: {
    tone: 'none',
    word: 'Unknown',
    sentence:
      'the wallet has neither a bet nor a recorded call of this id. Ids are compared exactly: upper and lower case, and spaces.',
  },
  sections: [
    section('What that means', {
      kind: 'list',
      items: [
        'The call of a bet leaves no record if it did not arrive, failed in the wallet, had wrong credentials or an invalid body, or named an unknown player: then it debited nothing.',
        'A bet from before this wallet was in use is known only if it was imported.',
      ],
    }),
  ],
})

/** The questions of players and of finance. */
function answersOf(
  history: BetHistory,
  transactions: readonly RecordedTransaction[],
  account: Shown,
): Fact[] {
  const of = (wanted: (transaction: RecordedTransaction) => boolean) =>
    answerOf(transactions.filter(wanted), account)
  const isBet = ({ operation }: RecordedTransaction) => operation === 'placebet'
  const owed = owedOf(history.bet ?? { credits: {} })
  const facts: (readonly [string, string | null])[] = [
    ['Stake', of(each => isBet(each) && each.refusal === null) ?? withoutPlacebet(history)],
    ['Refused', of(each => isBet(each) && each.refusal !== null)],
    ['Result', of(({ type }) => resultTypes.includes(type)) ?? withoutResult(history)],
    [
      'Refund',
      of(({ operation, type }) => operation === 'rollbackbet' || refundTypes.includes(type)) ??
        withoutRefund(history),
    ],
    [
      'Owed',
      isZero(owed)
        ? null
        : `${money(owed, account.currency)}, to the platform: it nets this off later winnings.`,
    ],
  ]
  return facts.flatMap(([name, text]) => (text === null ? [] : [[name, text] as const]))
}

/** What was credited, and what was taken back of it: in the order of time. */
const resultTypes: readonly (string | null)[] = ['BET_PAID', 'CASHOUT', 'UNSCORED']
const refundTypes: readonly (string | null)[] = ['VOIDED', 'UNVOIDED']

const answeredMax = 3

/** The sentences of the last of these calls, each with its time and the balance; `null` without calls. */
function answerOf(transactions: readonly RecordedTransaction[], { playerId }: Shown): string | null {
  if (transactions.length === 0) return null
  const shown = transactions.slice(-answeredMax)
  const more = transactions.length - shown.length
  const sentences = shown.map(transaction => {
    const balances = transaction.playerId === playerId ? balancesOf(transaction) : null
    const change =
      balances === null || balances.before === balances.after
        ? ''
        : `, and the balance went from ${balances.before} to ${balances.after}`
    return `${sentenceOf(transaction)} That was on ${momentText(transaction.recordedAt)}${change}.`
  })
  return [...(more > 0 ? [`Before that ${countText(more, 'call')}, below.`] : []), ...sentences].join(' ')
}

const withoutResult = (history: BetHistory) => (stateOf(history) === 'Open' ? 'None has arrived.' : null)

function withoutRefund({ bet }: BetHistory): string | null {
  if (bet === null) return null
  const { status, credits } = bet
  if (status === 'ROLLED_BACK') return `The bet was rolled back ${byOthers}`
  if (credits.VOIDED === undefined) return 'None: no rollback and no void has arrived.'
  return `The bet was declared void ${byOthers}${credits.VOIDED.live === null ? ' That was taken back.' : ''}`
}

const byOthers = 'before this wallet was in use, or by other code.'

const withoutPlacebet = (history: BetHistory) =>
  isLegacy(history) && history.bet !== null
    ? `${money(history.bet.stake, history.bet.currency)}, debited ${byOthers}`
    : 'Nothing was debited.'
