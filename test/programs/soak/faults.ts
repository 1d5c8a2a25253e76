/**
 * Stores with a deliberate fault: the proof that the soak can fail. Each is a realistic mistake. Only the
 * server script uses them, if its settings name one.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Transaction, WalletChanges, WalletSnapshot, WalletStore } from 'bet-wallet'
import type { PostgresClient, PostgresStore, PostgresStoreOptions } from 'bet-wallet/postgres'
import type pg from 'pg'

export const faults = {
  'early-answer': 'answers first, and sends COMMIT later',
  'async-commit': 'switches synchronous_commit off after the check at start',
  'no-tombstone': 'records no tombstone for a rollback of an unknown bet',
  'ids-in-memory': 'keeps the recorded transactions in the memory of its process only',
  'no-floor': 'trusts the balance that load returned',
  'two-commits': 'records the transaction in one commit and changes the balance in the next',
  unconfirmed: 'has no loadConfirmed: what it has read is final, whichever server answered',
  'retry-with-new-id': 'after a lost answer, commits the same again under a new id',
  'any-writable-node': 'on a group of MySQL, takes each node that is writable for the primary',
  'stale-loads': 'on Galera, loads do not wait for what other nodes have committed',
} as const

export type Fault = keyof typeof faults

interface Connection {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  release(error?: Error | boolean): void
}

export function faultyClient(fault: Fault | null, pool: pg.Pool): PostgresClient {
  if (fault === 'early-answer') {
    return connectingBy(pool, async connection => {
      const { query, release } = connection
      let committing: Promise<unknown> | null = null
      return {
        query: async (text, values) => {
          if (!text.endsWith('COMMIT')) return await query(text, values)
          committing = new Promise(resolve => setTimeout(resolve, 30)).then(() => query(text))
          return { rows: [] }
        },
        release: error => {
          if (committing === null) release(error)
          else
            committing.then(
              () => release(error),
              () => release(true),
            )
        },
      }
    })
  }
  if (fault === 'async-commit') {
    let borrowed = 0
    return connectingBy(pool, async connection => {
      borrowed += 1
      // The first connections are used by the check at start, which reads the setting.
      await connection.query(`SET synchronous_commit = ${borrowed > 20 ? 'off' : 'on'}`)
      return connection
    })
  }
  return pool
}

/** The pool with its connections changed. */
function connectingBy(pool: pg.Pool, change: (connection: Connection) => Promise<Connection>) {
  return {
    totalCount: 0, // the store recognises a pool by it
    query: (text: string, values?: unknown[]) => pool.query(text, values),
    connect: async () => {
      const connection = await pool.connect()
      if (connection.listenerCount('error') === 0) connection.on('error', () => {}) // the statement rejects
      return await change({
        query: (text, values) => connection.query(text, values),
        release: error => connection.release(error),
      })
    },
  }
}

export function faultyOptions(fault: Fault | null): Pick<PostgresStoreOptions, 'withinTransaction'> {
  // With this hook the store uses BEGIN and COMMIT.
  return fault === 'early-answer' ? { withinTransaction: async () => {} } : {}
}

export function faultyStore(fault: Fault | null, store: PostgresStore): WalletStore {
  const load: WalletStore['load'] = keys => store.load(keys)
  const commit: WalletStore['commit'] = changes => store.commit(changes)
  switch (fault) {
    case 'unconfirmed':
      return { contractVersion: 2, load, commit }
    case 'no-tombstone':
      return {
        contractVersion: 2,
        load,
        commit: changes => commit(isTombstone(changes) ? { ...changes, bet: null } : changes),
      }
    case 'no-floor':
      return {
        contractVersion: 2,
        load,
        commit: changes =>
          commit({
            ...changes,
            account: { ...changes.account, floor: null },
          }),
      }
    case 'ids-in-memory': {
      const known = new Map<string, Transaction>()
      const keyOf = ({ operation, transactionId }: Pick<Transaction, 'operation' | 'transactionId'>) =>
        `${operation} ${transactionId}`
      return {
        contractVersion: 2,
        load: async keys => ({ ...(await load(keys)), transaction: known.get(keyOf(keys)) ?? null }),
        commit: async changes => {
          const { transaction } = changes
          const transactionId = `${transaction.transactionId} ${randomUUID()}`
          const result = await commit({ ...changes, transaction: { ...transaction, transactionId } })
          if (result.status === 'committed') {
            const { walletTransactionId } = result
            known.set(keyOf(transaction), { ...transaction, walletTransactionId })
          }
          return result
        },
      }
    }
    case 'two-commits':
      return {
        contractVersion: 2,
        load,
        commit: async changes => {
          const { transaction, account } = changes
          const result = await commit({
            ...changes,
            account: { ...changes.account, delta: '0', floor: null },
          })
          if (result.status !== 'committed' || account.delta === '0') return result
          const transactionId = `${transaction.transactionId} money`
          return await commit({ ...changes, bet: null, transaction: { ...transaction, transactionId } })
        },
      }
    case 'retry-with-new-id':
      return {
        contractVersion: 2,
        load,
        commit: async changes => {
          try {
            return await commit(changes)
          } catch {
            const { transaction, bet } = changes
            const { operation, playerId, betId } = transaction
            const transactionId = randomUUID()
            // Reloads until the database is back, so that guard 2 holds.
            const reload = async (): Promise<WalletSnapshot> => {
              try {
                return await load({ operation, transactionId, playerId, betId })
              } catch {
                await sleep(100)
                return await reload()
              }
            }
            const now = await reload()
            const revision = (now.bet?.revision ?? 0) + 1
            return await commit({
              ...changes,
              transaction: { ...transaction, transactionId },
              bet: bet === null ? null : { ...bet, revision },
            })
          }
        },
      }
    default:
      return store
  }
}

function isTombstone({ transaction, bet }: WalletChanges): boolean {
  return transaction.operation === 'rollbackbet' && bet?.status === 'ROLLED_BACK' && bet.revision === 1
}
