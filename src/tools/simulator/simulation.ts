/** One run: opening balances, bets, the end of all matches, and the reconciliation. */

import { createRandom } from '../numbers/random.js'
import { AuditError } from '../wire/errors.js'
import { maskOf, secretsOf } from '../wire/secrets.js'
import { type Account, createAccount, createBet, shown, shownRange, type Transaction } from './books.js'
import { buildProgress, buildReport, type ReportedState } from './build-report.js'
import { Decisions } from './decisions.js'
import { FaultRun } from './fault-commands.js'
import { Judge } from './judge.js'
import type { Finding } from './judgements.js'
import { Network } from './network.js'
import { createLedger } from './openings.js'
import { type Settings, type SimulatedPlayer, type SimulationOptions, settingsOf } from './options.js'
import { Outbox } from './outbox.js'
import type { Reading } from './reading.js'
import type { SimulationFaults, SimulationProgress, SimulationReport } from './report.js'
import { createSportsbook, type Sportsbook } from './sportsbook.js'
import { Tally } from './tally.js'
import { Timeline } from './timeline.js'
import { createTransport, type Transport } from './transport.js'

/** Independent random sequences: the faults of the network do not change the bets. */
const streams = { world: 1, network: 2 }
/** A wallet that has never answered is given up early: probably the address is wrong. */
const firstGiveUpAfterMsMax = 5_000
/** Settlements are given up after this many refusals without a success, */
const settlementRefusalsMax = 100
/** or after this many failures and this time since the first of them. */
const settlementFailuresMax = 20
const settlementFailingMsMax = 30_000
/** No further bets while there are more unanswered transactions than this for each connection. */
const pendingPerConnectionMax = 8

/**
 * Plays a sportsbook against a running wallet as the platform does (spec 4), judges every answer, and
 * reconciles its own books with the wallet's balances at the end. For test systems: it changes the balances
 * of the given players, and leaves bets and transactions behind.
 *
 * Sends placebets, rollbackbets, unsettlements and settlements for the given players only, and to the given
 * URLs only.
 *
 * @returns the report. Differences are in the report, and not thrown
 * @throws {AuditError} if the run cannot start: an option is invalid, the wallet does not answer, rejects the
 * credentials, or does not know a player
 * @throws the error of a hook that throws or rejects
 */
export async function simulateSportsbook(options: SimulationOptions): Promise<SimulationReport> {
  return await runSimulation(settingsOf(options))
}

/** The same, of options that are checked. */
export async function runSimulation(settings: Settings): Promise<SimulationReport> {
  const transport = createTransport(settings)
  const faults = settings.faults && new FaultRun(settings.faults, settings.clock)
  try {
    const report = await new Promise<SimulationReport>((resolve, reject) => {
      const run = createRun(settings, transport, { faults, resolve, reject })
      settings.listeners.onRejected = error => fail(run, error)
      settings.signal?.addEventListener('abort', run.network.sendDue)
      openAll(run)
    })
    await settings.listeners.end()
    if (faults === null) return report
    return withFaults(report, await faults.conclude(transport, settings.giveUpAfterMs))
  } finally {
    await faults?.end()
    transport.close()
  }
}

function withFaults(report: SimulationReport, faults: SimulationFaults): SimulationReport {
  const { stopped, lost, repeated, notRetried, costsAfter } = faults
  const isWhole = stopped === null && lost.length + repeated.length + notRetried + costsAfter.length === 0
  return { ...report, faults, passed: report.passed && isWhole }
}

/** The steps of a run, in their order. Each ends when nothing is queued or in flight. */
type Step = 'opening' | 'betting' | 'draining' | 'waiting' | 'retrying' | 'asking' | 'closing' | 'ended'

const phaseOf: Record<Step, SimulationProgress['phase']> = {
  opening: 'opening',
  betting: 'betting',
  draining: 'draining',
  waiting: 'waiting',
  retrying: 'reconciling',
  asking: 'reconciling',
  closing: 'reconciling',
  ended: 'reconciling',
}

interface Run extends ReportedState {
  /** `null`: there is no `onTransaction`. */
  readonly decisions: Decisions | null
  readonly judge: Judge
  readonly network: Network
  readonly outbox: Outbox
  readonly sportsbook: Sportsbook
  /** `null`: none is to be injected. */
  readonly faults: FaultRun | null
  step: Step
  bettingSince: number
  complete: boolean
  retriedAtEnd: number
  /** `null` before the first failure. */
  settlementsFailingSince: number | null
  reportedAt: number
  reportedRequests: number
  resolve(report: SimulationReport): void
  reject(error: unknown): void
}

function createRun(
  settings: Settings,
  transport: Transport,
  result: Pick<Run, 'faults' | 'resolve' | 'reject'>,
): Run {
  const { clock, players, runId, seed, differencesMax, onDifference, onTransaction } = settings
  const accounts = players.map(({ playerId, sessionId }, index) =>
    createAccount(playerId, sessionId ?? `${runId}-session${index + 1}`),
  )
  const decisions = onTransaction && new Decisions(onTransaction)
  const judge = new Judge({ differencesMax, step: () => network.step, onDifference, decisions })
  const network: Network = new Network({
    ...settings,
    get giveUpAfterMs() {
      return giveUpAfterMs(run)
    },
    random: createRandom(seed, streams.network),
    judge,
    post: (transaction, mode, onReading) =>
      transport.post(transaction, mode, onReading, error => fail(run, error)),
    onIdle: () => onIdle(run),
    onDrained: () => onDrained(run),
    onGivenUp: () => onGivenUp(run),
    onAnswered: (transaction, reading, milliseconds) => onAnswered(run, transaction, reading, milliseconds),
    onError: error => fail(run, error),
  })
  const outbox = new Outbox({ network, judge, now: clock.now, giveUpAfterMs: settings.giveUpAfterMs })
  const sportsbook = createSportsbook({
    accounts,
    random: createRandom(seed, streams.world),
    network,
    outbox,
    runId,
    settles: settings.settle !== 'unsupported',
    mayBet: () => run.step === 'betting' && !isBettingOver(run),
    date: clock.date,
    rememberedMax: settings.rememberedBetsMax,
    onBetClosed: settings.onBetClosed,
  })
  const startedAt = clock.now()
  const run: Run = {
    settings,
    accounts,
    decisions,
    judge,
    network,
    outbox,
    sportsbook,
    tally: new Tally(),
    timeline: settings.timeline ? new Timeline(accounts) : null,
    startedAt,
    startedDate: clock.date(),
    bettingSince: startedAt,
    reportedAt: startedAt,
    reportedRequests: 0,
    retriedAtEnd: 0,
    complete: true,
    settlementsFailingSince: null,
    step: 'opening',
    get phase() {
      return phaseOf[run.step]
    },
    ...result,
  }
  return run
}

function giveUpAfterMs({ settings, tally }: Run): number {
  const most = tally.hasAnswered ? Number.POSITIVE_INFINITY : firstGiveUpAfterMsMax
  return Math.min(most, settings.giveUpAfterMs)
}

// ── The steps ───────────────────────────────────────────────────────────────────────────────────────────

const whenDrained: Partial<Record<Step, (run: Run) => void>> = {
  opening: startBetting,
  draining: waitPatiently,
  waiting: retryPastIfAborted,
  retrying: askUndecided,
  asking: readClosingBalances,
  closing: finish,
}

function onDrained(run: Run): void {
  if (run.complete) whenDrained[run.step]?.(run)
  else if (run.step !== 'ended') finish(run)
}

function openAll(run: Run): void {
  const { accounts, network, settings, sportsbook } = run
  for (const [index, account] of accounts.entries()) {
    const player = settings.players[index] as SimulatedPlayer
    sportsbook.readBalance(account, answer => createLedger(account, player, answer, settings.minorUnitsOf))
  }
  network.sendDue()
}

function startBetting(run: Run): void {
  const { accounts, network, settings } = run
  if (accounts.every(({ opening }) => opening <= 0n))
    throw new AuditError('INSUFFICIENT_TEST_FUNDS', 'players: none of them has any funds')
  enter(run, 'betting')
  run.bettingSince = settings.clock.now()
  network.setChaos(settings.chaos)
  run.faults?.start(() => {
    const [first] = run.judge.differences
    return first === undefined ? null : `${first.kind}: expected ${first.expected}, actual ${first.actual}`
  })
  network.sendDue()
}

/** Places the next bet, or ends betting. Returns whether there is more to send. */
function onIdle(run: Run): boolean {
  const { network, outbox, settings, sportsbook } = run
  if (run.step !== 'betting') return false
  if (isBettingOver(run)) {
    enter(run, 'draining')
    run.faults?.stop()
    network.setChaos(null)
    return false
  }
  if (outbox.pending.size >= settings.concurrency * pendingPerConnectionMax) return false
  network.advance()
  sportsbook.placeBet()
  return true
}

function isBettingOver({ settings, sportsbook, bettingSince, faults }: Run): boolean {
  const { betsMax, durationMs, signal, clock } = settings
  return (
    signal?.aborted === true ||
    (faults !== null && faults.stopped !== null) ||
    (betsMax !== null && sportsbook.counts.bets >= betsMax) ||
    (durationMs !== null && clock.now() - bettingSince >= durationMs)
  )
}

/** What a wallet forgets after a while, it forgets now. */
function waitPatiently(run: Run): void {
  const { clock, pauseMs, signal } = run.settings
  if (pauseMs === 0 || signal?.aborted === true) {
    retryPast(run)
    return
  }
  enter(run, 'waiting')
  clock.after(pauseMs, () => {
    if (run.step === 'waiting') safely(run, () => retryPast(run))
  })
}

function retryPastIfAborted(run: Run): void {
  if (run.settings.signal?.aborted === true) retryPast(run)
}

function safely(run: Run, then: () => void): void {
  try {
    then()
  } catch (error) {
    fail(run, error)
  }
}

/** Sends all transactions of the remembered bets again: every decision must be replayed (D2). */
function retryPast(run: Run): void {
  const { network, sportsbook } = run
  enter(run, 'retrying')
  sportsbook.sendDeferredRollbacks()
  for (const { transactions, rolledBackAt } of sportsbook.closedBets()) {
    for (const transaction of transactions) {
      // A placebet that never arrived before its rollback must be refused (D11).
      const isLateBet = transaction.operation === 'placebet' && rolledBackAt !== 0
      if (transaction.first === null && !isLateBet) continue
      run.retriedAtEnd += 1
      network.sendAgain(transaction, 0)
    }
  }
  network.sendDue()
}

/** For the platform's report: a placebet that never had an answer is sent again after its rollback. */
function askUndecided(run: Run): void {
  const { decisions, network, outbox } = run
  enter(run, 'asking')
  const undecided = decisions?.undecidedBets() ?? []
  for (const placed of undecided) outbox.sendUntilAnswered(placed, () => {})
  if (undecided.length === 0) readClosingBalances(run)
  else network.sendDue()
}

function readClosingBalances(run: Run): void {
  const { accounts, judge, network, sportsbook } = run
  enter(run, 'closing')
  for (const account of accounts) {
    const transaction = sportsbook.readBalance(account, answer => {
      if (answer?.kind === 'success' && answer.balance !== null)
        judge.closingBalance(transaction, answer.balance)
    })
  }
  network.sendDue()
}

function finish(run: Run): void {
  const { accounts, judge, network, settings, sportsbook } = run
  if (!run.tally.settlements.worked && run.tally.settlements.failures > 0) {
    fail(run, settlementsFailed(run))
    return
  }
  judge.conclude()
  if (run.complete && judge.differencesCount === 0 && sportsbook.openBets === 0) {
    for (const account of accounts) {
      for (const finding of checkBooks(account)) judge.report(createBet('', account, 0n), finding)
    }
  }
  enter(run, 'ended')
  run.timeline?.count(settings.clock.now() - run.startedAt, totalsOf(run))
  reportProgress(run)
  settings.signal?.removeEventListener('abort', network.sendDue)
  network.stop()
  run.resolve(buildReport(run, settings.clock.now()))
}

/**
 * The results of all bets and all transactions must add up to the same balance: a check of the simulator
 * itself.
 */
export function checkBooks(account: Account): Finding[] {
  const { opening, entitled, debt, low, high } = account
  const byResults = opening + entitled + debt
  if (low === byResults && high === byResults) return []
  return [
    {
      kind: 'books',
      expected: `${shown(byResults, account)} by the results of all bets`,
      actual: `${shownRange(low, high, account)} by all transactions`,
      units: low - byResults,
    },
  ]
}

/** Whether settlements never worked: the run would judge bets and rollbacks only. */
function doSettlementsFail(run: Run): boolean {
  const { worked, failures, refusals } = run.tally.settlements
  if (worked) return false
  const now = run.settings.clock.now()
  run.settlementsFailingSince ??= now
  const isLong = now - run.settlementsFailingSince >= settlementFailingMsMax
  return refusals >= settlementRefusalsMax || (failures >= settlementFailuresMax && isLong)
}

function settlementsFailed({ settings, tally }: Run): AuditError {
  const { settle, target } = settings
  const { failures, lastFailure } = tally.settlements
  const how =
    typeof settle === 'object' && 'url' in settle
      ? `POST ${settle.url.href}`
      : typeof settle === 'object'
        ? `the settle command ${maskOf(secretsOf(settings))(JSON.stringify(settle.command))}`
        : 'the settle function'
  return new AuditError(
    'SETTLEMENT_FAILED',
    `${how} never settled a bet: ${failures} times without success, the last time ${lastFailure}. ` +
      `${target} cannot be judged without settlements: correct the option settle, or set it to "unsupported" ` +
      '(--settle-url, --settle-command)',
  )
}

function onGivenUp(run: Run): void {
  const { judge, outbox, settings } = run
  run.complete = false
  if (run.step === 'opening') {
    fail(run, new AuditError('UNREACHABLE', `${settings.target}: no answer for ${giveUpAfterMs(run)} ms`))
    return
  }
  for (const transaction of outbox.pending) {
    const actual = `none; the wallet did not answer for ${settings.giveUpAfterMs} ms`
    judge.report(transaction, { kind: 'unanswered', expected: 'a definite answer', actual })
  }
}

function fail(run: Run, error: unknown): void {
  const { network, settings } = run
  run.step = 'ended'
  settings.signal?.removeEventListener('abort', network.sendDue)
  network.stop()
  run.reject(error)
}

// ── Progress ────────────────────────────────────────────────────────────────────────────────────────────

function enter(run: Run, step: Step): void {
  if (phaseOf[step] !== run.phase) reportProgress(run)
  run.step = step
}

function onAnswered(run: Run, transaction: Transaction, reading: Reading, milliseconds: number): void {
  const { settings, tally } = run
  run.faults?.record(transaction, reading)
  tally.record(transaction.operation, reading, milliseconds)
  run.timeline?.record(
    settings.clock.now() - run.startedAt,
    transaction.account,
    reading,
    milliseconds,
    totalsOf(run),
  )
  if (transaction.operation === 'settlement' && doSettlementsFail(run)) {
    fail(run, settlementsFailed(run))
    return
  }
  if (settings.clock.now() - run.reportedAt >= settings.progressEveryMs) reportProgress(run)
}

function totalsOf({ tally, network, judge }: Run) {
  return {
    failedCalls: tally.failedCalls,
    faultsInjected: Object.values(network.faultsInjected).reduce((sum, count) => sum + count, 0),
    differences: judge.differencesCount,
  }
}

function reportProgress(run: Run): void {
  const { network, settings } = run
  const now = settings.clock.now()
  const progress = buildProgress(run, now)
  run.reportedAt = now
  run.reportedRequests = network.requests
  settings.onProgress?.(progress)
}
