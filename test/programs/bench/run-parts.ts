/** Runs the parts of a bench, prints their tables, and writes all samples as JSON. */
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import type { BenchOptions } from './options.js'
import { holds, type PartResult, tableOf } from './report.js'

export interface Run<Ground> {
  parts: ReadonlyMap<string, (ground: Ground) => Promise<PartResult>>
  ground: Ground & { options: BenchOptions }
  /** Of the server, for the report. */
  settings: Record<string, string>
}

/** Sets the exit code 1 when a ratio exceeds its limit. */
export async function runParts<Ground>({ parts, ground, settings }: Run<Ground>): Promise<void> {
  const { options } = ground
  const machine = {
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? '',
    node: process.version,
    loadAtStart: loadavg()[0],
  }
  const results: Record<string, PartResult> = {}
  console.log(
    Object.entries({ ...machine, ...settings })
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
  )
  for (const name of options.only) {
    const measure = parts.get(name)
    if (measure === undefined) continue
    const result = await measure(ground)
    console.log(tableOf(result))
    results[name] = result
    if (!result.ratios.every(holds)) process.exitCode = 1
  }
  writeFileSync(
    options.json,
    `${JSON.stringify({ at: new Date().toISOString(), machine, settings, options, results }, null, 2)}\n`,
  )
  console.log(
    `\nMedians of ${options.rounds} rounds of ${options.seconds} s. All samples as JSON: ${options.json}`,
  )
}
