/**
 * The simulated sportsbook of bet-wallet/audit as the load of a phase. It judges every answer by itself, and by answers
 * only; here its books are held against the database.
 */
import {
  type ClosedBet,
  type SimulationProgress,
  type SimulationReport,
  simulateSportsbook,
} from 'bet-wallet/audit'
import { type Accounts, currency } from './accounts.js'
import { centsOfDecimal, type Ledger, settlementTypes } from './ledger.js'
import type { Platform, Traffic } from './platform.js'
import { credentials } from './server-child.js'

/** Values that a simulation does not report are `null`. */
export type SimulatedTraffic = Record<keyof Traffic, number | null>

/** The simulated sportsbook sends more calls per bet, and its bets stay open longer. */
export const simulatedAnswersTimes = 3

/** For the log. */
export function progressOf({ sent, inFlight, succeeded, refused }: SimulatedTraffic): string {
  const answered = succeeded === null || refused === null ? null : succeeded + refused
  return [
    inFlight === null ? `${sent} calls sent so far` : `${inFlight} calls in flight`,
    ...(answered === null ? [] : [`${answered} answered so far`]),
  ].join(', ')
}

/** As the platform, to be driven in the same way. */
export interface SimulatedSportsbook
  extends Pick<Platform, 'moveTo' | 'begin' | 'answered' | 'finish' | 'abort'> {
  readonly traffic: Readonly<SimulatedTraffic>
  /**
   * After `finish`: whether the simulation passed, and whether its books of every player and every bet agree with the ledger.
   * @returns how many transactions were sent again at the end
   */
  compare(ledger: Ledger): Promise<number>
}

export interface SimulatedSportsbookOptions {
  seed: number
  /** The load is made until `finish`; with more bets than that, something is wrong with the soak. */
  betsMax: number
  differs(what: string): void
  /** The simulation cannot go on: the soak is over. */
  failed(error: unknown): void
}

/** A restart may take long where the machine has other work. */
const patienceMs = 120_000
const timeoutMs = 20_000
const backOffMsMax = 250
const chaos = 0.2

export function createSimulatedSportsbook(
  accounts: Pick<Accounts, 'initialBalances'>,
  { seed, betsMax, differs, failed }: SimulatedSportsbookOptions,
): SimulatedSportsbook {
  const closed: ClosedBet[] = []
  const stop = new AbortController()
  let baseUrl = ''
  let aborted = false
  let progress: SimulationProgress | null = null
  let report: SimulationReport | null = null
  let running: Promise<void> = Promise.resolve()
  let waiting: { until: number; resolve(): void } | null = null
  /** Requests that had an answer which is no fault. What is under way, or was cut on purpose, is among them. */
  const counted = () => (progress === null ? 0 : progress.requests - progress.failedCalls)

  async function run(concurrency: number): Promise<void> {
    try {
      report = await simulateSportsbook({
        ...{
          baseUrl,
          credentials,
          seed,
          concurrency,
          chaos,
          timeoutMs,
          giveUpAfterMs: patienceMs,
          backOffMsMax,
        },
        players: [...accounts.initialBalances.keys()].map(playerId => ({ playerId, currency })),
        runId: 'soak',
        bets: betsMax,
        signal: stop.signal,
        progressEveryMs: 1,
        onProgress(now) {
          // An error in a hook ends the simulation.
          if (aborted) throw new Error('aborted')
          progress = now
          if (waiting !== null && counted() >= waiting.until) waiting.resolve()
        },
        onDifference: difference => differs(`reported by the simulator: ${JSON.stringify(difference)}`),
        onBetClosed: bet => closed.push(bet),
      })
      if (!stop.signal.aborted) failed(new Error(`${betsMax} bets were made before the last kill`))
    } catch (error) {
      if (!aborted) failed(error)
    }
  }

  return {
    get traffic() {
      return trafficOf(progress, report)
    },
    moveTo(urls) {
      baseUrl = urls[0] ?? ''
    },
    begin(callers) {
      running = run(callers)
    },
    answered: count =>
      new Promise(resolve => {
        const until = counted() + count
        if (count === 0) resolve()
        else waiting = { until, resolve }
      }),
    async finish() {
      stop.abort()
      await running
    },
    async abort() {
      aborted = true
      await running
    },
    async compare(ledger) {
      if (report === null) {
        differs('the simulated sportsbook gave no report')
        return 0
      }
      const { passed, complete, differencesCount, books, counts } = report
      if (!passed || !complete || differencesCount !== 0)
        differs(`the simulation has not passed: ${differencesCount} differences, complete: ${complete}`)
      if (closed.length !== counts.bets) differs(`of ${counts.bets} bets ${closed.length} are over`)
      const wrong = [
        ...wrongPlayers(books.players, accounts.initialBalances, ledger),
        ...wrongBets(closed, ledger),
      ]
      for (const what of wrong.slice(0, 5)) differs(what)
      return counts.retriedAtEnd
    },
  }
}

/** Every player whose balance is not what the simulation has in its books, and what its transactions make. */
function wrongPlayers(
  books: SimulationReport['books']['players'],
  openings: ReadonlyMap<string, number>,
  { balances, transactions }: Ledger,
): string[] {
  const moved = new Map<string, number>()
  for (const { playerId, delta } of transactions) moved.set(playerId, (moved.get(playerId) ?? 0) + delta)
  const ofPlayer = new Map(books.map(book => [book.playerId, book]))
  return [...new Set([...ofPlayer.keys(), ...balances.keys(), ...openings.keys()])].flatMap(playerId => {
    const book = ofPlayer.get(playerId)
    const balance = balances.get(playerId)
    const opening = openings.get(playerId)
    const by = moved.get(playerId) ?? 0
    const isRight =
      book !== undefined &&
      opening !== undefined &&
      centsOfDecimal(book.opening) === opening &&
      centsOfDecimal(book.expected) === balance &&
      centsOfDecimal(book.actual) === balance &&
      opening + by === balance
    return isRight
      ? []
      : [
          `${playerId} has ${balance} cents; opened with ${opening}; the simulated sportsbook expects ${book?.expected}, opened with ${book?.opening} and read ${book?.actual}; transactions changed it by ${by} cents`,
        ]
  })
}

/** Every closed bet that is not stored as it must be. Of a refused one there is nothing. */
function wrongBets(closed: readonly ClosedBet[], { bets }: Ledger): string[] {
  return closed.flatMap(bet => {
    const stored = bets.get(bet.betId)
    const isRight =
      bet.state === 'REFUSED'
        ? stored === undefined
        : stored !== undefined &&
          stored.status === bet.state &&
          stored.playerId === bet.playerId &&
          stored.currency === bet.currency &&
          (bet.state !== 'PLACED' || stored.stake === centsOfDecimal(bet.stake)) &&
          settlementTypes.every(type => {
            const live = bet.live[type]
            return stored.live[type] === (live === undefined ? null : centsOfDecimal(live))
          })
    return isRight ? [] : [`${JSON.stringify(bet)}; stored is ${JSON.stringify(stored)}`]
  })
}

function trafficOf(progress: SimulationProgress | null, report: SimulationReport | null): SimulatedTraffic {
  const answers = Object.values(report?.answers ?? {}).flatMap(counts => Object.entries(counts))
  const sum = (begin: RegExp) =>
    report === null
      ? null
      : answers.reduce((total, [answer, times]) => total + (begin.test(answer) ? times : 0), 0)
  return {
    sent: progress?.requests ?? 0,
    succeeded: sum(/^200$/),
    refused: sum(/^4/),
    faults: sum(/^5/),
    unanswered: sum(/^no answer/),
    late: report?.faultsInjected.deliveredLate ?? null,
    debts: report?.counts.clawbacksRefused ?? 0,
    ...{ inFlight: null, retried: null, twice: null, abandoned: null },
  }
}
