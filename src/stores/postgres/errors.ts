/** What goes wrong with a database, and what it says about a commit: nothing was done, or nobody knows. */

/**
 * At start, before any request is served:
 * - `INVALID_OPTIONS`: an option is not what it must be; the message names it.
 * - `UNSUPPORTED_CLIENT`: the client has no `query`, or lacks what `withinTransaction` needs.
 * - `SCHEMA_MISSING`: the library's tables are not there: the migration has not run.
 * - `SCHEMA_VERSION`: they are there in another version, or for other options.
 * - `INVALID_PLAYERS_TABLE`: the players' table or one of its columns is not there, or cannot hold what it must.
 * - `INSUFFICIENT_PRIVILEGE`: the role of the client lacks rights; the message lists them.
 * - `NOT_DURABLE`: the server would answer before a commit is durable.
 *
 * Of single requests:
 * - `UNAVAILABLE`: nothing was done: overloaded, not connected, or timed out before anything was sent.
 * - `AMOUNT_NOT_REPRESENTABLE`: the balance column cannot hold the amount exactly, and it is one that must be given.
 * - `COMMIT_UNKNOWN`: the answer of a commit is lost.
 *
 * Of the cut-over:
 * - `IMPORT_REJECTED`: the tables do not accept a bet or a transaction; the message names it.
 */
export type PostgresErrorCode =
  | 'INVALID_OPTIONS'
  | 'UNSUPPORTED_CLIENT'
  | 'SCHEMA_MISSING'
  | 'SCHEMA_VERSION'
  | 'INVALID_PLAYERS_TABLE'
  | 'INSUFFICIENT_PRIVILEGE'
  | 'NOT_DURABLE'
  | 'UNAVAILABLE'
  | 'AMOUNT_NOT_REPRESENTABLE'
  | 'COMMIT_UNKNOWN'
  | 'IMPORT_REJECTED'

/** A fault of this store, told apart by `code`. */
export class PostgresStoreError extends Error {
  override readonly name = 'PostgresStoreError'
  readonly code: PostgresErrorCode

  constructor(code: PostgresErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** What an error of the driver says about the statement or commit that it came from. */
export type ErrorClass =
  /** Nothing was done, and looking again is all there is to do: a unique id taken, a deadlock, a serialization failure. */
  | 'conflict'
  /** Nothing was done: a lock or a statement took too long, the server is full, read-only or not reachable. */
  | 'unavailable'
  /** Nothing was done, and nothing of it would work the next time: a statement that the server does not accept. */
  | 'rejected'
  /** The connection was lost, or the server went down: it may have been done, or may be yet. */
  | 'unknown'

const conflicts = new Set(['40001', '40P01', '23505', '23P01'])
/** 55P03 lock_timeout, 57014 statement_timeout, 25006 a standby, 25P02 somebody else's broken commit on this connection. */
const passing = new Set(['55P03', '57014', '25006', '25P02'])

/** @param sent whether anything was sent that could have been done */
export function classifyError(error: unknown, sent: boolean): ErrorClass {
  const { code, severity } = fieldsOf(error)
  // A socket's EPIPE looks like an SQLSTATE, and has no severity.
  const answered =
    typeof code === 'string' &&
    /^[0-9A-Z]{5}$/.test(code) &&
    (typeof severity === 'string' || !/^E[A-Z]{4}$/.test(code))
  // An ERROR undoes its statement. What ends the connection as well (FATAL, 57P01 and its kin, 08) may come between a
  // commit and its answer; 40003 is statement_completion_unknown.
  if (!answered || severity === 'FATAL' || severity === 'PANIC' || /^(?:08|40003|57P|58|XX|F0)/.test(code)) {
    return sent ? 'unknown' : 'unavailable'
  }
  // A full disk can end the server in the middle of a COMMIT; where messages are translated, severity does not tell.
  if (code.startsWith('53')) return sent && severity !== 'ERROR' ? 'unknown' : 'unavailable'
  if (conflicts.has(code)) return 'conflict'
  return passing.has(code) ? 'unavailable' : 'rejected'
}

/** Whether the connection that it came from is of no more use. */
export function isConnectionLost(error: unknown): boolean {
  const { code } = fieldsOf(error)
  return classifyError(error, true) === 'unknown' || code === '25006' || code === '25P02'
}

/** Of an ERROR: whether it says that a column cannot hold a value (22003 numeric_value_out_of_range, 22001 too long). */
export function isOutOfRange(error: unknown): boolean {
  const { code } = fieldsOf(error)
  return code === '22003' || code === '22001'
}

/** Of an ERROR: whether a CHECK of this table did not hold (23514 check_violation). */
export function isCheckOf([schemaName, tableName]: readonly [string, string], error: unknown): boolean {
  const { code, schema, table } = fieldsOf(error)
  return code === '23514' && schema === schemaName && table === tableName
}

function fieldsOf(error: unknown): Record<string, unknown> {
  return typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {}
}
