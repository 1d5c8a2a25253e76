/** `bet-wallet simulate`: plays a sportsbook against a running wallet. */
import { readFileSync } from 'node:fs'
import type { ParseArgsConfig } from 'node:util'
import {
  numberedPlayers,
  type SimulatedPlayer,
  type SimulationOptions,
  type SimulationProgress,
  type SimulationReport,
} from '../simulator/index.js'
import { settingsOf } from '../simulator/options.js'
import { renderSimulation } from '../simulator/page.js'
import { formatSimulationProgress, formatSimulationReport } from '../simulator/progress.js'
import { runSimulation } from '../simulator/simulation.js'
import { shellWord } from '../wire/curl.js'
import { runCommand } from '../wire/settle.js'
import {
  authenticationOf,
  baseUrlOf,
  commonOptions,
  given,
  millisecondsOf,
  numberOf,
  parseWords,
  required,
  settleOf,
  UsageError,
  wholeNumberOf,
} from './arguments.js'
import { simulateHelp } from './help.js'
import {
  bufferedFile,
  checkWritable,
  columnsOf,
  forTerminal,
  overwriteLine,
  stopSignal,
  writeReport,
} from './output.js'
import { platformReportHeader, platformReportLine } from './platform-report.js'

const simulateArguments = {
  ...commonOptions,
  'no-settle': { type: 'boolean' },
  players: { type: 'string' },
  'player-prefix': { type: 'string' },
  bets: { type: 'string' },
  duration: { type: 'string' },
  rate: { type: 'string' },
  chaos: { type: 'string' },
  fault: { type: 'string', multiple: true },
  every: { type: 'string' },
  staging: { type: 'string' },
  pause: { type: 'string' },
  report: { type: 'string' },
  html: { type: 'string' },
} as const satisfies ParseArgsConfig['options']

type Values = ReturnType<typeof parseWords<typeof simulateArguments>>['values']

/** A command of a fault, with its repair, may take as long. */
const commandMsMax = 600_000

/** Of a line of progress in a log. */
const lineColumnsMax = 200

export async function simulate(words: string[]): Promise<number> {
  const { values, positionals } = parseWords(words, simulateArguments)
  if (values.help) {
    console.log(simulateHelp)
    return 0
  }
  const baseUrl = baseUrlOf(positionals)
  for (const file of [values.json, values.report, values.html]) checkWritable(file)
  const options = optionsOf(values, baseUrl)
  const everyMs = everyMsOf(values, baseUrl)
  let running: string | null = null
  const isTerminal = process.stderr.isTTY
  const platform = values.report === undefined ? null : bufferedFile(values.report, platformReportHeader)
  try {
    const settings = settingsOf({
      ...options,
      ...(everyMs !== null && faultyOptions(values, everyMs)),
      signal: stopSignal('a fault is repaired, and open bets are settled and reconciled first', () => {
        if (running !== null) console.error(`Not ended: ${running}`)
      }),
      progressEveryMs: isTerminal ? 500 : 5_000,
      onProgress: progress => printProgress(progress, isTerminal),
      timeline: values.html !== undefined,
      ...(platform && { onTransaction: transaction => platform.write(platformReportLine(transaction)) }),
    })
    const report = await runSimulation({
      ...settings,
      faults:
        everyMs === null
          ? null
          : {
              ...{ commands: values.fault ?? [], everyMs },
              async runCommand(command) {
                running = command
                try {
                  await runCommand(command, '', commandMsMax, text => text)
                } finally {
                  running = null
                }
              },
              onEvent: text => console.error(forTerminal(text)),
            },
    })
    if (isTerminal) overwriteLine('')
    console.log(formatSimulationReport(forTerminal(report)))
    writeReport(values.json, () => `${JSON.stringify(report, null, 2)}\n`)
    writeReport(values.html, () => renderSimulation(report))
    if (platform !== null) endPlatformReport(values.report ?? '', platform, report)
    return exitCodeOf(report)
  } finally {
    platform?.discard()
  }
}

/** Finishes the platform's report, unless the run is incomplete: transactions would be missing in it. */
export function endPlatformReport(
  file: string,
  platform: { finish(): void },
  { complete, startedAt }: Pick<SimulationReport, 'complete' | 'startedAt'>,
): void {
  if (!complete) {
    console.error(`Not written: ${file}. The run is incomplete, so transactions would be missing in it`)
    return
  }
  console.log(`\nCompare: ${reconcileLine(file, startedAt)}`)
  platform.finish()
}

/** The command that compares the report with the wallet, for exactly the time of the run. */
function reconcileLine(file: string, startedAt: string): string {
  const [from, to] = [new Date(startedAt), new Date(Date.now() + 1_000)].map(date =>
    date.toISOString().replace(/\.\d+/, ''),
  )
  return `npx bet-wallet reconcile ${shellWord(file)} --from ${from} --to ${to}`
}

/** What faults did not find out is 2; what was found is 1. */
function exitCodeOf({ passed, complete, differencesCount, faults }: SimulationReport): number {
  if (passed) return 0
  if (faults === null || faults.stopped === null || !complete || differencesCount > 0) return 1
  return faults.lost.length + faults.repeated.length + faults.costsAfter.length > 0 ? 1 : 2
}

/** From one fault to the next; `null`: there is none. */
function everyMsOf({ fault, every, staging }: Values, baseUrl: string): number | null {
  const everyMs = millisecondsOf('--every', every)
  if (fault === undefined && everyMs === undefined && staging === undefined) return null
  if (fault === undefined)
    throw new UsageError("--fault is missing: --fault 'ssh db1 ./kill-and-start' --every 20s")
  if (!everyMs) throw new UsageError('--every is missing: the time from one fault to the next, 20s say')
  // Typed by hand, so that no command of a history or a script breaks another system.
  const { host } = new URL(baseUrl)
  if (staging !== host)
    throw new UsageError(
      `--fault breaks ${host} by your own commands. If it is a staging system, add --staging ${host}`,
    )
  return everyMs
}

/** Each fault once, and time for its calls; a call is given up after more than the time between two faults. */
const faultyOptions = ({ fault = [], bets, duration, chaos }: Values, everyMs: number) => ({
  ...(bets === undefined && duration === undefined && { durationMs: (fault.length + 1) * everyMs }),
  ...(chaos === undefined && { chaos: 0 }),
  ...{ giveUpAfterMs: everyMs + 60_000, backOffMsMax: 250, rememberedBetsMax: 0 },
})

function optionsOf(values: Values, baseUrl: string): SimulationOptions {
  return {
    baseUrl,
    players: playersOf(required('--players', values.players), values['player-prefix']),
    ...authenticationOf(values),
    ...settleOrNotOf(values),
    ...given('bets', wholeNumberOf('--bets', values.bets)),
    ...given('durationMs', millisecondsOf('--duration', values.duration)),
    ...given('ratePerSecond', numberOf('--rate', values.rate)),
    ...given('concurrency', wholeNumberOf('--concurrency', values.concurrency)),
    ...given('chaos', numberOf('--chaos', values.chaos)),
    ...given('pauseMs', millisecondsOf('--pause', values.pause)),
    ...given('seed', wholeNumberOf('--seed', values.seed)),
    ...given('timeoutMs', millisecondsOf('--timeout', values.timeout)),
  }
}

/** The option `settle`: a URL, a command, or not at all. */
export function settleOrNotOf(values: Parameters<typeof settleOf>[0] & { 'no-settle'?: boolean }) {
  const settle = settleOf(values)
  if (!values['no-settle']) return settle
  if (settle.settle !== undefined)
    throw new UsageError('--no-settle excludes --settle-url and --settle-command')
  return { settle: 'unsupported' as const }
}

/** `20`, `anna,kenji` or `players.json`. */
export function playersOf(text: string, prefix: string | undefined): readonly (string | SimulatedPlayer)[] {
  if (/^[0-9]+$/.test(text)) return numberedPlayers(wholeNumberOf('--players', text) ?? 0, prefix ?? 'sim-')
  if (prefix !== undefined)
    throw new UsageError('--player-prefix needs a number of players, such as --players 20')
  if (!text.endsWith('.json')) return text.split(',').map(id => id.trim())
  try {
    // The content is checked with the other options.
    return JSON.parse(readFileSync(text, 'utf8'))
  } catch (error) {
    throw new UsageError(`--players: ${text} cannot be read: ${(error as Error).message}`)
  }
}

function printProgress(progress: SimulationProgress, isTerminal: boolean): void {
  if (isTerminal)
    overwriteLine(formatSimulationProgress(progress, { bar: true, columns: columnsOf(process.stderr) }))
  else console.error(formatSimulationProgress(progress, { bar: false, columns: lineColumnsMax }))
}
