/** Runs the cases one after the other: all of them compare the balance of one player. */
import { compare, type Decimal, subtract, textOf } from '../numbers/decimal.js'
import { type Answer, describeAnswer } from './answer.js'
import { type AuditCase, factsOf, type Need } from './audit-case.js'
import { AuditRun } from './audit-run.js'
import { CaseContext } from './case-context.js'
import { CaseFailed, Skipped } from './case-outcomes.js'
import { excerptOf } from './excerpt.js'
import { failureOf } from './failure.js'
import { findingsOf } from './findings.js'
import { senderOf } from './foreign-answers.js'
import { limitationsOf } from './limitations.js'
import type { AuditSettings } from './options.js'
import { checkTarget, estimateOf, unitsNeeded } from './preflight.js'
import type { AuditFailure, AuditReport, AuditResult } from './report.js'
import { TwoPartCases } from './two-part-cases.js'

export async function runAudit(settings: AuditSettings, cases: readonly AuditCase[]): Promise<AuditReport> {
  const beganAt = new Date()
  const run = new AuditRun(settings)
  const { client } = run
  try {
    const begin = new CaseContext(run, 'begin')
    const before = await checkTarget(
      begin,
      cases.some(({ needs }) => needs?.includes('settle')),
    )
    const willRun = cases.filter(item => skipReason(run, item) === null)
    await settings.onStart?.(estimateOf(willRun, begin.wallet.exchanges))
    const { results, balance, isStopped, hasRestartFailed } = await runCases(run, cases, before)
    const failed = results.some(({ verdict, level }) => verdict === 'failed' && level === 'MUST')
    const hasPassed = !failed && !isStopped
    const after = hasPassed ? await stakeSurplus(new CaseContext(run, 'end'), before, balance) : balance
    const textOfFunds = (funds: Decimal) => textOf(funds, settings.minorUnits)
    return {
      formatVersion: 1,
      target: settings.target,
      startedAt: beganAt.toISOString(),
      durationMs: Math.round(client.now()),
      seed: settings.seed,
      player: { playerId: settings.playerId, currency: settings.currency },
      funds: { before: textOfFunds(before), after: isStopped ? null : textOfFunds(after) },
      requests: client.requests,
      balancesReadBy: { by: run.reading.by, reason: run.reading.reason },
      foreignAnswers: run.foreignAnswers.all,
      findings: findingsOf(results, {
        minorUnits: settings.minorUnits,
        unitsNeeded: unitsNeeded(settings.concurrency),
        refusalCodes: settings.refusalCodes,
        foreignAnswers: run.foreignAnswers.all,
      }),
      limitations: limitationsOf(settings),
      results,
      // Asked for, and not done: what the wallet keeps in memory only, or what reverses a settlement that it
      // never takes, is not known.
      passed: hasPassed && !hasRestartFailed && ![...run.settled.values()].includes(false),
      complete: results.every(({ verdict }) => verdict !== 'skipped'),
    }
  } finally {
    client.close()
  }
}

async function runCases(run: AuditRun, cases: readonly AuditCase[], before: Decimal) {
  const { settings } = run
  const twoParts = new TwoPartCases(cases, run, item => skipReason(run, item))
  let balance = before
  let stopReason: string | null = null
  const results: AuditResult[] = []
  for (const item of cases) {
    const reason = stopReason ?? skipReason(run, item)
    if (reason === null) {
      const started = await twoParts.start(item, balance)
      if (started !== null) balance = started.balance
      const context = started?.context ?? new CaseContext(run, item.id)
      context.opening = started === null ? balance : subtract(balance, started.change)
      const { opening } = context
      const { result, after, stop } = await runCase(started?.item ?? item, context)
      results.push(result)
      if (stop !== null) stopReason = `${stop} after ${item.id}`
      if (after !== null) {
        balance = after
        run.balances.push({
          id: item.id,
          before: opening,
          after,
          hasSettled: context.wallet.openBets.hasSettled,
        })
      }
    } else {
      await twoParts.cleanUp(item.id)
      results.push(skipped(item, reason))
    }
    await settings.onResult?.(results.at(-1) as AuditResult, { done: results.length, total: cases.length })
  }
  return { results, balance, isStopped: stopReason !== null, hasRestartFailed: twoParts.hasRestartFailed }
}

/** Stakes what uncollected clawbacks have left, so that the player can be audited again. */
async function stakeSurplus({ wallet }: CaseContext, before: Decimal, balance: Decimal): Promise<Decimal> {
  const surplus = subtract(balance, before)
  if (surplus.units <= 0n) return balance
  const answer = await wallet.place(wallet.bet(surplus), { label: 'stake the credits that settlements left' })
  return answer.balance ?? balance
}

function skipReason({ settings, client }: AuditRun, item: AuditCase): string | null {
  if (settings.signal?.aborted) return 'the audit was stopped'
  if (client.now() >= settings.timeBudgetMs) return 'the time budget was used up'
  const { accounts, settle, clawbacks, otherPlayerId, credentials, sign, headers, pauseMs, restart } =
    settings
  const isAuthenticated = credentials !== null || sign !== null || Object.keys(headers).length > 0
  const missing: Record<Need, string | false> = {
    settle: settle === 'unsupported' && 'no way to settle was given (--settle-url, --settle-command)',
    clawbacks: !clawbacks && 'clawbacks are disabled (--no-clawbacks)',
    accounts: accounts.length === 1 && 'no accounts in other currencies were given (--accounts)',
    'other-player': otherPlayerId === null && 'no second test player was given (--other-player)',
    authentication: !isAuthenticated && 'calls have no credentials, headers or signature',
    pause: pauseMs === null && 'no long pause was given (--pause)',
    restart: restart === null && 'no way to restart the wallet was given (--restart-command)',
  }
  return item.needs?.map(need => missing[need]).find(reason => reason !== false) ?? null
}

function skipped(item: AuditCase, reason: string): AuditResult {
  const rest = { failure: null, exchanges: [], balance: null, durationMs: 0 }
  return { ...factsOf(item), verdict: 'skipped', reason, ...rest }
}

/**
 * `after`: the balance after the case; `null` if it is not in the answer. `stop`: why no further case
 * can be judged; otherwise `null`.
 */
async function runCase(
  item: AuditCase,
  context: CaseContext,
): Promise<{ result: AuditResult; after: Decimal | null; stop: string | null }> {
  const { wallet, opening, settings, run } = context
  const beganAt = run.client.now()
  let failure: AuditFailure | null = null
  let reason: string | null = null
  try {
    await item.run(context)
  } catch (error) {
    if (error instanceof CaseFailed) failure = await failureOf(item, context, error)
    else if (error instanceof Skipped) reason = error.message
    else throw error
  } finally {
    await wallet.cleanUp()
  }

  const last = await probe(context)
  if (last.status === null && failure === null) {
    const expected = 'the wallet to continue to answer'
    const gone = new CaseFailed(expected, describeAnswer(last), last.index, { kind: 'no-answer' })
    failure = await failureOf(item, context, gone)
  }
  // Settlements may leave another balance, if nothing is wrong with it; a failed case does not explain a
  // lower one.
  const isLower = last.balance !== null && compare(last.balance, opening) < 0
  const isSettled =
    wallet.openBets.hasSettled && failure?.kind !== 'balance' && (failure === null || !isLower)
  const text = (amount: Decimal) => textOf(amount, settings.minorUnits)
  const excerpt = excerptOf(wallet.exchanges, failure !== null, failure?.exchangeIndex ?? null)
  if (failure !== null) failure.exchangeIndex = excerpt.keptIndex
  const result: AuditResult = {
    ...factsOf(item),
    failure,
    verdict: failure !== null ? 'failed' : reason !== null ? 'skipped' : 'passed',
    reason: failure === null ? reason : null,
    exchanges: excerpt.exchanges,
    balance: {
      before: text(opening),
      after: last.balance === null ? null : text(last.balance),
      explained: last.balance === null || compare(last.balance, opening) === 0 || isSettled,
    },
    durationMs: Math.round(run.client.now() - beganAt),
  }
  const isFault = last.status === 500 && last.errorCode === null
  const sender = isFault ? `a fault without an error code (${describeAnswer(last)})` : senderOf(last)
  const stop =
    last.status === null ? 'the wallet stopped answering' : sender && `${sender} answered without a balance`
  return { result, after: last.balance, stop }
}

const probesMax = 4
const probePauseMs = 250

/** Reads the balance. A wallet that restarts after a case gets a second to answer again. */
async function probe({ wallet, wait }: CaseContext): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await wallet.readBalance()
    if (answer.status !== null || attempt === probesMax) return answer
    await wait(probePauseMs)
  }
}
