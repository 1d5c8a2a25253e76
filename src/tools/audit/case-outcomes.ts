/** How a case ends, if it does not pass. */
import type { Decimal } from '../numbers/decimal.js'
import type { FailureKind } from './report.js'

export interface FailureDetails {
  kind: FailureKind
  /** Of a wrong balance: what was expected, and the actual one minus that; `currency`: of another account. */
  balance?: { expected: Decimal; difference: Decimal; currency?: string }
}

/** A case has failed. */
export class CaseFailed extends Error {
  /** A step that only prepares the case has failed. */
  isPreparation = false

  constructor(
    readonly expected: string,
    readonly actual: string,
    /** Index into the exchanges of the case. */
    readonly exchangeIndex: number | null,
    readonly details: FailureDetails,
  ) {
    super(`expected ${expected}, actual ${actual}`)
  }
}

/** A case cannot be judged. */
export class Skipped extends Error {}
