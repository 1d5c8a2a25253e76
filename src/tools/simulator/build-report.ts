/** Maps the state of a run to its progress and its report. */
import { add, type Decimal, type DecimalText, fromUnits, textOf, zero } from '../numbers/decimal.js'
import { type Account, shown } from './books.js'
import { costsOf } from './costs.js'
import type { Judge } from './judge.js'
import { limitationsOf } from './limitations.js'
import type { Network } from './network.js'
import type { Settings } from './options.js'
import type { Outbox } from './outbox.js'
import type { PlayerBooks, SimulationProgress, SimulationReport } from './report.js'
import type { Sportsbook } from './sportsbook.js'
import type { Tally } from './tally.js'
import type { Timeline } from './timeline.js'

export interface ReportedState {
  readonly settings: Settings
  readonly accounts: readonly Account[]
  readonly judge: Pick<Judge, 'counts' | 'differences' | 'groups' | 'differencesCount'>
  readonly network: Pick<Network, 'requests' | 'faultsInjected' | 'walletUnreachable'>
  readonly outbox: Pick<Outbox, 'pending'>
  readonly sportsbook: Pick<Sportsbook, 'counts'>
  readonly tally: Tally
  /** `null`: none is wanted. */
  readonly timeline: Timeline | null
  /** By the clock's `now`. */
  readonly startedAt: number
  /** Milliseconds since 1970. */
  readonly startedDate: number
  readonly phase: SimulationProgress['phase']
  readonly complete: boolean
  readonly retriedAtEnd: number
  /** When progress was last reported, and the requests until then. */
  readonly reportedAt: number
  readonly reportedRequests: number
}

/** @param now by the clock of the run */
export function buildProgress(state: ReportedState, now: number): SimulationProgress {
  const { settings, judge, network, outbox, sportsbook, tally } = state
  return {
    phase: state.phase,
    elapsedMs: now - state.startedAt,
    durationMs: settings.durationMs,
    bets: sportsbook.counts.bets,
    betsMax: settings.betsMax,
    requests: network.requests,
    requestsPerSecond: perSecond(network.requests - state.reportedRequests, now - state.reportedAt),
    latencyMs: tally.latency(),
    replaysAbsorbed: judge.counts.replaysAbsorbed,
    betsRolledBack: judge.counts.betsRolledBack,
    lateBetsRefused: judge.counts.lateBetsRefused,
    clawbacksRefused: sportsbook.counts.clawbacksRefused,
    failedCalls: tally.failedCalls,
    differencesCount: judge.differencesCount,
    pending: outbox.pending.size,
    walletUnreachable: network.walletUnreachable,
  }
}

/** @param now by the clock of the run */
export function buildReport(state: ReportedState, now: number): SimulationReport {
  const { settings, accounts, judge, network, sportsbook, tally, complete } = state
  const { target, seed, runId, chaos, concurrency } = settings
  const durationMs = now - state.startedAt
  const counts = {
    ...sportsbook.counts,
    ...judge.counts,
    earlyUnsettlements: tally.earlyUnsettlements,
    failedCalls: tally.failedCalls,
    retriedAtEnd: state.retriedAtEnd,
  }
  return {
    formatVersion: 1,
    target,
    startedAt: new Date(state.startedDate).toISOString(),
    durationMs,
    seed,
    runId,
    chaos,
    concurrency,
    passed: complete && judge.differencesCount === 0,
    complete,
    differencesCount: judge.differencesCount,
    groups: judge.groups(),
    costs: costsOf(accounts),
    limitations: limitationsOf(settings, accounts, counts, durationMs),
    differences: [...judge.differences],
    requests: network.requests,
    requestsPerSecond: perSecond(network.requests, durationMs),
    latencyMs: tally.latency(),
    answers: tally.answers(),
    counts,
    faultsInjected: { ...network.faultsInjected },
    debts: debtsOf(accounts),
    books: { players: accounts.map(booksOf) },
    timeline: state.timeline?.read() ?? null,
    faults: null,
  }
}

function perSecond(count: number, milliseconds: number): number {
  return milliseconds > 0 ? (count * 1000) / milliseconds : 0
}

/** The uncollected clawbacks of all players, by currency. */
export function debtsOf(accounts: readonly Account[]): Record<string, DecimalText> {
  const sums = new Map<string, { sum: Decimal; minorUnits: number }>()
  for (const { currency, debt, decimals, minorUnits } of accounts) {
    if (debt <= 0n) continue
    const { sum } = sums.get(currency) ?? { sum: zero }
    sums.set(currency, { sum: add(sum, fromUnits(debt, decimals)), minorUnits })
  }
  return Object.fromEntries(
    [...sums].map(([currency, { sum, minorUnits }]) => [currency, textOf(sum, minorUnits)]),
  )
}

function booksOf(account: Account): PlayerBooks {
  const { playerId, currency, opening, low, high, debt, accepted, refused, actual, minorUnits } = account
  return {
    playerId,
    currency,
    opening: shown(opening, account),
    expected: low === high ? shown(low, account) : null,
    expectedLeast: shown(low, account),
    expectedMost: shown(high, account),
    actual: actual === null ? null : textOf(actual, minorUnits),
    debt: shown(debt, account),
    accepted: { ...accepted },
    refused: { ...refused },
  }
}
