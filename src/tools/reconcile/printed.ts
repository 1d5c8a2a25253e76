/** A reconciliation as a report: for a terminal, for finance, for the platform and for the archive. */

import { countText, durationText, numberText } from '../report/figures.js'
import { type Block, type Cell, type Finding, type Report, type Section, section } from '../report/model.js'
import { pageOf } from '../report/page.js'
import { textOf } from '../report/text.js'
import {
  amountText,
  type DecimalText,
  isNegative,
  isZero,
  magnitudeOf,
  moneyText,
  signed,
} from './amounts.js'
import type { KindTotal } from './collection.js'
import type { Difference } from './difference.js'
import type { Entry } from './entry.js'
import type { GroupSum } from './groups.js'
import type { Reconciliation } from './reconciliation.js'
import { type CurrencyTotal, isCounted, type SideTotal } from './totals.js'

/** The verdict, totals, differences with their bets, and the bets and players that differ most, as text. */
export const formatReconciliation = (reconciliation: Reconciliation): string =>
  textOf(reconciliationReport(reconciliation))

/** The same as one HTML page, which is self-contained and well-formed XML, without scripts. */
export const renderReconciliation = (reconciliation: Reconciliation): string =>
  pageOf(reconciliationReport(reconciliation))

const verdicts = {
  equal: { tone: 'pass', word: 'Equal' },
  different: { tone: 'fail', word: 'Different' },
  'wrong-report': { tone: 'fail', word: 'Wrong report' },
  'nothing-compared': { tone: 'warn', word: 'Nothing compared' },
} as const

export function reconciliationReport(reconciliation: Reconciliation): Report {
  const { verdict, from, to, timeZone, rows, kinds, differences, notes, durationMs } = reconciliation
  const { bets, betsOmitted, players, playersOmitted } = reconciliation
  const ignored = `${numberText(rows.outside)} outside of the range; ${numberText(rows.ignored)} ignored`
  return {
    title: `Reconciliation of ${timeText(from)} to ${timeText(to)}`,
    verdict: { ...verdicts[verdict], sentence: sentenceOf(reconciliation) },
    facts: [
      ['Days', timeZone],
      ['Report', `${countText(rows.report, 'row')}; ${ignored}`],
      ['Wallet', countText(rows.wallet, 'transaction')],
      ['Agree', numberText(rows.equal)],
      ['Duration', durationText(durationMs)],
    ],
    sections: [
      section('Totals', totalsTable(reconciliation)),
      section('Net for players', netTable(reconciliation)),
      section('Differences', ...kindsTable(reconciliation)),
      ...kinds.map(kind => sectionOf(kind, differences)),
      section('Bets that differ most', groupsTable('Bet', bets, betsOmitted)),
      section('Players that differ most', groupsTable('Player', players, playersOmitted)),
      section('What was not compared', { kind: 'list', items: notes }),
    ],
    footnotes: [
      "A positive amount: the player has that much more in the wallet than the platform counts. The report was compared with the wallet's records by operation and transactionId; amounts are exact.",
      ...(verdict === 'wrong-report'
        ? []
        : ['All differences together explain the totals to the last digit.']),
    ],
  }
}

function sentenceOf({ verdict, wrongReport, rows, kinds, currencies }: Reconciliation): string {
  if (wrongReport !== null) return wrongReport.sentence
  const { equal, report, wallet, refusedAlone, creditedByOwnCode: credited } = rows
  if (verdict === 'nothing-compared') {
    return report + wallet === 0
      ? 'Neither the report nor the wallet has a transaction in the range: nothing is proved.'
      : `${countText(report, 'row')} in the report and ${countText(wallet, 'transaction')} of the wallet are refusals of one side only: nothing is proved. Is it the database of this report?`
  }
  const agreed = [
    `${numberText(equal)} agree, of ${countText(report, 'row')} in the report and ${countText(wallet, 'transaction')} of the wallet.`,
    refusedAlone > 0 && `${countText(refusedAlone, 'refusal')} of one side only changed no balance.`,
    credited > 0 &&
      `${countText(credited, 'settlement was', 'settlements were')} credited by your own code: the bets hold the amounts, and no transaction records them.`,
  ]
    .filter(Boolean)
    .join(' ')
  if (verdict === 'equal') return `No differences: ${agreed}`
  const count = kinds.reduce((sum, kind) => sum + kind.count, 0)
  const sums = currencies.filter(({ difference }) => !isZero(difference)).map(moreOrLess)
  const money =
    sums.length === 0
      ? 'In total they cancel out.'
      : `In total, players have ${sums.join(', ')} in the wallet than in the report.`
  return `${countText(count, 'difference')}; ${agreed} ${money}`
}

/** `41.50 EUR less` for `-41.50`. */
const moreOrLess = ({ difference, currency }: CurrencyTotal) =>
  `${moneyText(magnitudeOf(difference), currency)} ${isNegative(difference) ? 'less' : 'more'}`

/** `2026-11-21T00:00:00Z`: whole seconds are shorter. */
const timeText = (iso: string) => iso.replace('.000Z', 'Z')

const number = (name: string) => ({ name, isNumber: true })

const differenceCell = (difference: DecimalText, currency: string | null): Cell => ({
  text: signed(difference, currency),
  tone: isZero(difference) ? 'none' : 'fail',
})
/** The change of the players' balances that each side counts. */
const changeCells = ({ currency, report, wallet, difference }: CurrencyTotal): Cell[] => [
  ...[signed(report, currency), signed(wallet, currency), differenceCell(difference, currency)],
]
const changeColumns = ['Report', 'Wallet', 'Difference'].map(number)

function totalsTable({ totals }: Reconciliation): Block {
  const side = ({ count, amount, refused }: SideTotal, currency: string | null) => [
    numberText(count),
    amountText(amount, currency),
    numberText(refused),
  ]
  const sides = ['Report', 'Amount', 'Refused', 'Wallet', 'Amount', 'Refused', 'Difference']
  return {
    kind: 'table',
    columns: [{ name: 'Day' }, { name: 'Operation' }, { name: 'Currency' }, ...sides.map(number)],
    rows: totals.map(({ day, operation, currency, report, wallet, difference }) => [
      ...[day || 'all', operation, currency ?? '?'],
      ...[...side(report, currency), ...side(wallet, currency), differenceCell(difference, currency)],
    ]),
  }
}

/** Of the currencies in which more than refusals is counted. */
function netTable({ currencies, totals }: Reconciliation): Block {
  const counted = new Set(totals.filter(isCounted).map(({ currency }) => currency))
  return {
    kind: 'table',
    columns: [{ name: 'Currency' }, ...changeColumns],
    rows: currencies
      .filter(({ currency }) => counted.has(currency))
      .map(each => [each.currency ?? '?', ...changeCells(each)]),
  }
}

/** `+12.50 EUR, -3 USD`; `0` without an effect. */
const effectText = (effects: Difference['effects']) =>
  effects.map(({ currency, amount }) => `${signed(amount, currency)} ${currency ?? '?'}`).join(', ') || '0'

function kindsTable({ kinds, differencesOmitted: omitted }: Reconciliation): Block[] {
  const rows = kinds.map(({ kind, title, count, effects }) => [
    { text: title, tone: 'none' as const, link: kind },
    ...[numberText(count), effectText(effects)],
  ])
  const columns = [{ name: 'Kind' }, number('Count'), number('Wallet compared with the report')]
  const text =
    omitted === 0 ? '' : `${countText(omitted, 'difference is', 'differences are')} in --lines alone.`
  return [
    { kind: 'table', columns, rows },
    { kind: 'text', text },
  ]
}

function sectionOf({ kind, title, sentence, count }: KindTotal, all: readonly Difference[]): Section {
  const ofKind = all.filter(difference => difference.kind === kind)
  const findings = ofKind.map((each, index) => ({ ...findingOf(each), ...(index === 0 && { anchor: kind }) }))
  return section(
    `${title}: ${numberText(count)}`,
    { kind: 'text', text: sentence },
    { kind: 'findings', findings, total: count },
  )
}

function findingOf({ report, wallet, effects, explanation, bet }: Difference): Finding {
  const { operation, transactionId, betId } = (report ?? wallet) as Entry
  const playerId = report?.playerId ?? wallet?.playerId ?? null
  const type = report?.type ?? wallet?.type ?? null
  return {
    tone: 'fail',
    mark: effectText(effects),
    name: `${type === null ? operation : `${operation} ${type}`} ${transactionId}`,
    title: `bet ${betId}${playerId === null ? '' : `, player ${playerId}`}`,
    sentence: explanation,
    facts: wallet === null ? [] : [['Wallet id', wallet.walletTransactionId]],
    code: bet === null ? [] : [['The bet in the wallet:', ...bet.map(line => `  ${line}`)].join('\n')],
  }
}

/** Where no money is counted on either side, sums say nothing. */
function groupsTable(name: string, groups: readonly GroupSum[], omitted: number): Block {
  const counted = groups.filter(({ report, wallet }) => !isZero(report) || !isZero(wallet))
  return {
    kind: 'table',
    columns: [{ name }, { name: 'Currency' }, number('Differences'), ...changeColumns],
    rows: counted.map(each => [
      ...[each.id ?? '(unknown)', each.currency ?? '?', numberText(each.count)],
      ...changeCells(each),
    ]),
    total: counted.length + omitted,
  }
}
