/** Statements and database transactions under a time limit, and what is known of those that failed. */
import { readable } from '../../foreign-values.js'
import { withTimeout } from '../../timeout.js'
import type { MakeError } from './errors.js'

/** A statement or database transaction failed; `cause` is the error. */
export class QueryFailed extends Error {
  override readonly name = 'QueryFailed'
  /** Whether anything was sent that may have been committed. */
  readonly sent: boolean
  readonly timedOut: boolean
  constructor(cause: unknown, sent: boolean, timedOut = false) {
    super('The query failed', { cause: readable(cause) })
    this.sent = sent
    this.timedOut = timedOut
  }
}

/**
 * Thrown by a callback itself, not by the database. The database transaction is rolled back; the connection
 * stays usable.
 */
export class CallbackFailed extends Error {}

/** One statement or database transaction under a time limit. */
export interface Deadline {
  /** Whether the caller was answered already. */
  expired: boolean
  /** Whether anything was sent that may have been committed. */
  sent: boolean
  onExpiry(): void
}

/** @throws {QueryFailed} */
export async function withDeadline<T>(
  timeoutMs: number,
  makeError: MakeError,
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const deadline: Deadline = { expired: false, sent: false, onExpiry() {} }
  const done = work(deadline).catch((error: unknown) => {
    throw new QueryFailed(error, deadline.sent)
  })
  return await withTimeout(done, timeoutMs, () => {
    deadline.expired = true
    deadline.onExpiry()
    const cause = makeError('UNAVAILABLE', `No answer within ${timeoutMs} ms`)
    throw new QueryFailed(cause, deadline.sent, true)
  })
}
