/** `bet-wallet bet`: a bet with its whole life. */
import { explainBet } from '../../lookups/bet-explanation.js'
import type { BetHistory } from '../../lookups/records.js'
import { formatBet } from '../../lookups/text.js'
import { renderBet } from '../dispute/bet-page.js'
import { idOf, parseWords } from './arguments.js'
import { lookUpHelp } from './help.js'
import { htmlArguments, withLookups } from './lookup-source.js'
import { checkWritable, forTerminal, printJson, writeReport } from './output.js'

/** @returns the exit code: 1 for an unknown bet */
export async function bet(words: string[]): Promise<number> {
  const { values, positionals } = parseWords(words, htmlArguments)
  if (values.help) {
    console.log(lookUpHelp)
    return 0
  }
  const betId = idOf('bet', positionals)
  checkWritable(values.html)
  const history = await withLookups(values, lookups => lookups.bet(betId))
  if (history === null) {
    console.error(unknownBet(forTerminal(betId)))
    return 1
  }
  if (values.json) printJson(withStory(history))
  else console.log(formatBet(forTerminal(explainBet(history))))
  writeReport(values.html, () => renderBet(history))
  return 0
}

/** The records, each transaction with its rule, and the story. */
function withStory(history: BetHistory) {
  const { verdict, steps, now, notes } = explainBet(history)
  const transactions = steps.map(({ transaction, rule, why }) => ({ ...transaction, rule, why }))
  return { ...history, transactions, verdict, now, notes }
}

const unknownBet = (betId: string) =>
  `Bet ${betId} is unknown: there is no bet and no recorded transaction of this id. Ids are compared exactly (D24).
A placebet leaves no record if it did not arrive, was answered with a fault (5xx), failed authentication,
was malformed, or named an unknown player. A bet from before the cut-over is known only if it was imported (D27).`
