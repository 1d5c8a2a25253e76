/**
 * Two judges, because each is blind where the other sees. One asks whether some order, one after the other, gives the
 * same answers and the same end: an order in which whoever was answered before another began comes before it. The
 * other counts the money.
 */
import { letters } from './alphabet.js'
import type { Ending } from './handler.js'
import { euros, type Flaw, flawOfStore, flawsOfEnd, hadIt } from './money.js'
import { betsOf, type Fate, Oracle, type Results, recordOf, recordsText } from './oracle.js'
import type { StoreState, Universe } from './universe.js'

export const someOrder = 'verdicts and end are those of some order'

/** Which fault there was in a schedule, and whom it met: `lost` and `refused` plus the slot. */
export const faults = { none: 0, harmless: 1, lost: 2, refused: 5 } as const

/** How a schedule ended. */
export interface End {
  word: readonly number[]
  store: number
  fault: number
  endings: readonly Ending[]
  /** Bit `i * 3 + j`: i was answered before j began. */
  before: number
}

interface Verdict {
  /** Of the money. */
  flaws: readonly Flaw[]
  /** The orders that explain it; see {@link Results}. */
  orders: readonly number[]
}

export class Judge {
  readonly #universe: Universe
  readonly #oracle: Oracle
  readonly #flawsOfStores: (Flaw | null)[] = []
  readonly #bets: string[] = []
  readonly #records: string[] = []
  /** Of the present word. */
  #word: readonly number[] = []
  readonly #verdicts = new Map<string, Verdict>()
  readonly #results = new Map<string, Results>()

  constructor(universe: Universe) {
    this.#universe = universe
    this.#oracle = new Oracle(universe.start)
  }

  begin(word: readonly number[]): void {
    this.#word = word
    this.#verdicts.clear()
    this.#results.clear()
  }

  store(number: number): Flaw | null {
    const known = this.#flawsOfStores[number]
    if (known !== undefined) return known
    const { world } = this.#universe.stores[number] as StoreState
    const flaw = flawOfStore(world)
    this.#flawsOfStores[number] = flaw
    return flaw
  }

  /** @param key all of `end` but `before`, as text that is quickly made */
  end(key: string, end: () => Omit<End, 'before'>, before: number): readonly string[] {
    let verdict = this.#verdicts.get(key)
    if (verdict === undefined) {
      verdict = this.#verdictOn(end())
      this.#verdicts.set(key, verdict)
    }
    const { flaws, orders } = verdict
    const explained = orders.some(over => (before & ~over) === 0)
    if (explained && flaws.length === 0) return []
    return [...(explained ? [] : [someOrder]), ...flaws.map(({ broken }) => broken)]
  }

  /** The same at length. */
  explain(end: End): readonly Flaw[] {
    this.begin(end.word)
    const { flaws, orders } = this.#verdictOn(end)
    if (orders.some(over => (end.before & ~over) === 0)) return flaws
    const words = (result: string) =>
      result.replaceAll('|', ' | ').replace('#', end.word.length === 0 ? '' : '; then ')
    const possible = [...this.#resultsOf(end)].map(([result]) => words(result))
    const expected =
      possible.length === 0
        ? 'an answer that the faults of this schedule allow'
        : [...new Set(possible)].sort().join('\n         or: ')
    const untimely =
      orders.length > 0 ? ' (only in an order that puts a later request before an earlier one)' : ''
    return [{ broken: someOrder, expected, found: words(this.#result(end)) + untimely }, ...flaws]
  }

  #verdictOn(end: Omit<End, 'before'>): Verdict {
    const { world } = this.#universe.stores[end.store] as StoreState
    const answered = end.word.map((letter, slot) => ({
      letter: letters[letter] as (typeof letters)[number],
      ending: end.endings[slot] as Ending,
    }))
    return {
      flaws: flawsOfEnd(world, [...this.#universe.before, ...answered]),
      orders: this.#resultsOf(end).get(this.#result(end)) ?? [],
    }
  }

  #result({ word, store, endings }: Omit<End, 'before'>): string {
    const { world } = this.#universe.stores[store] as StoreState
    this.#bets[store] ??= betsOf(world)
    const records = recordsText(word, letter => {
      const key = store * letters.length + letter
      this.#records[key] ??= recordOf(world, letter)
      return this.#records[key] as string
    })
    return `${endings.map(ending => ending.text).join('|')}#${this.#bets[store]}${records}`
  }

  #resultsOf({ fault, endings }: Omit<End, 'before'>): Results {
    const key = `${fault} ${endings.map(ending => (ending.fault === null ? '' : ending.text)).join('|')}`
    const known = this.#results.get(key)
    if (known !== undefined) return known
    const fates = fatesOf(fault, endings, this.#universe.conflictsMayEnd)
    const texts = endings.map(({ text }) => text)
    const results: Results = fates === null ? new Map() : this.#oracle.results(this.#word, fates, texts)
    this.#results.set(key, results)
    return results
  }
}

/** `null`: a fault that nobody caused. */
function fatesOf(fault: number, endings: readonly Ending[], conflictsMayEnd: boolean): Fate[] | null {
  const fates: Fate[] = []
  for (const [slot, ending] of endings.entries()) {
    if (ending.fault === 'certain') {
      const caused = ending.text === 'fault CONFLICT' ? conflictsMayEnd : fault === faults.harmless
      if (!caused) return null
      fates.push('not done')
    } else if (ending.fault === 'unknown') {
      if (fault !== faults.lost + slot) return null
      fates.push('unknown')
    } else if (fault === faults.lost + slot) fates.push('looked up')
    else fates.push(fault === faults.refused + slot ? 'answered or refused by the house' : 'answered')
  }
  return fates
}

export const answeredBalance = (ending: Ending, had: readonly number[]): Flaw => ({
  broken: hadIt,
  expected: `one of ${had.map(euros).join(', ')}`,
  found: euros(ending.balance ?? 0),
})
