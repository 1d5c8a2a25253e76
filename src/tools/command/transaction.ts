/** `bet-wallet transaction`: every operation that has used an id. */
import { transactionReport } from '../records/transaction.js'
import { textOf } from '../report/text.js'
import { idOf, parseWords } from './arguments.js'
import { lookUpHelp } from './help.js'
import { lookupArguments, withLookups } from './lookup-source.js'
import { printJson } from './output.js'

/** @returns the exit code: 1 if nothing was found */
export async function transaction(words: string[]): Promise<number> {
  const { values, positionals } = parseWords(words, lookupArguments)
  if (values.help) {
    console.log(lookUpHelp)
    return 0
  }
  const transactionId = idOf('transaction', positionals)
  const found = await withLookups(values, lookups => lookups.transaction(transactionId))
  const text = textOf(transactionReport(transactionId, found))
  if (found.length === 0) console.error(text)
  else if (values.json) printJson(found)
  else console.log(text)
  return found.length === 0 ? 1 : 0
}
