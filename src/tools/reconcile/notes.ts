/** What the report does not say is not compared, and the result says so. */
import { countText } from '../report/figures.js'
import type { ReportRow } from './entry.js'
import { operationTypes } from './mapping.js'
import type { OpenedReport } from './report-rows.js'

/** Counts the rows that lack a value which others have. */
export class Unstated {
  amounts = 0
  players = 0
  types = 0

  add({ operation, accepted, amount, playerId, type }: ReportRow): void {
    if (amount === null && accepted) this.amounts += 1
    if (playerId === null) this.players += 1
    if (type === null && operationTypes(operation) !== null) this.types += 1
  }

  notes({ has, hasTypes }: OpenedReport): string[] {
    const { amounts, players, types } = this
    const rows = (count: number, what: string) =>
      `${countText(count, 'row')} ${count === 1 ? 'states' : 'state'} no ${what}`
    const notes: [applies: boolean, note: string][] = [
      [!has('playerId'), 'The report has no players: they were not compared.'],
      [!hasTypes, 'The report has no types of settlements: they were not compared.'],
      [
        !has('transactionDate'),
        'The report has no dates: all of its rows count in the range, and days are not compared.',
      ],
      [!has('status'), 'The report has no statuses: all of its rows count as accepted.'],
      [amounts > 0, `${rows(amounts, 'amount')}: what the wallet moved is counted.`],
      [has('playerId') && players > 0, `${rows(players, 'player')}: it is not compared.`],
      [hasTypes && types > 0, `${rows(types, 'type')}: it is not compared.`],
    ]
    return notes.flatMap(([applies, note]) => (applies ? [note] : []))
  }
}
