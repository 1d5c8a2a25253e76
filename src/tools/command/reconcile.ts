/** `bet-wallet reconcile`: the platform's report against the wallet's transactions. */
import { readFileSync } from 'node:fs'
import type { ParseArgsConfig } from 'node:util'
import { sentenceOf } from '../../lookups/rules.js'
import { escapeInvisible } from '../../visible-text.js'
import type { ReportMapping } from '../reconcile/mapping.js'
import { reconcile as compare, type Reconciliation } from '../reconcile/reconciliation.js'
import { formatReconciliation, renderReconciliation } from '../reconcile/report.js'
import { countText } from '../report/figures.js'
import { given, millisecondsOf, parseWords, required, UsageError } from './arguments.js'
import { reconcileHelp } from './help.js'
import { lookupArguments, withLookups } from './lookup-source.js'
import { bufferedFile, checkWritable, overwriteLine, writeReport } from './output.js'

const reconcileArguments = {
  ...lookupArguments,
  from: { type: 'string' },
  to: { type: 'string' },
  mapping: { type: 'string' },
  margin: { type: 'string' },
  json: { type: 'string' },
  lines: { type: 'string' },
  html: { type: 'string' },
} as const satisfies ParseArgsConfig['options']

const exitCodes: Record<Reconciliation['verdict'], number> = {
  equal: 0,
  different: 1,
  'wrong-report': 2,
  'nothing-compared': 2,
}

export async function reconcile(words: string[]): Promise<number> {
  const { values, positionals } = parseWords(words, reconcileArguments)
  if (values.help) {
    console.log(reconcileHelp)
    return 0
  }
  const options = {
    report: reportsOf(positionals),
    from: required('--from', values.from),
    to: required('--to', values.to),
    ...given('mapping', mappingOf(values.mapping)),
    ...given('marginMs', millisecondsOf('--margin', values.margin)),
  }
  for (const file of [values.json, values.lines, values.html]) checkWritable(file)
  const lines = values.lines === undefined ? null : bufferedFile(values.lines)
  const isTerminal = process.stderr.isTTY
  try {
    const result = await withLookups(values, lookups =>
      compare({
        ...options,
        lookups,
        sentenceOf,
        onDifference: difference => lines?.write(`${escapeInvisible(JSON.stringify(difference))}\n`),
        ...(isTerminal && {
          onProgress: ({ report, wallet }) =>
            overwriteLine(`${countText(report, 'row')} and ${countText(wallet, 'transaction')} read`),
        }),
      }),
    )
    if (isTerminal) overwriteLine('')
    console.log(formatReconciliation(result))
    lines?.finish()
    writeReport(values.json, () => `${JSON.stringify(result, null, 2)}\n`)
    writeReport(values.html, () => renderReconciliation(result))
    return exitCodes[result.verdict]
  } finally {
    lines?.discard()
  }
}

function reportsOf(positionals: readonly string[]): readonly string[] {
  if (positionals.length > 0) return positionals
  throw new UsageError("The platform's report is missing, for example platform.csv")
}

function mappingOf(file: string | undefined): ReportMapping | undefined {
  if (file === undefined) return undefined
  try {
    // The content is checked with the report.
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new UsageError(`--mapping: ${file} cannot be read: ${(error as Error).message}`)
  }
}
