/** What `perform` does with a batch that is over: an answer for each entry, or two smaller batches. */
import { callHook } from '../hooks.js'
import { answerBy, type Entry } from './queue.js'

/** How the rows of a batch answer its entries. */
export interface RowAnswers<Item, Result, Row> {
  /** The index of the entry that a row belongs to, from 0. */
  indexOf(row: Row): number
  /** Answers an entry by its row. An entry for which it throws is rejected with that error. */
  answer(entry: Entry<Item, Result>, row: Row): void
  /** The error of an entry that has no row. */
  missing(): unknown
}

/**
 * Answers every entry by its row. An entry whose row is missing or unreadable is rejected; the others are not
 * affected. Of several rows for one entry, the first counts.
 */
export function answerEach<Item, Result, Row>(
  entries: readonly Entry<Item, Result>[],
  rows: readonly Row[],
  { indexOf, answer, missing }: RowAnswers<Item, Result, Row>,
): void {
  const unanswered: (Entry<Item, Result> | undefined)[] = [...entries]
  for (const row of rows) {
    const index = callHook('indexOf', () => indexOf(row))
    const entry = unanswered[index]
    if (entry === undefined) continue
    unanswered[index] = undefined
    answerBy(entry, () => answer(entry, row))
  }
  for (const entry of unanswered) entry?.reject(callHook('missing', missing))
}

/**
 * Performs the two halves of a failed batch, one after the other. Repeated bisection isolates the entry that
 * causes the failure.
 */
export async function bisect<T>(
  entries: readonly T[],
  perform: (half: readonly T[]) => Promise<void>,
): Promise<void> {
  const middle = Math.ceil(entries.length / 2)
  await perform(entries.slice(0, middle))
  await perform(entries.slice(middle))
}
