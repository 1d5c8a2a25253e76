/** What each side says of a difference. What its kind means is said once, above all of the kind. */
import { difference, moneyText } from './amounts.js'
import type { Judgement } from './difference.js'
import { placeOf, type ReportRow, type WalletRecord } from './entry.js'
import { differingFields } from './pairs.js'

export function explanationOf(judged: Judgement): string {
  const { kind, row, record } = judged
  const differing = row === null || record === null ? [] : differingFields(row, record)
  const fields = differing.map(({ field }) => field)
  const sentences = [
    row === null ? noRow : `In the report, ${placeOf(row)}: ${sideText(row, 'refused', fields)}.`,
    record === null
      ? 'The wallet has no record of it.'
      : `In the wallet: ${sideText(record, `refused with ${record.errorCode}`, fields)}, recorded at ${record.recordedAt}.`,
    record?.why ?? '',
    creditedText(judged),
  ]
  // The report may have the first of the two records.
  return (kind === 'duplicate-in-wallet' ? sentences.slice(1) : sentences).filter(Boolean).join(' ')
}

const noRow = 'The report does not have it.'

/** Beside the money, as the sides differ in them. */
const valueNames = { playerId: 'player', betId: 'bet', type: 'type' } as const
const valueFields = Object.keys(valueNames) as (keyof typeof valueNames)[]

function sideText(entry: ReportRow | WalletRecord, refusal: string, differing: readonly string[]): string {
  const { accepted, transactionDate, inRange } = entry
  return [
    accepted ? moneyText(entry) : refusal,
    ...valueFields.map(field => differing.includes(field) && `${valueNames[field]} ${entry[field]}`),
    transactionDate && `dated ${transactionDate}`,
    !inRange && 'outside of the range',
  ]
    .filter(Boolean)
    .join(', ')
}

function creditedText({ kind, row, credited, bet }: Judgement): string {
  if (row === null || row.operation !== 'settlement') return ''
  const { amount, currency } = row
  if (credited !== null)
    return `${moneyText({ amount: credited, currency })} of it was credited by your own code; ${moneyText({ amount: difference(amount ?? '0', credited), currency })} is missing.`
  return kind === 'never-arrived' && bet === null
    ? 'Its bet was not looked up, so your own code may have credited it.'
    : ''
}
