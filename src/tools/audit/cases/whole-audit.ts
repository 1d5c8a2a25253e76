/** AU-98x, AU-99x: what all other cases together have shown. */

import { compare, subtract } from '../../numbers/decimal.js'
import { casesOf } from '../audit-case.js'
import { describeOutages } from '../retries.js'

export const wholeAudit = casesOf({
  'AU-981': {
    level: 'SHOULD',
    name: 'Every call of the platform is answered, and none with a fault (5xx)',
    source: 'D9',
    impact:
      'Each fault is a bet that the platform rolls back and the player does not get, or a call that it repeats.',
    async run({ expect, run }) {
      if (run.outages.all.length === 0) return
      expect.fail(
        'no 5xx and no call without an answer',
        describeOutages(run.outages.all, run.client.requests),
      )
    },
  },
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
          `${money(after)}, ${more ? 'too much' : 'too little'} (see the calls of ${id})`,
          null,
          { kind: 'balance', balance: { expected: before, difference } },
        )
      }
      await expect.balance(opening, 'at the end of the audit')
    },
  },
})
