/** Fault injection: commits that never arrive, whose answer is lost, or that are delivered late. */

import { type CaseContext, casesOf } from '../case-context.js'
import { type CommitFault, type FaultyStore, faultyStore } from '../faulty-store.js'
import { type CallResult, call } from '../platform-calls.js'
import { shownResult } from '../trace.js'
import type { Wallet } from '../wallet.js'

export const lostAnswerCases = casesOf({
  async 'WS-85 A placebet whose commit never arrived can be rolled back and leaves the balance unchanged'(
    wallet,
    context,
  ) {
    const faulty = faultyOf(context, wallet, 'lost-request')
    const placed = await call(context, faulty, 'placebet', bet)
    context.check('fault' in placed, 'a fault, because the outcome of the commit is unknown', placed)
    const rolled = await call(context, faulty, 'rollbackbet', rollback)
    context.check(rolled.ok, 'the rollback to succeed', rolled)
    await wallet.expectBalance('anna', '100')
  },
  async 'WS-86 A placebet whose commit answer was lost is found by the follow-up read and debited once'(
    wallet,
    context,
  ) {
    const faulty = faultyOf(context, wallet, 'lost-answer')
    const placed = await call(context, faulty, 'placebet', bet)
    context.check(placed.ok, 'accepted, because it is recorded', placed)
    await wallet.expectBalance('anna', '70')
    const retried = await call(context, faulty, 'placebet', bet)
    context.check(retried.ok, 'the retry to be accepted as well', retried)
    await wallet.expectBalance('anna', '70')
  },
  async 'WS-87 A placebet commit that is delivered after its rollback was answered debits nothing (D11)'(
    wallet,
    context,
  ) {
    const faulty = faultyOf(context, wallet, 'delayed')
    await call(context, faulty, 'placebet', bet)
    const rolled = await call(context, faulty, 'rollbackbet', rollback)
    context.check(rolled.ok, 'the rollback to succeed', rolled)
    await deliver(context, faulty)
    await wallet.expectBalance('anna', '100')
  },
  async 'WS-88 A settlement, an unsettlement and a rollback whose commits are delivered after their retries change the balance once'(
    wallet,
    context,
  ) {
    const faulty = faultyOf(context, wallet)
    await call(context, faulty, 'placebet', bet)
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
  async 'WS-89 A refusal for insufficient funds whose answer was lost is final, even after a deposit (D6, D7)'(
    wallet,
    context,
  ) {
    // The first commit is that of the bet, which conflicts; the second one records the refusal.
    const faulty = faultyOf(context, wallet, null, 'lost-answer')
    const fields = { ...bet, amount: '100.01' }
    const refused = await call(context, faulty, 'placebet', fields)
    expectRefusal(context, refused, 'found by the follow-up read')
    const winner = { transactionId: 't-2', betId: 'b-2', amount: '0' }
    await call(context, faulty, 'placebet', winner)
    await call(context, faulty, 'settlement', { transactionId: 's-2', betId: 'b-2', amount: '50' })
    const retried = await call(context, faulty, 'placebet', fields)
    expectRefusal(context, retried, 'again')
    await wallet.expectBalance('anna', '150')
  },
})

const bet = { transactionId: 't-1', betId: 'b-1' }
const rollback = { transactionId: 'r-1', betId: 'b-1' }

const descriptions: Record<CommitFault, string> = {
  'lost-request': 'does not reach the store, and throws',
  'lost-answer': 'reaches the store, its answer is lost, and it throws',
  delayed: 'throws, and reaches the store later',
}

function faultyOf(context: CaseContext, { store }: Wallet, ...faults: (CommitFault | null)[]): FaultyStore {
  const faulty = faultyStore(store)
  injectFaults(context, faulty, faults)
  return faulty
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

function expectRefusal(context: CaseContext, result: CallResult, which: string): void {
  const isRefused = 'errorCode' in result && result.errorCode === 'INSUFFICIENT_FUNDS'
  context.check(isRefused, `INSUFFICIENT_FUNDS, ${which}`, result)
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
