/** What each side says of a difference. What its kind means is said once, above all of the kind. */
import { difference, moneyText } from './amounts.js'
import type { Difference, Judgement } from './difference.js'
import { placeOf, type ReportRow, type WalletRecord } from './entry.js'

/** @param differing the values that differ */
export function explanationOf(judged: Judgement, differing: Difference['fields']): string {
  const { kind, row, record } = judged
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
  const { accepted, amount, currency, transactionDate, inRange } = entry
  return [
    accepted ? moneyText(amount, currency) : refusal,
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
    return `${moneyText(credited, currency)} of it was credited by your own code; ${moneyText(difference(amount ?? '0', credited), currency)} is missing.`
  return kind === 'never-arrived' && bet === null
    ? 'Its bet was not looked up, so your own code may have credited it.'
    : ''
}
