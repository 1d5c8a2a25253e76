/** External writers: PAM code changes balances and bets beside the library. */
import type { CommitResult, WalletChanges } from '../../store.js'
import { type CaseContext, casesOf, concurrently } from '../case-context.js'
import { keys, placeBet, rollBackBet, settleBet, transactionDate, unsettleBet } from '../changes.js'
import type { Wallet } from '../wallet.js'
import { whileHeld } from './held-commits.js'

export const otherWriterCases = casesOf({
  'WS-75 load returns a balance that includes external deposits': {
    needs: ['depositExternally'],
    async run(wallet, context) {
      await wallet.expectBalance('anna', '100') // a cache filled by this read must not be used below
      await deposit(context, wallet, '50.25')
      await wallet.expectBalance('anna', '150.25')
    },
  },
  'WS-76 A deposit between load and commit is kept and causes no conflict': {
    needs: ['depositExternally'],
    async run(wallet, context) {
      await wallet.store.load(keys)
      await deposit(context, wallet, '50')
      const { balance } = await wallet.expectCommitted(placeBet('t-1', 'b-1'))
      context.expectAmount(balance, '120', 'in the answer')
      await wallet.expectBalance('anna', '120')
    },
  },
  'WS-77 A withdrawal between load and commit counts: commit checks the floor against the current balance': {
    needs: ['depositExternally'],
    async run(wallet, context) {
      await wallet.store.load(keys)
      await deposit(context, wallet, '-90')
      // No read in between: a store that caches still has the balance from before the withdrawal.
      const result = await wallet.commit(placeBet('t-1', 'b-1'))
      context.check(result.status === 'conflict', 'conflict, because 10 does not cover 30', result)
      await wallet.expectBalance('anna', '10')
    },
  },
  'WS-78 Concurrent external deposits and bets are all in the balance': {
    needs: ['depositExternally'],
    async run(wallet, context) {
      const count = 8
      const bets = concurrently(count, index =>
        wallet.commit(placeBet(`t-${index}`, `b-${index}`, { stake: '2' })),
      )
      const deposits = (async () => {
        for (let index = 0; index < count; index += 1) await deposit(context, wallet, '3')
      })()
      const [results] = await Promise.all([bets, deposits])
      const debited = results.filter(({ status }) => status === 'committed').length
      await wallet.expectBalance('anna', String(100 + 3 * count - 2 * debited))
    },
  },
  'WS-79 A commit does not overwrite a deposit that is made while the commit is in progress': {
    needs: ['depositExternally', 'holdCommit'],
    async run(wallet, context) {
      const changes = placeBet('t-1', 'b-1')
      const result = await writeDuring(context, wallet, changes, () => deposit(context, wallet, '50'))
      const committed = result.status === 'committed'
      context.check(committed || result.status === 'conflict', 'committed or conflict', result)
      await wallet.expectBalance('anna', committed ? '120' : '150', 'it includes the deposit of 50')
    },
  },
  'WS-80 An external settlement is a live credit of the bet and is in the balance': {
    needs: ['settleExternally'],
    async run(wallet, context) {
      await wallet.expectCommitted(placeBet('t-1', 'b-1'))
      await settleExternally(context, wallet, 'pam-1', '60')
      await wallet.expectBalance('anna', '130')
      const paid = await wallet.existingBet('b-1')
      context.expectAmount(paid.credits.BET_PAID?.live, '60', 'live for BET_PAID')
      await wallet.expectCommitted(unsettleBet(paid, 'u-1'))
      await wallet.expectBalance('anna', '70')
    },
  },
  'WS-81 An external settlement increases the revision: a rollback based on the bet before it is a conflict':
    {
      needs: ['settleExternally'],
      async run(wallet, context) {
        const before = await wallet.committedBet(placeBet('t-1', 'b-1'))
        await settleExternally(context, wallet, 'pam-1', '60')
        const after = await wallet.existingBet('b-1')
        context.check(after.revision > before.revision, `a revision above ${before.revision}`, after.revision)
        const result = await wallet.commit(rollBackBet(before, 'r-1'))
        context.check(result.status === 'conflict', 'conflict, because the bet has been settled', result)
        await wallet.expectBalance('anna', '130')
      },
    },
  'WS-82 An external settlement does not revive an uncollected clawback: only the new credit is live (D7)': {
    needs: ['settleExternally'],
    async run(wallet, context) {
      await wallet.expectCommitted(placeBet('t-1', 'b-1'))
      await settleExternally(context, wallet, 'pam-1', '60')
      const paid = await wallet.existingBet('b-1')
      await wallet.expectCommitted(unsettleBet(paid, 'u-1', { uncollected: true }))
      await settleExternally(context, wallet, 'pam-2', '40')
      const owing = await wallet.existingBet('b-1')
      context.expectAmount(owing.credits.BET_PAID?.live, '40', 'live')
      context.expectAmount(owing.credits.BET_PAID?.owed, '60', 'owed')
      await wallet.expectCommitted(settleBet(owing, 's-9', '5'))
      await wallet.expectBalance('anna', '175')
    },
  },
  'WS-83 A commit does not overwrite an external settlement that is made while the commit is in progress': {
    needs: ['settleExternally', 'holdCommit'],
    async run(wallet, context) {
      const before = await wallet.committedBet(placeBet('t-1', 'b-1'))
      const changes = settleBet(before, 's-1', '5', { type: 'VOIDED' })
      const result = await writeDuring(context, wallet, changes, () =>
        settleExternally(context, wallet, 'pam-1', '60'),
      )
      const committed = result.status === 'committed'
      context.check(committed || result.status === 'conflict', 'committed or conflict', result)
      await wallet.expectBalance('anna', committed ? '135' : '130', 'it includes the settlement of 60')
      const { credits } = await wallet.existingBet('b-1')
      context.expectAmount(credits.BET_PAID?.live, '60', 'live for BET_PAID')
      if (committed) context.expectAmount(credits.VOIDED?.live, '5', 'live for VOIDED')
    },
  },
})

/** Turns of the event loop in which the external writer may finish, unless it waits for the held commit. */
const turnsMax = 1000

/** Runs an external write while a commit is held. A write that waits for the commit finishes after it. */
async function writeDuring(
  context: CaseContext,
  wallet: Wallet,
  changes: WalletChanges,
  write: () => Promise<void>,
): Promise<CommitResult> {
  const { commit } = await whileHeld(context, wallet, changes, async (_, held) => {
    let ended = false
    const written = write().finally(() => {
      ended = true
    })
    written.catch(() => undefined) // awaited below
    for (let turn = 0; turn < turnsMax && !ended; turn += 1) {
      await new Promise(resolve => setImmediate(resolve))
    }
    context.trace.note('kit', 'releases the held commit')
    held.release()
    await context.withTimeout('the external write to finish', written)
  })
  return commit
}

async function deposit(context: CaseContext, wallet: Wallet, amount: string): Promise<void> {
  const action = amount.startsWith('-') ? `withdraws ${amount.slice(1)} from` : `deposits ${amount} for`
  const answered = context.trace.start('PAM', `${action} anna`)
  await wallet.hook('depositExternally', 'anna', amount, 'EUR')
  answered('done')
}

async function settleExternally(
  context: CaseContext,
  wallet: Wallet,
  transactionId: string,
  amount: string,
): Promise<void> {
  const answered = context.trace.start('PAM', `settles b-1 with ${amount} as ${transactionId}`)
  const ids = { transactionId, betId: 'b-1', playerId: 'anna' }
  const credit = { type: 'BET_PAID', amount, currency: 'EUR' } as const
  await wallet.hook('settleExternally', { ...ids, ...credit, transactionDate })
  answered('done')
}
