/**
 * A sound store is found sound whatever the seed: the random cases on the memory store and on the reference store
 * of the mutants, under 1,000 seeds. `npm run test:seeds`, or with another number of seeds behind it.
 */
import { walletStoreCases } from '../../src/testing/index.js'
import { memoryHarness } from './memory.js'
import { referenceHarness } from './reference.js'

const seeds = Number(process.argv[2] ?? 1000)
const runs = 50
const only = ['WS-95', 'WS-96', 'WS-97', 'WS-98']

let judged = 0
for (let seed = 1; seed <= seeds; seed += 1) {
  const options = { seed, runs, only }
  for (const { skip, run } of [
    ...walletStoreCases(memoryHarness, options), // which cannot crash: without WS-96
    ...walletStoreCases(referenceHarness(), options),
  ]) {
    if (skip !== null) continue
    await run()
    judged += 1
  }
  if (seed % 100 === 0) console.log(`${seed} seeds: ${judged} cases of ${runs} runs each, nothing found`)
}
