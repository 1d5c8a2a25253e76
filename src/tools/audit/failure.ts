/** A failed case as the report shows it: what was found, what it costs, and the call to look at. */

import { type Decimal, subtract, textOf } from '../platform/decimal.js'
import type { AuditCase } from './audit-case.js'
import { callThatChanged, changeBy } from './balance-changes.js'
import { impactOf } from './impact.js'
import type { AuditFailure } from './report.js'
import type { CaseFailed, Stage } from './stage.js'

/** Before the clean-up: reads the balance if an answer showed a wrong one, to tell which of both is wrong. */
export async function failureOf(
  item: AuditCase,
  stage: Stage,
  { expected, actual, exchangeIndex, found, isPreparation }: CaseFailed,
): Promise<AuditFailure> {
  let { kind } = found
  let difference: Decimal | null = found.balance?.difference ?? null
  let index = exchangeIndex
  if (kind === 'balance' && found.balance !== undefined && index !== null) {
    const { due } = found.balance
    if (!stage.exchanges[index]?.isReading) {
      const { balance } = await stage.readBalance()
      if (balance !== null) difference = subtract(balance, due)
    }
    if (difference?.units === 0n) [kind, difference] = ['shown balance', null]
    else
      index = callThatChanged(
        stage.exchanges,
        stage.opening,
        stage.rightUntil,
        index,
        difference ?? found.balance.difference,
      )
  }
  const change =
    kind === 'accepted' && index !== null ? changeBy(stage.exchanges, stage.opening, index) : difference
  return {
    kind,
    difference: difference === null ? null : textOf(difference, stage.settings.minorUnits),
    expected,
    actual,
    ...(isPreparation ? { isPreparation } : {}),
    impact: impactOf(isPreparation ? null : item, kind, stage.exchanges[index ?? -1], change, amount =>
      stage.money(amount),
    ),
    quote: isPreparation ? null : (item.quote ?? null),
    exchangeIndex: index,
  }
}
