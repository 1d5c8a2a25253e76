/** `bet-wallet audit`: audits a running wallet. */
import type { ParseArgsConfig } from 'node:util'
import { type AuditOptions, auditCases, auditWallet } from '../audit/index.js'
import { renderJunit } from '../audit/junit.js'
import { formatCases, formatProgress, formatProgressLine, renderHtml, reportOf } from '../audit/printout.js'
import { textOf } from '../report/text.js'
import {
  authenticationOf,
  baseUrlOf,
  commonOptions,
  given,
  millisecondsOf,
  parseWords,
  required,
  settleOf,
  UsageError,
  wholeNumberOf,
} from './arguments.js'
import { auditHelp } from './help.js'
import { checkWritable, columnsOf, overwriteLine, stopSignal, writeReport } from './output.js'

const auditArguments = {
  ...commonOptions,
  player: { type: 'string' },
  currency: { type: 'string' },
  'other-player': { type: 'string' },
  'no-clawbacks': { type: 'boolean' },
  status: { type: 'string', multiple: true },
  code: { type: 'string', multiple: true },
  codes: { type: 'string' },
  pause: { type: 'string' },
  'restart-command': { type: 'string' },
  attempts: { type: 'string' },
  'minor-units': { type: 'string' },
  only: { type: 'string', multiple: true },
  list: { type: 'boolean' },
  rounds: { type: 'string' },
  'time-budget': { type: 'string' },
  junit: { type: 'string' },
  html: { type: 'string' },
} as const satisfies ParseArgsConfig['options']

/** An audit that takes longer is announced. */
const longMs = 60_000

export async function audit(words: string[]): Promise<number> {
  const { values, positionals } = parseWords(words, auditArguments)
  if (values.help) {
    console.log(auditHelp)
    return 0
  }
  if (values.list) {
    console.log(formatCases(auditCases))
    return 0
  }
  const baseUrl = baseUrlOf(positionals)
  for (const file of [values.json, values.junit, values.html]) checkWritable(file)
  const options = optionsOf(values, baseUrl)
  const signal = stopSignal('the current case rolls back its bets first')
  const { isTTY } = process.stderr
  const failed: string[] = []
  const report = await auditWallet({
    ...options,
    signal,
    onStart({ latencyMs, durationMs }) {
      if (durationMs < longMs) return
      const minutes = Math.ceil(durationMs / 60_000)
      console.error(
        `About ${minutes} minutes, at ${Math.round(latencyMs)} ms per answer. --only and --time-budget make it shorter.`,
      )
    },
    onResult(result, { done, total }) {
      if (isTTY) return overwriteLine(formatProgress(result, done, total, columnsOf(process.stderr)))
      if (result.verdict === 'failed') failed.push(result.id)
      if (done % 10 === 0 || done === total) console.error(formatProgressLine(done, total, failed.splice(0)))
    },
  })
  if (isTTY) overwriteLine('')
  console.log(textOf(reportOf(report), process.stdout.isTTY && process.env.NO_COLOR === undefined))
  writeReport(values.json, () => `${JSON.stringify(report, null, 2)}\n`)
  writeReport(values.junit, () => renderJunit(report))
  writeReport(values.html, () => renderHtml(report))
  if (!report.passed) return 1
  // An audit that proves nothing must not let a build pass.
  return signal.aborted || report.results.every(({ verdict }) => verdict === 'skipped') ? 2 : 0
}

function optionsOf(
  values: ReturnType<typeof parseWords<typeof auditArguments>>['values'],
  baseUrl: string,
): AuditOptions {
  const minorUnits = wholeNumberOf('--minor-units', values['minor-units'])
  const only = values.only?.flatMap(list => list.split(',')).filter(id => id.trim() !== '')
  return {
    baseUrl,
    playerId: required('--player', values.player),
    currency: required('--currency', values.currency),
    ...given('otherPlayerId', values['other-player']),
    ...authenticationOf(values),
    ...settleOf(values),
    clawbacks: !values['no-clawbacks'],
    statusCodes: agreedOf('--status', values.status, text =>
      text === '*' ? text : (wholeNumberOf('--status', text) ?? 0),
    ),
    errorCodes: errorCodesOf(values),
    ...given('pauseMs', millisecondsOf('--pause', values.pause)),
    ...(values['restart-command'] === undefined ? {} : { restart: { command: values['restart-command'] } }),
    ...given('attempts', wholeNumberOf('--attempts', values.attempts)),
    ...(minorUnits === undefined ? {} : { minorUnits: () => minorUnits }),
    ...given('concurrency', wholeNumberOf('--concurrency', values.concurrency)),
    ...given('raceRounds', wholeNumberOf('--rounds', values.rounds)),
    ...given('timeoutMs', millisecondsOf('--timeout', values.timeout)),
    ...given('timeBudgetMs', millisecondsOf('--time-budget', values['time-budget'])),
    ...given('only', only),
    ...given('seed', wholeNumberOf('--seed', values.seed)),
  }
}

/** By error code, the agreed values: `INSUFFICIENT_FUNDS=400` and so on. */
function agreedOf<T>(name: string, entries: readonly string[] | undefined, read: (text: string) => T) {
  const agreed: Record<string, T[]> = {}
  for (const entry of entries ?? []) {
    const [, code = '', value = ''] = /^([A-Z_]+|\*)=(.+)$/.exec(entry) ?? []
    if (code === '')
      throw new UsageError(`${name} must have the form INSUFFICIENT_FUNDS=…, not ${JSON.stringify(entry)}`)
    agreed[code] = [...(agreed[code] ?? []), read(value)]
  }
  return agreed
}

function errorCodesOf({ code, codes }: { code?: string[]; codes?: string }): AuditOptions['errorCodes'] & {} {
  if (codes === undefined) return agreedOf('--code', code, text => text)
  if (codes !== 'any' || code !== undefined)
    throw new UsageError('--codes must be any, without --code; for one code: --code INVALID_BET=BET_REFUSED')
  return 'any'
}
