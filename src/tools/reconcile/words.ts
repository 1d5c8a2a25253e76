/** What a reconciliation found, in words that the table and the page share. */

import { countText, numberText } from '../html/figures.js'
import { isZero, signed } from './amounts.js'
import type { Difference } from './difference.js'
import type { Reconciliation } from './reconciliation.js'

export const verdictWords = {
  equal: 'Equal',
  different: 'Different',
  'wrong-report': 'Wrong report',
  'nothing-compared': 'Nothing compared',
}

export function verdictSentence({ verdict, wrongReport, rows, kinds, currencies }: Reconciliation): string {
  if (verdict === 'nothing-compared') {
    return 'Neither the report nor the wallet has a transaction in the range: nothing is proved.'
  }
  if (wrongReport !== null) return wrongReport.sentence
  const compared = `${numberText(rows.equal)} agree, of ${countText(rows.report, 'row')} in the report and ${countText(rows.wallet, 'transaction')} of the wallet`
  const refused =
    rows.refusedAlone === 0
      ? ''
      : ` ${countText(rows.refusedAlone, 'refusal')} of one side only changed no balance.`
  const credited =
    rows.creditedByOwnCode === 0
      ? ''
      : ` ${countText(rows.creditedByOwnCode, 'settlement was', 'settlements were')} credited by your own code: the bets hold the amounts, and no transaction records them.`
  if (verdict === 'equal') return `No differences: ${compared}.${refused}${credited}`
  const count = kinds.reduce((sum, kind) => sum + kind.count, 0)
  const sums = currencies
    .filter(({ difference }) => !isZero(difference))
    .map(({ currency, difference }) => moreOrLess(signed(difference, currency), currency))
  const money =
    sums.length === 0
      ? 'In total they cancel out.'
      : `In total, players have ${sums.join(', ')} in the wallet than in the report.`
  return `${countText(count, 'difference')}; ${compared}.${refused}${credited} ${money}`
}

/** `41.50 EUR less` for `-41.50`. */
const moreOrLess = (signedAmount: string, currency: string | null) =>
  `${signedAmount.slice(1)} ${currency ?? '(unknown currency)'} ${signedAmount.startsWith('-') ? 'less' : 'more'}`

/** `+12.50 EUR, -3 USD`; `0` without an effect. */
export function effectText(effects: Difference['effects']): string {
  return (
    effects.map(({ currency, amount }) => `${signed(amount, currency)} ${currency ?? '?'}`).join(', ') || '0'
  )
}

export function subjectOf({ report, wallet }: Difference) {
  const { operation, transactionId, betId } = (report ?? wallet) as NonNullable<Difference['report']>
  const playerId = report?.playerId ?? wallet?.playerId ?? null
  const type = report?.type ?? wallet?.type ?? null
  return { operation: type === null ? operation : `${operation} ${type}`, transactionId, betId, playerId }
}

/** `2026-11-21T00:00:00Z`: whole seconds are shorter. */
export const timeText = (iso: string) => iso.replace('.000Z', 'Z')
