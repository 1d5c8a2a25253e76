/** AU-98x: the calls that were answered with a fault (5xx), or not at all, during the whole audit. */
import { casesOf } from '../audit-case.js'
import { describeOutages } from '../retries.js'

export const availability = casesOf({
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
})
