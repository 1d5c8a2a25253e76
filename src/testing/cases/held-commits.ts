/** Stops a commit midway, through the hook `holdCommit`. */
import type { CommitResult } from '../../store.js'
import type { CaseContext } from '../case-context.js'
import type { HeldCommit } from '../harness.js'
import { shown } from '../trace.js'
import type { Wallet } from '../wallet.js'

/** Arranges that the next commit stops midway. */
export async function hold(context: CaseContext, wallet: Wallet): Promise<HeldCommit> {
  context.trace.note('kit', 'will stop the next commit midway')
  const held = await wallet.hook('holdCommit')
  context.check(held !== undefined, 'holdCommit to return a handle', held)
  return held
}

/** Waits until the commit has stopped. */
export async function untilHeld(
  context: CaseContext,
  { reached }: HeldCommit,
  commit: Promise<CommitResult>,
): Promise<void> {
  const ended = commit.then(shown, shown)
  const early = await context.withTimeout(
    'the commit to reach the point where holdCommit stops it',
    Promise.race([reached.then(() => null), ended]),
  )
  context.check(early === null, 'the commit to stop midway, as holdCommit requires', `it ended: ${early}`)
}
