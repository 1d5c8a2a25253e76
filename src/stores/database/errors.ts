/** Errors that the stores over databases have in common. Their class is the one of the entry point. */
import type { CommitResult } from '../../store.js'

/** The codes that shared code uses; each store adds its own. */
export type SharedErrorCode =
  | 'INVALID_OPTIONS'
  | 'UNAVAILABLE'
  | 'AMOUNT_NOT_REPRESENTABLE'
  | 'COMMIT_UNKNOWN'
  | 'IMPORT_REJECTED'
  | 'LOOKUP_INDEX_MISSING'

/** Makes the error class of a store. */
export type MakeError = (code: SharedErrorCode, message: string, options?: { cause?: unknown }) => Error

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
}

export function storeErrors(make: MakeError): StoreErrors {
  /**
   * One error for all requests: to record the stack of a new error takes several times as long as to shed the request, when the
   * process is overloaded.
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
  }
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

/** What is known of a call that failed. */
export interface Failure {
  kind: ErrorClass
  cause: unknown
  timedOut: boolean
  /** Whether the connection is lost, or must be closed. */
  lost: boolean
  /**
   * The server's answer to the statement: one request of a batch may be the cause, as by a trigger for one player.
   * `rolled-back`: nothing of the batch is recorded. `unclear`: that is not certain. `null`: there is no answer, or it is
   * about the server and not about the statement.
   */
  answer: 'rolled-back' | 'unclear' | null
}

/** The result with its cause: not enumerable, as that of an error. */
export function unavailableFor(cause: unknown): CommitResult {
  return Object.defineProperty({ status: 'unavailable' }, 'cause', { value: cause }) as CommitResult
}
