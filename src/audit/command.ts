#!/usr/bin/env node
/** `bet-wallet audit` and `bet-wallet simulate`: the platform's side, from a terminal. */
import { accessSync, constants, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { renderHtml } from './html/render.js'
import { AuditError, type AuditOptions, auditCases, auditWallet } from './index.js'
import { renderJunit } from './junit.js'
import {
  numberedPlayers,
  type SimulatedPlayer,
  type SimulationOptions,
  simulateSportsbook,
} from './simulator/index.js'
import { formatSimulationProgress, formatSimulationReport } from './simulator/progress.js'
import { formatCases, formatProgress, formatReport } from './text.js'

const passwordVariable = 'BET_WALLET_PASSWORD'

const help = `Usage
  bet-wallet audit <base url> --player <id> --currency <code> [options]
  bet-wallet simulate <base url> --players <count, ids or file> [options]
  bet-wallet audit --list

  audit      sends the platform's calls to a running wallet, in whatever language it is
             written, and judges the answers
  simulate   plays a sportsbook over a network that fails, and reconciles to the cent

  bet-wallet audit --help and bet-wallet simulate --help say more.`

const helpOfCallers = `Who is calling
  --user <name>             HTTP Basic; the password is in the environment, in
                            ${passwordVariable}, where no list of processes shows it
  --password <password>     or here
  --header <name: value>    a header that lets calls in; may be given several times

How bets are settled, which the interface does not say
  --settle-url <url>        a path below the base URL (/settlement) or a whole URL that takes
                            transactionId, betId, playerId, type (BET_PAID, VOIDED, CASHOUT),
                            amount, currency, transactionDate as JSON, and answers 2xx`

const helpOfAudit = `Usage
  bet-wallet audit <base url> --player <id> --currency <code> [options]
  bet-wallet audit --list

Sends the calls of the interface to <base url>/placebet, /unsettlement and /rollbackbet of a
running wallet, and judges the answers. Nothing else is called, and no redirection is followed.

The player is a test player of yours with funds (20.00 of most currencies will do), whom nobody
else plays with meanwhile: balances are compared to the last digit. What is staked is rolled
back, and what corrected settlements leave is staked on a last bet that stays open, so that the
same player can be audited again and again.

${helpOfCallers}
  --settle-command <line>   or a command for the shell, which gets the same JSON as a line on
                            its standard input, and ends with code 0
                            Without either, the cases that need a settlement are not judged.

What is audited
  --player <id>             the test player (required: no other is touched)
  --currency <code>         of the player: EUR (required)
  --other-player <id>       a second test player, for mix-ups of players
  --no-clawbacks           the PAM cannot deduct: unsettlements are INSUFFICIENT_FUNDS
  --status <code=status>    a status that was agreed: --status INSUFFICIENT_FUNDS=400
  --code <code=code>        an error code that was agreed: --code INVALID_BET=BET_REFUSED;
                            * is any code. Both may be given several times.
  --minor-units <number>    decimals of the currency, where they are not those of ISO 4217
  --only <ids>              these cases: AU-101,AU-3*
  --list                    print all cases, and send nothing

How
  --seed <number>           decides amounts and moments (1)
  --concurrency <number>    calls at a time where a case sends many (16)
  --rounds <number>         how often each race is run (6)
  --timeout <duration>      for each answer: 10s, 500ms (10s)
  --time-budget <duration>  what has not begun by then is not judged: 5m

What comes out, beside the table
  --json <file>             the report as JSON
  --junit <file>            as JUnit XML
  --html <file>             as one page to look at

The exit code is 0 when no MUST failed, 1 when one did, and 2 when the audit could not be done,
was stopped, or could judge nothing.`

const helpOfSimulate = `Usage
  bet-wallet simulate <base url> --players <count, ids or file> [options]

Plays a sportsbook: matches, bets, goals, settlements, voids, corrections, and clawback debts
that are netted off later winnings, over a network that loses, delays, repeats and reorders
calls. It keeps its own books, and reconciles them with the wallet's answers at the end: per
player and per bet, to the last digit.

${helpOfCallers} (/settlement)
  --no-settle               bets cannot be settled: bets and rollbacks only

What is played
  --players <who>           20: sim-1 to sim-20; or ids: anna,kenji; or players.json, a list of
                            ids or of { "playerId", "currency", "balance", "sessionId" }, of
                            which all but the first may be missing (required). They must be
                            known to the wallet and have funds; nobody else plays with them.
  --player-prefix <text>    of numbered players (sim-)
  --bets <number>           how many bets are made (1,000 where there is no --duration)
  --duration <duration>     for how long bets are made: 90s, 10m, 1h
  --rate <number>           requests per second at most (as many as the wallet answers)
  --concurrency <number>    requests at a time (16)
  --chaos <0 to 1>          how badly the network behaves (0.2)
  --seed <number>           repeats a run
  --timeout <duration>      for each answer (10s)

What comes out, beside the sums
  --json <file>             the report as JSON

Ctrl+C ends it in good order: no more bets, what is open is played to its end and reconciled.
Where no terminal shows the progress, a line is written now and then.

The exit code is 0 when the books agree, 1 when they do not, and 2 when it could not be done.`

/** Wrong usage: the message is for the person who typed. */
class Usage extends Error {}

const callers = {
  user: { type: 'string' },
  password: { type: 'string' },
  header: { type: 'string', multiple: true },
  'settle-url': { type: 'string' },
  concurrency: { type: 'string' },
  seed: { type: 'string' },
  timeout: { type: 'string' },
  json: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options']

const auditArguments = {
  ...callers,
  'settle-command': { type: 'string' },
  player: { type: 'string' },
  currency: { type: 'string' },
  'other-player': { type: 'string' },
  'no-clawbacks': { type: 'boolean' },
  status: { type: 'string', multiple: true },
  code: { type: 'string', multiple: true },
  'minor-units': { type: 'string' },
  only: { type: 'string', multiple: true },
  list: { type: 'boolean' },
  rounds: { type: 'string' },
  'time-budget': { type: 'string' },
  junit: { type: 'string' },
  html: { type: 'string' },
} as const satisfies ParseArgsConfig['options']

const simulateArguments = {
  ...callers,
  'no-settle': { type: 'boolean' },
  players: { type: 'string' },
  'player-prefix': { type: 'string' },
  bets: { type: 'string' },
  duration: { type: 'string' },
  rate: { type: 'string' },
  chaos: { type: 'string' },
} as const satisfies ParseArgsConfig['options']

async function main(words: readonly string[]): Promise<number> {
  const [command, ...rest] = words
  if (command === 'audit') return await audit(rest)
  if (command === 'simulate') return await simulate(rest)
  if (command === undefined || ['--help', '-h', 'help'].includes(command)) {
    console.log(help)
    return command === undefined ? 2 : 0
  }
  throw new Usage(`There is no command ${JSON.stringify(command)}: it is audit or simulate`)
}

async function audit(words: string[]): Promise<number> {
  const { values, positionals } = parsed(words, auditArguments)
  if (values.help) {
    console.log(helpOfAudit)
    return 0
  }
  if (values.list) {
    console.log(formatCases(auditCases))
    return 0
  }
  const baseUrl = baseOf(positionals)
  for (const file of [values.json, values.junit, values.html]) checkWritable(file)
  if (values['settle-url'] !== undefined && values['settle-command'] !== undefined)
    throw new Usage('--settle-url and --settle-command: one of them')
  const minorUnits = wholeOf('--minor-units', values['minor-units'])
  const tty = process.stderr.isTTY
  const signal = untilInterrupted('what is under way is given back first')
  const options: AuditOptions = {
    baseUrl,
    playerId: required('--player', values.player),
    currency: required('--currency', values.currency),
    ...given('otherPlayerId', values['other-player']),
    ...callerOf(values),
    ...given(
      'settle',
      values['settle-url'] !== undefined
        ? { url: values['settle-url'] }
        : values['settle-command'] !== undefined
          ? { command: values['settle-command'] }
          : undefined,
    ),
    clawbacks: !values['no-clawbacks'],
    statusCodes: profileOf('--status', values.status, text => wholeOf('--status', text) ?? 0),
    errorCodes: profileOf('--code', values.code, text => text),
    ...(minorUnits === undefined ? {} : { minorUnits: () => minorUnits }),
    ...given('concurrency', wholeOf('--concurrency', values.concurrency)),
    ...given('raceRounds', wholeOf('--rounds', values.rounds)),
    ...given('timeoutMs', millisecondsOf('--timeout', values.timeout)),
    ...given('timeBudgetMs', millisecondsOf('--time-budget', values['time-budget'])),
    ...given(
      'only',
      values.only?.flatMap(list => list.split(',')).filter(id => id.trim() !== ''),
    ),
    ...given('seed', wholeOf('--seed', values.seed)),
    signal,
    onResult(result, { done, total }) {
      if (tty) overwrite(formatProgress(result, done, total, columnsOf(process.stderr)))
    },
  }

  const report = await auditWallet(options)
  if (tty) overwrite('')
  const colours = process.stdout.isTTY && process.env.NO_COLOR === undefined
  console.log(
    formatReport(report, { colours, columns: process.stdout.isTTY ? columnsOf(process.stdout) : null }),
  )
  write(values.json, () => `${JSON.stringify(report, null, 2)}\n`)
  write(values.junit, () => renderJunit(report))
  write(values.html, () => renderHtml(report))
  if (!report.passed) return 1
  // A gate that lets pass what nobody looked at is none.
  return signal.aborted || report.results.every(({ verdict }) => verdict === 'not judged') ? 2 : 0
}

async function simulate(words: string[]): Promise<number> {
  const { values, positionals } = parsed(words, simulateArguments)
  if (values.help) {
    console.log(helpOfSimulate)
    return 0
  }
  const baseUrl = baseOf(positionals)
  checkWritable(values.json)
  const tty = process.stderr.isTTY
  if (values['no-settle'] && values['settle-url'] !== undefined)
    throw new Usage('--settle-url and --no-settle: one of them')
  const options: SimulationOptions = {
    baseUrl,
    players: playersOf(required('--players', values.players), values['player-prefix']),
    ...callerOf(values),
    ...(values['no-settle'] ? { settle: 'unsupported' as const } : {}),
    ...(values['settle-url'] === undefined ? {} : { settle: { url: values['settle-url'] } }),
    ...given('bets', wholeOf('--bets', values.bets)),
    ...given('durationMs', millisecondsOf('--duration', values.duration)),
    ...given('ratePerSecond', numberOf('--rate', values.rate)),
    ...given('concurrency', wholeOf('--concurrency', values.concurrency)),
    ...given('chaos', numberOf('--chaos', values.chaos)),
    ...given('seed', wholeOf('--seed', values.seed)),
    ...given('timeoutMs', millisecondsOf('--timeout', values.timeout)),
    signal: untilInterrupted('open bets are played to their end, and reconciled'),
    progressEveryMs: tty ? 500 : 10_000,
    onProgress(progress) {
      if (tty)
        overwrite(formatSimulationProgress(progress, { bar: true, columns: columnsOf(process.stderr) }))
      else console.error(formatSimulationProgress(progress, { bar: false, columns: lineColumnsMax }))
    },
  }
  const report = await simulateSportsbook(options)
  if (tty) overwrite('')
  console.log(formatSimulationReport(report))
  write(values.json, () => `${JSON.stringify(report, null, 2)}\n`)
  return report.passed ? 0 : 1
}

// Reading what was typed

function parsed<const T extends NonNullable<ParseArgsConfig['options']>>(words: string[], options: T) {
  try {
    return parseArgs({ args: words, options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new Usage((error as Error).message)
  }
}

function baseOf(positionals: readonly string[]): string {
  const [base, ...more] = positionals
  if (base === undefined) throw new Usage('The base URL is missing: http://127.0.0.1:3000/wallet')
  if (more.length > 0) throw new Usage(`One base URL, and not also ${more.join(' ')}`)
  return base
}

function required(name: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new Usage(`${name} is missing: there is no default`)
  return value
}

/** `{}` for what was not given: an option of `undefined` is another thing than none. */
function given<K extends string, V>(name: K, value: V | undefined): { [name in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [name in K]: V })
}

function wholeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[0-9]{1,15}$/.test(text))
    throw new Usage(`${name} must be a whole number, and is ${JSON.stringify(text)}`)
  return Number(text)
}

function numberOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[0-9]+(\.[0-9]+)?$/.test(text))
    throw new Usage(`${name} must be a number, and is ${JSON.stringify(text)}`)
  return Number(text)
}

const msOfUnit: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

function millisecondsOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const [, amount = '', unit = ''] = /^([0-9]{1,9}(?:\.[0-9]+)?)(ms|s|m|h)$/.exec(text) ?? []
  const ms = msOfUnit[unit]
  if (ms === undefined)
    throw new Usage(`${name} must be a duration such as 500ms, 10s, 5m or 1h, and is ${JSON.stringify(text)}`)
  return Math.round(Number(amount) * ms)
}

function callerOf(values: { user?: string; password?: string; header?: string[] }) {
  const { user, header = [] } = values
  const password = values.password ?? process.env[passwordVariable]
  if (user === undefined && values.password !== undefined) throw new Usage('--password needs --user')
  if (user !== undefined && !password)
    throw new Usage(`--user needs a password: in the environment, in ${passwordVariable}, or by --password`)
  const headers: Record<string, string> = {}
  for (const line of header) {
    const at = line.indexOf(':')
    // The value is a secret: only what comes before it is shown.
    if (at < 1) throw new Usage('--header must be like "X-Api-Key: …"')
    headers[line.slice(0, at).trim()] = line.slice(at + 1).trim()
  }
  return {
    ...(user === undefined || password === undefined ? {} : { credentials: { username: user, password } }),
    ...(header.length === 0 ? {} : { headers }),
  }
}

function profileOf<T>(name: string, entries: readonly string[] | undefined, read: (text: string) => T) {
  const profile: Record<string, T[]> = {}
  for (const entry of entries ?? []) {
    const [, code = '', value = ''] = /^([A-Z_]+)=(.+)$/.exec(entry) ?? []
    if (code === '')
      throw new Usage(`${name} must be like INSUFFICIENT_FUNDS=…, and is ${JSON.stringify(entry)}`)
    profile[code] = [...(profile[code] ?? []), read(value)]
  }
  return profile
}

/** `20`, `anna,kenji` or `players.json`. */
function playersOf(text: string, prefix: string | undefined): readonly (string | SimulatedPlayer)[] {
  if (/^[0-9]+$/.test(text)) return numberedPlayers(wholeOf('--players', text) ?? 0, prefix ?? 'sim-')
  if (prefix !== undefined) throw new Usage('--player-prefix is for a count of players, such as --players 20')
  if (!text.endsWith('.json')) return text.split(',').map(id => id.trim())
  try {
    // What is in it is checked with the other options.
    return JSON.parse(readFileSync(text, 'utf8'))
  } catch (error) {
    throw new Usage(`--players: ${text} cannot be read: ${(error as Error).message}`)
  }
}

// Writing

/** Before an hour is spent on a report that cannot be written. */
function checkWritable(file: string | undefined): void {
  if (file === undefined) return
  try {
    accessSync(dirname(resolve(file)), constants.W_OK)
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw new Error('it is a directory')
  } catch (error) {
    throw new Usage(`${file} cannot be written: ${(error as Error).message}`)
  }
}

function write(file: string | undefined, render: () => string): void {
  if (file === undefined) return
  writeFileSync(file, render())
  console.error(`Written: ${file}`)
}

const lineColumnsMax = 200

function overwrite(line: string): void {
  process.stderr.write(`\r\u001b[2K${line}`)
}

function columnsOf(stream: { columns?: number }): number {
  return Math.max(40, stream.columns ?? 110)
}

/** The first Ctrl+C ends it in good order; the second one at once, as usual. */
function untilInterrupted(what: string): AbortSignal {
  const interrupted = new AbortController()
  process.once('SIGINT', () => {
    console.error(`\nStopping: ${what}. Ctrl+C again stops at once.`)
    interrupted.abort()
  })
  return interrupted.signal
}

main(process.argv.slice(2)).then(
  code => {
    process.exitCode = code
  },
  (error: unknown) => {
    if (process.stderr.isTTY) overwrite('')
    process.exitCode = 2
    if (error instanceof Usage || (error instanceof AuditError && error.code === 'INVALID_OPTIONS')) {
      console.error(`${error.message}\n\nbet-wallet --help says what there is.`)
    } else if (error instanceof AuditError) console.error(`It could not begin. ${error.message}`)
    else console.error(error)
  },
)
