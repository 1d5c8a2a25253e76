/**
 * A phase on a cluster of MariaDB or MySQL: the simulated sportsbook through two wallet processes, each of which
 * prefers another node, and the check of the books on each node.
 */
import { migrateMysql } from 'bet-wallet/mysql'
import mysql from 'mysql2/promise'
import type { MariadbServer } from '../../mariadb/server.js'
import { currency } from './accounts.js'
import { createFindings, GivenUp } from './findings.js'
import { booksOf, differencesBetween, wrongRecords } from './ledger.js'
import { readMysqlLedger } from './ledger-mysql.js'
import { type Random, randomOf } from './random.js'
import type { Phase, PhaseOptions, PhaseReport, Scene } from './run.js'
import { createServerProcess } from './server-process.js'
import { createSimulatedSportsbook, progressOf, simulatedAnswersTimes } from './simulated-sportsbook.js'
import { openWalletFront } from './wallet-front.js'

const playersCount = 12
/** A node's share of the time limit is longer than Galera waits before it expels a node. */
const limits = { connectMs: 2_000, timeoutMs: 9_000 }

type Node = Pick<MariadbServer, 'config'>

export interface ClusterSubject {
  nodes: readonly [Node, Node, Node]
  /** A node that can be written to. */
  writable(): Promise<Node>
  /** Injects faults while there is load. Returns when all nodes are up again. */
  disturb(scene: Omit<Scene, 'wallets'>): Promise<void>
  /** Resolves when all nodes are up, and have what was committed. */
  settled(): Promise<void>
}

export async function runClusterPhase(
  cluster: ClusterSubject,
  phase: Phase,
  options: PhaseOptions,
): Promise<PhaseReport> {
  const random = randomOf(options.seed)
  const findings = createFindings()
  const database = `soak_${options.seed}`
  const initialBalances = openingBalances(random)
  await prepare((await cluster.writable()).config, database, initialBalances)
  const platform = createSimulatedSportsbook(
    { initialBalances },
    { seed: options.seed, betsMax: 1_000_000, differs: findings.report, failed: findings.giveUp },
  )
  const [first, second, third] = cluster.nodes
  // Both write, on two nodes at once, and each loads what the other has written.
  const wallets = [
    [first, second, third],
    [second, third, first],
  ].map(nodes =>
    createServerProcess(
      'mysql-server.ts',
      { nodes: nodes.map(node => ({ ...node.config, database })), fault: options.fault ?? null, limits },
      findings.listener,
    ),
  )
  for (const wallet of wallets) options.onProcess?.(wallet)
  const front = await openWalletFront(wallets, findings.report)
  const kills: Record<string, number> = {}

  async function load(): Promise<void> {
    const answersPerKill = options.answersPerKill * simulatedAnswersTimes
    const answered = (count: number) => findings.orGivenUp(platform.answered(count))
    platform.moveTo([front.url])
    platform.begin(options.callers)
    // Until one settlement has succeeded, the others are soon given up.
    await answered(answersPerKill)
    await cluster.disturb({
      database,
      ...{ random, kills, killsMax: phase.kills, answersPerKill, answered, log: options.log },
      callers: options.callers,
      progress: () => progressOf(platform.traffic),
    })
    await answered(answersPerKill)
    options.log('all nodes are up: waiting for the last bets')
    await findings.orGivenUp(platform.finish())
  }

  try {
    await Promise.all(wallets.map(wallet => wallet.start()))
    const isComplete = await load().then(
      () => true,
      (error: unknown) => {
        // The faults of the wallets, found before, say more than an error of the load.
        if (!(error instanceof GivenUp)) findings.report(String(error))
        return false
      },
    )
    if (isComplete) findings.expectCredits()
    await platform.abort()
    await cluster.settled().catch((error: unknown) => {
      // Without its nodes no books are read: what was found before is the reason.
      throw new Error(['no books were read', ...findings.differences].join('\n'), { cause: error })
    })
    const ledgers = await Promise.all(
      cluster.nodes.map(node => readMysqlLedger({ ...node.config, database })),
    )
    const [reference] = ledgers as [(typeof ledgers)[number]]
    let retriedAtEnd = 0
    for (const [index, ledger] of ledgers.entries()) {
      const problems = [...wrongRecords(ledger, front.answered), ...differencesBetween(reference, ledger)]
      for (const problem of problems.slice(0, 5)) findings.report(`node ${index + 1}: ${problem}`)
      if (isComplete) retriedAtEnd = await platform.compare(ledger)
    }
    return {
      ...{ name: phase.name, kills, inFlightAtKills: null, traffic: { ...platform.traffic } },
      ...{ faults: findings.faults, books: booksOf(reference), retriedAtEnd, lost: null },
      differences: findings.differences,
    }
  } finally {
    await Promise.all(wallets.map(wallet => wallet.end()))
    await platform.abort()
    await front.close()
  }
}

async function prepare(
  config: mysql.PoolOptions,
  database: string,
  balances: ReadonlyMap<string, number>,
): Promise<void> {
  const pool = mysql.createPool(config)
  try {
    await pool.query(`CREATE DATABASE ${database}`)
    await migrateMysql(pool, { schema: database })
    await pool.query(`INSERT INTO ${database}.wallet_players (player_id, currency, balance) VALUES ?`, [
      [...balances].map(([playerId, cents]) => [playerId, currency, (cents / 100).toFixed(2)]),
    ])
  } finally {
    await pool.end()
  }
}

const openingBalances = (random: Random): ReadonlyMap<string, number> =>
  new Map(
    Array.from(
      { length: playersCount },
      (_, index) => [`player-${index + 1}`, random.int(500, 4_000)] as const,
    ),
  )
