/** `bet-wallet bet`: a bet with its whole life. */
import { explainBet } from '../../lookups/bet-explanation.js'
import type { BetHistory } from '../../lookups/records.js'
import { formatBet } from '../../lookups/text.js'
import { renderBet, renderUnknownBet, unknownBet } from '../dispute/bet-page.js'
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
    console.error(`Bet ${forTerminal(betId)} is unknown.\n${unknownBet.join('\n')}`)
    writeReport(values.html, () => renderUnknownBet(betId))
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
