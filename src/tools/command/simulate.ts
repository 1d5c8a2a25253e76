/** `bet-wallet simulate`: a random run against a running wallet. */
import {
  type DecidedTransaction,
  numberedPlayers,
  type SimulatedPlayer,
  type SimulationOptions,
  type SimulationProgress,
  type SimulationReport,
} from '../random/index.js'
import { settingsOf } from '../random/options.js'
import { formatSimulationProgress, simulationReport } from '../random/printed.js'
import { runSimulation } from '../random/run.js'
import { fields } from '../reconcile/mapping.js'
import { plain } from '../report/text.js'
import { baseUrlOf } from '../wire/checks.js'
import { shellWord } from '../wire/curl.js'
import type { Mask } from '../wire/secrets.js'
import { runCommand } from '../wire/settle.js'
import {
  decimal,
  duration,
  option,
  output,
  readJson,
  required,
  several,
  text,
  type Values as ValuesOf,
  whole,
} from './option.js'
import { columnsOf, deliver, openReport, overwriteLine, stopSignal } from './output.js'
import { command } from './subcommand.js'
import { UsageError } from './usage-error.js'
import { settleOf, walletOptions } from './wallet-options.js'

const options = {
  players: required(
    option(
      '--players <players>',
      '20: sim-1 to sim-20; or ids: anna,kenji; or players.json, a list of ids or of { "playerId" } with' +
        ' currency, balance and sessionId if you like. They need funds and no other activity',
      playersOf,
    ),
  ),
  ...walletOptions,
  bets: whole('--bets <number>', 'number of bets (1,000 without --duration)'),
  durationMs: duration('--duration <duration>', 'how long bets are placed: 90s, 10m, 1h'),
  ratePerSecond: decimal('--rate <number>', 'the most requests per second (as many as the wallet answers)'),
  chaos: decimal('--chaos <0 to 1>', 'how unreliable the network is (0.2; with --fault 0)'),
  pauseMs: duration('--pause <duration>', 'before old calls are sent again at the end: 90s'),
  commands: several(
    '--fault <command>',
    'a shell command that breaks servers, repairs them, and ends when all are back, in 10 minutes at most',
    commands => commands,
  ),
  everyMs: duration(
    '--every <duration>',
    'before each fault and after the last: 20s. Without --bets and --duration the run ends then',
  ),
  staging: text(
    '--staging <host>',
    'the host of the base URL with its port, typed again: this system will break',
  ),
  report: output('--report <file>', "the platform's report as CSV, for bet-wallet reconcile"),
}

type Values = ValuesOf<typeof options>

/** A command of a fault, with its repair, may take as long. */
const commandMsMax = 600_000

export const simulate = command({
  usage: 'simulate <base-url>',
  summary: 'plays random calls over an unreliable network, and reconciles the balances to the cent',
  about: `Plays random calls over a network that loses, delays, duplicates and reorders calls, and compares
its own books with the wallet's answers, to the last digit. Without a way to settle: bets and
rollbacks only. With --fault it also breaks your own system, and at the end sends each answered call
again: an answer that is not the replay of the first one was lost (recipes: docs/go-live.md).
Ctrl+C stops betting; a fault that has begun ends, and the balances are still compared.`,
  exitCodes: `The exit code is 0 if the books agree and nothing was lost; 2 if the simulation was not possible, no bet
was accepted or no settlement succeeded, whatever differs, or if nothing differs but it was stopped or a command of a
fault failed; and else 1.`,
  options,
  async work(values, baseUrl) {
    const everyMs = everyMsOf(values, baseUrl)
    const running = { line: null }
    const isTerminal = process.stderr.isTTY
    const platform = values.report === undefined ? null : openReport(values.report, platformReportHeader)
    try {
      const settings = settingsOf({
        ...simulationOptionsOf(values, baseUrl),
        ...(everyMs !== null && faultyOptions(values, everyMs)),
        signal: stopSignal('a fault is repaired, and the balances are reconciled first', () => {
          if (running.line !== null) console.error(`Not ended: ${running.line}`)
        }),
        progressEveryMs: isTerminal ? 500 : 5_000,
        onProgress: progress => printProgress(progress, isTerminal),
        timeline: values.html !== undefined,
        ...(platform && { onTransaction: transaction => platform.write(platformReportLine(transaction)) }),
      })
      const report = await runSimulation({
        ...settings,
        ...(everyMs !== null && isUnlimited(values) && { betsMax: null }),
        faults: everyMs === null ? null : faultsOf(values, everyMs, running),
      })
      if (isTerminal) overwriteLine('')
      deliver(simulationReport(report), report, values)
      if (platform !== null) endPlatformReport(values.report ?? '', platform, report)
      return exitCodeOf(report)
    } finally {
      platform?.discard()
    }
  },
})

/** @param running the command of a fault that runs, masked */
const faultsOf = (values: Values, everyMs: number, running: { line: string | null }) => ({
  commands: values.commands ?? [],
  everyMs,
  repeat: !isUnlimited(values),
  async runCommand(line: string, mask: Mask) {
    running.line = mask(line)
    try {
      await runCommand(line, '', commandMsMax, mask)
    } finally {
      running.line = null
    }
  },
  onEvent: (event: string) => console.error(plain(event)),
})

const csvLineOf = (cells: readonly string[]) =>
  `${cells.map(cell => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`

/** In the columns that a reconciliation knows without a mapping. */
export const platformReportHeader = csvLineOf(fields)

export function platformReportLine(transaction: DecidedTransaction): string {
  const values = { ...transaction, status: transaction.accepted ? 'accepted' : 'refused' }
  return csvLineOf(fields.map(field => values[field] ?? ''))
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
  platform.finish()
  console.error(`Compare: ${reconcileLine(file, startedAt)}`)
}

/** The command that compares the report with the wallet, for exactly the time of the run. */
function reconcileLine(file: string, startedAt: string): string {
  const [from, to] = [new Date(startedAt), new Date(Date.now() + 1_000)].map(date =>
    date.toISOString().replace(/\.\d+/, ''),
  )
  return `npx bet-wallet reconcile ${shellWord(file)} --from ${from} --to ${to}`
}

/** What was not judged is 2, whatever was found beside it. */
function exitCodeOf({ passed, stopped, inconclusive, complete, differencesCount }: SimulationReport): number {
  if (passed) return stopped ? 2 : 0
  return inconclusive === null && (!complete || differencesCount > 0) ? 1 : 2
}

/** From one fault to the next; `null`: there is none. */
function everyMsOf({ commands, everyMs, staging }: Values, baseUrl: string): number | null {
  if (commands === undefined && everyMs === undefined && staging === undefined) return null
  if (commands === undefined)
    throw new UsageError("--fault is missing: --fault 'ssh db1 ./kill-and-start' --every 20s")
  if (!everyMs) throw new UsageError('--every is missing: the time from one fault to the next, 20s say')
  // Typed by hand, so that no command of a history or a script breaks another system.
  const { host } = baseUrlOf(baseUrl)
  if (staging !== host)
    throw new UsageError(
      `--fault breaks ${host} by your own commands. If it is a staging system, add --staging ${host}`,
    )
  return everyMs
}

/** The run ends after the last fault. */
const isUnlimited = ({ bets, durationMs }: Values) => bets === undefined && durationMs === undefined

/** A call is given up after more than the time between two faults. */
const faultyOptions = ({ chaos }: Values, everyMs: number) => ({
  ...(chaos === undefined && { chaos: 0 }),
  giveUpAfterMs: everyMs + 60_000,
  backOffMsMax: 250,
  rememberedBetsMax: 0,
  differencesMax: 1_000_000, // every lost call is named
})

function simulationOptionsOf(values: Values, baseUrl: string): SimulationOptions {
  const { settleUrl, settleCommand, commands, everyMs, staging, json, html, report, ...others } = values
  return { ...others, baseUrl, settle: settleOf(settleUrl, settleCommand) }
}

/** `20`, `anna,kenji` or `players.json`. */
function playersOf(players: string, name: string): readonly (string | SimulatedPlayer)[] {
  if (/^[0-9]+$/.test(players)) return numberedPlayers(Number(players), 'sim-')
  // The content is checked with the other options.
  return players.endsWith('.json') ? readJson(players, name) : players.split(',').map(id => id.trim())
}

function printProgress(progress: SimulationProgress, isTerminal: boolean): void {
  const line = formatSimulationProgress(progress)
  if (isTerminal) overwriteLine(line.slice(0, columnsOf(process.stderr)))
  else console.error(line)
}
