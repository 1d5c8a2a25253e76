/** `bet-wallet transaction`: every operation that has used an id. */
import { formatTransaction } from '../../lookups/text.js'
import { idOf, parseWords } from './arguments.js'
import { lookUpHelp } from './help.js'
import { lookupArguments, withLookups } from './lookup-source.js'
import { forTerminal, printJson } from './output.js'

/** @returns the exit code: 1 if nothing was found */
export async function transaction(words: string[]): Promise<number> {
  const { values, positionals } = parseWords(words, lookupArguments)
  if (values.help) {
    console.log(lookUpHelp)
    return 0
  }
  const transactionId = idOf('transaction', positionals)
  const found = await withLookups(values, lookups => lookups.transaction(transactionId))
  if (found.length === 0) {
    console.error(unknownTransaction(forTerminal(transactionId)))
    return 1
  }
  if (values.json) printJson(found)
  else console.log(formatTransaction(forTerminal(transactionId), forTerminal(found)))
  return 0
}

const unknownTransaction = (transactionId: string) =>
  `Transaction ${transactionId} is unknown: no operation has recorded this id. Ids are compared exactly (D24).
A call leaves no record if it did not arrive, was answered with a fault (5xx), failed authentication, was malformed,
or was refused in a way that a retry may still turn into a success (D8).`
