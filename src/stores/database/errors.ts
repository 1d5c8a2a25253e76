/** Errors of the stores over databases, and what is known of a call that failed. */
import type { CommitResult } from '../../store.js'

/**
 * At start, before any request is served:
 * - `INVALID_OPTIONS`: an option is invalid; the message names it.
 * - `UNSUPPORTED_CLIENT`: the client cannot be used: not connected, rows in another form, no database
 *   transactions where `withinTransaction` needs them, or connections that are not utf8mb4 or not strict.
 * - `SERVERS_APART`: several servers of the list are writable, and are no cluster.
 * - `DATABASE_REJECTED`: the server rejects the connection or a statement, and a retry would not help: wrong
 *   password, unknown database, read-only role, too old.
 * - `SCHEMA_MISSING`: the library's tables do not exist: run the migration.
 * - `SCHEMA_VERSION`: the tables, functions or procedures are of an older version, or were changed.
 * - `SCHEMA_OPTIONS`: the schema was migrated with other options; the message names each difference.
 * - `INVALID_PLAYERS_TABLE`: the players' table or one of its columns does not exist, or has an unsupported
 *   type or collation. Also of a request: the currency or the balance of its player is NULL.
 * - `INSUFFICIENT_PRIVILEGE`: the user of the client lacks privileges; the message lists them.
 * - `NOT_DURABLE`: the server would answer before a commit is durable, would hide that it is not, or may
 *   return old records.
 *
 * At start, PostgreSQL only:
 * - `ROW_SECURITY`: row-level security of the library's tables applies to this role.
 * - `SEARCH_PATH`: pg_catalog is in the search_path, and not first.
 * - `SEQUENCE_BEHIND`: `wallet_transaction_ids` would assign ids that are used already; the message has the
 *   statement that fixes it.
 *
 * Of single requests:
 * - `UNAVAILABLE`: no changes were made: overloaded, not connected, or timed out before anything was sent.
 * - `HOOK_FAILED`: `withinTransaction` failed, or had not returned in time; no changes were made.
 * - `DATABASE_REJECTED`: a CHECK or a trigger of the operator rejects the debit; no changes were made.
 * - `AMOUNT_NOT_REPRESENTABLE`: the balance column cannot hold the amount of a credit exactly.
 * - `COMMIT_UNKNOWN`: the answer to a commit was lost, came from a former primary, or the wait for its
 *   synchronous standby was cancelled.
 *
 * Of the cut-over:
 * - `IMPORT_REJECTED`: the tables reject a bet or a transaction; the message names it.
 *
 * Of lookups:
 * - `LOOKUP_INDEX_MISSING`: the lookup would read the whole table; the message has the statement that creates
 *   the index.
 */
export type StoreErrorCode = keyof typeof pages

type Engine = 'postgres' | 'mysql'

/** The page of each code; two where the engines differ. */
const pages = {
  INVALID_OPTIONS: {
    postgres: 'configuration.md#postgresql-options',
    mysql: 'configuration.md#mysql-options',
  },
  UNSUPPORTED_CLIENT: { postgres: 'postgres.md#client', mysql: 'mysql.md#client' },
  SERVERS_APART: 'mysql.md#refused-at-start',
  DATABASE_REJECTED: 'errors.md#store-error-codes',
  SCHEMA_MISSING: { postgres: 'postgres.md#migrations', mysql: 'mysql.md#migrations' },
  SCHEMA_VERSION: { postgres: 'postgres.md#migrations', mysql: 'mysql.md#migrations' },
  SCHEMA_OPTIONS: 'postgres.md#options-belong-to-the-schema',
  INVALID_PLAYERS_TABLE: { postgres: 'postgres.md#players-table', mysql: 'mysql.md#players-table' },
  INSUFFICIENT_PRIVILEGE: { postgres: 'postgres.md#privileges', mysql: 'mysql.md#privileges' },
  NOT_DURABLE: { postgres: 'operations.md#refused-at-start', mysql: 'mysql.md#refused-at-start' },
  ROW_SECURITY: 'errors.md#store-error-codes',
  SEARCH_PATH: 'errors.md#store-error-codes',
  SEQUENCE_BEHIND: 'errors.md#store-error-codes',
  UNAVAILABLE: { postgres: 'operations.md#failures', mysql: 'mysql.md#errors-of-the-server' },
  HOOK_FAILED: 'postgres.md#your-own-rows-in-the-same-transaction',
  AMOUNT_NOT_REPRESENTABLE: 'errors.md#store-error-codes',
  COMMIT_UNKNOWN: 'errors.md#commit_unknown-what-to-do',
  IMPORT_REJECTED: 'go-live.md#with-an-import',
  LOOKUP_INDEX_MISSING: 'records.md#indexes',
} satisfies Record<string, string | Record<Engine, string>>

function pageOf(engine: Engine, code: StoreErrorCode): string {
  const page = pages[code]
  return `bet-wallet/docs/${typeof page === 'string' ? page : page[engine]}`
}

interface StoreErrorOptions {
  cause?: unknown
  isSolvedByMigration?: boolean
}

/** A fault of a store over a database. `code` is stable; the message is for people, and ends with `page`. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  /** Which store it is of: MariaDB is `mysql`. */
  readonly engine: Engine
  readonly code: StoreErrorCode
  /** Explains the code: a file in `node_modules`, `bet-wallet/docs/postgres.md#privileges`. */
  readonly page: string
  /** The message without the page. */
  readonly problem: string
  /** Whether the migration with the same options solves it: not every `SCHEMA_VERSION`. */
  readonly isSolvedByMigration: boolean

  constructor(engine: Engine, code: StoreErrorCode, problem: string, options?: StoreErrorOptions) {
    const page = pageOf(engine, code)
    super(`${problem}${/[.!?]$/.test(problem) ? '' : '.'} See ${page}`, options)
    this.engine = engine
    this.code = code
    this.page = page
    this.problem = problem
    this.isSolvedByMigration = options?.isSolvedByMigration ?? false
  }
}

export type MakeError = (code: StoreErrorCode, problem: string, options?: StoreErrorOptions) => StoreError

export interface StoreErrors {
  make: MakeError
  /**
   * The error of a request that made no changes.
   *
   * @param cause the error of the driver; `null`: the request was shed
   */
  unavailable(cause: unknown): Error
  /** Of a commit that another writer's row lock has delayed for too long. */
  locked: Error
  /** The error of a request for which the statement returned no row. */
  noRow(): Error
  /**
   * The error of the check at start.
   *
   * @param words what the driver or the server has reported
   * @param isRejected whether no retry fixes it
   */
  start(cause: unknown, words: string, isRejected: boolean): StoreError
}

export function storeErrors(make: MakeError): StoreErrors {
  /**
   * One error for all requests: to record the stack of a new error takes several times as long as to shed the
   * request, when the process is overloaded.
   */
  const shared = (message: string) => {
    const error = make('UNAVAILABLE', message)
    error.stack = `${error.name}: ${error.message}`
    return error
  }
  const shed = shared('Overloaded: the request was shed; no changes were made')
  return {
    make,
    locked: shared('Another writer holds the row lock of the player; no changes were made'),
    unavailable: cause =>
      cause === null
        ? shed
        : make('UNAVAILABLE', 'The database is unavailable; no changes were made', { cause }),
    noRow: () => make('COMMIT_UNKNOWN', 'The database returned no row for this request'),
    start(cause, words, isRejected) {
      if (isRejected)
        return make('DATABASE_REJECTED', `The database rejects this client: ${words}`, { cause })
      if (cause instanceof TypeError)
        return make('UNSUPPORTED_CLIENT', `The client threw: ${words}`, { cause })
      return make('UNAVAILABLE', `The database is unavailable: ${words}`, { cause })
    },
  }
}

/** The outcome of a statement or database transaction that ended in an error of the driver. */
export type ErrorClass =
  /** No changes were made; reload and retry: a duplicate in our tables, a deadlock or the like. */
  | 'conflict'
  /** No changes were made: a lock or statement timed out; the server is full, read-only or unreachable. */
  | 'unavailable'
  /** No changes were made, and a retry would fail too: the server rejects the statement. */
  | 'rejected'
  /** The connection was lost, or the server shut down: the commit may have happened, or may still happen. */
  | 'unknown'

/** What is known of a call that failed. */
export interface Failure {
  kind: ErrorClass
  cause: unknown
  timedOut: boolean
  /** Whether the connection is lost, or must be closed. */
  lost: boolean
  /**
   * The server's answer to the statement: one request of a batch may be the cause, as by a trigger for one
   * player. `rolled-back`: nothing of the batch is recorded. `unclear`: that is not certain. `null`: there is
   * no answer, or it is about the server and not about the statement.
   */
  answer: 'rolled-back' | 'unclear' | null
}

/** The result with its cause: not enumerable, as that of an error. */
export function unavailableFor(cause: unknown): CommitResult {
  return Object.defineProperty({ status: 'unavailable' }, 'cause', { value: cause }) as CommitResult
}
