/** The result as a table for the terminal. */
import { median } from './load.js'
import type { Measured, Sample } from './measure.js'

export interface Ratio {
  name: string
  value: number
  /** Absent: printed for information. */
  limit?: { least: number } | { most: number }
}

/** One part of the bench. */
export interface PartResult {
  title: string
  measured: Measured[]
  ratios: Ratio[]
  /** Remarks, or why nothing was measured. */
  notes: string[]
}

export function holds({ value, limit }: Ratio): boolean {
  if (limit === undefined) return true
  // NaN never holds.
  return 'least' in limit ? value >= limit.least : value <= limit.most
}

const columns: readonly [title: string, value: (sample: Sample) => number | null, digits: number][] = [
  ['per second', sample => sample.perSecond, 0],
  ['p50 ms', sample => sample.p50Ms, 2],
  ['p99 ms', sample => sample.p99Ms, 2],
  ['node µs', sample => sample.nodeUs, 1],
  ['server µs', sample => sample.serverUs, 1],
]

export function tableOf({ title, measured, ratios, notes }: PartResult): string {
  const width = Math.max(24, ...measured.map(({ name }) => name.length))
  const lines = ['', title]
  if (measured.length > 0) {
    lines.push(`  ${''.padEnd(width)}${columns.map(([name]) => name.padStart(13)).join('')}`)
  }
  for (const { name, samples } of measured) {
    const cells = columns.map(([, value, digits]) => {
      const values = samples.map(value).filter(found => found !== null)
      const cell = values.length === 0 ? '' : median(values).toFixed(digits)
      return cell.padStart(13)
    })
    lines.push(`  ${name.padEnd(width)}${cells.join('')}`)
  }
  for (const ratio of ratios) {
    const { name, value, limit } = ratio
    const said =
      limit === undefined ? '' : 'least' in limit ? `, at least ${limit.least}` : `, at most ${limit.most}`
    const broken = holds(ratio) ? '' : '  LIMIT EXCEEDED'
    lines.push(`  ${value.toFixed(2).padStart(7)}  ${name}${said}${broken}`)
  }
  return [...lines, ...notes.map(note => `  ${note}`)].join('\n')
}
