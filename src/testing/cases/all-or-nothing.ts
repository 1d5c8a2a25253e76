/** Many commits at the same time, and then the commits of other players on the same connections. */
import type { Account, WalletChanges } from '../../store.js'
import { type CaseContext, concurrently } from '../case-context.js'
import { anna, placeBet } from '../changes.js'
import { sameAmount } from '../equality.js'
import { shown, shownResult } from '../trace.js'
import type { Wallet } from '../wallet.js'

/** Commits at the same time: each uses a connection of the store's pool. */
const atOnce = 8
/** Players whose commits use the connections afterwards, all at the same time, in each of two rounds. */
export const otherPlayers: readonly Account[] = Array.from({ length: 2 * atOnce }, (_, index) => ({
  ...anna,
  playerId: `player-${index}`,
}))
const rounds = 2

/** A commit and its result: the status, or what it has thrown. */
interface Attempt {
  changes: WalletChanges
  result: string
}

/** Commits bets of anna, all at the same time. */
export function commitBets(wallet: Wallet): Promise<Attempt[]> {
  return concurrently(atOnce, index => attempt(wallet, placeBet(`t-${index}`, `b-${index}`, { stake: '1' })))
}

/**
 * Commits bets of the other players. A database transaction that an attempt has left open on its connection
 * is committed with one of them.
 */
export async function commitBetsOfOthers(context: CaseContext, wallet: Wallet): Promise<Attempt[]> {
  const attempts: Attempt[] = []
  for (let round = 0; round < rounds; round += 1) {
    const bets = otherPlayers.map((player, index) =>
      placeBet(`o-${round}-${index}`, `o-${round}-${index}`, { player, stake: '1' }),
    )
    attempts.push(...(await Promise.all(bets.map(changes => attempt(wallet, changes)))))
  }
  const committed = attempts.some(({ result }) => result === 'committed')
  context.check(committed, 'a commit of another player to succeed', attempts.at(-1)?.result)
  return attempts
}

async function attempt(wallet: Wallet, changes: WalletChanges): Promise<Attempt> {
  const result = await wallet.commit(changes).then(
    answer => (answer?.status === 'committed' ? 'committed' : shownResult(answer)),
    error => `threw ${shown(error)}`,
  )
  return { changes, result }
}

/** `committed`: all of it is recorded. A commit that threw: all or nothing. Any other result: nothing is. */
export async function expectTrueResults(
  context: CaseContext,
  wallet: Wallet,
  attempts: readonly Attempt[],
): Promise<void> {
  const stakes = new Map<string, number>()
  for (const attempt of attempts) {
    const { operation, transactionId, playerId, betId } = attempt.changes.transaction
    const hasTransaction = (await wallet.transaction(operation, transactionId, playerId)) !== null
    const hasBet = (await wallet.bet(betId, playerId)) !== null
    // Only now: after a crash the answer may come while these are read.
    const { result } = attempt
    const isUnknown = result.startsWith('threw')
    const isAllowed = isUnknown || hasTransaction === (result === 'committed')
    const expected = isUnknown ? 'all or nothing' : result === 'committed' ? 'all' : 'nothing'
    const rule =
      'a commit is one database transaction, which ends with ROLLBACK if it fails, or its connection is closed'
    context.check(
      isAllowed && hasTransaction === hasBet,
      `${expected} of ${transactionId} to be written after the result ${result}: ${rule}`,
      `transaction ${written(hasTransaction)}, bet ${written(hasBet)}`,
    )
    stakes.set(playerId, (stakes.get(playerId) ?? 0) + (hasBet ? 1 : 0))
  }
  for (const [playerId, count] of stakes) {
    const balance = await wallet.balance(playerId)
    const expected = String(100 - count)
    context.check(
      sameAmount(balance, expected),
      `a balance of ${expected} for ${playerId}: 100 less ${count} recorded stakes of 1`,
      balance,
    )
  }
}

const written = (isWritten: boolean) => (isWritten ? 'written' : 'missing')
