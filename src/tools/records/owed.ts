/** What is owed to the platform, as a report: the sum of each currency, and bet by bet. */
import { money } from '../../lookups/money-text.js'
import type { OwedReport } from '../../lookups/owed.js'
import { countText } from '../report/figures.js'
import { type Report, section } from '../report/model.js'
import { timeText } from './calls.js'

export function owedReport({ totals, bets, withoutTime }: OwedReport): Report {
  const sums = totals.map(
    ({ owed, currency, bets: count }) => `${money(owed, currency)}, of ${countText(count, 'bet')}`,
  )
  const left = `; left out: ${countText(withoutTime, 'bet')}, imported with what is owed, and without the time of the refusal`
  const sentence = `${sums.join('; ') || 'nothing'}${withoutTime === 0 ? '' : left}`
  return {
    title: 'Owed to the platform',
    verdict: { tone: 'none', word: 'Owed', sentence },
    sections: [
      section('Bets', {
        kind: 'table',
        columns: [
          ...[{ name: 'Refused (UTC)' }, { name: 'Player' }, { name: 'Bet' }, { name: 'Unsettlement' }],
          { name: 'Owed', isNumber: true },
        ],
        rows: bets.map(({ refusedAt, playerId, betId, transactionIds, owed, currency }) => [
          ...[refusedAt === null ? 'imported' : timeText(refusedAt), playerId, betId],
          ...[transactionIds.join(', '), money(owed, currency)],
        ]),
      }),
      section('Notes', { kind: 'list', items: bets.length + withoutTime === 0 ? [] : notes }),
    ],
  }
}

const notes = [
  "The platform asked for these amounts back, and the player's balance did not cover them, or this wallet cannot debit.",
  "The platform nets them off later winnings. The wallet cannot know what it has netted off since: compare with the platform's own statement. No later call debits them here (D7).",
]
