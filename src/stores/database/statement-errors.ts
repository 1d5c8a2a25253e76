/** Errors of statements in words, for lookups and for the relay. */
import { QueryFailed } from './deadline.js'
import type { MakeError, StoreError, StoreErrorCode } from './errors.js'

/** What an engine knows of an error of the driver. */
export interface StatementErrors {
  make: MakeError
  /** @returns the error of the check at start */
  start(cause: unknown): StoreError
  describe(cause: unknown): string
  lacksPrivilege(cause: unknown): boolean
  /** Whether the statement names what does not exist. */
  isMissing(cause: unknown): boolean
}

/** Who runs the statements: its name, the rights that it needs, and the error where something is missing. */
export interface StatementUser {
  name: string
  rights: string
  missing: readonly [code: StoreErrorCode, problem: string]
}

export function storeErrorOf(error: unknown, errors: StatementErrors, user: StatementUser): unknown {
  if (!(error instanceof QueryFailed)) return error
  const { cause } = error
  const words = errors.describe(cause)
  if (errors.lacksPrivilege(cause)) {
    const problem = `${user.name} lacks privileges (${words}). It needs ${user.rights}`
    return errors.make('INSUFFICIENT_PRIVILEGE', problem, { cause })
  }
  if (!errors.isMissing(cause)) return errors.start(cause)
  const [code, problem] = user.missing
  return errors.make(code, `${problem} (${words})`, { cause })
}
