/** What the report does not say is not compared, and the result says so. */
import { countText } from '../html/figures.js'
import type { NotCompared, ReportRow } from './entry.js'
import { operationTypes } from './mapping.js'
import type { OpenedReport } from './report-rows.js'

/** @param notes takes a sentence for each column that the report lacks */
export function notComparedBy({ has, hasTypes }: OpenedReport, notes: string[]): NotCompared {
  const notCompared = { playerId: !has('playerId'), type: !hasTypes, day: !has('transactionDate') }
  if (notCompared.playerId) notes.push('The report has no players: they were not compared.')
  if (notCompared.type) notes.push('The report has no types of settlements: they were not compared.')
  if (notCompared.day)
    notes.push('The report has no dates: all of its rows count in the range, and days are not compared.')
  if (!has('status')) notes.push('The report has no statuses: all of its rows count as accepted.')
  return notCompared
}

/** Counts the rows that lack a value which others have. */
export class Unstated {
  #amounts = 0
  #players = 0
  #types = 0

  add({ operation, accepted, amount, playerId, type }: ReportRow): void {
    if (amount === null && accepted) this.#amounts += 1
    if (playerId === null) this.#players += 1
    if (type === null && operationTypes(operation) !== null) this.#types += 1
  }

  notes(notCompared: NotCompared): string[] {
    const note = (count: number, what: string, so: string) =>
      count === 0 ? [] : [`${countText(count, 'row')} ${count === 1 ? 'states' : 'state'} no ${what}: ${so}.`]
    return [
      ...note(this.#amounts, 'amount', 'what the wallet moved is counted'),
      ...note(notCompared.playerId ? 0 : this.#players, 'player', 'it is not compared'),
      ...note(notCompared.type ? 0 : this.#types, 'type', 'it is not compared'),
    ]
  }
}
