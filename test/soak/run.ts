/** The soak itself: load, kills, the cut-overs, and the reckoning. */
import { setTimeout as sleep } from 'node:timers/promises'
import { migratePostgres } from 'bet-wallet/postgres'
import { createDatabase, type PostgresServer } from '../postgres/server.js'
import { type AccountsKind, openAccounts } from './accounts.js'
import { type Books, reckon } from './books.js'
import { earlierConnections, earlierIsOver, type Mistake, takeOver } from './cut-over.js'
import { earlierBetsView, earlierMigration } from './earlier-integration.js'
import type { Fault } from './faults.js'
import { type Call, createPlatform, type Platform, type PlatformBet, type Traffic } from './platform.js'
import { type Random, randomOf } from './random.js'
import { createServerProcess, type ServerListener, type ServerProcess } from './server-process.js'
import { createSimulatedSportsbook, type SimulatedTraffic } from './simulated-sportsbook.js'

export interface Phase {
  name: string
  /** On the library's own table the simulated sportsbook is the load, on one wallet process: it has one base URL. */
  accounts: AccountsKind
  /** How the bets of an earlier integration are taken over; `null`: there was none. */
  cutOver: 'import' | 'view' | null
  kills: number
}

export interface PhaseOptions {
  seed: number
  /** How many calls are under way at once, about. */
  callers: number
  /** How many calls have an answer between two kills, on average. */
  answersPerKill: number
  fault?: Fault | null
  mistake?: Mistake | null
  say(line: string): void
  /** Every server process, as soon as there is one: to be ended by whoever is in a hurry. */
  onProcess?(process: ServerProcess): void
}

export interface PhaseReport {
  name: string
  kills: { wallet: number; postgres: number }
  /** Calls that were under way when something was killed, in sum. */
  inFlightAtKills: number | null
  traffic: Traffic | SimulatedTraffic
  /** What the servers told of their own 500 and 503, by the code of the error. */
  faults: Record<string, number>
  books: Books | null
  /** Calls that were answered, and asked again at the end. */
  askedAgain: number
  /** What is wrong, each with its story. Empty: nothing. */
  differences: string[]
}

const playersCount = 12
/** The simulated sportsbook needs more calls for a bet, and its bets are open for longer. */
const simulatedAnswersTimes = 3
/** With more than that the load ends; the reckoning still says all that it finds. */
const differencesMax = 20
const askedAgainMax = 1_500
/** Faults that a wallet may have while its database comes and goes. Any other is a fault of the code. */
const lawfulFaults = ['UNAVAILABLE', 'COMMIT_UNKNOWN', 'CONFLICT']

/** The phases that a number of kills is spread over. */
export function phasesOf(kills: number): Phase[] {
  const each = Math.max(1, Math.round(kills / 8))
  return [
    { name: 'crash', accounts: 'numeric', cutOver: null, kills: Math.max(1, kills - 3 * each) },
    { name: 'cut-over by import', accounts: 'cents', cutOver: 'import', kills: each },
    { name: 'cut-over by view', accounts: 'text', cutOver: 'view', kills: each },
    { name: 'simulated sportsbook', accounts: 'own', cutOver: null, kills: each },
  ]
}

/** Too much is wrong already, or something broke that must not: the reckoning follows at once. */
class GivenUp extends Error {
  override readonly name = 'GivenUp'
}

export async function runPhase(
  server: PostgresServer,
  phase: Phase,
  options: PhaseOptions,
): Promise<PhaseReport> {
  const { say, fault = null, mistake = null, callers } = options
  const simulated = phase.accounts === 'own'
  const answersPerKill = options.answersPerKill * (simulated ? simulatedAnswersTimes : 1)
  const random = randomOf(options.seed)
  const differences: string[] = []
  const faults: Record<string, number> = {}
  const kills = { wallet: 0, postgres: 0 }
  let inFlightAtKills = 0
  let restarting: Promise<unknown> = Promise.resolve()
  let giveUp: (error: unknown) => void = () => {}
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = reject
  })
  givenUp.catch(() => {}) // heard by whoever waits, if anybody does
  const orGivenUp = <T>(work: Promise<T>): Promise<T> => Promise.race([work, givenUp])

  const differs = (what: string, bet?: PlatformBet): void => {
    differences.push(bet === undefined ? what : `${what}\n${storyOf(bet)}`)
    if (differences.length >= differencesMax) giveUp(new GivenUp('too much is wrong'))
  }
  const listener: ServerListener = {
    fault(code, story) {
      faults[code] = (faults[code] ?? 0) + 1
      if (!lawfulFaults.includes(code) && faults[code] <= 3)
        differs(`a server had a fault of its own: ${code}, ${story}`)
    },
    died(how) {
      differs(`a server died by itself: ${how}`)
      giveUp(new GivenUp(how))
    },
  }

  const database = await createDatabase(server, { pool: { max: 8, application_name: 'pam' } })
  const { pool, url: databaseUrl } = database
  pool.on('error', () => {}) // idle connections that a kill has ended
  const processes: ServerProcess[] = []
  const processOf = (script: string, legacyBets: string | null) => {
    const process = createServerProcess(
      script,
      { databaseUrl, players: accounts.tables.players ?? null, legacyBets, fault },
      listener,
    )
    processes.push(process)
    options.onProcess?.(process)
    return process
  }
  const accounts = await openAccounts(pool, phase.accounts, playersCount, random)
  const platform = simulated
    ? createSimulatedSportsbook(accounts, {
        seed: options.seed,
        betsMax: (phase.kills + 1) * (2 * answersPerKill + 16 * callers),
        ...{ differs, failed: giveUp },
      })
    : createPlatform(accounts, random, { differs, failed: giveUp })
  const many = <T>(make: () => T): T[] => Array.from({ length: simulated ? 1 : 2 }, make)
  const start = async (all: readonly ServerProcess[]) => {
    await Promise.all(all.map(process => process.start()))
    platform.moveTo(all.map(process => process.url))
  }

  const report = (books: Books | null, askedAgain: number): PhaseReport => ({
    ...{
      name: phase.name,
      kills,
      inFlightAtKills: platform.traffic.inFlight === null ? null : inFlightAtKills,
      traffic: { ...platform.traffic },
      faults,
      books,
      askedAgain,
    },
    differences,
  })

  try {
    let wallets: ServerProcess[]
    if (phase.cutOver === null) {
      await migratePostgres(pool, accounts.tables)
      wallets = many(() => processOf('server.ts', null))
      await start(wallets)
      platform.begin(callers)
    } else {
      await pool.query(earlierMigration(accounts))
      const earlier = many(() => processOf('earlier-server.ts', null))
      await start(earlier)
      platform.begin(callers)
      await orGivenUp(platform.answered(answersPerKill * 3))
      await orGivenUp(cutOver(earlier))
      wallets = many(() =>
        processOf('server.ts', phase.cutOver === 'view' && mistake !== 'no-bets' ? earlierBetsView : null),
      )
      await start(wallets)
    }
    await orGivenUp(killAll(wallets))
    await orGivenUp(platform.answered(answersPerKill))
    say('everything is up: what is under way comes to its end')
    await orGivenUp(platform.finish())
    const books = await reckonAll()
    const askedAgain = 'bets' in platform ? await askAgain(platform, books) : await platform.compare(pool)
    return report(books, askedAgain)
  } catch (error) {
    if (!(error instanceof GivenUp)) throw error
    await restarting
    await platform.abort()
    return report(await reckonAll(), 0)
  } finally {
    await Promise.all(processes.map(process => process.end()))
    await platform.abort()
    await database.drop()
  }

  /** Whoever holds players' rows at that moment holds up statements, which go on when their processes are dead. */
  async function cutOver(earlier: readonly ServerProcess[]): Promise<void> {
    const held = [...accounts.openings.keys()].filter((_, index) => index % 2 === 0)
    const { release } = await accounts.hold(held)
    while ((await earlierConnections(pool)).waiting < 2) await sleep(10)
    say(`the cut-over begins, ${underWay()}`)
    inFlightAtKills += platform.traffic.inFlight ?? 0
    await Promise.all(earlier.map(process => process.kill()))
    if (mistake === 'early-import') await takeOver(pool, accounts, 'import', mistake)
    await release()
    await earlierIsOver(pool)
    if (mistake !== 'early-import') await takeOver(pool, accounts, phase.cutOver ?? 'import', mistake)
    say(`the cut-over is done, ${underWay()}`)
  }

  /** A wallet, the database, both; and again. The moments come by the count of answers. */
  async function killAll(wallets: readonly ServerProcess[]): Promise<void> {
    const turns = random.percent(50) ? ['wallet', 'postgres', 'both'] : ['postgres', 'wallet', 'both']
    for (let turn = 0; kills.wallet + kills.postgres < phase.kills; turn += 1) {
      // Now and then at once, when the last ones have hardly come back.
      const answers = random.percent(15) ? random.int(0, 3) : random.int(1, 2 * answersPerKill)
      await orGivenUp(platform.answered(answers))
      const last = phase.kills - kills.wallet - kills.postgres === 1
      const both = turns[turn % 3] === 'both' && !last
      const victims = both
        ? ['wallet', 'postgres']
        : [turns[turn % 3] === 'both' ? 'postgres' : turns[turn % 3]]
      inFlightAtKills += platform.traffic.inFlight ?? 0
      const before = underWay()
      const work: Promise<void>[] = []
      if (victims.includes('postgres')) {
        kills.postgres += 1
        work.push(server.kill().then(() => server.start()))
      }
      if (victims.includes('wallet')) {
        kills.wallet += 1
        const wallet = random.pick(wallets as [ServerProcess, ...ServerProcess[]])
        work.push(wallet.kill().then(() => wallet.start()))
      }
      say(`kill ${kills.wallet + kills.postgres} of ${phase.kills}: ${victims.join(' and ')}, ${before}`)
      restarting = Promise.all(work)
      await restarting
    }
  }

  function underWay(): string {
    const { sent, inFlight, succeeded, refused } = platform.traffic
    const answered = succeeded === null || refused === null ? null : succeeded + refused
    return [
      inFlight === null ? `${sent} calls sent so far` : `${inFlight} calls under way`,
      ...(answered === null ? [] : [`${answered} answered so far`]),
    ].join(', ')
  }

  function reckonAll(): Promise<Books> {
    const bets = 'bets' in platform ? platform.bets : null
    const byId = new Map(bets?.map(bet => [bet.betId, bet]))
    return reckon(pool, accounts, bets, phase.cutOver, {
      differs: (what, betId) => differs(what, betId === undefined ? undefined : byId.get(betId)),
    })
  }

  /** What was answered once is answered the same for ever, whatever the balance is by now (D2, D6, D7). */
  async function askAgain(platform: Platform, before: Books): Promise<number> {
    for (const playerId of accounts.openings.keys()) await accounts.move(playerId, 1_000_000)
    const { rows } = await pool.query<{ account: string; cents: string }>(
      `SELECT account, trim_scale(cents)::text AS cents FROM (${accounts.balancesSql}) b`,
    )
    const balances = new Map(rows.map(({ account, cents }) => [account, Number(cents)]))
    const calls = sampleOf(platform, random)
    for (const call of calls) {
      const first = call.answers.find(sticks(call))
      const again = await platform.repeat(call)
      const same =
        first !== undefined &&
        again?.status === first.status &&
        again.errorCode === first.errorCode &&
        again.walletTransactionId === first.walletTransactionId
      const of = (answer: typeof first | null) =>
        `${answer?.status} ${answer?.errorCode ?? answer?.walletTransactionId ?? ''}`
      if (!same)
        differs(`${call.operation} ${call.transactionId}: ${of(first)}, and later ${of(again)}`, call.bet)
      if (again?.errorCode === null && again.cents !== balances.get(call.bet.playerId))
        differs(
          `${call.operation} ${call.transactionId}: a repeat told a balance that is not the current one`,
          call.bet,
        )
    }
    const after = await reckonAll()
    if (after.transactions !== before.transactions || after.owedCents !== before.owedCents)
      differs('repeats of what was answered have written transactions')
    return calls.length
  }
}

/** Whether an answer is one that every repeat must give again. */
const sticks =
  (call: Call) =>
  ({ status, errorCode }: Call['answers'][number]): boolean =>
    status < 500 && (errorCode === null || call.operation === 'placebet' || status === 402)

/** Every debt, and of the rest as many as fit. */
function sampleOf(platform: Platform, random: Random): Call[] {
  const answered = platform.bets.flatMap(bet => bet.calls).filter(call => call.answers.some(sticks(call)))
  const debt = (call: Call) =>
    call.operation === 'unsettlement' && call.answers.some(({ status }) => status === 402)
  const debts = answered.filter(debt)
  const others = answered.filter(call => !debt(call))
  const share = (100 * Math.max(0, askedAgainMax - debts.length)) / Math.max(1, others.length)
  return [...debts.slice(0, askedAgainMax), ...others.filter(() => random.percent(share))]
}

function storyOf({ betId, playerId, story }: PlatformBet): string {
  const lines = story.length > 30 ? [...story.slice(0, 25), '…', ...story.slice(-4)] : story
  return [`  ${betId} of ${playerId}:`, ...lines.map(line => `    ${line}`)].join('\n')
}
