/** All cases of the kit, ready to run under any test runner. */
import { check } from '../errors.js'
import type { WalletStore } from '../store.js'
import { CaseContext, type CaseDefinition, type ContextOptions } from './case-context.js'
import { accountCases } from './cases/accounts.js'
import { addedCreditCases } from './cases/added-credits.js'
import { confirmedLoadCases } from './cases/confirmed-loads.js'
import { durabilityCases } from './cases/durability.js'
import { guardCases } from './cases/guards.js'
import { historyCases } from './cases/histories.js'
import { lockWaitCases } from './cases/lock-waits.js'
import { lostAnswerCases } from './cases/lost-answers.js'
import { otherWriterCases } from './cases/other-writers.js'
import { ownRowCases } from './cases/own-rows.js'
import { pamRuleCases } from './cases/pam-rules.js'
import { partitionCases } from './cases/partitions.js'
import { raceCases } from './cases/races.js'
import { readCases } from './cases/reads.js'
import { shapeCases } from './cases/shape.js'
import type { CaseOptions, StoreHarness, WalletStoreCase } from './harness.js'
import { CaseFailed, shown } from './trace.js'

/** The time limit of a case, as a multiple of `timeoutMs`: a case has many steps, a random case many runs. */
const caseTimeoutFactor = 20

const definitions: readonly CaseDefinition[] = [
  ...shapeCases,
  ...guardCases,
  ...durabilityCases,
  ...lockWaitCases,
  ...readCases,
  ...confirmedLoadCases,
  ...pamRuleCases,
  ...raceCases,
  ...otherWriterCases,
  ...lostAnswerCases,
  ...partitionCases,
  ...ownRowCases,
  ...historyCases,
  ...accountCases,
  ...addedCreditCases,
].sort((one, other) => one.id.localeCompare(other.id, 'en', { numeric: true }))

/**
 * Returns every case of the kit as a separate test for your test runner:
 *
 * ```ts
 * for (const { title, skip, run } of walletStoreCases({ open: players => ({ store: openMyStore(players) }) })) {
 *   (skip ? test.skip : test)(title, run)
 * }
 * ```
 *
 * @param harness opens your store; optional hooks enable more cases
 * @param options seed, number of random runs, selected cases and timeout
 * @returns the cases in the order of their ids
 * @throws {WalletError} `INVALID_OPTIONS` for an unknown id in `only`, an invalid option, or an invalid
 *   harness: one without `open`, say
 */
export function walletStoreCases<O extends { store: WalletStore }>(
  harness: StoreHarness<O>,
  options: CaseOptions = {},
): readonly WalletStoreCase[] {
  return casesFor(harness as unknown as StoreHarness, options, runnerLine)
}

/** @param again how a case is run again beside `checkWalletStore`; `null`: in no other way */
export function casesFor(
  harness: StoreHarness,
  options: CaseOptions,
  again: (id: string) => string | null,
): readonly WalletStoreCase[] {
  const contextOptions = checkedOptions(options)
  checkHarness(harness)
  return definitions
    .filter(({ id }) => options.only === undefined || options.only.includes(id))
    .map(definition =>
      caseFor(
        definition,
        harness,
        contextOptions,
        rerunLines(contextOptions, definition.id, again(definition.id)),
      ),
    )
}

/** What they are about exists in every system. Another hook may be `null`: then it does not. */
const neverNull: readonly (keyof StoreHarness)[] = [
  'close',
  'reopen',
  'crash',
  'depositExternally',
  'limits',
  'stopPartition',
]

function caseFor(
  definition: CaseDefinition,
  harness: StoreHarness,
  options: ContextOptions,
  rerun: readonly string[],
): WalletStoreCase {
  const { id, level = 'MUST', name, needs = [] } = definition
  const otherScope = scopeProblem(definition, harness)
  const absent = needs.filter(hook => harness[hook] === null)
  const missing = needs.filter(hook => harness[hook] === undefined)
  const applies = absent.length === 0 && otherScope === null
  const lacks = missing.length === 0 ? null : `the harness has no ${missing.join(' and no ')}`
  const skip = applies ? lacks : `does not apply: ${otherScope ?? `${absent.join(' and ')} is null`}`
  let remark: string | null = null
  return {
    id,
    level,
    name,
    title: skip === null ? `${id} ${name}` : `${id} ${name} (skipped: ${skip})`,
    skip,
    applies,
    get remark() {
      return remark
    },
    async run() {
      if (skip !== null) throw new Error(`${id} cannot run: ${skip}`)
      const context = new CaseContext(harness, options)
      await runCase(definition, context, rerun)
      remark = context.remark
    },
  }
}

/** Why a case about the other scope of ids does not apply; `null`: it does. */
function scopeProblem({ idScope }: CaseDefinition, harness: StoreHarness): string | null {
  if (idScope === undefined || idScope === (harness.idScope ?? 'global')) return null
  return idScope === 'player'
    ? "the store has no partitions: idScope is not 'player'"
    : "two players may have the same id: idScope is 'player'"
}

async function runCase(
  definition: CaseDefinition,
  context: CaseContext,
  rerun: readonly string[],
): Promise<void> {
  const caseTimeoutMs = caseTimeoutFactor * context.options.timeoutMs
  let failure: Error | null = null
  try {
    await context.withTimeout('the case to end', definition.run(context), caseTimeoutMs)
  } catch (error) {
    failure = failureOf(definition, context, error, rerun)
  }
  context.over = true
  try {
    await context.withTimeout('close(opened) to end', context.closeAll())
  } catch (error) {
    failure ??= failureOf(definition, context, error, rerun)
  }
  if (failure !== null) throw failure
}

/** The report of a failed case: its requirement, the steps, expected and actual, and how to run it again. */
function failureOf(
  { id, level = 'MUST', name }: CaseDefinition,
  context: CaseContext,
  error: unknown,
  rerun: readonly string[],
): Error {
  const failed = error instanceof CaseFailed ? error : null
  const steps = failed?.steps ?? context.trace.steps
  const message = [
    `${id} (${level}) ${name}`,
    ...numbered(steps),
    `  expected: ${failed?.expected ?? 'no fault'}`,
    `  actual:   ${failed?.actual ?? shown(error)}`,
    ...rerun,
  ].join('\n')
  return Object.assign(new Error(message, { cause: error }), { name: 'StoreCaseFailed' })
}

/** How a failed case is run again: as a script, and in the test runner. */
function rerunLines({ seed, runs }: ContextOptions, id: string, here: string | null): string[] {
  return [
    `  rerun:    checkWalletStore(harness, { only: ['${id}'], seed: ${seed}, runs: ${runs} })`,
    ...(here === null ? [] : [`  here:     ${here}`]),
  ]
}

/** How the test runner of this process runs a case again, if the runner can be known. */
function runnerLine(id: string): string | null {
  const { VITEST, JEST_WORKER_ID, NODE_TEST_CONTEXT } = process.env
  if (VITEST) return `npx vitest run -t '${id} '`
  if (JEST_WORKER_ID) return `npx jest -t '${id} '`
  if (NODE_TEST_CONTEXT) return `node --test --test-name-pattern='${id} '`
  return /\bmocha\b/.test(process.argv[1] ?? '') ? `npx mocha -g '${id} '` : null
}

const firstStepsMax = 12
const lastStepsMax = 28

/** Numbers the steps. A long trace is cut in the middle. */
function numbered(steps: readonly string[]): string[] {
  const lines = steps.map((step, index) => `  ${String(index + 1).padStart(2)}. ${step}`)
  const omitted = lines.length - firstStepsMax - lastStepsMax
  if (omitted <= 1) return lines
  return [
    ...lines.slice(0, firstStepsMax),
    `   … ${omitted} more steps: all steps are in error.cause.steps`,
    ...lines.slice(-lastStepsMax),
  ]
}

function checkHarness(harness: StoreHarness): void {
  if (typeof harness?.open !== 'function') check.invalid('the harness needs open(players)')
  for (const hook of neverNull)
    if (harness[hook] === null) check.invalid(`${hook} of the harness may be left out, but not null`)
  const { playerIds, idScope } = harness
  if (playerIds !== undefined && playerIds !== 'plain')
    check.invalid("playerIds of the harness must be 'plain', or left out")
  if (idScope !== undefined && idScope !== 'player')
    check.invalid("idScope of the harness must be 'player', or left out")
}

function checkedOptions({ seed = 1, runs = 200, only, timeoutMs = 30_000 }: CaseOptions): ContextOptions {
  check.whole('seed', seed, Number.MIN_SAFE_INTEGER)
  check.whole('runs', runs, 1)
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0)
    check.invalid('timeoutMs must be a number greater than 0')
  for (const id of only ?? []) {
    if (!definitions.some(definition => definition.id === id)) check.invalid(`only: unknown case ${id}`)
  }
  return { seed, runs, timeoutMs }
}
