/** `bet-wallet transaction`: every operation that has used an id; or a search by amount and time. */
import type { ParseArgsConfig } from 'node:util'
import { findTransactions, searchedAmount, type TransactionSearch } from '../../lookups/search.js'
import { formatFoundTransactions, formatTransaction } from '../../lookups/text.js'
import { microsecondsOf } from '../../lookups/times.js'
import { given, idOf, millisecondsOf, parseWords, required, UsageError, wholeNumberOf } from './arguments.js'
import { lookUpHelp } from './help.js'
import { lookupArguments, withLookups } from './lookup-source.js'
import { forTerminal, printJson } from './output.js'

const searchArguments = {
  amount: { type: 'string' },
  around: { type: 'string' },
  within: { type: 'string' },
  player: { type: 'string' },
  limit: { type: 'string' },
} as const satisfies ParseArgsConfig['options']

const transactionArguments = { ...lookupArguments, ...searchArguments }

type Values = ReturnType<typeof parseWords<typeof transactionArguments>>['values']

/** @returns the exit code: 1 if nothing was found */
export async function transaction(words: string[]): Promise<number> {
  const { values, positionals } = parseWords(words, transactionArguments)
  if (values.help) {
    console.log(lookUpHelp)
    return 0
  }
  const searched = Object.keys(searchArguments).find(name => name in values)
  if (searched !== undefined) {
    if (positionals.length > 0)
      throw new UsageError(`An id excludes --${searched}, which searches without one`)
    return await search(values)
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

async function search(values: Values): Promise<number> {
  const wanted = searchOf(values)
  const found = await withLookups(values, lookups => findTransactions(lookups, wanted))
  const { from, to } = wanted
  if (values.json) printJson({ from, to, ...found })
  else if (found.transactions.length > 0)
    console.log(formatFoundTransactions(forTerminal(found.transactions)))
  if (found.transactions.length === 0) {
    console.error(`Nothing of ${wanted.amount} was recorded from ${from} to ${to}. Times are UTC.`)
    return 1
  }
  if (found.more)
    console.error(
      `More than ${wanted.limit} were found: shorten --within${values.player ? '' : ', or name the --player'}.`,
    )
  return 0
}

/** How far the time of a player's memory may be off. */
const withinMs = 1_800_000
const withinMsMax = 366 * 86_400_000

function searchOf(values: Values): TransactionSearch {
  const text = required('--amount', values.amount)
  const amount = searchedAmount(text)
  if (amount === null)
    throw new UsageError(`--amount must be a decimal of at least 0, as in 12.50, not ${JSON.stringify(text)}`)
  const around = required('--around', values.around)
  const time = microsecondsOf(around)
  if (time === null || !around.includes(':'))
    throw new UsageError(
      `--around must be a date and time, as in 2026-11-22T18:30Z or 2026-11-22T19:30+01:00, not ${JSON.stringify(around)}. For a whole day: its noon, and --within 12h`,
    )
  const middle = Date.parse(`${time.slice(0, 23)}Z`)
  const distance = millisecondsOf('--within', values.within) ?? withinMs
  if (distance > withinMsMax) throw new UsageError('--within must be at most 8784h, a year')
  const limit = wholeNumberOf('--limit', values.limit) ?? 50
  if (limit < 1 || limit > 1_000) throw new UsageError('--limit must be a whole number from 1 to 1000')
  return {
    amount,
    limit,
    ...given('playerId', values.player),
    from: new Date(middle - distance).toISOString(),
    to: new Date(middle + distance).toISOString(),
  }
}

const unknownTransaction = (transactionId: string) =>
  `Transaction ${transactionId} is unknown: no operation has recorded this id. Ids are compared exactly (D24).
A call leaves no record if it did not arrive, was answered with a fault (5xx), failed authentication, was malformed,
or was refused in a way that a retry may still turn into a success (D8).`
