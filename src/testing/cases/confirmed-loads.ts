/** `loadConfirmed`: the same records as `load`, from a database that can commit at that moment. */
import type { WalletSnapshot } from '../../store.js'
import { type CaseContext, casesOf } from '../case-context.js'
import { anna, keys, placeBet, settleBet } from '../changes.js'
import { shown } from '../trace.js'
import { pictureOf, type Wallet } from '../wallet.js'

const unknownPlayer = { ...anna, playerId: 'unknown' }

/** So many loads come and go while `loadConfirmed` must still wait. */
const loadsMeanwhile = 16

export const confirmedLoadCases = casesOf({
  async 'WS-115 The snapshot of a conflict, if the store returns it, has the records as they are now'(
    wallet,
  ) {
    const bet = await wallet.committedBet(placeBet('t-1', 'b-1'))
    await wallet.expectConflict(placeBet('t-1', 'b-1'), 'the transaction is recorded')
    await wallet.expectConflict(settleBet({ ...bet, betId: 'b-0' }, 's-1', '60'), 'the bet does not exist')
    await wallet.expectCommitted(settleBet(bet, 's-1', '60'))
    await wallet.expectConflict(settleBet(bet, 's-2', '60'), 'the bet has changed')
    await wallet.expectConflict(placeBet('t-2', 'b-2', { stake: '1000' }), 'anna has less')
    await wallet.expectConflict(placeBet('t-3', 'b-3', { player: unknownPlayer }), 'the player is unknown')
  },
  async 'WS-53 loadConfirmed, if the store has it, returns the same records as load'(wallet, context) {
    await expectSame(context, wallet)
    const bet = await wallet.committedBet(placeBet('t-1', 'b-1'))
    await expectSame(context, wallet)
    await wallet.expectCommitted(settleBet(bet, 's-1', '60'))
    await expectSame(context, wallet)
  },
  'WS-54 While the database cannot commit durably, loadConfirmed does not answer': {
    needs: ['stopReplication'],
    async run(wallet, context: CaseContext) {
      const { store } = wallet
      const { loadConfirmed } = store
      context.trace.check(loadConfirmed !== undefined, 'a store with loadConfirmed', 'none')
      await wallet.expectCommitted(placeBet('t-1', 'b-1'))
      context.trace.note('kit', 'stops the replication')
      const resume = await wallet.hook('stopReplication')
      context.check(typeof resume === 'function', 'stopReplication to return a function', resume)
      const answers: WalletSnapshot[] = []
      const confirmed = loadConfirmed(keys).then(
        answer => void answers.push(answer),
        () => undefined, // a rejection is no answer: 503
      )
      try {
        for (let load = 0; load < loadsMeanwhile; load += 1) await wallet.opened.store.load(keys)
        context.check(answers.length === 0, 'no answer while no replica confirms a commit', shown(answers[0]))
      } finally {
        context.trace.note('kit', 'resumes the replication')
        await resume()
      }
      await context.withTimeout('loadConfirmed to end after the replication has resumed', confirmed)
      await expectSame(context, wallet)
    },
  },
})

async function expectSame(context: CaseContext, { store }: Wallet): Promise<void> {
  if (store.loadConfirmed === undefined) return
  const expected = shown(pictureOf(await store.load(keys)))
  const actual = shown(pictureOf(await store.loadConfirmed(keys)))
  context.check(actual === expected, `the same as load: ${expected}`, actual)
}
