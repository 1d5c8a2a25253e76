/**
 * How often the simulator finds each broken wallet, and that it fails no correct one:
 * `npx tsx test/tools/random/found.ts --seeds 20 --players 20`. Not a test: it takes minutes. Exits 1 if a broken
 * wallet passed once, or a correct one failed once.
 *
 * The options are the defaults of `bet-wallet simulate`, and beside them only what the table names. A run ends at the
 * first difference of the right kind. With broken wallets, pauses of a second and more are skipped.
 */
import { parseArgs } from 'node:util'
import { systemClock } from '../../../src/tools/random/clock.js'
import { type SimulationOptions, simulateSportsbook } from '../../../src/tools/random/index.js'
import { brokenWallets } from '../wallets/broken.js'
import { correctWallets } from '../wallets/correct.js'
import { type Breakage, credentials, players, skippingClock, startWallet } from '../wallets/library.js'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    /** So many further players with 1,000.00 EUR each. */
    players: { type: 'string', default: '0' },
    only: { type: 'string', default: '' },
    /** `broken` or `correct` wallets only. */
    collection: { type: 'string', default: '' },
  },
})
const seeds = Number(values.seeds)
const further = Array.from({ length: Number(values.players) }, (_, index) => ({
  ...{ playerId: `sim-${index + 1}`, currency: 'EUR', balance: '1000.00' },
}))

interface Case {
  name: string
  kinds: readonly string[]
  play(now: () => number): { breakage: Breakage; affected: ReadonlySet<string> }
  options: Partial<SimulationOptions>
  known: typeof players
  /** Pauses are those of a real run: a busy wallet needs them. */
  waits: boolean
}

async function run({ kinds, play, options, known, waits }: Case, seed: number) {
  const clock = waits ? systemClock : skippingClock()
  const { breakage, affected } = play(clock.now)
  const wallet = await startWallet(breakage, known)
  const stop = new AbortController()
  let bets = 0
  let foundAfter = 0
  try {
    const report = await simulateSportsbook({
      baseUrl: wallet.baseUrl,
      credentials,
      players: known.map(({ playerId }) => playerId),
      seed,
      runId: 'run',
      clock,
      signal: stop.signal,
      progressEveryMs: 1,
      onProgress: progress => {
        bets = progress.bets
      },
      onDifference({ kind }) {
        if (!kinds.includes(kind) || foundAfter > 0) return
        foundAfter = Math.max(bets, 1)
        stop.abort()
      },
      ...options,
    })
    return { passed: report.passed, foundAfter, affected: affected.size, differences: report.differences }
  } finally {
    await wallet.close()
  }
}

const named = (options: Partial<SimulationOptions>) =>
  Object.entries(options)
    .filter(([name]) => name !== 'concurrency')
    .map(([name, value]) => ` (${name}: ${value})`)
    .join('')

let failed = false
const wanted = ({ name }: { name: string }) => name.includes(values.only)

console.log(`broken wallets: found in so many of ${seeds} runs; median of the bets until then`)
for (const broken of values.collection === 'correct'
  ? []
  : brokenWallets.filter(({ kinds }) => kinds.length > 0).filter(wanted)) {
  const { name, kinds, options = {}, players: others = [] } = broken
  const one: Case = {
    name,
    kinds,
    known: [...players, ...others, ...further],
    options,
    waits: false,
    play(now) {
      const affected = new Set<string>()
      return { affected, breakage: broken.break(betId => affected.add(betId), now) }
    },
  }
  const after: number[] = []
  let unaffected = 0
  for (let seed = 1; seed <= seeds; seed += 1) {
    const result = await run(one, seed)
    if (result.foundAfter > 0) after.push(result.foundAfter)
    else if (result.affected === 0) unaffected += 1
  }
  after.sort((a, b) => a - b)
  if (after.length < seeds) failed = true
  console.log(
    [
      `${after.length}/${seeds}`.padStart(7),
      String(after[after.length >> 1] ?? '-').padStart(6),
      `${name}${named(options)}${unaffected > 0 ? `; the defect never occurred in ${unaffected} runs` : ''}`,
    ].join('  '),
  )
}

console.log(`\ncorrect wallets: passed in so many of ${seeds} runs`)
for (const { name, breakage } of values.collection === 'broken' ? [] : correctWallets.filter(wanted)) {
  let passed = 0
  const differences = new Set<string>()
  for (let seed = 1; seed <= seeds; seed += 1) {
    const known = [...players, ...further]
    const play = () => ({ breakage: breakage(), affected: new Set<string>() })
    const result = await run({ name, kinds: [], play, options: {}, known, waits: true }, seed)
    if (result.passed) passed += 1
    for (const { kind, expected, actual } of result.differences)
      differences.add(`${kind}: ${expected}; ${actual}`)
  }
  if (passed < seeds) failed = true
  console.log([`${passed}/${seeds}`.padStart(7), name, ...[...differences].slice(0, 3)].join('  '))
}
if (failed) process.exitCode = 1
