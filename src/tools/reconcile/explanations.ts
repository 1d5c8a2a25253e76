/** Per kind of difference, one sentence that says what happened, with the amounts. */
import { moneyText, subtract } from './amounts.js'
import type { Judgement } from './difference.js'
import { placeOf, type ReportRow, type WalletRecord } from './entry.js'
import { similarOf } from './similar.js'

export function explanationOf(judged: Judgement): string {
  const { kind, row, record } = judged
  const isAlsoAcross =
    kind !== 'out-of-range' && row !== null && record !== null && row.inRange !== record.inRange
  const across = isAlsoAcross
    ? ` It is also outside of the range on one side: recorded at ${record.recordedAt}.`
    : ''
  return `${sentenceOf(judged)}${idsText(judged)}${across}`
}

function sentenceOf({ kind, row, record, credited, bet }: Judgement): string {
  const inReport = row as ReportRow
  const inWallet = record as WalletRecord
  switch (kind) {
    case 'duplicate-in-wallet':
      return `The wallet's records have this ${inWallet.operation} twice.`
    case 'other-player':
      return `The platform names player ${inReport.playerId}; the wallet recorded it for player ${inWallet.playerId}.${similarText(inReport.playerId, inWallet.playerId)}`
    case 'other-bet':
      return `The platform names bet ${inReport.betId}; the wallet recorded it for bet ${inWallet.betId}.${similarText(inReport.betId, inWallet.betId)}`
    case 'other-currency':
      return `The platform counts ${moneyText(inReport)}; the wallet moved ${moneyText(inWallet)}.${similarText(inReport.currency, inWallet.currency)}`
    case 'other-amount':
      return `The platform counts ${moneyText(inReport)}; the wallet moved ${moneyText(inWallet)}.`
    case 'other-type':
      return `The platform counts it as ${inReport.type}; the wallet recorded ${inWallet.type}.`
    case 'other-operation':
      return `The platform counts a ${inReport.operation} of ${moneyText(inReport)}; the wallet recorded a ${inWallet.operation} under this transactionId.`
    case 'never-arrived':
      return `The platform counts a ${inReport.operation} of ${moneyText(inReport)}. The wallet has no record of it: it never arrived, or was answered without a record (a fault, or a refusal that is not final).${bet === null && inReport.operation === 'settlement' ? ' Its bet was not looked up, so your own code may have credited it.' : ''}`
    case 'credited-in-part': {
      const { amount, currency } = inReport
      const missing = subtract(amount ?? '0', credited ?? '0')
      return `The platform counts a settlement of ${moneyText(inReport)}. ${moneyText({ amount: credited, currency })} of it was credited by your own code; ${moneyText({ amount: missing, currency })} is missing.`
    }
    case 'lost-refusal':
      return `The platform knows this clawback as refused, so it nets the amount off later winnings. The wallet has no record of it: a restore or a failover lost it, say.`
    case 'refused-by-wallet':
      return `The platform counts ${moneyText(inReport)}; the wallet refused it with ${inWallet.errorCode} and moved nothing.${whyText(inWallet)}`
    case 'tombstone':
      return tombstoneText(row, record)
    case 'rolled-back-twice':
      return `${row === null ? 'The report does not have it' : `The platform counts ${moneyText(inReport)}`}; the bet was rolled back before, so this rollback moved nothing.`
    case 'missing-in-report':
      return `The wallet recorded a ${inWallet.operation} of ${moneyText(inWallet)} at ${inWallet.recordedAt}, dated ${inWallet.transactionDate}; the report does not have it.`
    case 'refused-by-platform':
      return `The wallet recorded a ${inWallet.operation} of ${moneyText(inWallet)} at ${inWallet.recordedAt}; the platform counts it as refused.`
    case 'uncollected-clawback':
      return `The platform counts a clawback of ${moneyText(inReport)}. The wallet refused it with ${inWallet.errorCode} and moved nothing.${whyText(inWallet)}`
    case 'other-transaction-id':
      return `The platform counts ${moneyText(inReport)} under ${inReport.transactionId}; the wallet moved ${moneyText(inReport) === moneyText(inWallet) ? 'it' : moneyText(inWallet)} under ${inWallet.transactionId}.${similarText(inReport.transactionId, inWallet.transactionId)}`
    case 'duplicate-in-report':
      return `In the report, ${placeOf(inReport)} repeats the ${inReport.operation}: ${moneyText(inReport)} counted once more than it moved.`
    case 'conflicting-in-report':
      return `In the report, ${placeOf(inReport)} has the transactionId of another row, with other content (${moneyText(inReport)}): only one of the two was executed.`
    case 'out-of-range':
      return outsideText(inReport, inWallet)
  }
}

const whyText = ({ why }: WalletRecord) => (why === '' ? '' : ` ${why}`)

/** Where the sentence does not name both ids. */
const idsText = ({ kind, row, record }: Judgement) =>
  kind === 'other-transaction-id' || row === null || record === null
    ? ''
    : similarText(row.transactionId, record.transactionId, 'The ids')

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

/** Whether the two differ only in what a tool may have changed when it wrote the report. */
function similarText(one: string | null, other: string | null, subject = 'They'): string {
  if (one === null || other === null || one === other || similarOf(one) !== similarOf(other)) return ''
  const ways = [
    one.trim() === other.trim() ? [] : 'in upper and lower case',
    one.toLowerCase() === other.toLowerCase() ? [] : 'in spaces at their ends',
  ]
  return ` ${subject} differ ${ways.flat().join(' and ')} only.`
}
