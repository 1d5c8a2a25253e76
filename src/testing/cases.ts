/** The cases, ready to run under any test runner. */
import { WalletError } from '../errors.js'
import type { WalletStore } from '../store.js'
import type { CaseDefinition } from './cases/case.js'
import { durabilityCases } from './cases/durability.js'
import { guardCases } from './cases/guards.js'
import { historyCases } from './cases/histories.js'
import { lostAnswerCases } from './cases/lost-answers.js'
import { otherWriterCases } from './cases/other-writers.js'
import { raceCases } from './cases/races.js'
import { readCases } from './cases/reads.js'
import { shapeCases } from './cases/shape.js'
import type { CaseOptions, StoreHarness, WalletStoreCase } from './harness.js'
import { type Opened, Stage, type StageOptions } from './stage.js'
import { CaseFailed, shown } from './story.js'

/** A case has many steps, and the random ones many runs: it may take as often the patience for one. */
const casePatience = 20

const definitions: readonly CaseDefinition[] = [
  ...shapeCases,
  ...guardCases,
  ...durabilityCases,
  ...readCases,
  ...raceCases,
  ...otherWriterCases,
  ...lostAnswerCases,
  ...historyCases,
]

/**
 * Every promise of the contract as a test of its own, for the runner that you use:
 *
 * ```ts
 * for (const { id, name, skip, run } of walletStoreCases({ open: players => ({ store: openMyStore(players) }) })) {
 *   test(`${id} ${name}`, { skip: skip ?? false }, run)
 * }
 * ```
 *
 * @param harness how to open your store, and what else can be done to it
 * @param options seed and size of what is random
 * @throws {WalletError} `INVALID_OPTIONS` for an unknown id in `only`, or an option that is not what it must be
 */
export function walletStoreCases<O extends { store: WalletStore }>(
  harness: StoreHarness<O>,
  options: CaseOptions = {},
): readonly WalletStoreCase[] {
  const stageOptions = checked(options)
  const hooks = harness as unknown as StoreHarness<Opened>
  if (typeof hooks?.open !== 'function') invalid('the harness needs open(players)')
  return definitions
    .filter(({ id }) => options.only === undefined || options.only.includes(id))
    .map(definition => readyCase(definition, hooks, stageOptions))
}

function readyCase(
  definition: CaseDefinition,
  harness: StoreHarness<Opened>,
  options: StageOptions,
): WalletStoreCase {
  const { id, level, name, needs = [], play } = definition
  const missing = needs.filter(hook => harness[hook] === undefined)
  const skip = missing.length === 0 ? null : `the harness has no ${missing.join(' and no ')}`
  return {
    id,
    level,
    name,
    skip,
    async run() {
      if (skip !== null) throw new Error(`${id} cannot be judged: ${skip}`)
      const stage = new Stage(harness, options)
      let failure: Error | null = null
      try {
        await stage.inTime('the case to end', play(stage), casePatience * options.timeoutMs)
      } catch (error) {
        failure = failureOf(definition, stage, error)
      }
      stage.over = true
      try {
        await stage.inTime('close(opened) to end', stage.closeAll())
      } catch (error) {
        failure ??= failureOf(definition, stage, error)
      }
      if (failure !== null) throw failure
    },
  }
}

/** A failed case as its story: the promise, the steps, expected and found, and how to see it again. */
function failureOf({ id, level, name }: CaseDefinition, stage: Stage, error: unknown): Error {
  const broken = error instanceof CaseFailed ? error : null
  const steps = broken?.steps ?? stage.story.steps
  const { seed, runs } = stage.options
  const message = [
    `${id} (${level}) ${name}`,
    ...numbered(steps),
    `  expected: ${broken?.expected ?? 'no fault'}`,
    `  found:    ${broken?.actual ?? shown(error)}`,
    `  again:    checkWalletStore(harness, { only: ['${id}'], seed: ${seed}, runs: ${runs} })`,
  ].join('\n')
  return Object.assign(new Error(message, { cause: error }), { name: 'StorePromiseBroken' })
}

const stepsAtTheStart = 12
const stepsAtTheEnd = 28

/** The steps with their numbers; of a long story the start and the end. */
function numbered(steps: readonly string[]): string[] {
  const lines = steps.map((step, index) => `  ${String(index + 1).padStart(2)}. ${step}`)
  const cut = lines.length - stepsAtTheStart - stepsAtTheEnd
  if (cut <= 1) return lines
  return [
    ...lines.slice(0, stepsAtTheStart),
    `   … ${cut} more steps: all of them are in the steps of the error's cause`,
    ...lines.slice(-stepsAtTheEnd),
  ]
}

function checked({ seed = 1, runs = 200, only, timeoutMs = 30_000 }: CaseOptions): StageOptions {
  if (!Number.isSafeInteger(seed)) invalid('seed must be a whole number')
  if (!Number.isSafeInteger(runs) || runs < 1) invalid('runs must be a whole number of at least 1')
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0) invalid('timeoutMs must be a number above 0')
  for (const id of only ?? []) {
    if (!definitions.some(definition => definition.id === id)) invalid(`only: there is no case ${id}`)
  }
  return { seed, runs, timeoutMs }
}

function invalid(flaw: string): never {
  throw new WalletError('INVALID_OPTIONS', `Invalid options: ${flaw}`)
}
