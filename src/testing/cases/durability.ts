/** All or nothing, for ever, and for every connection. */
import type { Bet, CommitResult, WalletChanges } from '../../store.js'
import { anna, ben, crediting, entombing, placing, refusing, rollingBack } from '../changes.js'
import type { HeldCommit } from '../harness.js'
import { type Stage, sameAmount, type Wallet } from '../stage.js'
import { shown } from '../story.js'
import type { CaseDefinition } from './case.js'
import { betOf } from './guards.js'

const yearMs = 365 * 24 * 60 * 60 * 1000

export const durabilityCases: readonly CaseDefinition[] = [
  {
    id: 'WS-40',
    level: 'MUST',
    name: 'A guard that fails undoes the others: with guard 1 false, neither bet nor balance is written',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(refusing({ transactionId: 't-1', betId: 'b-9' }))
      await wallet.conflicts(placing({ transactionId: 't-1', betId: 'b-1' }), 'the transaction is recorded')
      await nothingOf(stage, wallet, 'b-1')
    },
  },
  {
    id: 'WS-41',
    level: 'MUST',
    name: 'A guard that fails undoes the others: with guard 2 false, neither transaction nor balance is written',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(entombing({ transactionId: 'r-1', betId: 'b-1' }))
      await wallet.conflicts(placing({ transactionId: 't-1', betId: 'b-1' }), 'the bet is known')
      const found = await wallet.transaction('placebet', 't-1')
      stage.check(found === null, 'no transaction', found)
      await wallet.expectBalance('anna', '100')
    },
  },
  {
    id: 'WS-42',
    level: 'MUST',
    name: 'A guard that fails undoes the others: with guard 3 false, neither transaction nor bet is written',
    async play(stage: Stage) {
      const wallet = await stage.open()
      const above = placing({ transactionId: 't-1', betId: 'b-1', stake: '100.01' })
      await wallet.conflicts(above, 'the funds do not cover it')
      await nothingOf(stage, wallet, 'b-1')
      // Nothing stands in the way of it later, either.
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1', stake: '100' }))
    },
  },
  {
    id: 'WS-43',
    level: 'MUST',
    name: 'What one connection has committed, every other one loads at once',
    needs: ['reopen'],
    async play(stage: Stage) {
      const first = await stage.open()
      const second = await first.through('reopen')
      // Both have looked before: what they remember of it must not count any more.
      await first.expectBalance('anna', '100')
      await second.expectBalance('anna', '100')
      await first.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      await second.expectBalance('anna', '70')
      const bet = await betOf(stage, second, 'b-1')
      await second.conflicts(placing({ transactionId: 't-1', betId: 'b-2' }), 'the transaction is recorded')
      await second.committed(crediting(bet, { transactionId: 's-1', amount: '60' }))
      await first.expectBalance('anna', '130')
      await first.conflicts(
        crediting(bet, { transactionId: 's-2', amount: '60' }),
        'the bet has changed since',
      )
    },
  },
  {
    id: 'WS-44',
    level: 'MUST',
    name: 'Guards hold between connections: of many bets on few funds, never more are taken than the funds cover',
    needs: ['reopen'],
    async play(stage: Stage) {
      const first = await stage.open()
      const second = await first.through('reopen')
      const results = await Promise.all(
        Array.from({ length: 16 }, (_, index) =>
          (index % 2 ? first : second).commit(
            placing({ transactionId: `t-${index}`, betId: `b-${index}`, stake: '20' }),
          ),
        ),
      )
      const taken = results.filter(({ status }) => status === 'committed').length
      const balance = await first.balance('anna')
      stage.check(
        taken <= 5 && sameAmount(balance, String(100 - 20 * taken)),
        'at most 5 of 16 stakes of 20 on 100, and the balance to say so',
        `${taken} committed, balance ${balance}`,
      )
    },
  },
  {
    id: 'WS-45',
    level: 'MUST',
    name: 'After a crash nothing that was answered as committed is missing',
    needs: ['crash'],
    async play(stage: Stage) {
      const before = await stage.open()
      await before.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      const placed = await betOf(stage, before, 'b-1')
      await before.committed(crediting(placed, { transactionId: 's-1', amount: '60' }))
      await before.committed(refusing({ transactionId: 't-2', betId: 'b-2' }))
      await before.committed(entombing({ transactionId: 'r-3', betId: 'b-3' }))
      await before.committed(placing({ transactionId: 't-4', betId: 'b-4' }))
      const fourth = await betOf(stage, before, 'b-4')
      await before.committed(rollingBack(fourth, { transactionId: 'r-4' }))
      const bet = await betOf(stage, before, 'b-1')

      const after = await before.through('crash')
      await after.expectBalance('anna', '130')
      await after.expectBet(bet)
      for (const [operation, id] of [
        ['placebet', 't-1'],
        ['settlement', 's-1'],
        ['rollbackbet', 'r-3'],
      ] as const) {
        const found = await after.transaction(operation, id)
        stage.check(found !== null, `the ${operation} ${id}`, found)
      }
      const refused = await after.transaction('placebet', 't-2')
      stage.check(refused?.refusal?.errorCode === 'INSUFFICIENT_FUNDS', 'the refusal of t-2', refused)
      const tombstone = await betOf(stage, after, 'b-3')
      stage.check(tombstone.status === 'ROLLED_BACK', 'the tombstone of b-3', tombstone)
      const rolled = await betOf(stage, after, 'b-4')
      stage.check(rolled.status === 'ROLLED_BACK', 'b-4 to stay rolled back', rolled)
    },
  },
  {
    id: 'WS-46',
    level: 'MUST',
    name: 'A crash in the middle of a commit leaves all of it or nothing of it',
    needs: ['crash', 'holdCommit'],
    async play(stage: Stage) {
      const before = await stage.open()
      const held = await hold(stage, before)
      const changes = placing({ transactionId: 't-1', betId: 'b-1' })
      const commit = before.commit(changes)
      const answers: CommitResult[] = []
      commit.then(
        answer => answers.push(answer),
        () => undefined, // lost with the crash
      )
      try {
        await inItsMiddle(stage, held, commit)
        const after = await before.through('crash')
        const written = await allOrNothing(stage, after, changes)
        // If it was answered all the same, the answer is true.
        for (const { status } of answers) {
          stage.check(
            (status === 'committed') === written,
            `an answer that is true (${written ? 'all' : 'nothing'} of it is written), or none`,
            status,
          )
        }
      } finally {
        held.release() // or close(opened) might wait for it for ever
      }
    },
  },
  {
    id: 'WS-47',
    level: 'MUST',
    name: 'Transactions, refusals and tombstones do not expire (D5)',
    needs: ['advanceClock'],
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      await wallet.committed(refusing({ transactionId: 't-2', betId: 'b-2' }))
      await wallet.committed(entombing({ transactionId: 'r-3', betId: 'b-3' }))
      stage.story.tell('kit', 'lets two years pass')
      await stage.harness.advanceClock?.(wallet.opened, 2 * yearMs)
      await wallet.conflicts(placing({ transactionId: 't-1', betId: 'b-9' }), 'the transaction is recorded')
      await wallet.conflicts(placing({ transactionId: 't-2', betId: 'b-2' }), 'its refusal is recorded')
      await wallet.conflicts(placing({ transactionId: 't-3', betId: 'b-3' }), 'the bet was rolled back')
      await wallet.expectBalance('anna', '70')
    },
  },
  {
    id: 'WS-48',
    level: 'MUST',
    name: 'A commit under way does not block those of other players',
    needs: ['holdCommit'],
    async play(stage: Stage) {
      const wallet = await stage.open([anna, ben])
      const held = await hold(stage, wallet)
      const ofAnna = wallet.commit(placing({ transactionId: 't-1', betId: 'b-1' }))
      ofAnna.catch(() => undefined) // judged below, if it comes to that
      try {
        await inItsMiddle(stage, held, ofAnna)
        const result = await stage.inTime(
          "ben's commit to end while anna's is under way",
          wallet.commit(placing({ transactionId: 't-2', betId: 'b-2', player: ben })),
        )
        stage.check(result.status === 'committed', "ben's bet committed while anna's is under way", result)
        await stage.inTime(
          "a load of anna to end while anna's commit is under way",
          wallet.store.load({ operation: 'placebet', transactionId: 't-1', playerId: 'anna', betId: 'b-1' }),
        )
      } finally {
        held.release()
      }
      const result = await ofAnna
      stage.check(result.status === 'committed', "anna's bet committed in the end", result)
    },
  },
]

export async function hold(stage: Stage, wallet: Wallet) {
  stage.story.tell('kit', 'will hold the next commit in its middle')
  const held = await stage.harness.holdCommit?.(wallet.opened)
  stage.check(held !== undefined, 'holdCommit to give a handle', held)
  return held
}

/** Waits until the commit is held. */
export async function inItsMiddle(
  stage: Stage,
  { reached }: HeldCommit,
  commit: Promise<CommitResult>,
): Promise<void> {
  const ended = commit.then(shown, shown)
  const early = await stage.inTime(
    'the commit to reach its middle, where holdCommit stops it',
    Promise.race([reached.then(() => null), ended]),
  )
  stage.check(
    early === null,
    'the commit to stop in its middle, as holdCommit promises',
    `it ended: ${early}`,
  )
}

async function nothingOf(stage: Stage, wallet: Wallet, betId: string): Promise<void> {
  const bet: Bet | null = await wallet.bet(betId)
  stage.check(bet === null, `no bet ${betId}`, bet)
  await wallet.expectBalance('anna', '100')
}

/** Whether it is written. */
async function allOrNothing(
  stage: Stage,
  wallet: Wallet,
  { transaction, bet }: WalletChanges,
): Promise<boolean> {
  const found = {
    transaction: (await wallet.transaction(transaction.operation, transaction.transactionId)) !== null,
    bet: bet !== null && (await wallet.bet(bet.betId)) !== null,
    balance: !sameAmount(await wallet.balance(transaction.playerId), '100'),
  }
  const written = Object.values(found).filter(Boolean).length
  stage.check(
    written === 0 || written === 3,
    'transaction, bet and balance all written, or none of them',
    Object.entries(found)
      .map(([part, is]) => `${part} ${is ? 'written' : 'missing'}`)
      .join(', '),
  )
  return written === 3
}
