/** AU-99x: the balance after all other cases. */

import { compare, subtract } from '../../numbers/decimal.js'
import { casesOf } from '../audit-case.js'

export const books = casesOf({
  'AU-991': {
    name: 'The books balance: every stake of the audit was returned by its rollback, to the last digit',
    source: 'spec 3, 4.3',
    quote: 'placebet-undone',
    impact: 'Money is lost or created somewhere, and every day of operation adds to the difference.',
    role: 'books',
    async run({ expect, opening, money, run }) {
      for (const { id, before, after, hasSettled } of run.balances) {
        if (hasSettled || compare(before, after) === 0) continue
        const difference = subtract(after, before)
        const more = difference.units > 0n
        expect.fail(
          `balance ${money(before)} after all bets of ${id} were rolled back`,
          `${money(after)}, ${more ? 'too-much' : 'too-little'} (see the calls of ${id})`,
          null,
          { kind: 'balance', balance: { due: before, difference } },
        )
      }
      await expect.balance(opening, 'at the end of the audit')
    },
  },
})
