/** The PAM's own code writes too, between a load and its commit. */
import type { CommitResult } from '../../store.js'
import { crediting, placing, reversing, rollingBack } from '../changes.js'
import type { HeldCommit } from '../harness.js'
import { type Stage, sameAmount, type Wallet } from '../stage.js'
import type { CaseDefinition } from './case.js'
import { hold, inItsMiddle } from './durability.js'
import { betOf } from './guards.js'

export const otherWriterCases: readonly CaseDefinition[] = [
  {
    id: 'WS-75',
    level: 'MUST',
    name: 'A deposit by the PAM’s own code is in the balance that load shows',
    needs: ['depositExternally'],
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.expectBalance('anna', '100') // what is remembered of this look must not count any more
      await deposit(stage, wallet, '50.25')
      await wallet.expectBalance('anna', '150.25')
    },
  },
  {
    id: 'WS-76',
    level: 'MUST',
    name: 'A deposit between load and commit is neither lost nor in the way',
    needs: ['depositExternally'],
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.store.load({ operation: 'placebet', transactionId: 't-1', playerId: 'anna', betId: 'b-1' })
      await deposit(stage, wallet, '50')
      const { balance } = await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      stage.check(sameAmount(balance, '120'), '120 in the answer', balance)
      await wallet.expectBalance('anna', '120')
    },
  },
  {
    id: 'WS-77',
    level: 'MUST',
    name: 'A withdrawal between load and commit counts: the floor is tested by the write',
    needs: ['depositExternally'],
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.store.load({ operation: 'placebet', transactionId: 't-1', playerId: 'anna', betId: 'b-1' })
      await deposit(stage, wallet, '-90')
      // Not one look in between: the store has only the one from before the withdrawal to remember.
      const result = await wallet.commit(placing({ transactionId: 't-1', betId: 'b-1' }))
      stage.check(result.status === 'conflict', 'conflict, since 10 does not cover 30', result)
      await wallet.expectBalance('anna', '10')
    },
  },
  {
    id: 'WS-78',
    level: 'MUST',
    name: 'Deposits and bets at the same time: every one of them is in the balance',
    needs: ['depositExternally'],
    async play(stage: Stage) {
      const wallet = await stage.open()
      const count = 8
      const bets = Array.from({ length: count }, (_, index) =>
        wallet.commit(placing({ transactionId: `t-${index}`, betId: `b-${index}`, stake: '2' })),
      )
      const deposits = (async () => {
        for (let index = 0; index < count; index += 1) await deposit(stage, wallet, '3')
      })()
      const [results] = await Promise.all([Promise.all(bets), deposits])
      const taken = results.filter(({ status }) => status === 'committed').length
      await wallet.expectBalance('anna', String(100 + 3 * count - 2 * taken))
    },
  },
  {
    id: 'WS-79',
    level: 'MUST',
    name: 'A deposit in the middle of a commit is not written over',
    needs: ['depositExternally', 'holdCommit'],
    async play(stage: Stage) {
      const wallet = await stage.open()
      const held = await hold(stage, wallet)
      const commit = wallet.commit(placing({ transactionId: 't-1', betId: 'b-1' }))
      const result = await meanwhile(stage, held, commit, () => deposit(stage, wallet, '50'))
      const committed = result.status === 'committed'
      stage.check(committed || result.status === 'conflict', 'committed or conflict', result)
      await wallet.expectBalance('anna', committed ? '120' : '150', 'the deposit of 50 is still there')
    },
  },
  {
    id: 'WS-80',
    level: 'MUST',
    name: 'A settlement by the PAM’s own code is a live credit of the bet, and in the balance',
    needs: ['settleExternally'],
    async play(stage: Stage) {
      const wallet = await placed(stage)
      await settle(stage, wallet, '60')
      await wallet.expectBalance('anna', '130')
      const { credits } = await betOf(stage, wallet, 'b-1')
      stage.check(sameAmount(credits.BET_PAID?.live, '60'), '60 live for BET_PAID', credits)
      await wallet.committed(reversing(await betOf(stage, wallet, 'b-1'), { transactionId: 'u-1' }))
      await wallet.expectBalance('anna', '70')
    },
  },
  {
    id: 'WS-81',
    level: 'MUST',
    name: 'A settlement by the PAM’s own code raises the revision: a rollback built before it is a conflict',
    needs: ['settleExternally'],
    async play(stage: Stage) {
      const wallet = await placed(stage)
      const before = await betOf(stage, wallet, 'b-1')
      await settle(stage, wallet, '60')
      const after = await betOf(stage, wallet, 'b-1')
      stage.check(after.revision > before.revision, `a revision above ${before.revision}`, after.revision)
      const result = await wallet.commit(rollingBack(before, { transactionId: 'r-1' }))
      stage.check(result.status === 'conflict', 'conflict, since the bet was settled since', result)
      await wallet.expectBalance('anna', '130')
    },
  },
  {
    id: 'WS-82',
    level: 'MUST',
    name: 'What D7 closed stays closed when the PAM’s own code settles again: only the new credit is live',
    needs: ['settleExternally'],
    async play(stage: Stage) {
      const wallet = await placed(stage)
      await settle(stage, wallet, '60')
      const paid = await betOf(stage, wallet, 'b-1')
      await wallet.committed(reversing(paid, { transactionId: 'u-1', closed: true }))
      await settle(stage, wallet, '40')
      const credit = (await betOf(stage, wallet, 'b-1')).credits.BET_PAID
      const same = credit !== undefined && sameAmount(credit.live, '40') && sameAmount(credit.owed, '60')
      stage.check(same, '40 live and 60 owed', credit)
      const again = crediting(await betOf(stage, wallet, 'b-1'), { transactionId: 's-9', amount: '5' })
      await wallet.committed(again)
      await wallet.expectBalance('anna', '175')
    },
  },
  {
    id: 'WS-83',
    level: 'MUST',
    name: 'A settlement by the PAM’s own code in the middle of a commit is not written over',
    needs: ['settleExternally', 'holdCommit'],
    async play(stage: Stage) {
      const wallet = await placed(stage)
      const before = await betOf(stage, wallet, 'b-1')
      const held = await hold(stage, wallet)
      const commit = wallet.commit(crediting(before, { transactionId: 's-1', type: 'VOIDED', amount: '5' }))
      const result = await meanwhile(stage, held, commit, () => settle(stage, wallet, '60'))
      const committed = result.status === 'committed'
      stage.check(committed || result.status === 'conflict', 'committed or conflict', result)
      await wallet.expectBalance('anna', committed ? '135' : '130', 'the settled 60 are still there')
      const { credits } = await betOf(stage, wallet, 'b-1')
      const kept =
        sameAmount(credits.BET_PAID?.live, '60') && (!committed || sameAmount(credits.VOIDED?.live, '5'))
      stage.check(kept, `60 live for BET_PAID${committed ? ', and 5 for VOIDED' : ''}`, credits)
    },
  },
]

/** The event loop's turns that another writer gets to come in between, unless it waits for the commit. */
const turnsMax = 1000

/** Another writer comes while the commit is held. One that waits for the commit is let in after it. */
async function meanwhile(
  stage: Stage,
  held: HeldCommit,
  commit: Promise<CommitResult>,
  other: () => Promise<void>,
): Promise<CommitResult> {
  commit.catch(() => undefined) // awaited below, if it comes to that
  try {
    await inItsMiddle(stage, held, commit)
    let ended = false
    const written = other().finally(() => {
      ended = true
    })
    written.catch(() => undefined) // awaited below
    for (let turn = 0; turn < turnsMax && !ended; turn += 1) {
      await new Promise(resolve => setImmediate(resolve))
    }
    stage.story.tell('kit', 'lets the held commit go on')
    held.release()
    await stage.inTime('the PAM’s own code to come through in the end', written)
  } finally {
    held.release()
  }
  return commit
}

async function placed(stage: Stage): Promise<Wallet> {
  const wallet = await stage.open()
  await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
  return wallet
}

async function deposit(stage: Stage, wallet: Wallet, amount: string): Promise<void> {
  const moves = amount.startsWith('-') ? `withdraws ${amount.slice(1)}` : `deposits ${amount} for anna`
  const ended = stage.story.ask('PAM', moves)
  await stage.harness.depositExternally?.(wallet.opened, 'anna', amount)
  ended('done')
}

async function settle(stage: Stage, wallet: Wallet, amount: string): Promise<void> {
  const ended = stage.story.ask('PAM', `settles b-1 with ${amount}`)
  const settlement = { playerId: 'anna', betId: 'b-1', type: 'BET_PAID', amount, currency: 'EUR' } as const
  await stage.harness.settleExternally?.(wallet.opened, settlement)
  ended('done')
}
