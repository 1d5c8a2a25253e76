/** The simulated sportsbook over HTTP: a wallet on the PostgreSQL store, and one on the memory store. */
import { numberedPlayers, type SimulationReport, simulateSportsbook } from 'bet-wallet/audit'
import { credentials } from '../load.js'
import { type Contestant, inTurn, ratioOf, type Sample } from '../measure.js'
import type { PartResult } from '../report.js'
import { type ServerProcess, startServer } from '../server-process.js'
import { type BenchDatabase, checkBalances, type Ground, opening, quieten, withDatabase } from './ground.js'

const concurrency = 64
const chaos = 0.1
/** A number of bets instead of a time, so that both wallets receive the same requests. Of few, none is settled. */
const betsOf = (seconds: number) => Math.ceil(800 * seconds) + 200
/** Players of the database. */
const players = numberedPlayers(100, '')

export function sportsbook(ground: Ground): Promise<PartResult> {
  return withDatabase(ground, async database => {
    const { url: databaseUrl, options } = database
    const reports: SimulationReport[] = []
    const onPostgres = await startServer({ kind: 'postgres', databaseUrl, store: options.store })
    const inMemory = await startServer({
      kind: 'memory',
      players: players.map(playerId => ({ playerId, currency: 'EUR', balance: opening })),
    })
    try {
      const measured = await inTurn(
        [
          {
            name: 'PostgreSQL',
            prepare: () => quieten(database, 'bet_wallet'),
            run: simulated(onPostgres, database.serverTime, reports),
          },
          { name: 'memory', prepare: async () => {}, run: simulated(inMemory, null, []) },
        ],
        options,
      )
      await checkBalances(database, 'bet_wallet')
      return {
        title:
          `A sportsbook over HTTP: ${betsOf(options.seconds).toLocaleString('en')} bets of ${players.length} players, ` +
          `${concurrency} requests at a time, chaos ${chaos}`,
        measured,
        ratios: [
          {
            name: 'of the requests per second of the memory store',
            value: ratioOf(measured, s => s.perSecond),
          },
        ],
        notes: [mixOf(reports), 'The processor time of Node.js is that of the wallet.'],
      }
    } finally {
      await onPostgres.stop()
      await inMemory.stop()
    }
  })
}

/** Every run has another seed; both wallets have the same seeds. */
function simulated(
  { baseUrl, usage }: ServerProcess,
  serverTime: BenchDatabase['serverTime'],
  reports: SimulationReport[],
): Contestant['run'] {
  let seed = 0
  return async (seconds): Promise<Sample> => {
    seed += 1
    const { cpuUs: before } = await usage()
    const serverBefore = serverTime?.() ?? null
    const report = await simulateSportsbook({
      baseUrl,
      credentials,
      players,
      bets: betsOf(seconds),
      // Few, so that the retries at the end stay a small part of the mix.
      rememberedBetsMax: 100,
      concurrency,
      chaos,
      seed,
    })
    const { cpuUs: after } = await usage()
    const [problem = report.inconclusive] = report.differences
    if (!report.passed) throw new Error(`Not reconciled: ${JSON.stringify(problem)}`)
    reports.push(report)
    const { requests, requestsPerSecond, latencyMs } = report
    return {
      perSecond: requestsPerSecond,
      p50Ms: latencyMs.p50,
      p99Ms: latencyMs.p99,
      nodeUs: (after - before) / requests,
      serverUs: serverTime === null ? null : (serverTime() - (serverBefore ?? 0)) / requests,
    }
  }
}

/** The share of each operation. */
function mixOf(reports: readonly SimulationReport[]): string {
  const sum = (value: (report: SimulationReport) => number) =>
    reports.reduce((total, report) => total + value(report), 0)
  const all = sum(report => report.requests)
  const shares = (['placebet', 'settlement', 'unsettlement', 'rollbackbet'] as const).map(operation => {
    const answered = sum(({ answers }) => Object.values(answers[operation]).reduce((a, b) => a + b, 0))
    return `${Math.round((100 * answered) / all)} % ${operation}s`
  })
  const retries = Math.round((100 * sum(({ counts }) => counts.replaysAbsorbed)) / all)
  return `Of the requests ${shares.join(', ')}; ${retries} % of all are retries.`
}
