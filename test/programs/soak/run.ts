/** A phase of the soak: load, faults, perhaps a cut-over, and the check of the books. */
import { setTimeout as sleep } from 'node:timers/promises'
import { importBets, migratePostgres } from 'bet-wallet/postgres'
import { createDatabase } from '../../postgres/server.js'
import { type AccountsKind, openAccounts } from './accounts.js'
import { type Books, checkBooks } from './books.js'
import { awaitLegacyConnections, legacyConnections, type Mistake, takeOver } from './cut-over.js'
import type { Fault } from './faults.js'
import { createFindings, GivenUp } from './findings.js'
import { readPostgresLedger } from './ledger-postgres.js'
import { legacyBets, legacyMigration } from './legacy-integration.js'
import { createPlatform, type PlatformBet, type Traffic } from './platform.js'
import { type Random, randomOf } from './random.js'
import { checkLost, findLost, type Lost, readState, type ServerState } from './reconciliation.js'
import { retryAnswered } from './retries.js'
import type { Limits, PostgresSettings } from './server-child.js'
import { createServerProcess, type ServerProcess } from './server-process.js'
import {
  createSimulatedSportsbook,
  progressOf,
  type SimulatedTraffic,
  simulatedAnswersTimes,
} from './simulated-sportsbook.js'

export interface Phase {
  name: string
  /** `own`: the simulated sportsbook is the load, on one wallet process, since it has one base URL. */
  accounts: AccountsKind
  /** How the bets of a legacy integration are taken over; `null`: there is none. */
  /** From a legacy integration: `twice`: its bets are imported also while it answers. */
  cutOver: 'import' | 'twice' | null
  kills: number
}

/** The database of a phase, and what happens to it. */
export interface Subject {
  /** Where the wallet and the PAM connect: `postgres://…`, of a user who may create databases. */
  readonly url: string
  /** The limits of the wallet and the PAM. Default: those of the library and of pg. */
  readonly limits?: Limits
  /**
   * What each old primary had, for servers that may lose what was answered: it must be found, and is listed.
   * Absent: nothing may be lost.
   */
  readonly oldStates?: readonly ServerState[]
  /**
   * Injects faults while there is load, and counts them. Returns or throws when all servers are up again: it
   * throws what `answered` throws.
   */
  disturb(scene: Scene): Promise<void>
}

export interface Scene {
  /** The name of the database of this phase. */
  readonly database: string
  readonly random: Random
  readonly wallets: readonly ServerProcess[]
  /** How often each kind of fault was injected. */
  readonly kills: Record<string, number>
  readonly killsMax: number
  readonly answersPerKill: number
  /** The number of concurrent callers. */
  readonly callers: number
  /** Resolves after this many further answers. Rejects if the load has ended early. */
  answered(count: number): Promise<void>
  /** Counts the calls in flight at a fault. @returns them, for the log */
  progress(): string
  log(line: string): void
}

export interface PhaseOptions {
  seed: number
  /** The number of concurrent callers. */
  callers: number
  /** The average number of answered calls between two kills. */
  answersPerKill: number
  /** How long the soak's own platform retries a call. Default: its own. */
  patienceMs?: number
  fault?: Fault | null
  mistake?: Mistake | null
  log(line: string): void
  /** Called with every server process, so that an interrupted soak can end it. */
  onProcess?(process: ServerProcess): void
}

export interface PhaseReport {
  name: string
  /** The injected faults, by their kind. */
  kills: Record<string, number>
  /** The sum of the calls in flight at the kills and the cut-over. */
  inFlightAtKills: number | null
  traffic: Traffic | SimulatedTraffic
  /** The faults that the servers reported, by error code. */
  faults: Record<string, number>
  books: Books | null
  /** Answered calls that were retried at the end. */
  retriedAtEnd: number
  /** What was answered and is missing, of servers that may lose it. */
  lost: Lost | null
  /** The differences, each with the trace of its bet. Empty: passed. */
  differences: string[]
}

const playersCount = 12
/** Distributes the kills over the phases. */
export function phasesOf(kills: number): Phase[] {
  const each = Math.max(1, Math.round(kills / 8))
  return [
    { name: 'crash', accounts: 'numeric', cutOver: null, kills: Math.max(1, kills - 3 * each) },
    { name: 'cut-over', accounts: 'cents', cutOver: 'import', kills: each },
    { name: 'cut-over in two imports', accounts: 'text', cutOver: 'twice', kills: each },
    { name: 'simulated sportsbook', accounts: 'own', cutOver: null, kills: each },
  ]
}

export async function runPhase(subject: Subject, phase: Phase, options: PhaseOptions): Promise<PhaseReport> {
  const { log, fault = null, mistake = null, callers } = options
  const simulated = phase.accounts === 'own'
  const answersPerKill = options.answersPerKill * (simulated ? simulatedAnswersTimes : 1)
  const random = randomOf(options.seed)
  const findings = createFindings()
  const { orGivenUp } = findings
  const kills: Record<string, number> = {}
  let inFlightAtKills = 0
  const { oldStates } = subject
  /** Until it is known which bets have lost something. */
  const undecided: { difference: string; bet: PlatformBet }[] = []
  let lost: Lost | null = null
  const reportDifference = (difference: string, bet?: PlatformBet): void => {
    if (bet !== undefined && oldStates !== undefined) {
      if (lost === null) undecided.push({ difference, bet })
      if (lost === null || lost.bets.has(bet.betId)) return
    }
    findings.report(bet === undefined ? difference : `${difference}\n${traceOf(bet)}`)
  }
  const { limits = null } = subject
  // Long enough for the books on a busy machine: they are read once. Calls on a server that is gone are repeated.
  const timeouts = { connectionTimeoutMillis: 15_000, query_timeout: 15_000 }
  const database = await createDatabase(subject, {
    pool: { max: 8, application_name: 'pam', ...(limits && timeouts) },
  })
  const { pool, url: databaseUrl } = database
  pool.on('error', () => {}) // idle connections that a kill has ended
  const processes: ServerProcess[] = []
  const processOf = (script: string) => {
    const process = createServerProcess<PostgresSettings>(
      script,
      { databaseUrl, players: accounts.tables.players ?? null, fault, limits },
      findings.listener,
    )
    processes.push(process)
    options.onProcess?.(process)
    return process
  }
  const accounts = await openAccounts(pool, phase.accounts, playersCount, random)
  const platform = simulated
    ? createSimulatedSportsbook(accounts, {
        seed: options.seed,
        // A failover takes as long as it takes, and the load runs on.
        betsMax: limits ? 1_000_000 : (phase.kills + 1) * (2 * answersPerKill + 16 * callers),
        differs: reportDifference,
        failed: findings.giveUp,
      })
    : createPlatform(
        accounts,
        random,
        { reportDifference, failed: findings.giveUp },
        {
          registering: limits !== null && oldStates === undefined,
          // A call that waits for a lost one waits in vain.
          ...(oldStates && { retryMsMax: 120_000 }),
          ...(options.patienceMs && { retryMsMax: options.patienceMs }),
        },
      )
  const many = <T>(make: () => T): T[] => Array.from({ length: simulated ? 1 : 2 }, make)
  const start = async (all: readonly ServerProcess[]) => {
    await Promise.all(all.map(process => process.start()))
    platform.moveTo(all.map(process => process.url))
  }

  const report = (books: Books | null, retriedAtEnd: number): PhaseReport => ({
    ...{
      name: phase.name,
      kills,
      inFlightAtKills: platform.traffic.inFlight === null ? null : inFlightAtKills,
      traffic: { ...platform.traffic },
      faults: findings.faults,
      books,
      retriedAtEnd,
      lost,
    },
    differences: findings.differences,
  })

  try {
    let wallets: ServerProcess[]
    if (phase.cutOver === null) {
      await migratePostgres(pool, accounts.tables)
      wallets = many(() => processOf('server.ts'))
      await start(wallets)
      platform.begin(callers)
    } else {
      await pool.query(legacyMigration(accounts))
      const legacy = many(() => processOf('legacy-server.ts'))
      await start(legacy)
      platform.begin(callers)
      await orGivenUp(platform.answered(answersPerKill * 3))
      if (phase.cutOver === 'twice') {
        await migratePostgres(pool, accounts.tables)
        await importBets(pool, {}, await legacyBets(pool))
        await orGivenUp(platform.answered(answersPerKill * 3))
      }
      await orGivenUp(cutOver(legacy))
      wallets = many(() => processOf('server.ts'))
      await start(wallets)
    }
    await subject.disturb({
      database: new URL(databaseUrl).pathname.slice(1),
      ...{ random, wallets, kills, killsMax: phase.kills, answersPerKill, callers, log },
      answered: count => orGivenUp(platform.answered(count)),
      progress() {
        inFlightAtKills += platform.traffic.inFlight ?? 0
        return progressOf(platform.traffic)
      },
    })
    await orGivenUp(platform.answered(answersPerKill))
    log('all servers are up: waiting for the last bets')
    await orGivenUp(platform.finish())
    if (fault === null) findings.expectCredits()
    const books = await checkAll()
    if (!('bets' in platform)) return report(books, await platform.compare(await readPostgresLedger(pool)))
    if (oldStates !== undefined) return report(books, 0)
    const retriedAtEnd = await retryAnswered(platform, {
      ...{ pool, accounts, random, reportDifference },
      // Each waits for the standby.
      callsMax: limits === null ? 1_500 : 300,
    })
    const after = await checkAll()
    if (after.transactions !== books.transactions || after.owedCents !== books.owedCents)
      reportDifference('retries of recorded calls have written transactions')
    return report(books, retriedAtEnd)
  } catch (error) {
    if (!(error instanceof GivenUp)) throw error
    await platform.abort()
    return report(await checkAll(), 0)
  } finally {
    await Promise.all(processes.map(process => process.end()))
    await platform.abort()
    await database.drop()
  }

  /**
   * Row locks keep statements of the legacy integration in flight, which continue after its processes have
   * ended.
   */
  async function cutOver(legacy: readonly ServerProcess[]): Promise<void> {
    const locked = [...accounts.initialBalances.keys()].filter((_, index) => index % 2 === 0)
    const { release } = await accounts.hold(locked)
    while ((await legacyConnections(pool)).waiting < 2) await sleep(10)
    log(`the cut-over begins, ${progressOf(platform.traffic)}`)
    inFlightAtKills += platform.traffic.inFlight ?? 0
    await Promise.all(legacy.map(process => process.kill()))
    if (mistake === 'early-import') await takeOver(pool, accounts, mistake)
    await release()
    await awaitLegacyConnections(pool)
    if (mistake !== 'early-import') await takeOver(pool, accounts, mistake)
    log(`the cut-over is complete, ${progressOf(platform.traffic)}`)
  }

  async function checkAll(): Promise<Books> {
    const bets = 'bets' in platform ? platform.bets : null
    const byId = new Map(bets?.map(bet => [bet.betId, bet]))
    if (bets !== null && oldStates !== undefined) await reconcile(bets, oldStates)
    return await checkBooks(
      pool,
      accounts,
      bets,
      phase.cutOver !== null,
      {
        reportDifference: (difference, betId) =>
          reportDifference(difference, betId === undefined ? undefined : byId.get(betId)),
      },
      lost === null ? null : { ...lost, oldStates: oldStates ?? [] },
    )
  }

  async function reconcile(bets: readonly PlatformBet[], old: readonly ServerState[]): Promise<void> {
    const now = await readState(pool)
    lost = findLost(bets, accounts.acknowledged, now)
    checkLost(lost, old, now, bets, accounts.acknowledged, reportDifference)
    for (const { difference, bet } of undecided.splice(0)) reportDifference(difference, bet)
  }
}

function traceOf({ betId, playerId, trace }: PlatformBet): string {
  const lines = trace.length > 30 ? [...trace.slice(0, 25), '…', ...trace.slice(-4)] : trace
  return [`  ${betId} of ${playerId}:`, ...lines.map(line => `    ${line}`)].join('\n')
}
