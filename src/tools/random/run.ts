/** One run: opening balances, random calls, all calls again, and the balances at the end. */
import { createRandom } from '../numbers/random.js'
import { AuditError } from '../wire/errors.js'
import { maskOf, secretsOf } from '../wire/secrets.js'
import { type Account, createAccount, type Transaction } from './books.js'
import { costsOf, playerBooksOf } from './costs.js'
import { Decisions } from './decisions.js'
import { FaultRun } from './fault-commands.js'
import { Generator } from './generator.js'
import { Judge } from './judge.js'
import { limitationsOf } from './limitations.js'
import { Network } from './network.js'
import { createLedger } from './openings.js'
import { type Settings, type SimulatedPlayer, type SimulationOptions, settingsOf } from './options.js'
import type { Reading } from './reading.js'
import type { SimulationProgress, SimulationReport } from './report.js'
import { Tally } from './tally.js'
import { Timeline } from './timeline.js'
import { createTransport, type Transport } from './transport.js'

/** Independent random sequences: the faults of the network do not change the bets. */
const streams = { calls: 1, network: 2 }
/** Faults after which a transaction is given up, beside the time. */
const faultsMax = 60
/** What has never answered definitely is given up early: probably the address is wrong. */
const firstFaultsMax = 10
const firstGiveUpAfterMsMax = 5_000
/** Settlements are given up after this many refusals without a success, */
const settlementRefusalsMax = 20
/** or after this many failures and this time since the first of them. */
const settlementFailuresMax = 20
const settlementFailingMsMax = 30_000

/**
 * Plays the platform against a running wallet (spec 4): random calls over a network with faults. Judges every
 * answer, and reconciles its own books with the wallet's balances at the end. For test systems: it changes
 * the balances of the given players, and leaves bets and transactions behind.
 *
 * Sends placebets, rollbackbets, unsettlements and settlements to the given URLs only, for the given players,
 * and now and then a placebet of a player who does not exist.
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
  const faults = settings.faults && new FaultRun(settings.faults, settings.clock, maskOf(secretsOf(settings)))
  try {
    const report = await new Run(settings, transport, faults).play()
    await settings.listeners.end()
    if (faults === null) return report
    const found = await faults.conclude(transport, settings.giveUpAfterMs)
    const { stopped, lost, repeated, notRetried, costsAfter } = found
    const isWhole = stopped === null && lost.length + repeated.length + notRetried + costsAfter.length === 0
    return { ...report, faults: found, passed: report.passed && isWhole }
  } finally {
    await faults?.end()
    transport.close()
  }
}

class Run {
  readonly #settings: Settings
  readonly #accounts: readonly Account[]
  readonly #decisions: Decisions | null
  readonly #judge: Judge
  readonly #network: Network
  readonly #generator: Generator
  readonly #tally = new Tally()
  readonly #timeline: Timeline | null
  readonly #faults: FaultRun | null
  readonly #startedAt: number
  readonly #startedDate: number
  #phase: SimulationProgress['phase'] = 'opening'
  #bettingSince = 0
  #isComplete = true
  #isStopped = false
  #retriedAtEnd = 0
  #settlementsFailingSince: number | null = null
  #reported = { at: 0, requests: 0 }

  constructor(settings: Settings, transport: Transport, faults: FaultRun | null) {
    const { clock, giveUpAfterMs, players, runId, seed, onTransaction } = settings
    this.#settings = settings
    this.#faults = faults
    this.#accounts = players.map(({ playerId, sessionId }, index) =>
      createAccount(playerId, sessionId ?? `${runId}-session${index + 1}`),
    )
    this.#decisions = onTransaction && new Decisions(onTransaction)
    this.#judge = new Judge({ ...settings, decisions: this.#decisions })
    const tally = this.#tally
    const first = { faults: firstFaultsMax, milliseconds: Math.min(giveUpAfterMs, firstGiveUpAfterMsMax) }
    this.#network = new Network({
      ...settings,
      ...{ transport, judge: this.#judge, random: createRandom(seed, streams.network) },
      get patience() {
        return tally.hasAnswered ? { faults: faultsMax, milliseconds: giveUpAfterMs } : first
      },
      onAnswered: (transaction, reading, milliseconds) =>
        this.#onAnswered(transaction, reading, milliseconds),
    })
    this.#generator = new Generator({
      ...settings,
      ...{ accounts: this.#accounts, network: this.#network, random: createRandom(seed, streams.calls) },
      settles: settings.settle !== 'unsupported',
      mayBet: () => this.#phase === 'betting' && !this.#isBettingOver(),
      date: clock.date,
      rememberedMax: settings.rememberedBetsMax,
    })
    this.#timeline = settings.timeline ? new Timeline(this.#accounts) : null
    this.#startedAt = clock.now()
    this.#startedDate = clock.date()
    this.#reported.at = this.#startedAt
  }

  async play(): Promise<SimulationReport> {
    const network = this.#network
    this.#settings.listeners.onRejected = error => network.fail(error)
    let isPlayed = false
    const played = this.#playAll().then(() => {
      isPlayed = true
    })
    await Promise.race([played, network.over]).finally(() => network.stop())
    this.#isComplete = isPlayed
    if (!isPlayed) this.#giveUp()
    const { worked, failures } = this.#tally.settlements
    if (!worked && failures > 0) throw this.#settlementsFailed()
    this.#timeline?.count(this.#settings.clock.now() - this.#startedAt, this.#totals())
    this.#reportProgress()
    return this.#report()
  }

  async #playAll(): Promise<void> {
    const { clock, chaos, pauseMs, signal } = this.#settings
    const network = this.#network
    await this.#open()
    this.#enter('betting')
    this.#bettingSince = clock.now()
    network.chaos = chaos
    this.#faults?.start(() => {
      const [first] = this.#judge.differences
      return first === undefined ? null : `${first.kind}: expected ${first.expected}, actual ${first.actual}`
    })
    while (!this.#isBettingOver()) await network.turn(this.#generator.move)
    this.#enter('draining')
    this.#faults?.stop()
    network.chaos = null
    await network.drained()
    this.#generator.end()
    if (pauseMs > 0 && signal?.aborted !== true) {
      // What a wallet forgets after a while, it forgets now.
      this.#enter('waiting')
      await new Promise<void>(resolve => {
        signal?.addEventListener('abort', resolve)
        clock.after(pauseMs, resolve)
      })
    }
    this.#isStopped = signal?.aborted === true
    this.#enter('reconciling')
    await this.#sendAllAgain()
    // For the platform's report: a placebet that never had an answer is sent again after its rollback.
    const undecided = this.#decisions?.undecidedBets() ?? []
    await network.drained(undecided.map(placed => network.untilAnswered(placed)))
    await network.drained(this.#accounts.map(account => this.#readClosing(account)))
  }

  async #open(): Promise<void> {
    const { minorUnitsOf, players } = this.#settings
    const opened = this.#accounts.map(async (account, index) => {
      const answer = await this.#network.untilAnswered(this.#generator.readingOf(account))
      const last = this.#judge.differences.find(({ playerId }) => playerId === account.playerId)
      const unanswered = last?.actual ?? 'nothing definite'
      createLedger(account, players[index] as SimulatedPlayer, answer ?? unanswered, minorUnitsOf)
    })
    await this.#network.drained(opened)
    if (this.#accounts.every(({ opening }) => opening <= 0n))
      throw new AuditError('INSUFFICIENT_TEST_FUNDS', 'players: none of them has any funds')
  }

  #isBettingOver(): boolean {
    const { betsMax, durationMs, signal, clock } = this.#settings
    return (
      signal?.aborted === true ||
      this.#faults?.isOver === true ||
      (betsMax !== null && this.#generator.counts.bets >= betsMax) ||
      (durationMs !== null && clock.now() - this.#bettingSince >= durationMs)
    )
  }

  /** Sends all transactions of the remembered bets again: every decision must be replayed (D2). */
  async #sendAllAgain(): Promise<void> {
    const network = this.#network
    this.#generator.sendDeferredRollbacks()
    await network.drained()
    for (const { transactions, rolledBackAt } of this.#generator.remembered) {
      for (const transaction of transactions) {
        // A placebet that never arrived before its rollback must be refused (D11).
        const isLateBet = transaction.operation === 'placebet' && rolledBackAt !== 0
        if (transaction.first === null && !isLateBet) continue
        this.#retriedAtEnd += 1
        await network.turn(() => network.sendAgain(transaction))
      }
    }
    await network.drained()
  }

  async #readClosing(account: Account): Promise<void> {
    const reading = this.#generator.readingOf(account)
    const answer = await this.#network.untilAnswered(reading)
    if (answer?.kind === 'success' && answer.balance !== null)
      this.#judge.closingBalance(reading, answer.balance)
  }

  #giveUp(): void {
    const { target, giveUpAfterMs } = this.#settings
    if (this.#phase === 'opening')
      throw new AuditError(
        'UNREACHABLE',
        `${target}: no answer for ${Math.min(giveUpAfterMs, firstGiveUpAfterMsMax)} ms`,
      )
    const actual = `none; the wallet did not answer for ${giveUpAfterMs} ms`
    for (const transaction of this.#network.pending)
      this.#judge.report(transaction, { kind: 'unanswered', expected: 'a definite answer', actual })
  }

  // ── Settlements that never work: the run would judge bets and rollbacks only ───────────────────────────

  #doSettlementsFail(): boolean {
    const { worked, failures, refusals } = this.#tally.settlements
    if (worked) return false
    const now = this.#settings.clock.now()
    this.#settlementsFailingSince ??= now
    const isLong = now - this.#settlementsFailingSince >= settlementFailingMsMax
    return refusals >= settlementRefusalsMax || (failures >= settlementFailuresMax && isLong)
  }

  #settlementsFailed(): AuditError {
    const { settle, target } = this.#settings
    const { failures, lastFailure } = this.#tally.settlements
    const how =
      typeof settle === 'object' && 'url' in settle
        ? `POST ${settle.url.href}`
        : typeof settle === 'object'
          ? `the settle command ${maskOf(secretsOf(this.#settings))(JSON.stringify(settle.command))}`
          : 'the settle function'
    return new AuditError(
      'SETTLEMENT_FAILED',
      `${how} never settled a bet: ${failures} times without success, the last time ${lastFailure}. ` +
        `${target} cannot be judged without settlements: correct the option settle, or set it to "unsupported" ` +
        '(--settle-url, --settle-command)',
    )
  }

  // ── Progress and report ────────────────────────────────────────────────────────────────────────────────

  #enter(phase: SimulationProgress['phase']): void {
    this.#reportProgress()
    this.#phase = phase
  }

  #onAnswered(transaction: Transaction, reading: Reading, milliseconds: number): void {
    const { clock, progressEveryMs } = this.#settings
    this.#faults?.record(transaction, reading)
    this.#tally.record(transaction.operation, reading, milliseconds)
    const atMs = clock.now() - this.#startedAt
    this.#timeline?.record(atMs, transaction.account, reading, milliseconds, this.#totals())
    if (transaction.operation === 'settlement' && this.#doSettlementsFail()) throw this.#settlementsFailed()
    if (clock.now() - this.#reported.at >= progressEveryMs) this.#reportProgress()
  }

  #totals() {
    return {
      failedCalls: this.#tally.failedCalls,
      faultsInjected: Object.values(this.#network.faultsInjected).reduce((sum, count) => sum + count, 0),
      differences: this.#judge.differencesCount,
    }
  }

  #reportProgress(): void {
    const { clock, durationMs, betsMax, onProgress } = this.#settings
    const now = clock.now()
    const { requests } = this.#network
    onProgress?.({
      ...{ phase: this.#phase, elapsedMs: now - this.#startedAt, durationMs, betsMax, requests },
      bets: this.#generator.counts.bets,
      requestsPerSecond: perSecond(requests - this.#reported.requests, now - this.#reported.at),
      latencyMs: this.#tally.latency(),
      failedCalls: this.#tally.failedCalls,
      differencesCount: this.#judge.differencesCount,
      pending: this.#network.pending.size,
      walletUnreachable: this.#network.isUnreachable,
    })
    this.#reported = { at: now, requests }
  }

  #unjudged(): string | null {
    if (this.#generator.counts.betsAccepted === 0) return 'nothing was judged: no bet was accepted'
    return this.#settings.settle === 'unsupported' || this.#tally.settlements.worked
      ? null
      : 'settlements were not judged: none succeeded'
  }

  #report(): SimulationReport {
    const { target, seed, runId, chaos, concurrency, clock } = this.#settings
    const { requests, faultsInjected } = this.#network
    const { differencesCount, differences } = this.#judge
    const { failedCalls, earlyUnsettlements } = this.#tally
    const durationMs = clock.now() - this.#startedAt
    const tallied = { failedCalls, earlyUnsettlements, retriedAtEnd: this.#retriedAtEnd }
    const counts = { ...this.#generator.counts, ...this.#judge.counts, ...tallied }
    const unjudged = this.#unjudged()
    return {
      ...{ formatVersion: 1, target, startedAt: new Date(this.#startedDate).toISOString(), durationMs },
      seed,
      runId,
      chaos,
      concurrency,
      requests,
      counts,
      differencesCount,
      passed: this.#isComplete && differencesCount === 0 && unjudged === null,
      stopped: this.#isStopped,
      unjudged,
      complete: this.#isComplete,
      costs: costsOf(this.#accounts),
      limitations: limitationsOf(this.#settings, this.#accounts, counts, durationMs),
      differences: [...differences],
      requestsPerSecond: perSecond(requests, durationMs),
      latencyMs: this.#tally.latency(),
      answers: this.#tally.answers(),
      faultsInjected: { ...faultsInjected },
      books: { players: this.#accounts.map(playerBooksOf) },
      timeline: this.#timeline?.read() ?? null,
      faults: null,
    }
  }
}

const perSecond = (count: number, milliseconds: number) =>
  milliseconds > 0 ? (count * 1000) / milliseconds : 0
