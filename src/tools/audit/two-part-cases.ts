/** Cases in two parts. The first parts run together, then there is one pause or restart for all. */

import { textOf } from '../../foreign-values.js'
import { withTimeout } from '../../timeout.js'
import { type Decimal, subtract } from '../numbers/decimal.js'
import { runCommand } from '../wire/settle.js'
import type { AuditCase, BetweenParts } from './audit-case.js'
import type { AuditRun } from './audit-run.js'
import { CaseContext } from './case-context.js'
import { CaseFailed, Skipped } from './case-outcomes.js'

interface StartedCase {
  /** The case with its second part only. */
  item: AuditCase
  context: CaseContext
  /** How much the first part has changed the balance. */
  change: Decimal
}

/** Those of one audit. */
export class TwoPartCases {
  readonly #cases: readonly AuditCase[]
  readonly #run: AuditRun
  /** Why a case is skipped; `null` if it runs. */
  readonly #skipReason: (item: AuditCase) => string | null
  readonly #started = new Map<string, StartedCase>()
  hasRestartFailed = false

  constructor(cases: readonly AuditCase[], run: AuditRun, skipReason: (item: AuditCase) => string | null) {
    this.#cases = cases
    this.#run = run
    this.#skipReason = skipReason
  }

  /**
   * Runs the first parts of this case and of those that wait for the same, and passes the time, unless that
   * is done.
   *
   * @returns `null` for a case in one part; otherwise the case, and the balance now
   */
  async start(item: AuditCase, balance: Decimal): Promise<(StartedCase & { balance: Decimal }) | null> {
    const { between } = item
    if (between === undefined) return null
    let now = balance
    if (!this.#started.has(item.id)) {
      const group = this.#cases.filter(other => other.between === between && this.#skipReason(other) === null)
      for (const each of group) now = await this.#startOne(each, now)
      const context = new CaseContext(this.#run, between)
      if (between === 'restart')
        for (const id of [between, ...group.map(one => one.id)]) this.#run.outages.excused.add(id)
      const problem = await passTime(between, context)
      this.hasRestartFailed ||= between === 'restart' && problem !== null
      if (problem !== null) for (const { id } of group) this.#leaveOut(id, problem)
      now = (await context.wallet.readBalance()).balance ?? now
    }
    const started = this.#started.get(item.id)
    return started === undefined ? null : { ...started, balance: now }
  }

  /** Rolls back the bets of a first part whose second part does not run. */
  async cleanUp(id: string): Promise<void> {
    await this.#started.get(id)?.context.wallet.cleanUp()
  }

  /** @returns the balance after the first part */
  async #startOne(item: AuditCase, opening: Decimal): Promise<Decimal> {
    const context = new CaseContext(this.#run, item.id)
    context.opening = opening
    const second = await secondPartOf(item, context)
    const after = (await context.wallet.readBalance()).balance ?? opening
    this.#started.set(item.id, { item: { ...item, run: second }, context, change: subtract(after, opening) })
    return after
  }

  #leaveOut(id: string, problem: string): void {
    const started = this.#started.get(id)
    if (started === undefined) return
    const run = () => Promise.reject(new Skipped(problem))
    this.#started.set(id, { ...started, item: { ...started.item, run } })
  }
}

/** The first part only prepares: what the case is about is judged in the second one. */
async function secondPartOf(item: AuditCase, context: CaseContext): Promise<() => Promise<void>> {
  try {
    return (await context.prepare.step(() => item.run(context))) ?? (async () => {})
  } catch (error) {
    if (!(error instanceof CaseFailed || error instanceof Skipped)) throw error
    return () => Promise.reject(error)
  }
}

const stepMs = 100

/** @returns why there was no pause or no restart; otherwise `null` */
async function passTime(between: BetweenParts, context: CaseContext): Promise<string | null> {
  const { run, wait } = context
  const { settings, client } = run
  if (between === 'restart') return await restartWallet(context)
  const until = client.now() + (settings.pauseMs ?? 0)
  while (client.now() < until) {
    if (settings.signal?.aborted) return 'the audit was stopped'
    await wait(Math.min(stepMs, Math.max(0, until - client.now())))
  }
  return null
}

const restartMsMax = 120_000

/** @returns why the wallet was not restarted; otherwise `null` */
async function restartWallet({ run, wallet, wait }: CaseContext): Promise<string | null> {
  const { client } = run
  const { restart } = run.settings
  const late = (): never => {
    throw new Error(`not done within ${restartMsMax / 1_000} s`)
  }
  try {
    if (typeof restart === 'function') await withTimeout(Promise.resolve(restart()), restartMsMax, late)
    else if (restart !== null) await runCommand(restart.command, '', restartMsMax, client.mask)
  } catch (error) {
    return client.mask(`the wallet could not be restarted: ${textOf(error)}`)
  }
  // A process that stops gracefully still answers on the connections that are open.
  client.disconnect()
  const until = performance.now() + restartMsMax
  for (;;) {
    const { balance } = await wallet.readBalance()
    if (balance !== null) return null
    if (performance.now() > until)
      return `the wallet did not answer within ${restartMsMax / 1_000} s of its restart`
    await wait(stepMs)
  }
}
