/** The end of a database transaction of ours. */
import { CallbackFailed } from '../database/deadline.js'
import { hasCode } from './errors.js'
import { waitForDisk } from './sql/fragments.js'

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
