/** `bet-wallet owed`: the clawbacks that were not collected, per currency and bet by bet. */
import type { ParseArgsConfig } from 'node:util'
import { findOwed } from '../../lookups/owed.js'
import { owedReport } from '../records/owed.js'
import { textOf } from '../report/text.js'
import { given, noArguments, parseWords, timeOf } from './arguments.js'
import { lookUpHelp } from './help.js'
import { lookupArguments, withLookups } from './lookup-source.js'
import { printJson } from './output.js'

const owedArguments = {
  ...lookupArguments,
  from: { type: 'string' },
  to: { type: 'string' },
  player: { type: 'string' },
} as const satisfies ParseArgsConfig['options']

/** @returns the exit code: 0, also if nothing is owed */
export async function owed(words: string[]): Promise<number> {
  const { values, positionals } = parseWords(words, owedArguments)
  if (values.help) {
    console.log(lookUpHelp)
    return 0
  }
  noArguments('owed', positionals)
  const filter = {
    ...given('playerId', values.player),
    ...given('from', timeOf('--from', values.from)),
    ...given('to', timeOf('--to', values.to)),
  }
  const report = await withLookups(values, lookups => findOwed(lookups, filter))
  if (values.json) printJson(report)
  else console.log(textOf(owedReport(report)))
  return 0
}
