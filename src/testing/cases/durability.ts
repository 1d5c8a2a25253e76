/** Atomicity and durability: across guards, connections, crashes and time. */
import type { Account, Bet } from '../../store.js'
import { type CaseContext, casesOf, concurrently } from '../case-context.js'
import { anna, keys, leaveTombstone, placeBet, refuseBet, rollBackBet, settleBet } from '../changes.js'
import { sameAmount } from '../equality.js'
import type { Wallet } from '../wallet.js'
import { expectTrueResults, otherPlayers } from './all-or-nothing.js'
import { whileHeld } from './held-commits.js'
import { expectVisibleCommits } from './visible-commits.js'

const yearMs = 365 * 24 * 60 * 60 * 1000

export const durabilityCases = casesOf({
  async 'WS-42 A commit is atomic: if guard 3 fails, neither transaction nor bet is written'(
    wallet,
    context,
  ) {
    const above = placeBet('t-1', 'b-1', { stake: '100.01' })
    await wallet.expectConflict(above, 'the balance does not cover it')
    await expectNoBet(context, wallet, 'b-1')
    // No leftover of the conflict blocks a later commit.
    await wallet.expectCommitted(placeBet('t-1', 'b-1', { stake: '100' }))
  },
  'WS-43 A commit on one connection is visible at once to load on every other connection': {
    needs: ['reopen'],
    async run(first, context) {
      const second = await first.connectBy('reopen')
      // Fill the caches that the connections may have: the reads below must not use them.
      await first.expectBalance('anna', '100')
      await second.expectBalance('anna', '100')
      await first.expectCommitted(placeBet('t-1', 'b-1'))
      await second.expectBalance('anna', '70')
      const bet = await second.existingBet('b-1')
      await second.expectConflict(placeBet('t-1', 'b-2'), 'the transaction is recorded')
      await second.expectCommitted(settleBet(bet, 's-1', '60'))
      await first.expectBalance('anna', '130')
      await first.expectConflict(settleBet(bet, 's-2', '60'), 'the bet has changed')
      await expectVisibleCommits(context, [first, second])
    },
  },
  'WS-44 Guards hold across connections: concurrent bets never debit more than the balance covers': {
    needs: ['reopen'],
    async run(first, context) {
      const second = await first.connectBy('reopen')
      const results = await concurrently(16, index =>
        (index % 2 ? first : second).commit(placeBet(`t-${index}`, `b-${index}`, { stake: '20' })),
      )
      const committed = results.filter(({ status }) => status === 'committed').length
      const balance = await first.balance('anna')
      context.check(
        committed <= 5 && sameAmount(balance, String(100 - 20 * committed)),
        'at most 5 of 16 stakes of 20 debited from 100, and the matching balance',
        `${committed} committed, balance ${balance}`,
      )
    },
  },
  'WS-45 After a crash, no commit that was answered as committed is missing': {
    needs: ['crash'],
    async run(before, context) {
      const placed = await before.committedBet(placeBet('t-1', 'b-1'))
      const bet = await before.committedBet(settleBet(placed, 's-1', '60'))
      await before.expectCommitted(refuseBet('t-2', 'b-2'))
      await before.expectCommitted(leaveTombstone('r-3', 'b-3'))
      const fourth = await before.committedBet(placeBet('t-4', 'b-4'))
      await before.expectCommitted(rollBackBet(fourth, 'r-4'))

      const after = await before.connectBy('crash')
      await after.expectBalance('anna', '130')
      await after.expectBet(bet)
      for (const [operation, id] of [
        ['placebet', 't-1'],
        ['settlement', 's-1'],
        ['rollbackbet', 'r-3'],
      ] as const) {
        const recorded = await after.transaction(operation, id)
        context.check(recorded !== null, `the ${operation} ${id}`, recorded)
      }
      const refused = await after.transaction('placebet', 't-2')
      context.check(refused?.refusal?.errorCode === 'INSUFFICIENT_FUNDS', 'the refusal of t-2', refused)
      const tombstone = await after.existingBet('b-3')
      context.check(tombstone.status === 'ROLLED_BACK', 'the tombstone of b-3', tombstone)
      const rolled = await after.existingBet('b-4')
      context.check(rolled.status === 'ROLLED_BACK', 'b-4 to stay rolled back', rolled)
    },
  },
  'WS-46 A crash during a commit leaves the whole commit or nothing of it': {
    needs: ['crash', 'holdCommit'],
    async run(before, context) {
      const changes = placeBet('t-1', 'b-1', { stake: '1' })
      const attempt = { changes, result: 'threw: no answer' }
      await whileHeld(context, before, changes, async commit => {
        commit.then(
          ({ status }) => {
            attempt.result = status
          },
          () => undefined, // lost with the crash
        )
        const after = await before.connectBy('crash')
        await expectTrueResults(context, after, [attempt])
      })
    },
  },
  'WS-47 Transactions, refusals and tombstones never expire (D5)': {
    needs: ['advanceClock'],
    async run(wallet, context) {
      await wallet.expectCommitted(placeBet('t-1', 'b-1'))
      await wallet.expectCommitted(refuseBet('t-2', 'b-2'))
      await wallet.expectCommitted(leaveTombstone('r-3', 'b-3'))
      context.trace.note('kit', 'moves the clock by two years')
      await wallet.hook('advanceClock', 2 * yearMs)
      await wallet.expectConflict(placeBet('t-1', 'b-9'), 'the transaction is recorded')
      await wallet.expectConflict(placeBet('t-2', 'b-2'), 'its refusal is recorded')
      await wallet.expectConflict(placeBet('t-3', 'b-3'), 'the bet was rolled back')
      await wallet.expectBalance('anna', '70')
    },
  },
  'WS-48 A commit in progress does not block the commits of other players, or load': {
    needs: ['holdCommit'],
    players: [anna, ...otherPlayers],
    async run(wallet, context) {
      const { commit } = await whileHeld(context, wallet, placeBet('t-1', 'b-1'), async () => {
        for (const player of otherPlayers) await expectCommittedMeanwhile(context, wallet, player)
        await context.withTimeout(
          "a load of anna to end while anna's commit is in progress",
          wallet.store.load(keys),
        )
      })
      const result = await commit
      context.check(result.status === 'committed', "anna's bet committed", result)
    },
  },
})

async function expectCommittedMeanwhile(
  context: CaseContext,
  wallet: Wallet,
  player: Account,
): Promise<void> {
  const id = `of-${player.playerId}`
  const result = await context.withTimeout(
    `the commit of ${player.playerId} to end while anna's is in progress`,
    wallet.commit(placeBet(id, id, { player })),
  )
  const expected = `the bet of ${player.playerId} committed while anna's is in progress`
  context.check(result.status === 'committed', expected, result)
}

async function expectNoBet(context: CaseContext, wallet: Wallet, betId: string): Promise<void> {
  const bet: Bet | null = await wallet.bet(betId)
  context.check(bet === null, `no bet ${betId}`, bet)
  await wallet.expectBalance('anna', '100')
}
