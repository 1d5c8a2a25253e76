/** The line breaks before or after a commit, or the commit lands when nobody waits for it any more. */
import { call } from '../calls.js'
import { type CommitFault, type FaultyStore, faultyStore } from '../faulty-store.js'
import type { Stage, Wallet } from '../stage.js'
import { shownResult } from '../story.js'
import type { CaseDefinition } from './case.js'

export const lostAnswerCases: readonly CaseDefinition[] = [
  {
    id: 'WS-85',
    level: 'MUST',
    name: 'A placebet whose commit never arrived can be rolled back, and leaves nothing',
    async play(stage: Stage) {
      const { wallet, line } = await behindLine(stage, 'before')
      const placed = await call(stage, line, 'placebet', { transactionId: 't-1', betId: 'b-1' })
      stage.check('fault' in placed, 'a fault, since the fate of the commit is unknown', placed)
      const rolled = await call(stage, line, 'rollbackbet', { transactionId: 'r-1', betId: 'b-1' })
      stage.check(rolled.ok, 'the rollback to succeed', rolled)
      await wallet.expectBalance('anna', '100')
    },
  },
  {
    id: 'WS-86',
    level: 'MUST',
    name: 'A placebet whose answer was lost is found by the look that follows, and taken once',
    async play(stage: Stage) {
      const { wallet, line } = await behindLine(stage, 'after')
      const placed = await call(stage, line, 'placebet', { transactionId: 't-1', betId: 'b-1' })
      stage.check(placed.ok, 'accepted: it is recorded', placed)
      await wallet.expectBalance('anna', '70')
      const again = await call(stage, line, 'placebet', { transactionId: 't-1', betId: 'b-1' })
      stage.check(again.ok, 'the duplicate to be accepted as well', again)
      await wallet.expectBalance('anna', '70')
    },
  },
  {
    id: 'WS-87',
    level: 'MUST',
    name: 'A placebet that lands after its rollback was answered takes nothing (D11)',
    async play(stage: Stage) {
      const { wallet, line } = await behindLine(stage, 'late')
      await call(stage, line, 'placebet', { transactionId: 't-1', betId: 'b-1' })
      const rolled = await call(stage, line, 'rollbackbet', { transactionId: 'r-1', betId: 'b-1' })
      stage.check(rolled.ok, 'the rollback to succeed', rolled)
      await land(stage, line)
      await wallet.expectBalance('anna', '100')
    },
  },
  {
    id: 'WS-88',
    level: 'MUST',
    name: 'A settlement, an unsettlement and a rollback that land after their retry move their money once',
    async play(stage: Stage) {
      const { wallet, line } = await behindLine(stage)
      await call(stage, line, 'placebet', { transactionId: 't-1', betId: 'b-1' })
      const calls = [
        { operation: 'settlement', transactionId: 's-1', balance: '130' },
        { operation: 'unsettlement', transactionId: 'u-1', balance: '70' },
        { operation: 'rollbackbet', transactionId: 'r-1', balance: '100' },
      ] as const
      for (const { operation, transactionId, balance } of calls) {
        stage.story.tell('line', `for the next commit: ${fates.late}`)
        line.failNext('late')
        const lost = await call(stage, line, operation, { transactionId, betId: 'b-1' })
        stage.check('fault' in lost, 'a fault, since the fate of the commit is unknown', lost)
        const retried = await call(stage, line, operation, { transactionId, betId: 'b-1' })
        stage.check(retried.ok, 'the retry to succeed', retried)
        await land(stage, line)
        await wallet.expectBalance('anna', balance)
      }
    },
  },
  {
    id: 'WS-89',
    level: 'MUST',
    name: 'A refusal for funds that was recorded while its answer was lost sticks after a deposit (D6, D7)',
    async play(stage: Stage) {
      const { wallet, line } = await behindLine(stage, 'after')
      const fields = { transactionId: 't-1', betId: 'b-1', amount: '100.01' }
      const refused = await call(stage, line, 'placebet', fields)
      stage.check(
        'errorCode' in refused && refused.errorCode === 'INSUFFICIENT_FUNDS',
        '402, found by the look',
        refused,
      )
      const winner = { transactionId: 't-2', betId: 'b-2', amount: '0' }
      await call(stage, line, 'placebet', winner)
      await call(stage, line, 'settlement', { transactionId: 's-2', betId: 'b-2', amount: '50' })
      const again = await call(stage, line, 'placebet', fields)
      stage.check('errorCode' in again && again.errorCode === 'INSUFFICIENT_FUNDS', 'still 402', again)
      await wallet.expectBalance('anna', '150')
    },
  },
]

const fates: Record<CommitFault, string> = {
  before: 'it never reaches the store, and throws',
  after: 'it reaches the store, its answer is lost, and it throws',
  late: 'it throws, and reaches the store later',
}

async function behindLine(
  stage: Stage,
  ...how: CommitFault[]
): Promise<{ wallet: Wallet; line: FaultyStore }> {
  const wallet = await stage.open()
  const line = faultyStore(wallet.store)
  if (how.length > 0)
    stage.story.tell('line', `for the next commit: ${how.map(one => fates[one]).join('; ')}`)
  line.failNext(...how)
  return { wallet, line }
}

async function land(stage: Stage, line: FaultyStore): Promise<void> {
  stage.story.tell('line', 'lets the late commit land')
  for (const result of await line.deliverDelayed()) {
    stage.check(
      result.status !== 'committed',
      'the late commit to meet a guard: the platform was answered otherwise, or the retry has done it',
      shownResult(result),
    )
  }
}
