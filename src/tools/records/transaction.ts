/** Every operation that has used an id, as a report. */
import { money } from '../../lookups/money-text.js'
import type { RecordedTransaction } from '../../lookups/records.js'
import { countText } from '../report/figures.js'
import { type Report, section } from '../report/model.js'
import { betId, changes, happened, playerId, recorded, tableOf, termsOf } from './calls.js'

export function transactionReport(transactionId: string, found: readonly RecordedTransaction[]): Report {
  const columns = [
    ...[recorded, playerId, betId, happened],
    {
      name: 'Amount',
      isNumber: true,
      text: ({ amount, currency }: RecordedTransaction) => (amount === null ? '' : money(amount, currency)),
    },
    ...changes({ playerId: null, currency: null }),
  ]
  return {
    title: `Transaction ${transactionId}${found.length === 0 ? ' is unknown' : ''}`,
    verdict: {
      tone: 'none',
      word: found.length === 0 ? 'Unknown' : 'Recorded',
      sentence:
        found.length === 0
          ? 'no operation has recorded this id. Ids are compared exactly (D24).'
          : `by ${countText(found.length, 'operation')}.`,
    },
    sections: [
      section('What happened', tableOf(columns, found)),
      termsOf(found),
      section('What that means', { kind: 'list', items: found.length === 0 ? unrecorded : [] }),
    ],
  }
}

const unrecorded = [
  'A call leaves no record if it did not arrive, was answered with a fault (5xx), failed authentication, was malformed, or was refused in a way that a retry may still turn into a success (D8).',
]
