/**
 * Checks the end of every schedule in two ways, because each sees what the other misses. First: some
 * sequential order gives the same answers and the same final state, and keeps the order of requests that did
 * not overlap. Second: the money adds up.
 */
import { letters } from './alphabet.js'
import type { Ending } from './handler.js'
import { balanceExisted, euros, type Violation, violationOfStore, violationsOfEnd } from './money.js'
import { betsOf, type Effect, Oracle, type Results, recordOf, recordsText } from './oracle.js'
import type { StateSpace, StoreState } from './state-space.js'

export const someOrder = 'answers and final state are those of some sequential order'

/**
 * The fault of a schedule. `lost` and `refused` are added to the slot of the request that met it. `stale`: any
 * number of loads returned old records.
 */
export const faults = { none: 0, harmless: 1, lost: 2, refused: 5, stale: 8 } as const

/** The end of a schedule. */
export interface End {
  word: readonly number[]
  store: number
  fault: number
  endings: readonly Ending[]
  /** Bit `i * 3 + j`: request i was answered before request j began. */
  before: number
}

interface Verdict {
  /** Violated invariants of the money. */
  violations: readonly Violation[]
  /** The orders that explain the end; see {@link Results}. */
  orders: readonly number[]
}

export class Checker {
  readonly #space: StateSpace
  readonly #oracle: Oracle
  readonly #violationsOfStores: (Violation | null)[] = []
  readonly #bets: string[] = []
  readonly #records: string[] = []
  /** The current word. The caches below belong to it. */
  #word: readonly number[] = []
  readonly #verdicts = new Map<string, Verdict>()
  readonly #results = new Map<string, Results>()

  constructor(space: StateSpace) {
    this.#space = space
    this.#oracle = new Oracle(space.start)
  }

  begin(word: readonly number[]): void {
    this.#word = word
    this.#verdicts.clear()
    this.#results.clear()
  }

  store(number: number): Violation | null {
    const known = this.#violationsOfStores[number]
    if (known !== undefined) return known
    const { observed } = this.#space.stores[number] as StoreState
    const violation = violationOfStore(observed)
    this.#violationsOfStores[number] = violation
    return violation
  }

  /** @param key identifies `end` without `before`, and is cheap to build */
  end(key: string, end: () => Omit<End, 'before'>, before: number): readonly string[] {
    let verdict = this.#verdicts.get(key)
    if (verdict === undefined) {
      verdict = this.#verdictOn(end())
      this.#verdicts.set(key, verdict)
    }
    const { violations, orders } = verdict
    const explained = orders.some(over => (before & ~over) === 0)
    if (explained && violations.length === 0) return []
    return [...(explained ? [] : [someOrder]), ...violations.map(({ invariant }) => invariant)]
  }

  /** The same with expected and actual values. */
  explain(end: End): readonly Violation[] {
    this.begin(end.word)
    const { violations, orders } = this.#verdictOn(end)
    if (orders.some(over => (end.before & ~over) === 0)) return violations
    const readable = (result: string) =>
      result.replaceAll('|', ' | ').replace('#', end.word.length === 0 ? '' : '; then ')
    const possible = [...this.#resultsOf(end)].map(([result]) => readable(result))
    const expected =
      possible.length === 0
        ? 'an answer that the faults of this schedule permit'
        : [...new Set(possible)].sort().join('\n         or: ')
    const reordered =
      orders.length > 0 ? ' (only in an order that puts a later request before an earlier one)' : ''
    return [
      { invariant: someOrder, expected, actual: readable(this.#result(end)) + reordered },
      ...violations,
    ]
  }

  #verdictOn(end: Omit<End, 'before'>): Verdict {
    const { observed } = this.#space.stores[end.store] as StoreState
    const answered = end.word.map((letter, slot) => ({
      letter: letters[letter] as (typeof letters)[number],
      ending: end.endings[slot] as Ending,
    }))
    return {
      violations: violationsOfEnd(observed, [...this.#space.before, ...answered]),
      orders: this.#resultsOf(end).get(this.#result(end)) ?? [],
    }
  }

  #result({ word, store, endings }: Omit<End, 'before'>): string {
    const { observed } = this.#space.stores[store] as StoreState
    this.#bets[store] ??= betsOf(observed)
    const records = recordsText(word, letter => {
      const key = store * letters.length + letter
      this.#records[key] ??= recordOf(observed, letter)
      return this.#records[key] as string
    })
    return `${endings.map(ending => ending.text).join('|')}#${this.#bets[store]}${records}`
  }

  #resultsOf({ fault, endings }: Omit<End, 'before'>): Results {
    const key = `${fault} ${endings.map(ending => (ending.fault === null ? '' : ending.text)).join('|')}`
    const known = this.#results.get(key)
    if (known !== undefined) return known
    const effects = effectsOf(fault, endings, this.#space.conflictsMayEnd)
    const texts = endings.map(({ text }) => text)
    const results: Results = effects === null ? new Map() : this.#oracle.results(this.#word, effects, texts)
    this.#results.set(key, results)
    return results
  }
}

/** `null`: a fault without a cause in this schedule. */
function effectsOf(fault: number, endings: readonly Ending[], conflictsMayEnd: boolean): Effect[] | null {
  const effects: Effect[] = []
  for (const [slot, ending] of endings.entries()) {
    if (ending.fault === 'no-changes') {
      // Each attempt after a stale load may end in a conflict.
      const mayConflict = conflictsMayEnd || fault === faults.stale
      const caused = ending.text === 'fault CONFLICT' ? mayConflict : fault === faults.harmless
      if (!caused) return null
      effects.push('not-done')
    } else if (ending.fault === 'unknown') {
      if (fault !== faults.lost + slot) return null
      effects.push('unknown')
    } else if (fault === faults.lost + slot) effects.push('recovered')
    else effects.push(fault === faults.refused + slot ? 'answered-or-refused-by-store' : 'answered')
  }
  return effects
}

export const answeredBalance = (ending: Ending, had: readonly number[]): Violation => ({
  invariant: balanceExisted,
  expected: `one of ${had.map(euros).join(', ')}`,
  actual: euros(ending.balance ?? 0),
})
