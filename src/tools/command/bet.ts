/** `bet-wallet bet`: a bet with its whole life. */
import { explainBet } from '../../lookups/bet-explanation.js'
import type { BetHistory } from '../../lookups/records.js'
import { betReport, unknownBetReport } from '../records/bet.js'
import { pageOf } from '../report/page.js'
import { textOf } from '../report/text.js'
import { idOf, parseWords } from './arguments.js'
import { lookUpHelp } from './help.js'
import { htmlArguments, withLookups } from './lookup-source.js'
import { checkWritable, printJson, writeReport } from './output.js'

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
  const report = history === null ? unknownBetReport(betId) : betReport(history)
  if (history === null) console.error(textOf(report))
  else if (values.json) printJson(withStory(history))
  else console.log(textOf(report))
  writeReport(values.html, () => pageOf(report))
  return history === null ? 1 : 0
}

/** The records, each transaction with its rule, and the story. */
function withStory(history: BetHistory) {
  const { verdict, steps, now, notes } = explainBet(history)
  const transactions = steps.map(({ transaction, rule, why }) => ({ ...transaction, rule, why }))
  return { ...history, transactions, verdict, now, notes }
}
