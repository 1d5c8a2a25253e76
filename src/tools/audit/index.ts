/**
 * `bet-wallet/audit`: the platform's side. Sends the platform's calls to a running wallet, in whatever
 * language it is written, and judges the answers.
 */

import { factsOf } from './audit-case.js'
import { cases } from './cases.js'
import { type AuditOptions, settingsOf } from './options.js'
import type { AuditReport, Level } from './report.js'
import { runAudit } from './run.js'

export {
  type Chaos,
  type ClosedBet,
  type Difference,
  type Latency,
  numberedPlayers,
  type PlayerBooks,
  type SimulatedOperation,
  type SimulatedPlayer,
  type SimulationCounts,
  type SimulationOptions,
  type SimulationProgress,
  type SimulationReport,
  type SimulationTimeline,
  type SimulatorClock,
  simulateSportsbook,
} from '../random/index.js'
export { renderSimulation } from '../random/printed.js'
export type { AuditErrorCode } from '../wire/errors.js'
export { AuditError } from '../wire/errors.js'
export type {
  SettleAnswer,
  SettleFunction,
  SettleOption,
  SignedRequest,
  StopSignal,
  WalletTarget,
} from '../wire/target.js'
export { renderJunit } from './junit.js'
export type { AuditOptions } from './options.js'
export { renderHtml } from './printout.js'
export type * from './report.js'

/** All cases of the audit in the order in which they run. */
export const auditCases: readonly { id: string; level: Level; name: string; source: string }[] = cases.map(
  item => Object.freeze(factsOf(item)),
)

/**
 * Audits a wallet over HTTP. Sends requests to the base URL and to the settlement URL only, follows no
 * redirect, and touches no players other than those of the options. Each case rolls back its bets at its end,
 * and credits that uncollected clawbacks leave are staked on a last bet that stays open, so the same player
 * can be audited again.
 *
 * @returns the report, with every failure of the wallet
 * @throws {AuditError} if the audit is not possible: invalid options, no answer, failed authentication,
 * unknown player, insufficient funds
 */
export async function auditWallet(options: AuditOptions): Promise<AuditReport> {
  const ids = cases.map(({ id }) => id)
  const settings = settingsOf(options, ids)
  return await runAudit(
    settings,
    cases.filter(({ id, needs }) =>
      settings.only === null
        ? settings.accounts.length > 1 || !needs?.includes('accounts')
        : settings.only.includes(id),
    ),
  )
}
