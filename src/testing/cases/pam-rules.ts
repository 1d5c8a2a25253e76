/** Rules of the PAM: closed players, changed currencies, stakes that the store refuses. */
import type { CommitResult } from '../../store.js'
import { checkResult } from '../../store-checks.js'
import { type CaseContext, casesOf } from '../case-context.js'
import { addCredit, anna, leaveTombstone, placeBet, refuseBet, rollBackBet, settleBet } from '../changes.js'
import { platformOptions } from '../platform.js'
import { call } from '../platform-calls.js'
import { shown, shownResult } from '../trace.js'
import type { Wallet } from '../wallet.js'
import { commitBets, commitBetsOfOthers, expectTrueResults, otherPlayers } from './all-or-nothing.js'

export const pamRuleCases = casesOf({
  async 'WS-55 Guard 3: a debit of an unknown player is a conflict, and creates no player, bet or transaction (D16)'(
    wallet,
    context,
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
  'WS-56 A closed player is loaded as before, and credits and recorded refusals of the player are committed':
    {
      needs: ['closePlayer'],
      async run(wallet, context) {
        await placeTwoBets(wallet)
        context.trace.note('PAM', 'closes the account of anna')
        await wallet.hook('closePlayer', 'anna')
        await expectCreditsToBeCommitted(wallet)
      },
    },
  'WS-57 After a change of the currency, a bet keeps its own, and guard 3 checks the new one (D23)': {
    needs: ['changeCurrency'],
    async run(wallet, context: CaseContext) {
      await placeTwoBets(wallet)
      const before = await wallet.existingBet('b-1')
      context.trace.note('PAM', "changes anna's currency from EUR to SEK")
      await wallet.hook('changeCurrency', 'anna', 'SEK')

      const [player] = await wallet.accounts('anna')
      context.trace.check(player?.currency === 'SEK', 'the currency SEK for anna', player)
      await wallet.expectBet(before)
      const placed = await wallet.transaction('placebet', 't-1')
      context.check(placed?.currency === 'EUR', 'the currency EUR for the transaction t-1', placed)
      const why = 'the currency of the player is SEK'
      await wallet.expectConflict(placeBet('t-3', 'b-3', { stake: '1' }), why)
      await wallet.expectConflict(rollBackBet(before, 'r-1'), why)
      if (wallet.addsCredits)
        await wallet.expectConflict(addCredit(before, 's-1', '60', { player }), 'the bet is in EUR')
      const other = await wallet.committedBet(placeBet('t-4', 'b-4', { player, stake: '1' }))
      context.check(other.currency === 'SEK', 'the currency SEK for the bet b-4', other)
    },
  },
  'WS-58 A stake that the store refuses writes nothing, not even with a later commit on its connection, and the refusal is final (D6)':
    {
      needs: ['refuseBets'],
      players: [anna, ...otherPlayers],
      async run(wallet, context) {
        await refuseBetsOfAnna(context, wallet)
        const refused = await commitBets(wallet)
        const later = await commitBetsOfOthers(context, wallet)
        for (const { changes, result } of refused) {
          const expected = `${changes.transaction.transactionId} refused by the rule of the store`
          context.check(result.startsWith('refused '), expected, result)
        }
        await expectTrueResults(context, wallet, [...refused, ...later])
        await expectFinalRefusal(context, wallet)
      },
    },
  'WS-59 The store refuses debits only: credits and recorded refusals of the same player are committed (D6, D7)':
    {
      needs: ['refuseBets'],
      async run(wallet, context) {
        await placeTwoBets(wallet)
        await refuseBetsOfAnna(context, wallet)
        await expectCreditsToBeCommitted(wallet)
      },
    },
})

/** Anna has placed 30 on b-1 and 20 on b-2, and 50 are left. */
async function placeTwoBets(wallet: Wallet): Promise<void> {
  await wallet.expectCommitted(placeBet('t-1', 'b-1', { stake: '30' }))
  await wallet.expectCommitted(placeBet('t-2', 'b-2', { stake: '20' }))
}

export async function refuseBetsOfAnna({ trace }: CaseContext, wallet: Wallet): Promise<void> {
  trace.note('kit', 'makes the store refuse every stake of anna')
  await wallet.hook('refuseBets', 'anna')
}

/** Money goes back to a player who may not bet. What debits nothing is recorded. */
async function expectCreditsToBeCommitted(wallet: Wallet): Promise<void> {
  await wallet.expectBalance('anna', '50')
  const why = 'it debits nothing'
  const [first, second] = [await wallet.existingBet('b-1'), await wallet.existingBet('b-2')]
  await wallet.expectCommitted(rollBackBet(first, 'r-1'), why)
  await wallet.expectCommitted(settleBet(second, 's-2', '60'), why)
  await wallet.expectCommitted(refuseBet('t-3', 'b-3'), why)
  await wallet.expectCommitted(leaveTombstone('r-4', 'b-4'), why)
  await wallet.expectBalance('anna', '140')
}

/** The library records the refusal by a second commit, and replays it to a retry. */
async function expectFinalRefusal(context: CaseContext, { store }: Wallet): Promise<void> {
  // Both ways: the refused commit comes after a load, or before it.
  for (const [hook, number] of [
    ['authorizeBet', 9],
    ['none', 10],
  ] as const) {
    const changes = placeBet(`t-${number}`, `b-${number}`, { stake: '1' })
    const refused: CommitResult = checkResult(await store.commit(changes), changes)
    context.trace.check(
      refused.status === 'refused',
      'refused by the rule of the store',
      shownResult(refused),
    )
    const { transactionId, betId } = changes.transaction
    for (const replayed of [false, true]) {
      const request = { transactionId, betId, amount: '1' }
      const outcome = await call(context, store, 'placebet', request, platformOptions(hook))
      const isFinal =
        'errorCode' in outcome && outcome.replayed === replayed && outcome.errorCode === refused.errorCode
      const expected = `the refusal ${refused.errorCode}${replayed ? ', replayed' : ''}`
      context.check(isFinal, expected, shown(outcome))
    }
  }
}
