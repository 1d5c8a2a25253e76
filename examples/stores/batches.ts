/** A store that commits the calls of many players in one statement: the queue of the package's own stores. */
import type { CommitResult, WalletChanges, WalletStore } from 'bet-wallet'
import { answerEach, createBatches } from 'bet-wallet/batches'

/**
 * @param load as in any store
 * @param commitMany one call of your database's procedure, which commits each item or not, alone; the answer
 *   names the item by its index
 */
export function createBatchedStore(
  load: WalletStore['load'],
  commitMany: (items: readonly WalletChanges[]) => Promise<{ index: number; result: CommitResult }[]>,
): WalletStore {
  const commits = createBatches<WalletChanges, CommitResult>({
    kind: 'commit', // its name in metrics and traces
    slotsMax: 2, // batches at the same time: as many connections
    batchMax: 128,
    queueMax: 2_000, // requests that wait; more are shed, and of one partition half as many
    queuedMsMax: 10_000,
    // Under load placebets are shed first: their rollbacks need the room.
    sheddable: ({ transaction }) => transaction.operation === 'placebet',
    // A batch changes a player at most once: triggers see each change.
    partitionKeyOf: ({ transaction }) => transaction.playerId,
    // A duplicate is not sent in the same batch. It is a conflict: the library loads and finds the first one.
    uniqueKeysOf: ({ transaction, bet }) => [
      `${transaction.operation} ${transaction.transactionId}`,
      ...(bet === null ? [] : [`bet ${bet.betId}`]),
    ],
    onDuplicateKey: entry => entry.resolve({ status: 'conflict' }),
    onShed: entry => entry.resolve({ status: 'unavailable' }),
    async perform(entries) {
      const rows = await commitMany(entries.map(({ item }) => item))
      answerEach(entries, rows, {
        indexOf: row => row.index,
        answer: (entry, row) => entry.resolve(row.result),
        missing: () => new Error('no row: the outcome is unknown'),
      })
    },
  })
  return { contractVersion: 2, load, commit: changes => commits.submit(changes) }
}
