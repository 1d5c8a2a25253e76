/** Commits that wait for a player whom another writer has locked, and give up. */
import { type CaseContext, casesOf } from '../case-context.js'
import { anna } from '../changes.js'
import { callHook } from '../hook-calls.js'
import type { Wallet } from '../wallet.js'
import { commitBets, commitBetsOfOthers, expectTrueResults, otherPlayers } from './all-or-nothing.js'

/** The time for the commits to give up, as a multiple of `timeoutMs`: by default more than MySQL waits. */
const givingUpFactor = 2

export const lockWaitCases = casesOf({
  'WS-49 A commit that gives up waiting for a locked player writes nothing, not even with a later commit on its connection':
    {
      needs: ['holdPlayer'],
      players: [anna, ...otherPlayers],
      async run(wallet, context) {
        const givenUp = await commitBetsWhileHeld(context, wallet)
        const later = await commitBetsOfOthers(context, wallet)
        await expectTrueResults(context, wallet, [...givenUp, ...later])
      },
    },
})

/** Commits bets of anna while another writer holds her, and releases her as soon as they have ended. */
export async function commitBetsWhileHeld(
  context: CaseContext,
  wallet: Wallet,
): Promise<Awaited<ReturnType<typeof commitBets>>> {
  const { trace, options } = context
  trace.note('PAM', 'locks anna, and keeps her locked')
  const held = await wallet.hook('holdPlayer', 'anna', 'EUR')
  context.check(typeof held?.release === 'function', 'holdPlayer to return { release }', held)
  let ended = false
  const attempts = commitBets(wallet).finally(() => {
    ended = true
  })
  const waitMsMax = givingUpFactor * options.timeoutMs
  await context.atMost(waitMsMax, attempts)
  if (!ended) context.remark = `no commit gave up: they waited ${waitMsMax} ms for the player`
  trace.note('PAM', 'releases anna')
  await callHook(trace, 'holdPlayer', () => held.release())
  return context.withTimeout('the commits to end after the player is released', attempts)
}
