/** A drill: load, faults of the operator's own system, and then every answered call again. */
import { costsOf } from '../simulator/costs.js'
import { type Settings, type SimulationOptions, settingsOf } from '../simulator/options.js'
import type { SimulationReport } from '../simulator/report.js'
import { runSimulation } from '../simulator/simulation.js'
import { createTransport } from '../simulator/transport.js'
import { AnswerLog } from './answer-log.js'
import { FaultRun, type FaultRunSettings } from './fault-run.js'
import type { DrillReport, FaultReport } from './report.js'
import { type Retries, sendAgain } from './retries.js'

export interface DrillOptions
  extends Pick<
      SimulationOptions,
      | 'baseUrl'
      | 'credentials'
      | 'headers'
      | 'sign'
      | 'settle'
      | 'timeoutMs'
      | 'players'
      | 'ratePerSecond'
      | 'concurrency'
      | 'seed'
      | 'signal'
      | 'clock'
    >,
    Pick<
      FaultRunSettings,
      | 'faults'
      | 'callsPerFault'
      | 'repairAfterMs'
      | 'giveUpAfterMs'
      | 'runCommand'
      | 'readDurability'
      | 'onEvent'
      | 'onRepairsDue'
    > {}

/** More than a drill lasts: the faults end the load. */
const betsMax = 1_000_000_000
/** A repair may take as long as a command may. The load goes on meanwhile. */
export const commandMsMax = 600_000
const backOffMsMax = 250

/**
 * Runs the faults one after the other while a simulated sportsbook plays against the wallet. Breaks the
 * system by the operator's own commands, and changes the balances of the players.
 *
 * @returns the report. What was lost, and commands that failed, are in it
 * @throws {AuditError} as `simulateSportsbook`, if the load cannot start: then no fault was injected
 */
export async function drill(options: DrillOptions): Promise<DrillReport> {
  const { faults, callsPerFault, repairAfterMs, giveUpAfterMs, signal, ...target } = simulationOf(options)
  const stop = new AbortController()
  const progress = { isDisturbed: true, difference: null as string | null }
  const checked = settingsOf({
    ...target,
    ...{ bets: betsMax, chaos: 0, rememberedBetsMax: 0, backOffMsMax, signal: stop.signal },
    onDifference: ({ kind, expected, actual }) => {
      progress.difference ??= `${kind}: expected ${expected}, actual ${actual}`
    },
  })
  const log = new AnswerLog(checked.clock)
  const patienceMs = repairAfterMs + commandMsMax + giveUpAfterMs
  const settings: Settings = {
    ...checked,
    observe: log.record,
    get giveUpAfterMs() {
      return progress.isDisturbed ? patienceMs : giveUpAfterMs
    },
  }
  const run = new FaultRun({
    ...{ faults, callsPerFault, repairAfterMs, giveUpAfterMs, log, date: settings.clock.date },
    ...{ runCommand: options.runCommand, readDurability: options.readDurability },
    ...{ onEvent: options.onEvent, onRepairsDue: options.onRepairsDue },
    differenceSoFar: () => progress.difference,
  })

  const load = runSimulation(settings)
  const stopLog = () => log.stop()
  load.then(stopLog, stopLog)
  signal?.addEventListener('abort', stopLog)
  if (signal?.aborted) stopLog()
  await run.run()
  signal?.removeEventListener('abort', stopLog)
  progress.isDisturbed = false
  options.onEvent('the faults are over: open bets are settled, and every answered call is sent again')
  stop.abort()
  const simulation = await load
  const retries = await retryAll(log, settings)
  const durability = (await options.readDurability?.()) ?? null
  return reportOf({ run, log, simulation, retries, durability, settings })
}

const simulationOf = ({ runCommand, readDurability, onEvent, onRepairsDue, ...others }: DrillOptions) =>
  others

async function retryAll(log: AnswerLog, settings: Settings): Promise<Retries> {
  const transport = createTransport(settings)
  try {
    const { clock, giveUpAfterMs } = settings
    return await sendAgain(log.answered(), { transport, clock, giveUpAfterMs })
  } finally {
    transport.close()
  }
}

interface Results {
  run: FaultRun
  log: AnswerLog
  simulation: SimulationReport
  retries: Retries
  durability: DrillReport['durability']
  settings: Settings
}

function reportOf({ run, log, simulation, retries, durability, settings }: Results): DrillReport {
  const { target, startedAt, runId, seed, costs } = simulation
  const answered = log.answered()
  const accounts = [...new Set(answered.map(({ transaction }) => transaction.account))]
  const costsAfter = costsOf(accounts)
  const faults = withLosses(run, retries)
  const isWrong = retries.lost.length + retries.repeated.length + retries.notRetried + costsAfter.length > 0
  const isWhole = faults.every(
    ({ answeredAgain, problems }) => answeredAgain !== 'never' && problems.length === 0,
  )
  return {
    formatVersion: 1,
    ...{ target, startedAt, runId, seed },
    durationMs: settings.clock.date() - Date.parse(startedAt),
    passed: run.stopped === null && isWhole && !isWrong && simulation.passed,
    stopped: run.stopped,
    faults,
    answered: answered.length,
    notRetried: retries.notRetried,
    lost: retries.lost.map(({ at, ...call }) => call),
    repeated: retries.repeated,
    costsBefore: costs,
    costsAfter,
    durability,
    simulation,
  }
}

/** A call is lost by the first fault that ended after its answer. */
function withLosses({ reports, ends }: FaultRun, { lost }: Retries): FaultReport[] {
  const counts = reports.map(() => 0)
  for (const { at } of lost) {
    const index = ends.findIndex(end => at <= end)
    const place = index === -1 ? reports.length - 1 : index
    counts[place] = (counts[place] ?? 0) + 1
  }
  return reports.map((report, index) => ({ ...report, lost: counts[index] ?? 0 }))
}
