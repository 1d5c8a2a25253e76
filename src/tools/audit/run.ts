/** Runs the cases one after the other: all of them compare the balance of one player. */
import { randomBytes } from 'node:crypto'
import { compare, type Decimal, subtract, textOf } from '../platform/decimal.js'
import { createRandom } from '../platform/random.js'
import type { AuditCase, Need } from './audit-case.js'
import { blindSpots } from './blind-spots.js'
import { type Client, openClient } from './client.js'
import { excerptOf } from './excerpt.js'
import { failureOf } from './failure.js'
import { findingsOf } from './findings.js'
import { FirstActs } from './first-acts.js'
import { impactOf } from './impact.js'
import type { AuditSettings } from './options.js'
import { checkTarget, estimateOf, unitsNeeded } from './preflight.js'
import type { AuditFailure, AuditReport, AuditResult } from './report.js'
import type { OutageLog } from './retries.js'
import {
  type Answer,
  type BalanceReading,
  type CaseBalances,
  CaseFailed,
  describeAnswer,
  Skipped,
  Stage,
} from './stage.js'

export async function runAudit(settings: AuditSettings, cases: readonly AuditCase[]): Promise<AuditReport> {
  const beganAt = new Date()
  const client = openClient(settings)
  try {
    const ids = idsOfRun()
    const reading: BalanceReading = { by: 'rollback', reason: null, last: null }
    const outages: OutageLog = { all: [], excused: new Set(), wastedMs: 0 }
    const balances: CaseBalances[] = []
    const stageFor = (id: string) =>
      new Stage(balances, settings, client, createRandom(settings.seed, id), ids, reading, id, outages)

    const settles = cases.some(({ needs }) => needs?.includes('settle'))
    const begin = stageFor('begin')
    const before = await checkTarget(settings, begin, reading, settles)
    announce(settings, cases, client, begin)
    const acts = new FirstActs(cases, settings, client, stageFor, item => skipReason(settings, client, item))
    let balance = before
    let unreachableReason: string | null = null
    const results: AuditResult[] = []
    for (const item of cases) {
      const reason = unreachableReason ?? skipReason(settings, client, item)
      if (reason === null) {
        const first = await acts.of(item, balance)
        if (first !== null) balance = first.balance
        const opening = first === null ? balance : subtract(balance, first.change)
        const stage = first?.stage ?? stageFor(item.id)
        const { result, after, hasSettled } = await play(first?.item ?? item, stage, client, opening)
        results.push(result)
        if (after === 'unreachable') unreachableReason = `the wallet stopped answering after ${item.id}`
        else if (after !== null) {
          balance = after
          balances.push({ id: item.id, before: opening, after, hasSettled })
        }
      } else {
        await acts.cleanUp(item.id)
        results.push(skipped(item, reason))
      }
      settings.onResult?.(results.at(-1) as AuditResult, { done: results.length, total: cases.length })
    }

    const failed = results.some(({ verdict, level }) => verdict === 'failed' && level === 'MUST')
    const passed = !failed && unreachableReason === null
    if (passed) balance = await stakeSurplus(stageFor('end'), subtract(balance, before), balance)
    return {
      formatVersion: 1,
      target: settings.target,
      startedAt: beganAt.toISOString(),
      durationMs: Math.round(client.now()),
      seed: settings.seed,
      player: { playerId: settings.playerId, currency: settings.currency },
      funds: {
        before: textOf(before, settings.minorUnits),
        after: unreachableReason === null ? textOf(balance, settings.minorUnits) : null,
      },
      requests: client.requests,
      balancesReadBy: {
        way:
          reading.by === 'rollback' ? 'the rollback of an unknown bet' : 'the smallest bet and its rollback',
        reason: reading.reason,
      },
      findings: findingsOf(results, settings.minorUnits, unitsNeeded(settings.concurrency)),
      notSeen: blindSpots(settings),
      results,
      passed,
      complete: results.every(({ verdict }) => verdict !== 'skipped'),
    }
  } finally {
    client.close()
  }
}

/** Calls `onStart` with the time that the cases will take. */
function announce(settings: AuditSettings, cases: readonly AuditCase[], client: Client, begin: Stage): void {
  const played = cases.filter(item => skipReason(settings, client, item) === null)
  settings.onStart?.(
    estimateOf(
      played.map(({ id }) => id),
      begin,
    ),
  )
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

/** Stakes what uncollected clawbacks have left, so that the player can be audited again. */
async function stakeSurplus(stage: Stage, surplus: Decimal, balance: Decimal): Promise<Decimal> {
  if (surplus.units <= 0n) return balance
  const answer = await stage.place(stage.bet(surplus), { label: 'stake the credits that settlements left' })
  return answer.balance ?? balance
}

const reasons: Record<Need, string> = {
  settle: 'no way to settle was given (settle)',
  clawbacks: 'clawbacks are disabled (clawbacks: false)',
  'other-player': 'no second test player was given (otherPlayerId)',
  authentication: 'calls have no credentials, headers or signature',
  patience: 'no long pause was given (patienceMs)',
  restart: 'no way to restart the wallet was given (restart)',
}

function skipReason(settings: AuditSettings, client: Client, item: AuditCase): string | null {
  if (settings.signal?.aborted) return 'the audit was stopped'
  if (client.now() >= settings.timeBudgetMs) return 'the time budget was used up'
  const isMet: Record<Need, boolean> = {
    settle: settings.settle !== 'unsupported',
    clawbacks: settings.clawbacks,
    'other-player': settings.otherPlayerId !== null,
    authentication:
      settings.credentials !== null || settings.sign !== null || Object.keys(settings.headers).length > 0,
    patience: settings.patienceMs !== null,
    restart: settings.restart !== null,
  }
  const missing = item.needs?.find(need => !isMet[need])
  return missing === undefined ? null : reasons[missing]
}

function skipped({ id, level, title, source }: AuditCase, reason: string): AuditResult {
  const rest = { failure: null, exchanges: [], balance: null, durationMs: 0 }
  return { id, level, title, source, verdict: 'skipped', reason, ...rest }
}

interface Played {
  result: AuditResult
  /** The balance after the case; `null` if the wallet answers without one. */
  after: Decimal | 'unreachable' | null
  hasSettled: boolean
}

async function play(item: AuditCase, stage: Stage, client: Client, opening: Decimal): Promise<Played> {
  const { id, level, title, source } = item
  const beganAt = client.now()
  let failure: AuditFailure | null = null
  let reason: string | null = null
  stage.opening = opening
  try {
    await item.play(stage)
  } catch (error) {
    if (error instanceof CaseFailed) failure = await failureOf(item, stage, error)
    else if (error instanceof Skipped) reason = error.message
    else throw error
  } finally {
    await stage.cleanUp()
  }

  const last = await probe(stage)
  if (last.status === null && failure === null) {
    failure = {
      kind: 'no answer',
      difference: null,
      expected: 'the wallet to continue to answer',
      actual: describeAnswer(last),
      impact: impactOf(item, 'no answer', last.exchange, null, amount => stage.money(amount)),
      quote: item.quote ?? null,
      exchangeIndex: last.index,
    }
  }
  // Settlements may leave a credit, if nothing is wrong with it.
  const isSettled = stage.hasSettled && failure?.kind !== 'balance'
  const text = (amount: Decimal) => textOf(amount, stage.settings.minorUnits)
  const excerpt = excerptOf(stage.exchanges, failure !== null, failure?.exchangeIndex ?? null)
  if (failure !== null) failure.exchangeIndex = excerpt.keptIndex
  return {
    result: {
      ...{ id, level, title, source, failure },
      verdict: failure !== null ? 'failed' : reason !== null ? 'skipped' : 'passed',
      reason: failure === null ? reason : null,
      exchanges: excerpt.exchanges,
      balance: {
        before: text(opening),
        after: last.balance === null ? null : text(last.balance),
        explained: last.balance === null || compare(last.balance, opening) === 0 || isSettled,
      },
      durationMs: Math.round(client.now() - beganAt),
    },
    after: last.status === null ? 'unreachable' : last.balance,
    hasSettled: stage.hasSettled,
  }
}

const probesMax = 4
const probePauseMs = 250

/** Reads the balance. A wallet that restarts after a case gets a second to answer again. */
async function probe(stage: Stage): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await stage.readBalance()
    if (answer.status !== null || attempt === probesMax) return answer
    await stage.wait(probePauseMs)
  }
}
