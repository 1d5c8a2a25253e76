/**
 * Whether the simulator can run for hours: `npx tsx --expose-gc --tsconfig examples/tsconfig.json test/tools/random/endurance.ts`. Not a test: it takes an hour (`--minutes`).
 * Exits 1 if the simulator's heap grows, if the simulation does not pass, or if a balance in the database is not the
 * opening balance plus all transactions.
 *
 * The wallet is the example for node:http on the PostgreSQL store, in its own process. The heap is measured after a
 * garbage collection. The last quarter of the run is compared with the second: in the first, the memory of closed
 * bets fills up to its limit.
 */
import { setInterval } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import {
  numberedPlayers,
  type SimulationProgress,
  type SimulationReport,
  simulateSportsbook,
} from 'bet-wallet/audit'
import { migratePostgres } from 'bet-wallet/postgres'
import type pg from 'pg'
import { formatSimulationReport } from '../../../src/tools/random/printed.js'
import { createDatabase, openPostgres } from '../../postgres/server.js'
import { credentials, median } from '../../programs/bench/load.js'
import { startServer } from '../../programs/bench/server-process.js'

const heapGrowthMegabytesMax = 5
const opening = '1000.00'
const samplesCount = 60

interface Sample {
  heap: number
  rss: number
  walletRss: number
}

/** The sums of the balances as stored, by all transactions, and in the simulator's books. */
const balancesSql = `
  SELECT sum(p.balance)::text AS stored,
    sum($2::numeric + m.moved)::text AS moved,
    sum(b.expected)::text AS expected,
    count(*) FILTER (WHERE (p.balance = $2::numeric + m.moved AND p.balance = b.expected) IS NOT TRUE)::integer AS wrong
  FROM bet_wallet.players p
  FULL JOIN json_to_recordset($1) AS b("playerId" text, expected numeric) ON b."playerId" = p.player_id
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(delta), 0) AS moved FROM bet_wallet.transactions t WHERE t.player_id = p.player_id
  ) m`

async function balancesRight(pool: pg.Pool, report: SimulationReport): Promise<boolean> {
  const { rows } = await pool.query(balancesSql, [JSON.stringify(report.books.players), opening])
  const { stored, moved, expected, wrong } = rows[0]
  console.log(
    `Balances in the database: ${stored}; openings and all transactions: ${moved}; the simulator's books: ${expected}; ` +
      `${wrong} players differ`,
  )
  return wrong === 0
}

/** Medians of the second and the last quarter. */
function tableOf(samples: readonly Sample[]): { text: string; heapGrowth: number } {
  const quarter = samples.length / 4
  const [second, last] = [samples.slice(quarter, 2 * quarter), samples.slice(3 * quarter)]
  const lines = [`${''.padEnd(26)}${['second quarter', 'last quarter', 'growth'].map(cell).join('')}`]
  const growthOf = (name: string, value: (sample: Sample) => number) => {
    const [before, after] = [median(second.map(value)), median(last.map(value))]
    lines.push(`${name.padEnd(26)}${[before, after, after - before].map(megabytes).map(cell).join('')}`)
    return after - before
  }
  const heapGrowth = growthOf('heap of the simulator, MB', sample => sample.heap)
  growthOf('RSS of the simulator, MB', sample => sample.rss)
  growthOf('RSS of the wallet, MB', sample => sample.walletRss)
  return { text: lines.join('\n'), heapGrowth }
}

const cell = (text: string) => text.padStart(16)
const megabytes = (value: number) => value.toFixed(2)

const { gc } = globalThis
if (gc === undefined) throw new Error('Run it with --expose-gc')
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '60' },
    chaos: { type: 'string', default: '0.3' },
    players: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
  },
})
const durationMs = Number(values.minutes) * 60_000
const players = numberedPlayers(Number(values.players), 'sim-')

const server = await openPostgres()
const database = await createDatabase(server)
try {
  const { pool } = database
  await migratePostgres(pool)
  await pool.query(
    `INSERT INTO bet_wallet.players (player_id, currency, balance)
      SELECT id, 'EUR', $2 FROM unnest($1::text[]) id`,
    [players, opening],
  )
  const wallet = await startServer({ kind: 'postgres', databaseUrl: database.url })

  let progress: SimulationProgress | null = null
  const samples: Sample[] = []
  const over = new AbortController()
  /** Takes samples as long as bets are placed. */
  async function takeSamples(): Promise<void> {
    for await (const _ of setInterval(durationMs / samplesCount, undefined, { signal: over.signal })) {
      if (progress === null || progress.phase === 'opening') continue
      if (progress.phase !== 'betting') return
      const { elapsedMs, bets, requests, differencesCount } = progress
      await gc?.()
      const { heapUsed, rss } = process.memoryUsage()
      const { rssBytes } = await wallet.usage()
      const sample = { heap: heapUsed / 1e6, rss: rss / 1e6, walletRss: rssBytes / 1e6 }
      samples.push(sample)
      console.log(
        `${(elapsedMs / 60_000).toFixed(1)} min: ${bets} bets, ${requests} requests, ` +
          `${differencesCount} differences; heap ${megabytes(sample.heap)} MB, RSS ${megabytes(sample.rss)} MB; ` +
          `wallet's RSS ${megabytes(sample.walletRss)} MB`,
      )
    }
  }
  const sampling = takeSamples().catch(error => {
    if (!over.signal.aborted) throw error
  })
  const simulation = simulateSportsbook({
    baseUrl: wallet.baseUrl,
    credentials,
    players,
    durationMs,
    ratePerSecond: Number(values.rate),
    chaos: Number(values.chaos),
    seed: Number(values.seed),
    onProgress(now) {
      progress = now
    },
  }).finally(() => over.abort())
  const [report] = await Promise.all([simulation, sampling])
  await wallet.stop()

  const { text, heapGrowth } = tableOf(samples)
  console.log(`\n${formatSimulationReport(report)}\n`)
  const right = await balancesRight(pool, report)
  console.log(`\nMedians of ${samples.length} samples\n${text}`)
  console.log(`Growth of the heap in MB, at most ${heapGrowthMegabytesMax}: ${megabytes(heapGrowth)}`)
  // NaN, after a run that is too short, fails.
  if (!report.passed || !right || !(heapGrowth <= heapGrowthMegabytesMax)) {
    console.log('FAILED')
    process.exitCode = 1
  }
} finally {
  await database.drop()
  await server.stop()
}
