/** A schema of a public repository, in the form that its own migrations or its ORM make; and what its operator knows. */
import type { Answers } from '../../../../src/tools/init/propose.js'
import type { Pam } from '../pams.js'

export interface RealSchema extends Omit<Pam, 'options'> {
  /** On GitHub. */
  repository: string
  engine: 'PostgreSQL' | 'MySQL' | 'MariaDB'
  /** What the operator must change first: the table as it is cannot be a wallet's. */
  prepared?: {
    why: string
    statements: readonly string[]
    /** The table that `right` names a view of. */
    of?: string
  }
  /** The answer to each question of `init`. What it decides without a question must be the same. */
  right: Answers
  /** What must be asked although only one answer is right: it has consequences. Who may bet is always asked. */
  asks?: readonly (keyof Answers)[]
}

/** The ids of two players. */
export const uuids = ['018f6b1e-0000-7000-8000-000000000001', '018f6b1e-0000-7000-8000-000000000002'] as const

/** Of rows that are no players: another number than the player's, so that they cannot be mixed up unseen. */
export const rowUuid = (number: number) => `018f6b1e-0000-7000-9000-${String(number).padStart(12, '0')}`

/** The decimals of a currency outside ISO 4217, for the audit. */
export const unitsOf = (code: string, decimals: number) => (currency: string) =>
  currency === code ? decimals : undefined
