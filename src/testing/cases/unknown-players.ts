/** A placebet is committed without a load: the guards also meet players who do not exist. */
import { type CaseContext, casesOf } from '../case-context.js'
import { anna, placeBet } from '../changes.js'
import { shown, shownResult } from '../trace.js'

export const unknownPlayerCases = casesOf({
  async 'WS-55 Guard 3: a debit of an unknown player is a conflict, and creates no player, bet or transaction (D16)'(
    wallet,
    context: CaseContext,
  ) {
    const player = { ...anna, playerId: 'unknown-player' }
    const changes = placeBet('t-1', 'b-1', { player })
    const result = await wallet.commit(changes).then(shownResult, shown)
    context.check(result === 'conflict', 'conflict, because the player is unknown', result)
    const created = await wallet.accounts('unknown-player')
    context.check(created.length === 0, 'no player unknown-player', created)
    // Neither the transactionId nor the betId is used up.
    await wallet.expectCommitted(placeBet('t-1', 'b-1'))
  },
})
