/** What all cases of one audit share. */
import { randomBytes } from 'node:crypto'
import type { Decimal } from '../numbers/decimal.js'
import type { Json } from '../wire/json.js'
import { Client } from './client.js'
import { ForeignAnswerLog, RateLimit } from './foreign-answers.js'
import type { AuditSettings } from './options.js'
import type { OutageLog } from './retries.js'

export class AuditRun {
  readonly client: Client
  readonly ids = idsOfRun()
  readonly reading: BalanceReading = { by: 'rollback', reason: null, last: null, home: null, bets: new Map() }
  readonly outages: OutageLog = { all: [], excused: new Set(), wastedMs: 0 }
  readonly foreignAnswers: ForeignAnswerLog
  readonly rateLimit: RateLimit
  /** The betIds of all placebets that were answered with success. */
  readonly acceptedBets = new Set<string>()
  /** By type of the settlements that cases need: whether one has succeeded. */
  readonly settled = new Map<string, boolean>()
  /** Of the cases so far. */
  readonly balances: CaseBalances[] = []

  constructor(readonly settings: AuditSettings) {
    this.client = new Client(settings)
    this.foreignAnswers = new ForeignAnswerLog(settings)
    this.rateLimit = new RateLimit(settings.signal)
  }
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

/** New in each run: `au-mf3k2x9q1a-17`. */
function idsOfRun(): { next(): string } {
  const run = `${Date.now().toString(36)}${randomBytes(3).toString('hex')}`
  let count = 0
  return {
    next() {
      count += 1
      return `au-${run}-${count}`
    },
  }
}
