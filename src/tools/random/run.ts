/** One run: opening balances, random calls, all calls again, and the balances at the end. */
import { type Decimal, toUnits } from '../numbers/decimal.js'
import { createRandom } from '../numbers/random.js'
import { AuditError } from '../wire/errors.js'
import { maskOf, secretsOf } from '../wire/secrets.js'
import { type Account, accountsOf, type SimulatedOperation, type Transaction } from './books.js'
import { FaultRun } from './fault-commands.js'
import { Generator } from './generator.js'
import { Judge } from './judge.js'
import { isReplay } from './judgements.js'
import { Network } from './network.js'
import { openBooks } from './openings.js'
import { type Settings, type SimulatedPlayer, type SimulationOptions, settingsOf } from './options.js'
import { answerText, type Definite, isNotFound, type Reading, type Refusal } from './reading.js'
import { playerBooksOf, type SimulationProgress, type SimulationReport } from './report.js'
import { noCounts, Tally } from './tally.js'
import { Timeline } from './timeline.js'
import { decidedOf } from './transactions.js'
import { createTransport, type Transport } from './transport.js'

/** Independent random sequences: the faults of the network do not change the bets. */
const streams = { calls: 1, network: 2 }
/** Faults after which a transaction is given up, beside the time. */
const faultsMax = 60
/** What has never answered definitely is given up early. */
const firstFaultsMax = 10
const firstGiveUpAfterMsMax = 5_000
/** Betting ends after so many settlements without a success. */
const unsettledMax = 20

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
    return report
  } finally {
    await faults?.end()
    transport.close()
  }
}

class Run {
  readonly #settings: Settings
  readonly #counts = noCounts()
  readonly #tally = new Tally(this.#counts)
  readonly #accounts: readonly Account[]
  readonly #judge: Judge
  readonly #network: Network
  readonly #generator: Generator
  readonly #timeline: Timeline | null
  readonly #faults: FaultRun | null
  readonly #startedAt: number
  readonly #startedDate: number
  #phase: SimulationProgress['phase'] = 'opening'
  #bettingSince = 0
  #isComplete = false
  #isStopped = false
  /** A call at the end: each other one is sent once, or a wallet that is gone for good would hold the run. */
  #hasGivenUp = false
  /** The last balances while calls are sent again at the end. */
  readonly #seen = new Map<Account, Decimal>()
  #reported = { at: 0, requests: 0 }

  constructor(settings: Settings, transport: Transport, faults: FaultRun | null) {
    const { clock, giveUpAfterMs, players, runId, seed, onTransaction, minorUnitsOf } = settings
    this.#settings = settings
    this.#faults = faults
    const currencies = (settings.currencies ?? []).map(currency => ({
      currency,
      minorUnits: minorUnitsOf(currency),
    }))
    this.#accounts = players.flatMap(({ playerId, sessionId }, index) =>
      accountsOf(playerId, sessionId ?? `${runId}-session${index + 1}`, currencies),
    )
    const onDecided = (transaction: Transaction) => onTransaction?.(decidedOf(transaction))
    this.#judge = new Judge({ ...settings, onDecided }, this.#counts)
    const first = { faults: firstFaultsMax, milliseconds: Math.min(giveUpAfterMs, firstGiveUpAfterMsMax) }
    const usual = { faults: faultsMax, milliseconds: giveUpAfterMs }
    this.#network = new Network({
      ...settings,
      ...{ transport, judge: this.#judge, random: createRandom(seed, streams.network) },
      limitsFor: operation => (this.#hasWorked(operation) ? usual : first),
      onAnswered: (transaction, reading, milliseconds) =>
        this.#onAnswered(transaction, reading, milliseconds),
    })
    const random = createRandom(seed, streams.calls)
    const mayBet = () => this.#phase === 'betting' && !this.#isBettingOver()
    const parts = { accounts: this.#accounts, network: this.#network, random, mayBet }
    this.#generator = new Generator({ ...settings, ...parts }, this.#counts)
    this.#timeline = settings.timeline ? new Timeline(this.#accounts) : null
    this.#startedAt = clock.now()
    this.#startedDate = clock.date()
    this.#reported.at = this.#startedAt
  }

  async play(): Promise<SimulationReport> {
    const network = this.#network
    this.#settings.listeners.onRejected = error => network.fail(error)
    const played = this.#playAll().then(() => {
      this.#isComplete = true
    })
    await Promise.race([played, network.over]).finally(() => network.stop())
    if (!this.#isComplete) {
      this.#faults?.endOfCalls()
      this.#giveUp()
    }
    this.#timeline?.count(this.#settings.clock.now() - this.#startedAt, this.#totals())
    this.#reportProgress()
    return this.#report()
  }

  async #playAll(): Promise<void> {
    const { clock, chaos, pauseMs, signal } = this.#settings
    const network = this.#network
    const faults = this.#faults
    await this.#open()
    this.#enter('betting')
    this.#bettingSince = clock.now()
    network.chaos = chaos
    faults?.start(() => {
      const [first] = this.#judge.differences
      return first === undefined ? null : `${first.kind}: expected ${first.expected}, actual ${first.actual}`
    })
    while (!this.#isBettingOver()) await network.turn(this.#generator.call)
    this.#enter('draining')
    const ended = faults?.end()
    network.chaos = null
    await network.drained()
    faults?.endOfCalls()
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
    await network.drained(this.#accounts.map(account => this.#readClosing(account)))
    if (faults === null) return
    await ended
    this.#settings.faults?.onEvent('the faults are over: every answered call is sent again')
    await this.#sendAnsweredAgain(faults)
  }

  async #open(): Promise<void> {
    const { minorUnitsOf, players } = this.#settings
    const opened = this.#accounts.map(async account => {
      await this.#generator.prepareReading(account)
      const answer = await this.#network.untilAnswered(this.#generator.readingOf(account))
      const last = this.#judge.differences.find(({ playerId }) => playerId === account.playerId)
      const unanswered = last?.actual ?? 'nothing definite'
      const player = players.find(({ playerId }) => playerId === account.playerId) as SimulatedPlayer
      const expected = account.others.length === 0 ? player : { ...player, currency: account.currency }
      openBooks(account, expected, answer ?? unanswered, minorUnitsOf)
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
      (this.#generator.unsettled >= unsettledMax && !this.#hasWorked('settlement')) ||
      (betsMax !== null && this.#counts.bets >= betsMax) ||
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
        this.#counts.retriedAtEnd += 1
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

  /** One call of a player after the other, so that the balance shows what each has changed. */
  async #sendAnsweredAgain(faults: FaultRun): Promise<void> {
    this.#judge.isRetrying = true
    const turns = new Map<Account, Promise<void>>()
    // Refusals of settlements and rollbacks are not recorded: a retry is decided anew (D8).
    const recorded = [...faults.answered.keys()].filter(({ first }) => first)
    faults.notRetried = recorded.length
    for (const transaction of recorded) {
      const { account } = transaction
      const before = turns.get(account) ?? Promise.resolve()
      const sent = before.then(() => this.#sendAnswered(transaction, faults))
      turns.set(account, sent)
    }
    await this.#network.drained([...turns.values()])
  }

  async #sendAnswered(transaction: Transaction, faults: FaultRun): Promise<void> {
    const first = transaction.first as Definite
    const retry = await this.#retry(transaction)
    if (!retry) return
    faults.notRetried -= 1
    this.#counts.retriedAtEnd += 1
    const { answer, change } = retry
    const isSame = isReplay(first, answer)
    if (isSame && change === null) faults.notCompared += 1
    if (isSame && (change === null || change === 0n)) return
    const isLost = await this.#isLost(transaction, answer, isSame)
    if (isLost) faults.countLost(transaction)
    this.#judge.report(transaction, {
      kind: isLost ? 'lost' : 'replay',
      expected: `the first answer again: ${answerText(first)}, of ${faults.answered.get(transaction)}`,
      actual: answerText(answer),
      ...(change !== null && { units: change }),
    })
  }

  /**
   * Whether the wallet has lost a call, and has decided its retry anew: then the decision is recorded, and
   * the next retry is a replay of it.
   *
   * @param isSame the retry has the first answer: one with the first walletTransactionId is not lost
   */
  async #isLost(transaction: Transaction, answer: Definite, isSame: boolean): Promise<boolean> {
    if (isSame && answer.kind === 'success' && answer.reference !== null) return false
    const next = await this.#retry(transaction)
    return next !== null && isReplay(answer, next.answer) && next.change === 0n
  }

  /**
   * What a retry is answered, and how it changes the balance, which is read where the answer has none.
   * `change` is `null` where the balance cannot be read.
   */
  async #retry(transaction: Transaction): Promise<{ answer: Definite; change: bigint | null } | null> {
    const { account } = transaction
    // An unsettlement whose settlement is lost is always answered with a fault (D19).
    const unknown: Refusal[] = []
    const answer = await this.#network.untilAnswered(transaction, reading => {
      if (isNotFound(reading)) unknown.push({ ...reading, kind: 'refusal' })
      return this.#hasGivenUp || unknown.length > 0
    })
    const refused = answer ?? unknown[0] ?? null
    this.#hasGivenUp ||= !refused
    if (answer?.kind !== 'success') return refused && { answer: refused, change: 0n }
    const read =
      answer.currency === account.currency
        ? answer
        : await this.#network.untilAnswered(this.#generator.readingOf(account), () => this.#hasGivenUp)
    this.#hasGivenUp ||= !read
    const { balance } = { balance: null, ...read }
    const before = this.#seen.get(account) ?? account.actual
    if (balance !== null) this.#seen.set(account, balance)
    if (balance === null || before === null) return { answer, change: null }
    const [now = 0n, was = 0n] = [balance, before].map(value => toUnits(value, account.decimals) ?? 0n)
    return { answer, change: now - was }
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

  /** What has never answered definitely is given up early: probably the address is wrong. */
  #hasWorked(operation: SimulatedOperation | null): boolean {
    if (operation !== 'settlement') return this.#tally.hasAnswered
    return this.#accounts.some(({ accepted }) => accepted.settlement > 0)
  }

  // ── Progress and report ────────────────────────────────────────────────────────────────────────────────

  #enter(phase: SimulationProgress['phase']): void {
    this.#reportProgress()
    this.#phase = phase
  }

  #onAnswered(transaction: Transaction, reading: Reading, milliseconds: number): void {
    const { clock, progressEveryMs } = this.#settings
    const now = clock.now()
    this.#faults?.record(transaction, reading)
    this.#tally.record(transaction, reading, milliseconds)
    this.#timeline?.record(now - this.#startedAt, transaction.account, reading, milliseconds, this.#totals())
    if (now - this.#reported.at >= progressEveryMs) this.#reportProgress()
  }

  #totals() {
    return {
      failedCalls: this.#counts.failedCalls,
      faultsInjected: Object.values(this.#network.faultsInjected).reduce((sum, count) => sum + count, 0),
      differences: this.#judge.differencesCount,
    }
  }

  #reportProgress(): void {
    const { clock, betsMax, onProgress } = this.#settings
    const now = clock.now()
    const { requests } = this.#network
    const { bets, failedCalls } = this.#counts
    onProgress?.({
      phase: this.#phase,
      elapsedMs: now - this.#startedAt,
      betsMax,
      requests,
      bets,
      failedCalls,
      differencesCount: this.#judge.differencesCount,
      requestsPerSecond: perSecond(requests - this.#reported.requests, now - this.#reported.at),
      latencyMs: this.#tally.latency(),
      walletUnreachable: this.#network.isUnreachable,
    })
    this.#reported = { at: now, requests }
  }

  #inconclusive(): string | null {
    if (this.#counts.betsAccepted === 0) return 'nothing was judged: no bet was accepted'
    if (this.#settings.settle === 'unsupported' || this.#hasWorked('settlement')) return null
    return Object.keys(this.#tally.answers.settlement).length === 0
      ? 'no settlement was sent: the run was too short (--bets, --duration)'
      : 'no settlement succeeded: see the option settle (--settle-url, --settle-command)'
  }

  #report(): SimulationReport {
    const { target, seed, runId, chaos, concurrency, clock } = this.#settings
    const { requests, faultsInjected } = this.#network
    const { differencesCount, differences } = this.#judge
    const durationMs = clock.now() - this.#startedAt
    const inconclusive = this.#inconclusive()
    const faults = this.#faults?.result() ?? null
    const isWhole = this.#isComplete && differencesCount === 0
    return {
      formatVersion: 1,
      target,
      startedAt: new Date(this.#startedDate).toISOString(),
      durationMs,
      seed,
      runId,
      chaos,
      concurrency,
      requests,
      counts: this.#counts,
      differencesCount,
      inconclusive,
      faults,
      passed: isWhole && inconclusive === null && (faults === null || faults.stopped === null),
      stopped: this.#isStopped,
      complete: this.#isComplete,
      foreignAnswers: this.#tally.foreign,
      differences,
      requestsPerSecond: perSecond(requests, durationMs),
      latencyMs: this.#tally.latency(),
      answers: this.#tally.answers,
      faultsInjected,
      books: { players: this.#accounts.map(playerBooksOf) },
      timeline: this.#timeline?.read() ?? null,
    }
  }
}

const perSecond = (count: number, milliseconds: number) =>
  milliseconds > 0 ? (count * 1000) / milliseconds : 0
