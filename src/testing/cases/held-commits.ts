/** Stops a commit midway, through the hook `holdCommit`. */
import type { CommitResult, WalletChanges } from '../../store.js'
import type { CaseContext } from '../case-context.js'
import type { HeldCommit } from '../harness.js'
import { shown } from '../trace.js'
import type { Wallet } from '../wallet.js'

/**
 * Commits the changes, and runs `during` while the commit is stopped midway. Then it continues, also after a
 * failed check: closing the store might wait for it.
 *
 * @param during may release the commit before its own end
 * @returns the commit, not awaited: a crash loses it
 */
export async function whileHeld(
  context: CaseContext,
  wallet: Wallet,
  changes: WalletChanges,
  during: (commit: Promise<CommitResult>, held: HeldCommit) => Promise<void>,
): Promise<{ commit: Promise<CommitResult> }> {
  context.trace.note('kit', 'will stop the next commit midway')
  const held = await wallet.hook('holdCommit')
  context.check(held !== undefined, 'holdCommit to return a handle', held)
  const commit = wallet.commit(changes)
  commit.catch(() => undefined) // the caller awaits it, unless a check fails first
  try {
    await untilHeld(context, held, commit)
    await during(commit, held)
  } finally {
    held.release()
  }
  return { commit }
}

/** Waits until the commit has stopped. */
async function untilHeld(
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
