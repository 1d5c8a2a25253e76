/** Database transactions, whose COMMIT may have an unknown outcome. */
import { CallbackFailed, type Deadline } from '../database/deadline.js'
import { withSavepoint } from '../database/within-transaction.js'
import { conflictNumbers, hasNumber, serverErrorOf, storeError } from './errors.js'
import type { Session } from './session.js'

/** Called before something is sent that commits. @throws {StoreError} `UNAVAILABLE` */
export function beforeCommit(deadline: Deadline): void {
  if (deadline.expired) throw storeError('UNAVAILABLE', 'Timed out')
  deadline.sent = true
}

export function inTransaction<T>(
  session: Session,
  deadline: Deadline,
  work: (database: Session) => Promise<T>,
): Promise<T> {
  return withSavepoint(async savepoint => {
    await session.run('START TRANSACTION')
    // Gone, if the hook has ended the database transaction, or a deadlock that the hook swallowed.
    await session.run(`SAVEPOINT ${savepoint}`)
    const result = await work(session)
    await session.run(`RELEASE SAVEPOINT ${savepoint}`).catch((error: unknown) => {
      throw hasNumber(error, 1305)
        ? new CallbackFailed('withinTransaction swallowed a deadlock or ended the database transaction', {
            cause: error,
          })
        : error
    })
    beforeCommit(deadline)
    try {
      await session.run('COMMIT')
    } catch (error) {
      throw hasNumber(error, ...conflictNumbers) ? error : new CommitFailed(error)
    }
    return result
  })
}

/** The error of a COMMIT that is no conflict: the outcome is unknown, whatever its number. */
class CommitFailed extends Error {
  override readonly name = 'CommitFailed'
  /** As the procedures number it. */
  readonly errno = 1180
  readonly sqlState = 'HY000'
  constructor(cause: unknown) {
    super(serverErrorOf(cause)?.message ?? 'COMMIT failed', { cause })
  }
}
