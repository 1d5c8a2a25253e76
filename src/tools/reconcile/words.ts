/** What a reconciliation found, in words that the table and the page share. */

import { countText, numberText } from '../html/figures.js'
import { isZero, signed } from './amounts.js'
import type { Gap } from './collection.js'
import type { Difference } from './difference.js'
import type { Reconciliation } from './reconciliation.js'

export const verdictWords = {
  equal: 'Equal',
  known: 'Known differences only',
  different: 'Different',
  'nothing-compared': 'Nothing compared',
}

/** Who repairs a difference. */
export const repairNames = { none: 'Nothing to do', platform: 'Platform', operator: 'Operator' }

export function verdictSentence({ verdict, rows, kinds, currencies, known }: Reconciliation): string {
  if (verdict === 'nothing-compared') {
    return 'Neither the report nor the wallet has a transaction in the range: nothing is proved.'
  }
  const compared = `${numberText(rows.equal)} agree, of ${countText(rows.report, 'row')} in the report and ${countText(rows.wallet, 'transaction')} of the wallet`
  const refused =
    rows.refusedAlone === 0
      ? ''
      : ` ${countText(rows.refusedAlone, 'refusal')} of one side only changed no balance.`
  if (verdict === 'equal') return `No differences: ${compared}.${refused}${knownText(known)}`
  if (verdict === 'known') return `No new differences: ${compared}.${knownText(known)}`
  const count = kinds.reduce((sum, kind) => sum + kind.count, 0)
  const sums = currencies
    .filter(({ difference }) => !isZero(difference))
    .map(({ currency, difference }) => moreOrLess(signed(difference, currency), currency))
  const money =
    sums.length === 0
      ? 'In total they cancel out.'
      : `In total, players have ${sums.join(', ')} in the wallet than in the report.`
  const open = kinds.reduce((sum, kind) => sum + kind.open, 0)
  const toDo =
    open === 0 ? ', none of which needs a repair' : open === count ? '' : `, ${numberText(open)} to clear up`
  return `${countText(count, 'difference')}${toDo}; ${compared}.${refused} ${money}${knownText(known)}`
}

/** `41.50 EUR less` for `-41.50`. */
const moreOrLess = (signedAmount: string, currency: string | null) =>
  `${signedAmount.slice(1)} ${currency ?? '(unknown currency)'} ${signedAmount.startsWith('-') ? 'less' : 'more'}`

/** Ids in a sentence. */
const idsMax = 5

function knownText({ count, effects, missing }: Reconciliation['known']): string {
  const left =
    count === 0 ? '' : ` ${countText(count, 'known difference')} left out, ${effectText(effects)} in all.`
  if (missing.length === 0) return left
  const ids = `${missing.slice(0, idsMax).join(', ')}${missing.length > idsMax ? ', …' : ''}`
  return `${left} ${countText(missing.length, 'known difference')} not found in this range any more: ${ids}.`
}

/** What a gap explains is not listed one by one, except calls that are to be sent. */
export const listed = (differences: readonly Difference[]) =>
  differences.filter(({ kind, gap }) => gap === null || kind === 'never-arrived')

/** `The report has nothing between … and …: 689 transactions of the wallet, -30.00 EUR.` */
export function gapText({ of, from, to, count, effects }: Gap): string {
  const others =
    of === 'report'
      ? countText(count, 'transaction of the wallet', 'transactions of the wallet')
      : countText(count, 'row of the report', 'rows of the report')
  const advice = of === 'report' ? ' It may be incomplete: get a complete one, and compare again.' : ''
  return `The ${of} has nothing between ${timeText(from)} and ${timeText(to)}: ${others}, ${effectText(effects)}.${advice}`
}

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
