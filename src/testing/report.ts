/** Runs every case and says, in words, whether the store is sound. */
import type { WalletStore } from '../store.js'
import { walletStoreCases } from './cases.js'
import type { CaseOptions, StoreHarness } from './harness.js'

export interface ReportOptions extends CaseOptions {
  /** Gets every line as it comes, progress among them. Default: `console.log`; `null`: nothing is printed. */
  print?: ((line: string) => void) | null
}

export interface CaseResult {
  id: string
  level: 'MUST' | 'SHOULD'
  name: string
  /** `passed`, `failed`, or `skipped`: not judged. */
  result: 'passed' | 'failed' | 'skipped'
  /** The story of the failure, or why it was not judged; `null` where it passed. */
  detail: string | null
}

export interface StoreReport {
  /** Every MUST that was judged is kept. */
  sound: boolean
  /** Every case was judged: none was skipped, and none left out by `only`. */
  complete: boolean
  passed: number
  failed: number
  skipped: number
  seed: number
  runs: number
  results: readonly CaseResult[]
}

/**
 * Runs all cases against your store, one after the other, prints what it finds, and gives it as data.
 *
 * ```ts
 * const report = await checkWalletStore({ open: players => ({ store: openMyStore(players) }) })
 * process.exitCode = report.sound ? 0 : 1
 * ```
 */
export async function checkWalletStore<O extends { store: WalletStore }>(
  harness: StoreHarness<O>,
  options: ReportOptions = {},
): Promise<StoreReport> {
  const { print = line => console.log(line), ...caseOptions } = options
  const say = print ?? (() => undefined)
  const results: CaseResult[] = []
  for (const { id, level, name, skip, run } of walletStoreCases(harness, caseOptions)) {
    const detail = skip ?? (await storyOf(run))
    const result = skip !== null ? 'skipped' : detail === null ? 'passed' : 'failed'
    results.push({ id, level, name, result, detail })
    const mark = { passed: 'ok     ', failed: 'FAILED ', skipped: 'skipped' }[result]
    say(`${mark} ${id} ${level.padEnd(6)} ${name}${result === 'skipped' ? ` (${skip})` : ''}`)
  }

  const count = (wanted: CaseResult['result']) => results.filter(({ result }) => result === wanted).length
  const failures = results.filter(({ result }) => result === 'failed')
  const sound = failures.every(({ level }) => level !== 'MUST')
  for (const { detail } of failures) say(`\n${detail}`)
  const complete = count('skipped') === 0 && options.only === undefined
  const verdict = sound ? (complete ? 'Sound' : 'Sound as far as it was judged') : 'NOT SOUND'
  const { seed = 1, runs = 200 } = options
  say(
    `\n${verdict}: ${count('passed')} promises kept, ${failures.length} broken, ` +
      `${count('skipped')} not judged (seed ${seed}, ${runs} runs).`,
  )
  return {
    sound,
    complete,
    passed: count('passed'),
    failed: failures.length,
    skipped: count('skipped'),
    seed,
    runs,
    results,
  }
}

async function storyOf(run: () => Promise<void>): Promise<string | null> {
  try {
    await run()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
