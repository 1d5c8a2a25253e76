/** What all cases of one audit share. */
import type { Decimal } from '../numbers/decimal.js'
import type { Json } from '../wire/json.js'
import type { Client } from './client.js'
import type { ForeignAnswerLog, RateLimit } from './foreign-answers.js'
import type { AuditSettings } from './options.js'
import type { OutageLog } from './retries.js'

export interface AuditRun {
  readonly settings: AuditSettings
  readonly client: Client
  readonly ids: { next(): string }
  readonly reading: BalanceReading
  readonly outages: OutageLog
  readonly foreignAnswers: ForeignAnswerLog
  readonly rateLimit: RateLimit
  /** The betIds of all placebets that were answered with success. */
  readonly acceptedBets: Set<string>
  /** By type of the settlements that cases need: whether one has succeeded. */
  readonly settled: Map<string, boolean>
  /** Of the cases so far. */
  readonly balances: CaseBalances[]
}

/** The balance before a case, and after it has rolled back its bets. */
interface CaseBalances {
  id: string
  before: Decimal
  after: Decimal
  /** A credit may remain. */
  hasSettled: boolean
}

/** How the balance is read, decided before the first case. */
interface BalanceReading {
  by: 'rollback' | 'bet-and-rollback'
  /** Why it is not the rollback of an unknown bet; otherwise `null`. */
  reason: string | null
  /** The last rollback by which a balance was read with a bet and its rollback. */
  last: Record<string, Json> | null
  /**
   * The account that answers where no currency is known (D28), if it is another one than that of the option
   * `currency`; otherwise `null`. No case changes it, except those about accounts.
   */
  home: { currency: string; balance: Decimal } | null
  /** By currency of an account: the bet, rolled back, whose further rollbacks read the balance (D12). */
  readonly bets: Map<string, { betId: string; playerId: string }>
}
