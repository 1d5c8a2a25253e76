/** What a check of a database has found, one finding per subject. */
import { fieldOf, textOf } from '../../foreign-values.js'

export type Subject =
  | 'connection'
  | 'server'
  | 'durability'
  | 'privileges'
  | 'schema'
  | 'players table'
  | 'trial debit'
  | 'lookup indexes'
  | 'accounts'
  | 'balances'
  | 'player ids'
  | 'version column'
  | 'columns'
  | 'CHECKs'
  | 'statements'

export interface Finding {
  subject: Subject
  /**
   * `unknown`: the check failed, or this user lacks a right for it. `skipped`: it is switched off, or an
   * option has accepted it. `read`: a list for people, without a verdict. `warning`: perhaps wrong.
   */
  state: 'ok' | 'problem' | 'unknown' | 'skipped' | 'read' | 'warning'
  text: string
  /** SQL or commands to paste, or the statements that were found. */
  lines: readonly string[]
}

export const finding = (
  subject: Subject,
  state: Finding['state'],
  text: string,
  lines: readonly string[] = [],
): Finding => ({ subject, state, text, lines })

/** Of a player whose balance was credited and debited. */
export const trialPassed = finding(
  'trial debit',
  'ok',
  'one player was credited and debited, and rolled back',
)

export const noPlayer = finding(
  'trial debit',
  'skipped',
  'not tried: no player has a balance, or other code has locked every row',
)

/** @param checks each with its table and its text; not empty */
export const checksFinding = (checks: readonly string[]): Finding =>
  finding(
    'CHECKs',
    'read',
    'a debit that fails one of these is a fault (500), and is not recorded: read them. Declare locked or held ' +
      'funds by players.reserved, so that such a stake is refused with INSUFFICIENT_FUNDS',
    checks,
  )

export interface CheckSettings {
  lookupIndexes: boolean
  allowNotDurable: boolean
}

export const describe = (error: unknown): string => textOf(fieldOf(error, 'problem') ?? error)
