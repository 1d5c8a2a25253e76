/** Database transactions: what marks ours, what comes before their COMMIT, and drivers that send it themselves. */
import { CallbackFailed, type Deadline } from '../database/deadline.js'
import { type Query, withSavepoint } from '../database/within-transaction.js'
import { hasCode } from './errors.js'
import { waitForDisk } from './sql/fragments.js'

/** What a driver passes to the callback of its `transaction`. */
export interface DriverConnection {
  query: Query
  /**
   * Sends several statements as one message of the simple protocol. Of a driver that may give the session to
   * another database transaction while the callback runs: with it the store sends COMMIT itself, in a message
   * that no other statement can come between, and leaves an empty block to the driver's own COMMIT.
   */
  simpleQuery?(statements: string): Promise<unknown>
}

export type DriverTransaction = (work: (connection: DriverConnection) => Promise<unknown>) => Promise<unknown>

/** Afterwards no trigger is left that could switch off that COMMIT waits for the disk. */
export const beforeCommit = (durable: boolean): readonly string[] =>
  durable ? ['SET CONSTRAINTS ALL IMMEDIATE', `SELECT ${waitForDisk}`] : []

/**
 * 25P02 in_failed_sql_transaction, 25P01 no_active_sql_transaction, 3B001 invalid_savepoint_specification.
 */
export function isBlockBroken(error: unknown): boolean {
  return hasCode(error, '25P02', '25P01', '3B001')
}

export function blockBroken(cause: unknown): CallbackFailed {
  return new CallbackFailed(
    'withinTransaction swallowed a failed statement or ended the database transaction',
    { cause },
  )
}

const nextTurn = () => new Promise(setImmediate)

/**
 * Runs `work` in a database transaction that a driver begins and ends. When its session ends, a driver may
 * report that at once and go on with the callback, on a connection that soon serves another database
 * transaction. So when the driver's promise is settled, nothing is sent any more, and the callback never
 * settles: the driver would send COMMIT or ROLLBACK. Before, it must settle, or the driver keeps the session.
 *
 * @param first statements right after BEGIN
 */
export function inDriverTransaction<T>(
  begin: DriverTransaction,
  deadline: Deadline,
  { first, durable }: { first: readonly string[]; durable: boolean },
  work: (query: Query) => Promise<T>,
): Promise<T> {
  let hasEnded = false
  let committed: { result: T } | null = null
  const expired = new Promise<never>((_, reject) => {
    deadline.onExpiry = () => reject(new CallbackFailed('Timed out; already answered'))
  })
  expired.catch(() => {})

  async function ask<R>(send: () => Promise<R>): Promise<R> {
    if (hasEnded || deadline.expired) throw new CallbackFailed('The database transaction has ended')
    try {
      return await send()
    } catch (error) {
      // The driver may be about to report the end of the session.
      await nextTurn()
      throw error
    }
  }

  async function run({ query, simpleQuery }: DriverConnection, savepoint: string): Promise<T> {
    // A driver may call back without a session: then its promise is rejected by now.
    await nextTurn()
    for (const statement of [...first, `SAVEPOINT ${savepoint}`]) await ask(() => query(statement))
    const result = await Promise.race([work((text, values) => ask(() => query(text, values))), expired])
    const release = `RELEASE SAVEPOINT ${savepoint}`
    try {
      for (const statement of beforeCommit(durable)) await ask(() => query(statement))
      if (simpleQuery === undefined) await ask(() => query(release))
      await ask(async () => {
        deadline.sent = true
        await simpleQuery?.(`${release}; COMMIT; BEGIN`)
      })
    } catch (error) {
      throw isBlockBroken(error) ? blockBroken(error) : error
    }
    if (simpleQuery !== undefined) committed = { result }
    return result
  }

  return withSavepoint(async savepoint => {
    let result: T | undefined
    try {
      await begin(async connection => {
        try {
          result = await run(connection, savepoint)
        } finally {
          if (hasEnded) await new Promise(() => {})
        }
      })
      return result as T
    } catch (error) {
      if (committed === null) throw error
      return committed.result
    } finally {
      hasEnded = true
    }
  })
}
