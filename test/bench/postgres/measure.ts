/** One thing measured once, and two things measured in turn. */
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../load.js'
import type { ServerTime } from './processor.js'

/** What was seen of one thing in one round. */
export interface Sample {
  perSecond: number
  /** Of single requests, in milliseconds; `null` where they are not known one by one. */
  p50Ms: number | null
  p99Ms: number | null
  /** Processor time per request, in microseconds: of the process that has the store; `null` where there is none. */
  nodeUs: number | null
  /** Of all processes of PostgreSQL; `null` where they are not to be seen. */
  postgresUs: number | null
}

export interface Contestant {
  name: string
  /** Measures it for so long. */
  run(seconds: number): Promise<Sample>
  /** Makes it ready for a round: what is not part of what is measured. */
  prepare(): Promise<void>
}

/** Under one name, a sample per round. */
export interface Measured {
  name: string
  samples: Sample[]
}

/** Measures in turn, A B A B, the one that begins changing, so that what the machine does meanwhile meets both. */
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

/** The median over the rounds of what one has to the other in the same round. */
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
  /** How many callers; each sends its next request when the one before is answered. */
  callers: number
  /** Asked before each request. */
  goesOn(): boolean
  /** Each caller's pause after an answer. Default: none. */
  pauseMs?: number
  serverTime: ServerTime | null
}

/** Sends requests until it goes on no more and the last is answered. Rejects with the first that fails. */
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
    postgresUs: serverTime === null ? null : (serverTime() - (serverBefore ?? 0)) / count,
  }
}

/** @param sorted rising */
function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null
}

/** Says yes for so long, and at least once. */
export function forSeconds(seconds: number): () => boolean {
  let until: number | null = null
  return () => {
    until ??= performance.now() + seconds * 1_000
    return performance.now() < until
  }
}
