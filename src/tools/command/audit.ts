/** `bet-wallet audit`: audits a running wallet. */
import { type AuditOptions, auditCases, auditWallet } from '../audit/index.js'
import { renderJunit } from '../audit/junit.js'
import { formatCases, formatProgress, formatProgressLine, reportOf } from '../audit/printout.js'
import { duration, off, option, otherwise, output, required, several, text, whole } from './option.js'
import { columnsOf, deliver, overwriteLine, stopSignal, writeReport } from './output.js'
import { command, prints } from './subcommand.js'
import { UsageError } from './usage-error.js'
import { settleOf, walletOptions } from './wallet-options.js'

/** An audit that takes longer is announced. */
const longMs = 60_000

export const audit = command({
  usage: 'audit <base-url>',
  summary: "sends the platform's calls to a running wallet, in any language, and judges the answers",
  about: `Sends the calls of the interface to <base-url>/placebet, /unsettlement and /rollbackbet, and judges
the answers. No other address is called except --settle-url, and redirects are not followed. Use a
test player with 20.00 of most currencies and no other activity: balances are compared to the last
digit. All stakes are rolled back; if no MUST failed, credits that settlements leave are staked on a last bet.
Cases that need a settlement, a pause or a restart are skipped without theirs.`,
  exitCodes: `The exit code is 0 if no MUST failed, 1 if one or --restart-command failed, or every
settlement of a type was refused, and 2 if none did but the audit was not possible (also if no bet could be
settled the given way), was stopped, or skipped every case.`,
  options: {
    playerId: required(text('--player <id>', 'the test player: no other is touched')),
    currency: required(text('--currency <code>', 'the currency of the player: EUR')),
    otherPlayerId: text('--other-player <id>', 'a second test player, for cases that mix up players'),
    ...walletOptions,
    junit: output('--junit <file>', 'the report as JUnit XML'),
    clawbacks: off('--no-clawbacks', 'the PAM cannot debit: unsettlements get INSUFFICIENT_FUNDS'),
    statusCodes: several(
      '--status <code=status>',
      "an agreed status: INSUFFICIENT_FUNDS=400; '*=400' is for all others, '*=*' allows any",
      agreedBy(status => (status === '*' ? status : Number(status))),
    ),
    errorCodes: several(
      '--code <code=code>',
      "an agreed error code: INVALID_BET=BET_REFUSED; '*=*' allows any",
      agreedBy(code => code),
    ),
    minorUnits: whole('--minor-units <number>', 'decimals of the currency, if they differ from ISO 4217'),
    only: several('--only <ids>', 'only these cases: AU-101,AU-3*', lists =>
      lists.flatMap(list => list.split(',')).filter(id => id.trim() !== ''),
    ),
    list: prints('--list', 'prints all cases and sends nothing', () => formatCases(auditCases)),
    pauseMs: duration('--pause <duration>', 'one long pause, for what a wallet forgets: 90s'),
    restart: option(
      '--restart-command <line>',
      'a shell command that restarts the wallet, for what it keeps in memory',
      line => ({ command: line }),
    ),
    raceRounds: otherwise('6', whole('--rounds <number>', 'how many times each race is run')),
    attempts: otherwise('25', whole('--attempts <number>', 'how often a call without outcome is sent')),
    timeBudgetMs: duration('--time-budget <duration>', 'cases that have not started by then are skipped'),
  },
  async work({ settleUrl, settleCommand, minorUnits, json, junit, html, list: _, ...options }, baseUrl) {
    const signal = stopSignal('the current case rolls back its bets first')
    const report = await auditWallet({
      ...options,
      baseUrl,
      settle: settleOf(settleUrl, settleCommand),
      ...(minorUnits !== undefined && {
        minorUnits: code => (code === options.currency ? minorUnits : undefined),
      }),
      signal,
      onStart: announce,
      onResult: progressOf(process.stderr.isTTY),
    })
    if (process.stderr.isTTY) overwriteLine('')
    deliver(reportOf(report), report, { json, html })
    writeReport(junit, () => renderJunit(report))
    if (!report.passed) return 1
    // An audit that proves nothing must not let a build pass.
    return signal.aborted || report.results.every(({ verdict }) => verdict === 'skipped') ? 2 : 0
  },
})

const announce: AuditOptions['onStart'] & {} = ({ latencyMs, durationMs }) => {
  if (durationMs < longMs) return
  console.error(
    `About ${Math.ceil(durationMs / 60_000)} minutes, at ${Math.round(latencyMs)} ms per answer. --only and --time-budget make it shorter.`,
  )
}

function progressOf(isTerminal: boolean): AuditOptions['onResult'] & {} {
  const failed: string[] = []
  return (result, { done, total }) => {
    if (isTerminal) return overwriteLine(formatProgress(result, done, total, columnsOf(process.stderr)))
    if (result.verdict === 'failed') failed.push(result.id)
    if (done % 10 === 0 || done === total) console.error(formatProgressLine(done, total, failed.splice(0)))
  }
}

/** By error code, the agreed values: `INSUFFICIENT_FUNDS=400` and so on. */
function agreedBy<T>(readOne: (text: string) => T) {
  return (entries: readonly string[], name: string) => {
    const agreed: Record<string, T[]> = {}
    for (const entry of entries) {
      const [, code = '', value = ''] = /^([A-Z_]+|\*)=(.+)$/.exec(entry) ?? []
      if (code === '')
        throw new UsageError(`${name} must have the form INSUFFICIENT_FUNDS=…, not ${JSON.stringify(entry)}`)
      agreed[code] = [...(agreed[code] ?? []), readOne(value)]
    }
    return agreed
  }
}
