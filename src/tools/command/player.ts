/** `bet-wallet player`: an account with its transactions and bets, page by page. */
import type { ParseArgsConfig } from 'node:util'
import { playerReport } from '../records/player.js'
import { pageOf } from '../report/page.js'
import { textOf } from '../report/text.js'
import { given, idOf, parseWords, timeOf, wholeNumberOf } from './arguments.js'
import { lookUpHelp } from './help.js'
import { htmlArguments, withLookups } from './lookup-source.js'
import { checkWritable, forTerminal, printJson, writeReport } from './output.js'

const playerArguments = {
  ...htmlArguments,
  from: { type: 'string' },
  to: { type: 'string' },
  limit: { type: 'string' },
  cursor: { type: 'string' },
} as const satisfies ParseArgsConfig['options']

/** @returns the exit code: 1 for an unknown player */
export async function player(words: string[]): Promise<number> {
  const { values, positionals } = parseWords(words, playerArguments)
  if (values.help) {
    console.log(lookUpHelp)
    return 0
  }
  const playerId = idOf('player', positionals)
  const page = {
    ...given('from', timeOf('--from', values.from)),
    ...given('to', timeOf('--to', values.to)),
    ...given('limit', wholeNumberOf('--limit', values.limit)),
    ...given('cursor', values.cursor),
  }
  checkWritable(values.html)
  const history = await withLookups(values, lookups => lookups.player(playerId, page))
  if (history === null) {
    console.error(
      `Player ${forTerminal(playerId)} is unknown: neither the players' table nor a transaction has this id. Ids are compared exactly (D24).`,
    )
    return 1
  }
  const report = playerReport(history, page)
  if (values.json) printJson(history)
  else console.log(textOf(report))
  writeReport(values.html, () => pageOf(report))
  return 0
}
