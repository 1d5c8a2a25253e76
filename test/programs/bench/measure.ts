/** Measures one contestant, or two in turn. */
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from './load.js'

/** The processor time of the database server, exited processes included, in microseconds since its start. */
export type ServerTime = () => number

/** The measurements of one contestant in one round. */
export interface Sample {
  perSecond: number
  /** Latency of single requests in milliseconds; `null` where it is unknown. */
  p50Ms: number | null
  p99Ms: number | null
  /**
   * Processor time per request of the process with the store, in microseconds; `null` where there is none.
   */
  nodeUs: number | null
  /** The same of the database server; `null` where they are not visible. */
  serverUs: number | null
}

export interface Contestant {
  name: string
  /** Measures it for a time. */
  run(seconds: number): Promise<Sample>
  /** Prepares a round, before the measurement. */
  prepare(): Promise<void>
}

/** A contestant's samples, one per round. */
export interface Measured {
  name: string
  samples: Sample[]
}

/** Measures in turn, and alternates the order: A B, B A. So other load on the machine affects both alike. */
export async function inTurn(
  contestants: readonly [Contestant, Contestant],
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<[Measured, Measured]> {
  const measured = contestants.map(({ name }) => ({ name, samples: [] as Sample[] })) as [Measured, Measured]
  for (let round = 0; round < rounds; round += 1) {
    for (const turn of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const contestant = contestants[turn]
      await contestant.prepare()
      await contestant.run(seconds / 4)
      measured[turn].samples.push(await contestant.run(seconds))
    }
  }
  return measured
}

/** The median over the rounds of the ratio of both values in one round. */
export function ratioOf(
  [one, other]: readonly [Measured, Measured],
  value: (sample: Sample) => number | null,
): number {
  return median(
    one.samples.map(
      (sample, round) =>
        (value(sample) ?? Number.NaN) / (value(other.samples[round] as Sample) ?? Number.NaN),
    ),
  )
}

export interface DriveOptions {
  /** The number of callers. Each sends its next request after the answer to the previous one. */
  callers: number
  /** Called before each request: whether to send it. */
  goesOn(): boolean
  /** Each caller's pause after an answer, in milliseconds. Default: none. */
  pauseMs?: number
  serverTime: ServerTime | null
}

/** Sends requests until `goesOn` returns false and all are answered. Rejects with the first error. */
export async function drive(
  { callers, goesOn, pauseMs, serverTime }: DriveOptions,
  send: () => Promise<void>,
): Promise<Sample> {
  const latencies: number[] = []
  let failed = false
  const caller = async () => {
    while (!failed && goesOn()) {
      const sent = performance.now()
      try {
        await send()
      } catch (error) {
        failed = true
        throw error
      }
      latencies.push(performance.now() - sent)
      if (pauseMs !== undefined) await sleep(pauseMs)
    }
  }
  const serverBefore = serverTime?.() ?? null
  const nodeBefore = process.cpuUsage()
  const started = performance.now()
  await Promise.all(Array.from({ length: callers }, caller))
  const elapsedMs = performance.now() - started
  const { user, system } = process.cpuUsage(nodeBefore)
  const count = latencies.length
  latencies.sort((a, b) => a - b)
  return {
    perSecond: (count / elapsedMs) * 1_000,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    nodeUs: (user + system) / count,
    serverUs: serverTime === null ? null : (serverTime() - (serverBefore ?? 0)) / count,
  }
}

/** @param sorted in ascending order */
function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null
}

/** Returns true for a time, and at least once. */
export function forSeconds(seconds: number): () => boolean {
  let until: number | null = null
  return () => {
    until ??= performance.now() + seconds * 1_000
    return performance.now() < until
  }
}
