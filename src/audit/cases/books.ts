/** AU-99x: what is left when all is done. */
import type { AuditCase } from '../case.js'
import { compare, subtract } from '../decimal.js'

export const books: readonly AuditCase[] = [
  {
    id: 'AU-991',
    level: 'MUST',
    title: 'The books close: what was staked in the audit came back with its rollback, to the last digit',
    source: 'spec 3, 4.3',
    impact: 'Money is lost or made somewhere, and every day of operation adds to it.',
    async play(stage) {
      for (const { id, before, after, settled } of stage.books) {
        if (settled || compare(before, after) === 0) continue
        const more = subtract(after, before).units > 0n
        stage.fail(
          `balance ${stage.money(before)} after everything of ${id} was rolled back`,
          `${stage.money(after)}, ${more ? 'too much' : 'too little'} (see the exchanges of ${id})`,
        )
      }
      await stage.holds(stage.opening, 'at the end')
    },
  },
]
