/** `addsCredits`: settlements that are committed without a load (D17). */
import { casesOf, type Run } from '../case-context.js'
import { addCredit, ben, leaveTombstone, placeBet, rollBackBet, settleBet, unsettleBet } from '../changes.js'
import { call } from '../platform-calls.js'

const rounds = 20

export const addedCreditCases = casesOf({
  'WS-110 Guard 2 of a credit: its bet exists, has its player and currency, and is not rolled back (D17)':
    ofStoresThatAdd(async wallet => {
      const bet = await wallet.committedBet(placeBet('t-1', 'b-1'))
      const unknown = { ...bet, betId: 'b-0' }
      await wallet.expectConflict(addCredit(unknown, 's-1', '60'), 'the bet does not exist')
      await wallet.expectConflict(addCredit(bet, 's-1', '60', { player: ben }), 'the bet is of anna')
      const inYen = addCredit(bet, 's-1', '60')
      if (inYen.credit !== null) inYen.credit.currency = 'JPY'
      await wallet.expectConflict(inYen, 'the bet is in EUR')
      const tombstone = await wallet.committedBet(leaveTombstone('r-2', 'b-2'))
      await wallet.expectConflict(addCredit(tombstone, 's-1', '60'), 'the bet was rolled back')
      await wallet.expectCommitted(addCredit(bet, 's-1', '60'))
      await wallet.expectCommitted(unsettleBet(await wallet.existingBet('b-1'), 'u-1'))
      await wallet.expectCommitted(rollBackBet(await wallet.existingBet('b-1'), 'r-1'))
      await wallet.expectConflict(addCredit(bet, 's-2', '0'), 'the bet was rolled back')
    }),
  'WS-111 A credit is added to what is live; what is reversed and owed stays, and the revision rises by one (D18)':
    ofStoresThatAdd(async wallet => {
      await wallet.expectCommitted(placeBet('t-1', 'b-1'))
      const before = () => wallet.existingBet('b-1')
      const credit = async (id: string, amount: string, type: 'BET_PAID' | 'VOIDED' | 'CASHOUT') => {
        const bet = await before()
        await wallet.expectCommitted(addCredit(bet, id, amount, { type }))
        await wallet.expectRecords(settleBet(bet, id, amount, { type }))
      }
      await credit('s-1', '0.1', 'BET_PAID')
      await credit('s-2', '0.2', 'BET_PAID')
      await credit('s-3', '0', 'VOIDED')
      await wallet.expectCommitted(unsettleBet(await before(), 'u-1'))
      await credit('s-4', '5', 'BET_PAID')
      await wallet.expectCommitted(unsettleBet(await before(), 'u-2', { uncollected: true }))
      await credit('s-5', '7', 'BET_PAID')
      await credit('s-6', '9', 'CASHOUT')
      await wallet.expectBalance('anna', '91')
    }),
  'WS-112 Guards 1 and 3 of a credit: the transaction is new, and the player has an account in the currency':
    ofStoresThatAdd(async wallet => {
      for (const id of ['b-1', 'b-2']) await wallet.expectCommitted(placeBet(id, id))
      const [first, second] = [await wallet.existingBet('b-1'), await wallet.existingBet('b-2')]
      const inYen = addCredit(first, 's-1', '60')
      await wallet.expectConflict(
        { ...inYen, account: { ...inYen.account, currency: 'JPY' } },
        'anna has no account in JPY',
      )
      await wallet.expectCommitted(addCredit(first, 's-1', '60'))
      await wallet.expectConflict(addCredit(second, 's-1', '60'), 'the transaction is recorded')
      await wallet.expectConflict(settleBet(first, 's-2', '5'), 'the bet has changed')
      await wallet.expectBalance('anna', '100')
    }),
  'WS-113 Of a credit and the rollback of its bet at the same time exactly one is committed (D12, D17)':
    ofStoresThatAdd(async (wallet, context) => {
      let balance = 100
      for (let round = 0; round < rounds; round += 1) {
        const id = `b-${round}`
        const bet = await wallet.committedBet(placeBet(id, id, { stake: '1' }))
        const both = [addCredit(bet, `s-${round}`, '4'), rollBackBet(bet, `r-${round}`)]
        const results = await Promise.all(
          (round % 2 === 0 ? both : both.reverse()).map(changes => wallet.commit(changes)),
        )
        const committed = results.filter(({ status }) => status === 'committed').length
        context.check(committed === 1, 'one of both to be committed, and a conflict', results)
        const { status } = await wallet.existingBet(id)
        balance += status === 'ROLLED_BACK' ? 0 : 3
        await wallet.expectBalance('anna', String(balance))
      }
    }),
  'WS-114 Concurrently, settlements of one bet are all credited, each once (D17)': ofStoresThatAdd(
    async (wallet, context) => {
      for (let round = 0; round < rounds; round += 1) {
        const betId = `b-${round}`
        await wallet.expectCommitted(placeBet(betId, betId, { stake: '1' }))
        const settlements = ['1', '2', '4'].map(amount => ({
          ...{ betId, playerId: 'anna', currency: 'EUR', type: 'BET_PAID' },
          ...{ amount, transactionId: `s-${round}-${amount}` },
        }))
        const twice = [...settlements, ...settlements]
        const answers = await Promise.all(
          twice.map(settlement => call(context, wallet.store, 'settlement', settlement)),
        )
        context.check(
          answers.every(({ ok }) => ok),
          'a success of each',
          answers,
        )
        const { credits } = await wallet.existingBet(betId)
        context.expectAmount(credits.BET_PAID?.live, '7', 'live')
        await wallet.expectBalance('anna', String(100 + 6 * (round + 1)))
      }
      context.expectCredits()
    },
  ),
})

/** Passes for a store that has no `addsCredits`, and says so. */
function ofStoresThatAdd(run: Run): Run {
  return async (wallet, context) => {
    if (wallet.addsCredits) return await run(wallet, context)
    context.remark = 'nothing to play: the store has no addsCredits'
  }
}
