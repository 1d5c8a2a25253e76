/** Accounts per currency (D28): a commit names its account, also where nothing moves. */
import type { Account } from '../../store.js'
import { casesOf, concurrently } from '../case-context.js'
import { anna, leaveTombstone, placeBet, refuseBet, rollBackBet } from '../changes.js'
import { sameAmount } from '../equality.js'
import { callHook } from '../hook-calls.js'
import { call } from '../platform-calls.js'
import { shown } from '../trace.js'
import type { Wallet } from '../wallet.js'
import { runHistories, runSchedules } from './histories.js'

const euros: Account = { playerId: 'dora', currency: 'EUR', balance: '100.00' }
const yen: Account = { playerId: 'dora', currency: 'JPY', balance: '5000' }
/** The home account is not the first by code. */
const home = { defaultCurrency: 'JPY' }
/** Loads first: then the commits of both calls are decided on the same state. */
const loading = { ...home, authorizeBet() {} }

const of = { needs: ['accountPerCurrency'], players: [yen, euros] } as const

export const accountCases = casesOf({
  async 'WS-100 Guard 3 of a commit that moves nothing: without an account in its currency it is a conflict (D28)'(
    wallet,
  ) {
    const player = { ...anna, currency: 'SEK' }
    const why = 'the player has no account in SEK'
    await wallet.expectConflict(refuseBet('t-1', 'b-1', { player }), why)
    await wallet.expectConflict(leaveTombstone('r-1', 'b-1', { player }), why)
    await wallet.expectConflict(placeBet('t-1', 'b-1', { player, stake: '0' }), why)
    await wallet.expectCommitted(placeBet('t-1', 'b-1', { stake: '0' }))
  },
  'WS-101 load returns all accounts of a player, and a transaction with the currency of its account (D28)': {
    ...of,
    async run(wallet, context) {
      const accounts = await wallet.accounts('dora')
      const found = [yen, euros].map(({ currency }) => accounts.filter(each => each.currency === currency))
      const isComplete = accounts.length === 2 && found.every(each => each.length === 1)
      context.check(isComplete, 'two accounts of dora, in EUR and JPY', accounts)
      await expectBoth(wallet, '100', '5000')
      // The currency of the call is another one.
      const refused = refuseBet('t-1', 'b-1', { player: yen })
      refused.transaction.currency = 'SEK'
      await wallet.expectCommitted(refused)
      await wallet.expectRecords(refused)
    },
  },
  'WS-102 A commit changes the account that it names, no other one of its player, and answers its balance (D28)':
    {
      ...of,
      async run(wallet, context) {
        const expectAnswer = async (changes: ReturnType<typeof placeBet>, balance: string) => {
          const { account } = changes
          const answer = await wallet.expectCommitted(changes)
          context.check(sameAmount(answer.balance, balance), `${balance} ${account.currency}`, answer)
        }
        await expectAnswer(placeBet('t-1', 'b-1', { player: yen, stake: '300' }), '4700')
        await expectAnswer(placeBet('t-2', 'b-2', { player: euros, stake: '30.01' }), '69.99')
        await expectAnswer(leaveTombstone('r-3', 'b-3', { player: yen }), '4700')
        await expectAnswer(refuseBet('t-4', 'b-4', { player: euros }), '69.99')
        await expectBoth(wallet, '69.99', '4700')
        await expectAnswer(
          rollBackBet(await wallet.existingBet('b-1', 'dora'), 'r-1', { player: yen }),
          '5000',
        )
        await concurrently(16, index => {
          const of = index % 2 === 0 ? { player: euros, stake: '1' } : { player: yen, stake: '10' }
          return wallet.expectCommitted(placeBet(`c-${index}`, `c-${index}`, of))
        })
        await expectBoth(wallet, '61.99', '4920')
      },
    },
  'WS-103 Guard 3: the funds of another account of the player do not cover a debit (D20, D28)': {
    ...of,
    async run(wallet) {
      const above = placeBet('t-1', 'b-1', { player: euros, stake: '100.01' })
      await wallet.expectConflict(above, 'the account in EUR has 100')
      await wallet.expectCommitted(placeBet('t-2', 'b-2', { player: euros, stake: '100' }))
      await wallet.expectCommitted(placeBet('t-3', 'b-3', { player: yen, stake: '5000' }))
      await expectBoth(wallet, '0', '0')
    },
  },
  'WS-104 A locked account does not delay the commits for another account of its player (D28)': {
    ...of,
    needs: ['accountPerCurrency', 'holdPlayer'],
    async run(wallet, context) {
      context.trace.note('PAM', 'locks the account of dora in JPY')
      const held = await wallet.hook('holdPlayer', 'dora', 'JPY')
      try {
        const commit = wallet.commit(placeBet('t-1', 'b-1', { player: euros }))
        const result = await context.withTimeout('the commit for the account in EUR to end', commit)
        context.check(result.status === 'committed', 'committed, beside the lock', result)
      } finally {
        await callHook(context.trace, 'holdPlayer', () => held.release())
      }
      await expectBoth(wallet, '70', '5000')
    },
  },
  'WS-105 Concurrently, a placebet and the rollback of its bet, which name two accounts, leave the stake where it was (D11, D28)':
    {
      ...of,
      async run(wallet, context) {
        for (let round = 0; round < 40; round += 1) {
          const ids = { betId: `b-${round}`, playerId: 'dora' }
          const rollback = async () => {
            for (let step = 0; step < round / 2; step += 1) await undefined
            return call(context, wallet.store, 'rollbackbet', { ...ids, transactionId: `r-${round}` }, home)
          }
          const options = round % 2 === 0 ? loading : home
          const answers = await Promise.all([
            call(context, wallet.store, 'placebet', { ...ids, transactionId: `t-${round}` }, options),
            rollback(),
          ])
          context.check(answers[1].ok, 'the rollback to succeed', shown(answers))
          const bet = await wallet.existingBet(ids.betId, 'dora')
          context.check(bet.status === 'ROLLED_BACK', 'a bet that is rolled back', bet)
          await expectBoth(wallet, '100', '5000')
        }
      },
    },
  'WS-106 Random histories of a player with two accounts get the answers and the final state of the model (D28)':
    { needs: of.needs, runAlone: context => runHistories(context, true) },
  'WS-107 Concurrent requests of a player with two accounts get answers that some sequential order explains (D28)':
    { needs: of.needs, runAlone: context => runSchedules(context, true) },
})

async function expectBoth(wallet: Wallet, inEuros: string, inYen: string): Promise<void> {
  await wallet.expectBalance('dora', inEuros, null, 'EUR')
  await wallet.expectBalance('dora', inYen, null, 'JPY')
}
