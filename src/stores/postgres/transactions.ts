/** Database transactions of ours, on a connection of a pool, and the end of those of a driver. */
import { CallbackFailed } from '../database/deadline.js'
import { type Query, withSavepoint } from '../database/within-transaction.js'
import { type EventSource, reportsOfConnection } from './connection-events.js'
import { hasCode, isConnectionLost, isSessionEnded } from './errors.js'
import type { Send } from './prepared-statements.js'
import { waitForDisk } from './sql/fragments.js'

export interface TransactionSettings {
  /** Statements right after BEGIN. */
  first: readonly string[]
  /** Whether the COMMIT must wait for the disk and the standbys. */
  durable: boolean
}

/** @param send for what may commit */
export function inTransaction<T>(
  connection: EventSource & { query: Query },
  send: Send,
  { first, durable }: TransactionSettings,
  work: (query: Query) => Promise<T>,
): Promise<T> {
  const run = (...statements: string[]) => connection.query(statements.join('; '))
  return withSavepoint(async savepoint => {
    await run('BEGIN', ...first, `SAVEPOINT ${savepoint}`)
    let result: T
    try {
      result = await work((text, values) =>
        connection.query(text, values).catch((error: unknown) => {
          // The hook may swallow it: no COMMIT is sent then.
          if (isSessionEnded(error)) reportsOfConnection(connection).lost = true
          throw error
        }),
      )
    } catch (error) {
      await run('ROLLBACK')
      throw error
    }
    try {
      await send([`RELEASE SAVEPOINT ${savepoint}`, ...beforeCommit(durable), 'COMMIT'].join('; '))
    } catch (error) {
      // An error before COMMIT leaves the block open, on a connection that is not closed.
      if (isBlockBroken(error) || !isConnectionLost(error)) await run('ROLLBACK')
      throw isBlockBroken(error) ? blockBroken(error) : error
    }
    return result
  })
}

/** Afterwards no trigger is left that could switch off that COMMIT waits for the disk. */
export const beforeCommit = (durable: boolean): readonly string[] =>
  durable ? ['SET CONSTRAINTS ALL IMMEDIATE', `SELECT ${waitForDisk}`] : []

/**
 * 25P02 in_failed_sql_transaction, 25P01 no_active_sql_transaction, 3B001 invalid_savepoint_specification,
 * 34000 invalid_cursor_name.
 */
export function isBlockBroken(error: unknown): boolean {
  return hasCode(error, '25P02', '25P01', '3B001', '34000')
}

export function blockBroken(cause: unknown): CallbackFailed {
  return new CallbackFailed(
    'withinTransaction swallowed a failed statement or ended the database transaction',
    { cause },
  )
}
