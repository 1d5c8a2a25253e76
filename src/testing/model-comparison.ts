/** Compares answers and stored bets with the model. */
import type { Bet, SettlementType } from '../store.js'
import type { HistoryStep, Model, ModelAnswer, ModelBet } from './model.js'
import { toCents } from './platform.js'

/** Whether some sequential order of the steps leads to these answers and this final state. */
export function someOrderExplains(
  model: Model,
  steps: readonly { step: HistoryStep; answer: ModelAnswer }[],
  same: (step: HistoryStep, expected: ModelAnswer, answer: ModelAnswer) => boolean,
  isFinalState: (model: Model) => boolean,
): boolean {
  if (steps.length === 0) return isFinalState(model)
  return steps.some(({ step, answer }, index) => {
    const next = model.copy()
    if (!same(step, next.perform(step), answer)) return false
    return someOrderExplains(next, steps.toSpliced(index, 1), same, isFinalState)
  })
}

/** Compares `replayed` too: of the copies of a request, exactly one is the first. */
export function sameAnswer(_step: HistoryStep, expected: ModelAnswer, answer: ModelAnswer): boolean {
  if (typeof expected === 'string' || typeof answer === 'string') return expected === answer
  if (expected.replayed !== answer.replayed) return false
  return expected.ok
    ? answer.ok && expected.balance === answer.balance && expected.currency === answer.currency
    : !answer.ok && expected.errorCode === answer.errorCode
}

export function sameModelBet(a: ModelBet | null, b: ModelBet | null): boolean {
  if (a === null || b === null) return a === b
  return (
    a.playerId === b.playerId &&
    a.currency === b.currency &&
    a.stake === b.stake &&
    a.rolledBack === b.rolledBack &&
    a.owed === b.owed &&
    a.live.size === b.live.size &&
    [...a.live].every(([type, live]) => b.live.get(type) === live)
  )
}

/** The amounts of one settlement type, 0 where the bet has none. */
export function creditOf({ credits }: Bet, type: SettlementType) {
  const { live, reversed, owed } = credits[type] ?? { live: null, reversed: '0', owed: '0' }
  return { live: toCents(live ?? '0'), reversed: toCents(reversed), owed: toCents(owed) }
}

/** A stored bet in the shape of the model. */
export function toModelBet(bet: Bet | null): ModelBet | null {
  if (bet === null) return null
  const types = (Object.keys(bet.credits) as SettlementType[]).sort()
  return {
    playerId: bet.playerId,
    currency: bet.currency,
    stake: toCents(bet.stake),
    rolledBack: bet.status === 'ROLLED_BACK',
    owed: types.reduce((sum, type) => sum + creditOf(bet, type).owed, 0n),
    live: new Map(
      types
        .filter(type => (bet.credits[type]?.live ?? null) !== null)
        .map(type => [type, creditOf(bet, type).live]),
    ),
  }
}
