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
import type pg from 'pg'
import { type Accounts, currency } from './accounts.js'
import type { Platform, Traffic } from './platform.js'
import { credentials } from './server-child.js'

/** Values that a simulation does not report are `null`. */
export type SimulatedTraffic = Record<keyof Traffic, number | null>

/** As the platform, to be driven in the same way. */
export interface SimulatedSportsbook
  extends Pick<Platform, 'moveTo' | 'begin' | 'answered' | 'finish' | 'abort'> {
  readonly traffic: Readonly<SimulatedTraffic>
  /**
   * After `finish`: whether the simulation passed, and whether its books of every player and every bet agree with the tables.
   * @returns how many transactions were sent again at the end
   */
  compare(pool: pg.Pool): Promise<number>
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
  accounts: Accounts,
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
    async compare(pool) {
      if (report === null) {
        differs('the simulated sportsbook gave no report')
        return 0
      }
      const { passed, complete, differencesCount, books, counts } = report
      if (!passed || !complete || differencesCount !== 0)
        differs(`the simulation has not passed: ${differencesCount} differences, complete: ${complete}`)
      if (closed.length !== counts.bets) differs(`of ${counts.bets} bets ${closed.length} are over`)
      const openings = [...accounts.initialBalances].map(([playerId, cents]) => ({ playerId, cents }))
      const wrongBooks = [JSON.stringify(books.players), JSON.stringify(openings)]
      for (const [text, values] of [
        [playersSql, wrongBooks] as const,
        [betsSql, [JSON.stringify(closed)]] as const,
      ]) {
        const { rows } = await pool.query<{ it: string }>(text, [...values])
        for (const { it } of rows.slice(0, 5)) differs(it)
      }
      return counts.retriedAtEnd
    },
  }
}

/** Every player whose balance is not, to the cent, what the simulation has in its books, and what its transactions make. */
const playersSql = `
  SELECT format('%s has %s; opened with %s; the simulated sportsbook expects %s, opened with %s and read %s; transactions changed it by %s',
    coalesce(p.player_id, b."playerId"), p.balance, trim_scale(o.cents / 100), b.expected, b.opening, b.actual, moved) AS it
  FROM bet_wallet.players p
  FULL JOIN json_to_recordset($1) AS b("playerId" text, opening numeric, expected numeric, actual numeric)
    ON b."playerId" = p.player_id
  LEFT JOIN json_to_recordset($2) AS o("playerId" text, cents numeric) ON o."playerId" = p.player_id
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(delta), 0) AS moved FROM bet_wallet.transactions t WHERE t.player_id = p.player_id
  ) m
  WHERE (b.opening = o.cents / 100 AND b.expected = p.balance AND b.actual = p.balance AND b.opening + moved = p.balance)
    IS NOT TRUE`

/** Every bet that is over and not stored as it must be. Of one that was refused there is nothing. */
const betsSql = `
  SELECT format('%s is %s, live: %s; stored is %s', c."betId", c.state, c.live, row_to_json(b)) AS it
  FROM json_to_recordset($1)
    AS c("betId" text, "playerId" text, currency text, stake numeric, state text, live json)
  LEFT JOIN bet_wallet.bets b ON b.bet_id = c."betId"
  WHERE CASE c.state WHEN 'REFUSED' THEN b.bet_id IS NOT NULL ELSE (
    b.status = c.state AND b.player_id = c."playerId" AND b.currency = c.currency
    AND (c.state <> 'PLACED' OR b.stake = c.stake)
    AND b.bet_paid_live IS NOT DISTINCT FROM (c.live->>'BET_PAID')::numeric
    AND b.voided_live IS NOT DISTINCT FROM (c.live->>'VOIDED')::numeric
    AND b.cashout_live IS NOT DISTINCT FROM (c.live->>'CASHOUT')::numeric
  ) IS NOT TRUE END`

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
    debts: progress?.clawbacksRefused ?? 0,
    ...{ inFlight: null, retried: null, twice: null, abandoned: null },
  }
}
