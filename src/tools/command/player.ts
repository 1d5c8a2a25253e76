/** `bet-wallet player`: an account with its transactions and bets, page by page. */
import type { ParseArgsConfig } from 'node:util'
import type { BetHistory, PlayerHistory, WalletLookups } from '../../lookups/records.js'
import { formatPlayer } from '../../lookups/text.js'
import { renderPlayer } from '../dispute/player-page.js'
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
  const [history, bets] = await withLookups(values, async lookups => {
    const found = await lookups.player(playerId, page)
    return [found, values.html === undefined ? [] : await betsOf(lookups, found)] as const
  })
  if (history === null) {
    console.error(
      `Player ${forTerminal(playerId)} is unknown: neither the players' table nor a transaction has this id. Ids are compared exactly (D24).`,
    )
    return 1
  }
  if (values.json) printJson(history)
  else console.log(formatPlayer(forTerminal(history), page))
  writeReport(values.html, () => renderPlayer(history, bets, page))
  return 0
}

/** The bets that the transactions name, each with its whole life. */
async function betsOf(lookups: WalletLookups, history: PlayerHistory | null): Promise<BetHistory[]> {
  const found: BetHistory[] = []
  for (const betId of new Set(history?.transactions.map(transaction => transaction.betId))) {
    const bet = await lookups.bet(betId)
    if (bet !== null) found.push(bet)
  }
  return found
}
