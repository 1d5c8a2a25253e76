/** Fault injection: commits that never arrive, whose answer is lost, or that are delivered late. */

import type { CaseContext, CaseDefinition } from '../case-context.js'
import { type CommitFault, type FaultyStore, faultyStore } from '../faulty-store.js'
import { call } from '../platform-calls.js'
import { shownResult } from '../trace.js'
import type { Wallet } from '../wallet.js'

export const lostAnswerCases: readonly CaseDefinition[] = [
  {
    id: 'WS-85',
    level: 'MUST',
    name: 'A placebet whose commit never arrived can be rolled back and leaves the balance unchanged',
    async run(context: CaseContext) {
      const { wallet, faulty } = await faultyWallet(context, 'lost-request')
      const placed = await call(context, faulty, 'placebet', { transactionId: 't-1', betId: 'b-1' })
      context.check('fault' in placed, 'a fault, because the outcome of the commit is unknown', placed)
      const rolled = await call(context, faulty, 'rollbackbet', { transactionId: 'r-1', betId: 'b-1' })
      context.check(rolled.ok, 'the rollback to succeed', rolled)
      await wallet.expectBalance('anna', '100')
    },
  },
  {
    id: 'WS-86',
    level: 'MUST',
    name: 'A placebet whose commit answer was lost is found by the follow-up read and debited once',
    async run(context: CaseContext) {
      const { wallet, faulty } = await faultyWallet(context, 'lost-answer')
      const placed = await call(context, faulty, 'placebet', { transactionId: 't-1', betId: 'b-1' })
      context.check(placed.ok, 'accepted, because it is recorded', placed)
      await wallet.expectBalance('anna', '70')
      const retried = await call(context, faulty, 'placebet', { transactionId: 't-1', betId: 'b-1' })
      context.check(retried.ok, 'the retry to be accepted as well', retried)
      await wallet.expectBalance('anna', '70')
    },
  },
  {
    id: 'WS-87',
    level: 'MUST',
    name: 'A placebet commit that is delivered after its rollback was answered debits nothing (D11)',
    async run(context: CaseContext) {
      const { wallet, faulty } = await faultyWallet(context, 'delayed')
      await call(context, faulty, 'placebet', { transactionId: 't-1', betId: 'b-1' })
      const rolled = await call(context, faulty, 'rollbackbet', { transactionId: 'r-1', betId: 'b-1' })
      context.check(rolled.ok, 'the rollback to succeed', rolled)
      await deliver(context, faulty)
      await wallet.expectBalance('anna', '100')
    },
  },
  {
    id: 'WS-88',
    level: 'MUST',
    name: 'A settlement, an unsettlement and a rollback whose commits are delivered after their retries change the balance once',
    async run(context: CaseContext) {
      const { wallet, faulty } = await faultyWallet(context)
      await call(context, faulty, 'placebet', { transactionId: 't-1', betId: 'b-1' })
      const calls = [
        { operation: 'settlement', transactionId: 's-1', balance: '130' },
        { operation: 'unsettlement', transactionId: 'u-1', balance: '70' },
        { operation: 'rollbackbet', transactionId: 'r-1', balance: '100' },
      ] as const
      for (const { operation, transactionId, balance } of calls) {
        injectFaults(context, faulty, ['delayed'])
        const lost = await call(context, faulty, operation, { transactionId, betId: 'b-1' })
        context.check('fault' in lost, 'a fault, because the outcome of the commit is unknown', lost)
        const retried = await call(context, faulty, operation, { transactionId, betId: 'b-1' })
        context.check(retried.ok, 'the retry to succeed', retried)
        await deliver(context, faulty)
        await wallet.expectBalance('anna', balance)
      }
    },
  },
  {
    id: 'WS-89',
    level: 'MUST',
    name: 'A refusal for insufficient funds whose answer was lost is final, even after a deposit (D6, D7)',
    async run(context: CaseContext) {
      // The first commit is that of the bet, which conflicts; the second one records the refusal.
      const { wallet, faulty } = await faultyWallet(context, null, 'lost-answer')
      const fields = { transactionId: 't-1', betId: 'b-1', amount: '100.01' }
      const refused = await call(context, faulty, 'placebet', fields)
      context.check(
        'errorCode' in refused && refused.errorCode === 'INSUFFICIENT_FUNDS',
        'INSUFFICIENT_FUNDS, found by the follow-up read',
        refused,
      )
      const winner = { transactionId: 't-2', betId: 'b-2', amount: '0' }
      await call(context, faulty, 'placebet', winner)
      await call(context, faulty, 'settlement', { transactionId: 's-2', betId: 'b-2', amount: '50' })
      const retried = await call(context, faulty, 'placebet', fields)
      context.check(
        'errorCode' in retried && retried.errorCode === 'INSUFFICIENT_FUNDS',
        'INSUFFICIENT_FUNDS again',
        retried,
      )
      await wallet.expectBalance('anna', '150')
    },
  },
]

const descriptions: Record<CommitFault, string> = {
  'lost-request': 'does not reach the store, and throws',
  'lost-answer': 'reaches the store, its answer is lost, and it throws',
  delayed: 'throws, and reaches the store later',
}

async function faultyWallet(
  context: CaseContext,
  ...faults: (CommitFault | null)[]
): Promise<{ wallet: Wallet; faulty: FaultyStore }> {
  const wallet = await context.open()
  const faulty = faultyStore(wallet.store)
  injectFaults(context, faulty, faults)
  return { wallet, faulty }
}

function injectFaults(
  context: CaseContext,
  faulty: FaultyStore,
  faults: readonly (CommitFault | null)[],
): void {
  for (const [index, fault] of faults.entries()) {
    if (fault === null) continue
    const which = index === 0 ? 'the next commit' : `commit ${index + 1} from now`
    context.trace.note('kit', `injects a fault: ${which} ${descriptions[fault]}`)
  }
  faulty.failNext(...faults)
}

async function deliver(context: CaseContext, faulty: FaultyStore): Promise<void> {
  context.trace.note('kit', 'delivers the delayed commit')
  for (const result of await faulty.deliverDelayed()) {
    context.check(
      result.status !== 'committed',
      'a guard to reject the delayed commit: its rollback was answered, or its retry has committed',
      shownResult(result),
    )
  }
}
