/** Runs every case, prints the results and returns them as a report. */
import { textOf } from '../foreign-values.js'
import type { WalletStore } from '../store.js'
import { casesFor } from './cases.js'
import type { CaseOptions, StoreHarness, WalletStoreCase } from './harness.js'

export interface ReportOptions extends CaseOptions {
  /**
   * Called with every line of the report as soon as it is known; `null` prints nothing.
   *
   * @default console.log
   */
  print?: ((line: string) => void) | null
}

export interface CaseResult {
  id: string
  level: 'MUST' | 'SHOULD'
  name: string
  result: 'passed' | 'failed' | 'skipped'
  /** The trace of a failure, why the case was skipped, or a remark on a passed case; otherwise `null`. */
  detail: string | null
  /** `false`: skipped, since the harness says by the `null` of a hook that it does not apply to its store. */
  applies: boolean
}

export interface StoreReport {
  /** No MUST case failed. Skipped cases do not count. */
  passed: boolean
  /** Every case that applies ran: none was skipped, and none was left out by `only`. */
  complete: boolean
  counts: { passed: number; failed: number; skipped: number }
  seed: number
  runs: number
  results: readonly CaseResult[]
}

/**
 * Runs all cases against your store, one after the other, prints every result, and returns the report.
 *
 * ```ts
 * const report = await checkWalletStore({ open: players => ({ store: openMyStore(players) }) })
 * process.exitCode = report.passed ? 0 : 1
 * ```
 *
 * @param harness opens your store; optional hooks enable more cases
 * @param options seed, number of random runs, selected cases, timeout, and where to print
 * @throws {WalletError} `INVALID_OPTIONS` for an invalid option. A failed case does not throw
 */
export async function checkWalletStore<O extends { store: WalletStore }>(
  harness: StoreHarness<O>,
  options: ReportOptions = {},
): Promise<StoreReport> {
  const { print, ...caseOptions } = options
  const printLine = print === null ? () => undefined : (print ?? (line => console.log(line)))
  const results: CaseResult[] = []
  for (const one of casesFor(harness as unknown as StoreHarness, caseOptions, () => null)) {
    const result = await resultOf(one)
    results.push(result)
    printLine(caseLine(result))
  }
  for (const { result, detail } of results) if (result === 'failed') printLine(`\n${detail}`)

  const report = reportOf(results, options)
  printLine(`\n${verdictLine(report)}`)
  return report
}

async function resultOf(one: WalletStoreCase): Promise<CaseResult> {
  const { id, level, name, skip, applies } = one
  const of = { id, level, name, applies }
  if (skip !== null) return { ...of, result: 'skipped', detail: skip }
  try {
    await one.run()
    return { ...of, result: 'passed', detail: one.remark }
  } catch (error) {
    return { ...of, result: 'failed', detail: textOf(error) }
  }
}

function caseLine({ id, level, name, result, detail }: CaseResult): string {
  const mark = { passed: 'passed ', failed: 'FAILED ', skipped: 'skipped' }[result]
  return `${mark} ${id} ${level.padEnd(6)} ${name}${result === 'failed' || detail === null ? '' : ` (${detail})`}`
}

function reportOf(results: readonly CaseResult[], { seed = 1, runs = 200, only }: CaseOptions): StoreReport {
  const count = (wanted: CaseResult['result']) => results.filter(({ result }) => result === wanted).length
  const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') }
  return {
    passed: !results.some(({ level, result }) => level === 'MUST' && result === 'failed'),
    complete: only === undefined && !results.some(({ result, applies }) => result === 'skipped' && applies),
    counts,
    seed,
    runs,
    results,
  }
}

function verdictLine({ passed, complete, counts, seed, runs }: StoreReport): string {
  const verdict = passed ? (complete ? 'PASSED' : 'PASSED, INCOMPLETE') : 'FAILED'
  return (
    `${verdict}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped ` +
    `(seed ${seed}, ${runs} runs)`
  )
}
