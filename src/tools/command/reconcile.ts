/** `bet-wallet reconcile`: the platform's report against the wallet's transactions. */
import { sentenceOf } from '../../lookups/rules.js'
import { escapeInvisible } from '../../visible-text.js'
import { reconciliationReport } from '../reconcile/printed.js'
import { reconcile as compare, type Reconciliation } from '../reconcile/reconciliation.js'
import { countText } from '../report/figures.js'
import { sourceOptions, withLookups } from './lookup-source.js'
import { duration, option, otherwise, output, outputs, readJson, required, text } from './option.js'
import { deliver, openReport, overwriteLine } from './output.js'
import { command } from './subcommand.js'

const exitCodes: Record<Reconciliation['verdict'], number> = {
  equal: 0,
  different: 1,
  'wrong-report': 2,
  'nothing-compared': 2,
}

export const reconcile = command({
  usage: 'reconcile <report...>',
  summary: "compares the platform's report with the wallet's transactions, and explains each difference",
  about: `Compares the platform's report (CSV with a header, or JSON lines; several count as one) with what the
wallet has recorded in the same time, and explains each difference. It changes nothing. Both sides are sorted in the folder that TMPDIR names: about 350 bytes per row.`,
  exitCodes: `The exit code is 0 if nothing differs, 1 if something does, and 2 if nothing was compared: a report
that is not the wallet's as a whole, a row that cannot be read, or an error of the database.`,
  options: {
    from: required(
      text(
        '--from <time>',
        "its start: 2026-11-21 or 2026-11-21T00:00:00Z; without Z in the mapping's time zone, or UTC",
      ),
    ),
    to: required(text('--to <time>', 'its end, which is not part of it: at least a minute ago')),
    mapping: option(
      '--mapping <file.json>',
      'its columns, words and dates, if they are others: docs/records.md',
      readJson,
    ),
    marginMs: otherwise(
      '1h',
      duration('--margin <duration>', 'how much earlier or later than the platform the wallet may record'),
    ),
    ...sourceOptions,
    ...outputs,
    lines: output(
      '--lines <file>',
      'all differences, one JSON object per line; --json has up to 1,000 of a kind',
    ),
  },
  async work(values, _, report) {
    const { databaseUrl, schema, config, allowScan, json, lines: file, html, ...options } = values
    const lines = file === undefined ? null : openReport(file)
    const isTerminal = process.stderr.isTTY
    try {
      const result = await withLookups(values, lookups =>
        compare({
          ...options,
          report,
          lookups,
          sentenceOf,
          onDifference: difference => lines?.write(`${escapeInvisible(JSON.stringify(difference))}\n`),
          ...(isTerminal && {
            onProgress: ({ report: rows, wallet }) =>
              overwriteLine(`${countText(rows, 'row')} and ${countText(wallet, 'transaction')} read`),
          }),
        }),
      )
      if (isTerminal) overwriteLine('')
      // Empty, it would say that there is no difference.
      if (exitCodes[result.verdict] < 2) lines?.finish()
      deliver(reconciliationReport(result), result, { json, html })
      return exitCodes[result.verdict]
    } finally {
      lines?.discard()
    }
  },
})
