/**
 * `bet-wallet/audit`: the platform's side. Sends the calls of the interface to a running wallet, in whatever language it
 * is written, and judges the answers only.
 */
import { cases } from './cases.js'
import { type AuditOptions, settingsOf } from './options.js'
import type { AuditReport, Level } from './report.js'
import { runAudit } from './run.js'

export type { AuditErrorCode } from './errors.js'
export { AuditError } from './errors.js'
export { renderHtml } from './html/render.js'
export { renderJunit } from './junit.js'
export type { AuditOptions } from './options.js'
export type * from './report.js'
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
  type SimulatorClock,
  simulateSportsbook,
} from './simulator/index.js'
export type {
  SettleAnswer,
  SettleFunction,
  SettleOption,
  SignedRequest,
  StopSignal,
  WalletTarget,
} from './target.js'

/** Every case, in the order in which they are run. */
export const auditCases: readonly { id: string; level: Level; title: string; source: string }[] = cases.map(
  ({ id, level, title, source }) => Object.freeze({ id, level, title, source }),
)

/**
 * Audits a wallet over HTTP. Sends what the cases say, only to the base URL and to where settlements are made; follows no
 * redirection; plays with no other player than those that it is told. What is staked is rolled back at the end of each
 * case, and what closed clawbacks leave is staked on a last bet that stays open: the same player can be audited again.
 *
 * @throws {AuditError} where the audit cannot begin: wrong options, nobody there, not let in, player unknown, funds too
 * small. What the wallet does wrong is in the report.
 */
export async function auditWallet(options: AuditOptions): Promise<AuditReport> {
  const ids = cases.map(({ id }) => id)
  const settings = settingsOf(options, ids)
  return await runAudit(
    settings,
    cases.filter(({ id }) => settings.only?.includes(id) ?? true),
  )
}
