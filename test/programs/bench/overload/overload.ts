/**
 * One run: the capacity, half of it for comparison, several times it, and half of it again until everything
 * is as before. Then the books.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { opening } from '../postgres/ground.js'
import { nextId, playersCount } from '../requests.js'
import { createPlatform, type Phase, type Platform, placeBetBody, type Send } from './platform.js'

export interface OverloadOptions {
  /** Calls that the platform has outstanding at most. */
  connections: number
  /** Arrivals during the overload, as a multiple of the capacity. */
  times: number
  /** Duration of the overload. */
  seconds: number
  /** Duration of the measurement of the capacity, and of the comparison at half of it. */
  calmSeconds: number
  /** The longest time to wait until everything is as before. */
  recoverySecondsMax: number
}

export interface OverloadResult {
  /** Accepted placebets per second of as many callers as there are connections, at most 256. */
  capacityPerSecond: number
  arrivedPerSecond: number
  /** Accepted placebets of the overload per second, divided by the capacity. */
  goodput: number
  turnedAway: number
  failed: number
  /** Placebets that failed, as a share of those that were sent; of rollbacks likewise. 0 if none was sent. */
  failedShare: number
  rollbacksFailedShare: number
  rollbacksFailed: number
  /** The longest time from a call to its answer. */
  slowestMs: number
  calmP99Ms: number
  acceptedP99Ms: number
  /** From the failure of a placebet to the success of its rollback; `null` if none failed. */
  rollbackP99Ms: number | null
  /** `null`: not within the longest time. */
  recoverySeconds: number | null
  rssMegabytes: number
  /** The differences of the books; empty: exact to the cent. */
  differences: string[]
}

/** @param pool the database with the schema of the store, and players whose balance is `opening` */
export async function overload(
  { send, rssBytes, pool }: { send: Send; rssBytes(): Promise<number>; pool: pg.Pool },
  options: OverloadOptions,
): Promise<OverloadResult> {
  const { connections, times, seconds, calmSeconds } = options
  const warmUp = new Map<string, number>()
  await capacityOf(send, connections, calmSeconds / 4, warmUp)
  const capacityPerSecond = await capacityOf(send, connections, calmSeconds, warmUp)

  const platform = createPlatform(send, connections, playersCount)
  const calm = platform.begin(capacityPerSecond / 2)
  await sleep(calmSeconds * 1_000)
  const calmP99Ms = percentile(calm.acceptedMs, 0.99)

  let rss = await rssBytes()
  const startedAt = performance.now()
  const busy = platform.begin(capacityPerSecond * times)
  while (performance.now() - startedAt < seconds * 1_000) {
    await sleep(Math.min(250, seconds * 250))
    rss = Math.max(rss, await rssBytes())
  }
  const lasted = (performance.now() - startedAt) / 1_000
  const { arrived } = busy
  const recoverySeconds = await recovery(platform, capacityPerSecond / 2, calmP99Ms, options)
  await platform.end()
  return {
    capacityPerSecond,
    arrivedPerSecond: arrived / lasted,
    goodput: busy.acceptedMs.length / lasted / capacityPerSecond,
    turnedAway: busy.turnedAway,
    failed: busy.failed,
    failedShare: busy.failed / Math.max(1, busy.failed + busy.acceptedMs.length),
    rollbacksFailedShare: busy.rollbacksFailed / Math.max(1, busy.rollbacksSent),
    rollbacksFailed: busy.rollbacksFailed,
    slowestMs: busy.slowestMs,
    calmP99Ms,
    acceptedP99Ms: percentile(busy.acceptedMs, 0.99),
    rollbackP99Ms: busy.rolledBackMs.length === 0 ? null : percentile(busy.rolledBackMs, 0.99),
    recoverySeconds,
    rssMegabytes: rss / 1e6,
    differences: await differencesOf(pool, platform, warmUp),
  }
}

/** Closed loop: every caller sends its next bet when the last one is answered. */
async function capacityOf(
  send: Send,
  connections: number,
  seconds: number,
  accepted: Map<string, number>,
): Promise<number> {
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1_000
  let count = 0
  const caller = async () => {
    while (performance.now() < endsAt) {
      const playerId = String(1 + Math.floor(Math.random() * playersCount))
      const status = await send('/placebet', placeBetBody(nextId('rising'), playerId))
      if (status !== 200) throw new Error(`A placebet was answered ${status} without overload`)
      accepted.set(playerId, (accepted.get(playerId) ?? 0) + 1)
      count += 1
    }
  }
  await Promise.all(Array.from({ length: Math.min(connections, 256) }, caller))
  return count / ((performance.now() - startedAt) / 1_000)
}

const windowMs = 250
/** A second as before. */
const calmWindows = 4

/**
 * The time from the end of the overload until the wallet answers as before for a second: no call failed, no bet
 * was rejected, p99 at most twice that of before. A rollback that failed during the overload may still wait
 * for its next attempt then: that is the platform's schedule.
 */
async function recovery(
  platform: Platform,
  perSecond: number,
  calmP99Ms: number,
  { recoverySecondsMax }: OverloadOptions,
): Promise<number | null> {
  const startedAt = performance.now()
  let normalSince: number | null = null
  let phase = platform.begin(perSecond)
  while (performance.now() - startedAt < recoverySecondsMax * 1_000) {
    const windowAt = performance.now()
    await sleep(windowMs)
    const window = phase
    phase = platform.begin(perSecond)
    if (isNormal(window, platform, perSecond, calmP99Ms)) {
      normalSince ??= windowAt
      if (performance.now() - normalSince >= calmWindows * windowMs) return (normalSince - startedAt) / 1_000
    } else normalSince = null
  }
  return null
}

function isNormal(window: Phase, platform: Platform, perSecond: number, calmP99Ms: number): boolean {
  return (
    window.failed + window.rollbacksFailed + window.turnedAway === 0 &&
    percentile(window.acceptedMs, 0.99) <= Math.max(2 * calmP99Ms, 50) &&
    // No more calls than a tenth of a second brings.
    platform.outstanding() <= perSecond / 10
  )
}

/** Compares balances, bets and transactions with the answers. */
async function differencesOf(
  pool: pg.Pool,
  { accepted, rolledBack, stake }: Platform,
  warmUp: ReadonlyMap<string, number>,
): Promise<string[]> {
  const bets = new Map(accepted)
  for (const [playerId, count] of warmUp) bets.set(playerId, (bets.get(playerId) ?? 0) + count)
  const { rows } = await pool.query<{ player_id: string; balance: string; bets: number; delta: string }>(
    `SELECT p.player_id, trim_scale(p.balance)::text AS balance, coalesce(b.bets, 0)::integer AS bets,
        trim_scale(coalesce(t.delta, 0))::text AS delta
      FROM bet_wallet.players p
      LEFT JOIN (SELECT player_id, count(*) AS bets FROM bet_wallet.bets WHERE status = 'PLACED' GROUP BY 1) b
        USING (player_id)
      LEFT JOIN (SELECT player_id, sum(delta) AS delta FROM bet_wallet.transactions GROUP BY 1) t USING (player_id)`,
  )
  const differences = rows.flatMap(({ player_id, balance, bets: placed, delta }) => {
    const count = bets.get(player_id) ?? 0
    // Exact: multiples of 0.5 below 2^52.
    const expected = {
      balance: String(Number(opening) - count * stake),
      bets: count,
      delta: String(-count * stake),
    }
    if (expected.delta === '0' || count === 0) expected.delta = '0'
    const actual = { balance, bets: placed, delta }
    return JSON.stringify(actual) === JSON.stringify(expected)
      ? []
      : [`player ${player_id}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`]
  })
  const { rows: open } = await pool.query<{ bet_id: string }>(
    `SELECT id AS bet_id FROM unnest($1::text[]) id
      LEFT JOIN bet_wallet.bets ON bet_id = id WHERE status IS DISTINCT FROM 'ROLLED_BACK'`,
    [rolledBack],
  )
  return [...differences, ...open.map(({ bet_id }) => `bet ${bet_id} was rolled back, but is not`)]
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
