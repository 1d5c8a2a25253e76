/** `bet-wallet drill`: faults of the operator's own system, by the operator's own commands. */
import type { ParseArgsConfig } from 'node:util'
import { commandMsMax, type DrillOptions, drill } from '../drill/drill.js'
import { renderDrill } from '../drill/page.js'
import type { DrillReport, Fault } from '../drill/report.js'
import { formatDrill } from '../drill/text.js'
import { runCommand } from '../platform/settle.js'
import {
  authenticationOf,
  baseUrlOf,
  commonOptions,
  given,
  millisecondsOf,
  numberOf,
  parseWords,
  required,
  UsageError,
  wholeNumberOf,
} from './arguments.js'
import { databaseUrlsInEnvironment } from './database-url.js'
import { openDurability } from './durability.js'
import { drillHelp } from './help.js'
import { checkWritable, forTerminal, stopSignal, writeReport } from './output.js'
import { playersOf, settleOrNotOf } from './simulate.js'

const drillArguments = {
  ...commonOptions,
  'no-settle': { type: 'boolean' },
  players: { type: 'string' },
  'player-prefix': { type: 'string' },
  rate: { type: 'string' },
  staging: { type: 'string' },
  fault: { type: 'string', multiple: true },
  repair: { type: 'string', multiple: true },
  rounds: { type: 'string' },
  calls: { type: 'string' },
  'repair-after': { type: 'string' },
  'give-up': { type: 'string' },
  'database-url': { type: 'string', multiple: true },
  html: { type: 'string' },
} as const satisfies ParseArgsConfig['options']

type Values = ReturnType<typeof parseWords<typeof drillArguments>>['values']

export async function runDrill(words: string[]): Promise<number> {
  const { values, positionals } = parseWords(words, drillArguments)
  if (values.help) {
    console.log(drillHelp)
    return 0
  }
  const baseUrl = baseUrlOf(positionals)
  for (const file of [values.json, values.html]) checkWritable(file)
  const options = optionsOf(values, baseUrl)
  checkStaging(baseUrl, values.staging)
  // A store warns of each change of the durability: the page says it.
  process.removeAllListeners('warning')
  const urls = values['database-url'] ?? databaseUrlsInEnvironment().split(/\s+/)
  const database = openDurability(urls.filter(url => url !== ''))
  let due: readonly Fault[] = []
  const signal = stopSignal('what is broken is repaired first', () => {
    for (const { name, repair } of due) console.error(`Not repaired, ${name}: ${repair}`)
  })
  try {
    const report = await drill({
      ...options,
      signal,
      readDurability: database?.read ?? null,
      runCommand: (command, kind) =>
        runCommand(command, '', commandMsMax, text => text, kind === 'fault' ? signal : null),
      onEvent: text => console.error(forTerminal(text)),
      onRepairsDue: faults => {
        due = faults
      },
    })
    console.log(formatDrill(forTerminal(report)))
    writeReport(values.json, () => `${JSON.stringify(report, null, 2)}\n`)
    writeReport(values.html, () => renderDrill(report))
    return exitCodeOf(report)
  } finally {
    await database?.close()
  }
}

/** What the drill did not find out is 2; what it found is 1. */
function exitCodeOf({
  passed,
  stopped,
  lost,
  repeated,
  costsAfter,
  faults,
  simulation,
}: DrillReport): number {
  if (passed) return 0
  const isSilent = faults.some(({ answeredAgain }) => answeredAgain === 'never')
  const isWrong = lost.length + repeated.length + costsAfter.length + simulation.differencesCount > 0
  return stopped === null || isWrong || (isSilent && stopped.startsWith('the wallet')) ? 1 : 2
}

type FromCommand = 'signal' | 'readDurability' | 'runCommand' | 'onEvent' | 'onRepairsDue'

function optionsOf(values: Values, baseUrl: string): Omit<DrillOptions, FromCommand> {
  const rounds = wholeNumberOf('--rounds', values.rounds) ?? 1
  const faults = faultsOf(values.fault ?? [], values.repair ?? [])
  return {
    baseUrl,
    players: playersOf(required('--players', values.players), values['player-prefix']),
    ...authenticationOf(values),
    ...settleOrNotOf(values),
    ...given('ratePerSecond', numberOf('--rate', values.rate)),
    ...given('concurrency', wholeNumberOf('--concurrency', values.concurrency)),
    ...given('seed', wholeNumberOf('--seed', values.seed)),
    ...given('timeoutMs', millisecondsOf('--timeout', values.timeout)),
    faults: Array.from({ length: rounds }, () => faults).flat(),
    callsPerFault: wholeNumberOf('--calls', values.calls) ?? 500,
    repairAfterMs: millisecondsOf('--repair-after', values['repair-after']) ?? 60_000,
    giveUpAfterMs: millisecondsOf('--give-up', values['give-up']) ?? 60_000,
  }
}

/** `kill the primary=ssh db1 pkill -9 postgres`; a repair has the name of its fault. */
export function faultsOf(faults: readonly string[], repairs: readonly string[]): Fault[] {
  if (faults.length === 0) throw new UsageError("--fault is missing: --fault 'kill the primary=ssh db1 …'")
  const named = faults.map(text => namedCommand('--fault', text))
  const repairOf = new Map(repairs.map(text => namedCommand('--repair', text)))
  const names = new Set(named.map(([name]) => name))
  if (names.size < named.length) throw new UsageError('Two faults have the same name. --rounds repeats all')
  for (const name of repairOf.keys()) {
    if (!names.has(name)) throw new UsageError(`--repair ${JSON.stringify(name)}: no fault has this name`)
  }
  return named.map(([name, command]) => ({ name, command, repair: repairOf.get(name) ?? null }))
}

function namedCommand(option: string, text: string): [name: string, command: string] {
  const [, name = '', command = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (name.trim() === '' || command.trim() === '')
    throw new UsageError(`${option} must have the form 'name=command', not ${JSON.stringify(text)}`)
  return [name.trim(), command.trim()]
}

/** Typed by hand, so that no command of a history or a script breaks another system. */
function checkStaging(baseUrl: string, staging: string | undefined): void {
  const { host } = new URL(baseUrl)
  if (staging === host) return
  throw new UsageError(
    `The drill breaks ${host} by your own commands, and changes the balances of the players. If it is a ` +
      `staging system, add --staging ${host}`,
  )
}
