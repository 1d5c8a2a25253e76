/** Errors of the store, and the class of an error of the driver. */

/**
 * At start, before any request is served:
 * - `INVALID_OPTIONS`: an option is invalid; the message names it.
 * - `UNSUPPORTED_CLIENT`: the client has no `query`, or cannot lend the connections that `withinTransaction`
 *   needs.
 * - `SCHEMA_MISSING`: the library's tables do not exist: run the migration.
 * - `SCHEMA_VERSION`: the tables or functions are of an older version, or were changed.
 * - `SCHEMA_OPTIONS`: the schema was migrated with other options; the message names each difference.
 * - `INVALID_PLAYERS_TABLE`: the players' table or one of its columns does not exist, or has an unsupported
 *   type.
 * - `INSUFFICIENT_PRIVILEGE`: the role of the client lacks privileges; the message lists them.
 * - `ROW_SECURITY`: row-level security of the library's tables applies to this role.
 * - `SEARCH_PATH`: pg_catalog is in the search_path, and not first.
 * - `SEQUENCE_BEHIND`: `wallet_transaction_ids` would assign ids that are used already; the message has the statement
 *   that mends it.
 * - `NOT_DURABLE`: the server would answer before a commit is durable.
 *
 * Of single requests:
 * - `UNAVAILABLE`: no changes were made: overloaded, not connected, or timed out before anything was sent.
 * - `AMOUNT_NOT_REPRESENTABLE`: the balance column cannot hold the amount of a credit exactly.
 * - `COMMIT_UNKNOWN`: the answer to a commit was lost.
 *
 * Of the cut-over:
 * - `IMPORT_REJECTED`: the tables reject a bet or a transaction; the message names it.
 */
export type PostgresErrorCode =
  | 'INVALID_OPTIONS'
  | 'UNSUPPORTED_CLIENT'
  | 'SCHEMA_MISSING'
  | 'SCHEMA_VERSION'
  | 'SCHEMA_OPTIONS'
  | 'INVALID_PLAYERS_TABLE'
  | 'INSUFFICIENT_PRIVILEGE'
  | 'ROW_SECURITY'
  | 'SEARCH_PATH'
  | 'SEQUENCE_BEHIND'
  | 'NOT_DURABLE'
  | 'UNAVAILABLE'
  | 'AMOUNT_NOT_REPRESENTABLE'
  | 'COMMIT_UNKNOWN'
  | 'IMPORT_REJECTED'

/** A fault of this store. `code` is stable; the message is for people. */
export class PostgresStoreError extends Error {
  override readonly name = 'PostgresStoreError'
  readonly code: PostgresErrorCode

  constructor(code: PostgresErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/** @returns the error of a request that made no changes */
export function unavailable(cause: unknown): PostgresStoreError {
  return new PostgresStoreError('UNAVAILABLE', 'The database is unavailable; no changes were made', { cause })
}

/** The outcome of a statement or database transaction that ended in an error of the driver. */
export type ErrorClass =
  /** No changes were made; reload and retry: a unique violation, a deadlock, a serialization failure. */
  | 'conflict'
  /** No changes were made: a lock or statement timed out; the server is full, read-only or unreachable. */
  | 'unavailable'
  /** No changes were made, and a retry would fail too: the server rejects the statement. */
  | 'rejected'
  /** The connection was lost, or the server shut down: the commit may have happened, or may still happen. */
  | 'unknown'

const conflicts = new Set(['40001', '40P01', '23505', '23P01'])
/**
 * 55P03 lock_timeout, 57014 statement_timeout, 25006 a standby, 25P02 a failed transaction block of other
 * code.
 */
const temporary = new Set(['55P03', '57014', '25006', '25P02'])

/** @param sent whether anything was sent that may have been committed */
export function classifyError(error: unknown, sent: boolean): ErrorClass {
  const { code, severity } = fieldsOf(error)
  // A socket's EPIPE looks like an SQLSTATE, and has no severity.
  const answered =
    typeof code === 'string' &&
    /^[0-9A-Z]{5}$/.test(code) &&
    (typeof severity === 'string' || !/^E[A-Z]{4}$/.test(code))
  // An ERROR rolls back its statement. An error that closes the connection too (FATAL, 57P01 and the like,
  // 08) may come between a commit and its answer. 40003 is statement_completion_unknown.
  if (!answered || severity === 'FATAL' || severity === 'PANIC' || /^(?:08|40003|57P|58|XX|F0)/.test(code)) {
    return sent ? 'unknown' : 'unavailable'
  }
  // A full disk can stop the server in the middle of COMMIT. Where messages are translated, severity is not
  // ERROR.
  if (code.startsWith('53')) return sent && severity !== 'ERROR' ? 'unknown' : 'unavailable'
  if (conflicts.has(code)) return 'conflict'
  return temporary.has(code) ? 'unavailable' : 'rejected'
}

/** Whether the connection that the error came from must be closed. */
export function isConnectionLost(error: unknown): boolean {
  const { code } = fieldsOf(error)
  return classifyError(error, true) === 'unknown' || code === '25006' || code === '25P02'
}

/**
 * Whether a column cannot hold a value: 22003 numeric_value_out_of_range, 22001 string_data_right_truncation.
 */
export function isOutOfRange(error: unknown): boolean {
  const { code } = fieldsOf(error)
  return code === '22003' || code === '22001'
}

/** A CHECK that failed, as the error names it: of a table, or of a domain. */
export interface FailedCheck {
  schema: string
  table: string | null
  domain: string | null
}

/** The CHECK of a 23514 check_violation; `null` for other errors, and where the error does not name it. */
export function failedCheckOf(error: unknown): FailedCheck | null {
  const { code, schema, table, dataType } = fieldsOf(error)
  if (code !== '23514' || typeof schema !== 'string') return null
  const named = (value: unknown) => (typeof value === 'string' ? value : null)
  return { schema, table: named(table), domain: named(dataType) }
}

function fieldsOf(error: unknown): Record<string, unknown> {
  return typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {}
}
