/** Per kind of difference, one sentence that says what happened, with the amounts. */
import { moneyText } from './amounts.js'
import type { Judgement } from './difference.js'
import { placeOf, type ReportRow, type WalletRecord } from './entry.js'

export function explanationOf(judged: Judgement): string {
  const { kind, row, record } = judged
  const isAlsoAcross =
    kind !== 'out-of-range' && row !== null && record !== null && row.inRange !== record.inRange
  return isAlsoAcross
    ? `${sentenceOf(judged)} It is also outside of the range on one side: recorded at ${record.recordedAt}.`
    : sentenceOf(judged)
}

function sentenceOf({ kind, row, record }: Judgement): string {
  const there = row as ReportRow
  const here = record as WalletRecord
  switch (kind) {
    case 'duplicate-in-wallet':
      return `The wallet's records have this ${here.operation} twice.`
    case 'other-player':
      return `The platform names player ${there.playerId}; the wallet recorded it for player ${here.playerId}.${caseText(there.playerId, here.playerId)}`
    case 'other-bet':
      return `The platform names bet ${there.betId}; the wallet recorded it for bet ${here.betId}.${caseText(there.betId, here.betId)}`
    case 'other-currency':
      return `The platform counts ${moneyText(there)}; the wallet moved ${moneyText(here)}.${caseText(there.currency, here.currency)}`
    case 'other-amount':
      return `The platform counts ${moneyText(there)}; the wallet moved ${moneyText(here)}.`
    case 'other-type':
      return `The platform counts it as ${there.type}; the wallet recorded ${here.type}.`
    case 'other-operation':
      return `The platform counts a ${there.operation} of ${moneyText(there)}; the wallet recorded a ${here.operation} under this transactionId.`
    case 'never-arrived':
      return `The platform counts a ${there.operation} of ${moneyText(there)}. The wallet has no record of it: it never arrived, or was answered without a record (a fault, or a refusal that is not final).`
    case 'lost-refusal':
      return `The platform knows this clawback as refused, so it nets the amount off later winnings. The wallet has no record of it: a restore or a failover lost it, say.`
    case 'refused-by-wallet':
      return `The platform counts ${moneyText(there)}; the wallet refused it with ${here.errorCode} and moved nothing.`
    case 'tombstone':
      return tombstoneText(row, record)
    case 'rolled-back-twice':
      return `${row === null ? 'The report does not have it' : `The platform counts ${moneyText(there)}`}; the bet was rolled back before, so this rollback moved nothing.`
    case 'missing-in-report':
      return `The wallet recorded a ${here.operation} of ${moneyText(here)} at ${here.recordedAt}, dated ${here.transactionDate}; the report does not have it.`
    case 'refused-by-platform':
      return `The wallet recorded a ${here.operation} of ${moneyText(here)} at ${here.recordedAt}; the platform counts it as refused.`
    case 'uncollected-clawback':
      return `The platform counts a clawback of ${moneyText(there)}. The player's funds did not cover it: the wallet refused it with ${here.errorCode} and moved nothing.`
    case 'other-transaction-id':
      return `The platform counts ${moneyText(there)} under ${there.transactionId}; the wallet moved it under ${here.transactionId}.${caseText(there.transactionId, here.transactionId)}`
    case 'duplicate-in-report':
      return `In the report, ${placeOf(there)} repeats the ${there.operation}: ${moneyText(there)} counted once more than it moved.`
    case 'conflicting-in-report':
      return `In the report, ${placeOf(there)} has the transactionId of another row, with other content (${moneyText(there)}): only one of the two was executed.`
    case 'repaired':
      return row === null
        ? `The wallet recorded a ${here.operation} of ${moneyText(here)} at ${here.recordedAt}; the report does not have it.`
        : `The platform counts ${moneyText(there)}${there.type === null ? '' : ` as ${there.type}`}; the wallet moved ${moneyText(here)}${here.type === null ? '' : ` as ${here.type}`}.`
    case 'out-of-range':
      return outsideText(there, here)
  }
}

function tombstoneText(row: ReportRow | null, record: WalletRecord | null): string {
  if (row?.operation === 'placebet') {
    const refused =
      record === null
        ? 'the bet never arrived'
        : `the bet came later and was refused with ${record.errorCode}`
    return `The platform counts a stake of ${moneyText(row)}. Its rollback arrived first, and ${refused}: nothing was debited.`
  }
  const counted =
    row === null ? 'The report does not have this rollback' : `The platform counts ${moneyText(row)}`
  return `${counted}. The bet never arrived before its rollback, so there was no stake to return: nothing moved.`
}

function outsideText(row: ReportRow, record: WalletRecord): string {
  const dated =
    row.transactionDate === null ? 'The report has it' : `The platform dates it ${row.transactionDate}`
  const outside = record.inRange || !row.inRange ? '' : ', outside of the range'
  return `${dated}${row.inRange ? '' : ', outside of the range'}; the wallet recorded it at ${record.recordedAt}${outside}.`
}

const caseText = (one: string | null, other: string | null) =>
  one !== other && one?.toLowerCase() === other?.toLowerCase()
    ? ' They differ in upper and lower case only.'
    : ''
