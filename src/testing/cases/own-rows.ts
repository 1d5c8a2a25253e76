/** The PAM's own rows of a commit: they must be in its database transaction, whatever becomes of it. */
import { type CaseContext, casesOf, concurrently } from '../case-context.js'
import { anna, ben, placeBet, refuseBet, rollBackBet, settleBet } from '../changes.js'
import { faultyStore } from '../faulty-store.js'
import { call } from '../platform-calls.js'
import type { Wallet } from '../wallet.js'
import { commitBets, commitBetsOfOthers, otherPlayers } from './all-or-nothing.js'
import { whileHeld } from './held-commits.js'
import { commitBetsWhileHeld } from './lock-waits.js'
import { refuseBetsOfAnna } from './pam-rules.js'

export const ownRowCases = casesOf({
  'WS-91 The PAM’s own rows are one per recorded movement, none for conflicts, refusals and lost commits': {
    needs: ['ownRows'],
    async run(wallet, context) {
      await moveAndConflict(wallet)
      await wallet.expectOwnRows()
      await loseCommits(context, wallet)
      await wallet.expectOwnRows()
    },
  },
  'WS-92 Own rows are one per recorded movement, also if a commit of the same batch is refused': {
    needs: ['ownRows', 'refuseBets'],
    players: [anna, ...otherPlayers],
    async run(wallet, context) {
      await refuseBetsOfAnna(context, wallet)
      await Promise.all([commitBetsOfOthers(context, wallet), commitBets(wallet)])
      await wallet.expectOwnRows()
    },
  },
  'WS-93 A commit that gives up waiting for a locked player leaves no own row': {
    needs: ['ownRows', 'holdPlayer'],
    players: [anna, ...otherPlayers],
    async run(wallet, context) {
      await commitBetsWhileHeld(context, wallet)
      await wallet.expectOwnRows()
      await commitBets(wallet)
      await wallet.expectOwnRows()
    },
  },
  'WS-94 A crash during a commit leaves its own row with the whole commit, or none': {
    needs: ['ownRows', 'crash', 'holdCommit'],
    async run(before, context) {
      await whileHeld(context, before, placeBet('t-1', 'b-1'), async () => {
        const after = await before.connectBy('crash')
        await after.expectOwnRows()
        await after.commit(placeBet('t-1', 'b-1'))
        await after.expectOwnRows()
      })
    },
  },
})

async function moveAndConflict(wallet: Wallet): Promise<void> {
  await wallet.expectCommitted(placeBet('t-1', 'b-1'))
  await wallet.expectConflict(placeBet('t-1', 'b-9'), 'the transaction is recorded')
  await wallet.expectConflict(placeBet('t-2', 'b-2', { stake: '70.01' }), 'the funds do not suffice')
  await wallet.expectCommitted(refuseBet('t-2', 'b-2'))
  await wallet.expectCommitted(placeBet('t-3', 'b-3', { player: ben, stake: '0' }))
  await wallet.expectCommitted(settleBet(await wallet.existingBet('b-1'), 's-1', '45.50'))
  await concurrently(8, () => wallet.commit(placeBet('t-4', 'b-4', { player: ben })))
  await wallet.expectCommitted(rollBackBet(await wallet.existingBet('b-4', 'ben'), 'r-4', { player: ben }))
}

async function loseCommits(context: CaseContext, { store }: Wallet): Promise<void> {
  const faulty = faultyStore(store)
  for (const [number, fault] of (['lost-request', 'lost-answer', 'delayed'] as const).entries()) {
    const fields = { transactionId: `lost-${number}`, betId: `lost-${number}`, amount: '10' }
    context.trace.note('kit', `injects a fault: ${fault}`)
    faulty.failNext(fault)
    await call(context, faulty, 'placebet', fields)
    await call(context, faulty, 'placebet', fields)
    await faulty.deliverDelayed()
  }
}
