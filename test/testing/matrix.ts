/**
 * Runs every mutant against every case, and prints which cases kill it. Exits with 1 if a mutant survives the
 * case that is about its fault, or if a MUST case is not the named killer of any mutant.
 *
 *     npx tsx test/testing/matrix.ts [part of a mutant's name]
 */
import { walletStoreCases } from '../../src/testing/cases.js'
import { type Mutant, mutants as storeMutants } from './mutants.js'
import { partitionMutants } from './partition-mutants.js'
import { referenceHarness } from './reference.js'

const mutants = [...storeMutants, ...partitionMutants]

/** The ids of the failed cases, and how they failed: by a check, or by another error on the way to it. */
async function killersOf(mutant: Mutant): Promise<Map<string, 'check' | 'error'>> {
  const killers = new Map<string, 'check' | 'error'>()
  const { timeoutMs = 30_000 } = mutant
  for (const { id, skip, run } of walletStoreCases(mutant.make(), { timeoutMs })) {
    if (skip !== null) continue
    const error: unknown = await run().then(
      () => null,
      (thrown: Error) => thrown,
    )
    if (!(error instanceof Error)) continue
    killers.set(id, error.cause instanceof Error && error.cause.name === 'CaseFailed' ? 'check' : 'error')
  }
  return killers
}

async function main(part = ''): Promise<boolean> {
  const cases = walletStoreCases(referenceHarness())
  const kills = new Map(cases.map(({ id }) => [id, { named: 0, all: 0, alone: 0 }]))
  const chosen = mutants.filter(({ name }) => name.includes(part))
  const width = Math.max(...chosen.map(({ name }) => name.length))
  const problems: string[] = []

  for (const mutant of chosen) {
    const start = performance.now()
    const killers = await killersOf(mutant)
    const seconds = (performance.now() - start) / 1000
    const mark = killers.has(mutant.killedBy) ? 'killed  ' : 'SURVIVES'
    const others = [...killers]
      .filter(([id]) => id !== mutant.killedBy)
      .map(([id, how]) => (how === 'error' ? `(${id})` : id).replace('WS-', ''))
    console.log(`${mark} ${mutant.name.padEnd(width)} ${mutant.killedBy} ${mutant.fault}`)
    console.log(
      `${' '.repeat(width + 10)}      also ${others.join(' ') || 'none'}${seconds > 5 ? ` (${seconds.toFixed()} s)` : ''}`,
    )
    if (killers.size === 0) problems.push(`${mutant.name} survives every case`)
    else if (!killers.has(mutant.killedBy))
      problems.push(`${mutant.name} survives ${mutant.killedBy}, the case about its fault`)
    for (const id of killers.keys()) {
      const count = kills.get(id) as { named: number; all: number; alone: number }
      count.all += 1
      if (id === mutant.killedBy) count.named += 1
      if (killers.size === 1) count.alone += 1
    }
  }

  console.log('\nCase   Level   named for  kills  alone')
  for (const { id, level, name } of cases) {
    const { named, all, alone } = kills.get(id) as { named: number; all: number; alone: number }
    console.log(
      `${id}  ${level.padEnd(6)} ${String(named).padStart(10)} ${String(all).padStart(6)} ${String(alone).padStart(6)}  ${name}`,
    )
    if (part === '' && level === 'MUST' && named === 0)
      problems.push(`${id} is not the named killer of any mutant`)
  }
  console.log(
    `\n${chosen.length} mutants, ${cases.length} cases. ${problems.length === 0 ? 'Every mutant is killed by the case about its fault.' : ''}`,
  )
  for (const problem of problems) console.log(`  ${problem}`)
  return problems.length === 0
}

main(process.argv[2]).then(passed => {
  process.exitCode = passed ? 0 : 1
})
