/**
 * A correct store passes with any seed: the random cases on the memory store and on the reference store, with
 * 1,000 seeds. `npx tsx test/testing/seeds.ts <number of seeds>`
 */
import { walletStoreCases } from '../../src/testing/index.js'
import { memoryHarness } from './memory.js'
import { referenceHarness } from './reference.js'

const seeds = Number(process.argv[2] ?? 1000)
const runs = 50
const only = ['WS-95', 'WS-96', 'WS-97', 'WS-98']

let passed = 0
for (let seed = 1; seed <= seeds; seed += 1) {
  const options = { seed, runs, only }
  for (const { skip, run } of [
    ...walletStoreCases(memoryHarness, options), // skips WS-96: it cannot crash
    ...walletStoreCases(referenceHarness(), options),
  ]) {
    if (skip !== null) continue
    await run()
    passed += 1
  }
  if (seed % 100 === 0) console.log(`${seed} seeds: ${passed} cases of ${runs} runs each passed`)
}
