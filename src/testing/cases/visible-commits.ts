/**
 * Turns of a commit on one connection and loads on the other. A replica that lags is stale in some of them
 * only.
 */
import { add } from '../../money.js'
import type { Bet, WalletChanges } from '../../store.js'
import { type CaseContext, concurrently } from '../case-context.js'
import { anna, placeBet, settleBet } from '../changes.js'
import { sameAmount, sameBet } from '../equality.js'
import { shown } from '../trace.js'
import type { Wallet } from '../wallet.js'

const turnsMax = 100
/** At the same time, so that a pool asks several of its servers. */
const loadsPerTurn = 4

/**
 * Bets are placed on one connection and settled on the other. After each commit, loads on the connection that
 * did not commit must return all of it. Ends after `timeoutMs`, for stores over a network: the report then
 * says how many turns there were.
 */
export async function expectVisibleCommits(
  context: CaseContext,
  [first, second]: readonly [Wallet, Wallet],
): Promise<void> {
  const { timeoutMs } = context.options
  const start = performance.now()
  let turns = 0
  let bet: Bet | null = null
  let balance = await first.balance(anna.playerId)
  for (; turns < turnsMax && performance.now() - start < timeoutMs; turns += 1) {
    // Place and settle on each of the two: first, second, second, first.
    const [writer, reader] = [0, 3].includes(turns % 4) ? [first, second] : [second, first]
    const changes: WalletChanges =
      bet === null
        ? placeBet(`t-turn-${turns}`, `b-turn-${turns}`, { stake: '1' })
        : settleBet(bet, `s-turn-${turns}`, '2')
    context.trace.note('kit', `turn ${turns + 1} of ${turnsMax}`)
    await writer.expectCommitted(changes)
    balance = add(balance, changes.transaction.delta)
    await expectAllOf(context, reader, changes, balance)
    bet = bet === null ? changes.bet : null
  }
  if (turns < turnsMax) context.remark = `${turns} of ${turnsMax} turns, which took ${timeoutMs} ms`
}

async function expectAllOf(
  context: CaseContext,
  reader: Wallet,
  { transaction, bet }: WalletChanges,
  balance: string,
): Promise<void> {
  const { operation, transactionId, playerId, betId } = transaction
  const keys = { operation, transactionId, playerId, betId }
  const snapshots = await concurrently(loadsPerTurn, () => reader.store.load(keys))
  for (const snapshot of snapshots) {
    const [account] = snapshot.accounts
    const isNew =
      sameAmount(account?.balance, balance) &&
      snapshot.transaction !== null &&
      snapshot.bet !== null &&
      bet !== null &&
      sameBet(snapshot.bet, bet)
    context.check(
      isNew,
      `the commit on the other connection, in every load after it: balance ${balance}, the transaction, and ${shown(bet)}`,
      snapshot,
    )
  }
}
