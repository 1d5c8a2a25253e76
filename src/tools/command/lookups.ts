/** `bet-wallet bet`, `transaction`, `player` and `owed`: what the wallet has recorded. */
import { explainBet } from '../../lookups/bet-explanation.js'
import { findOwed } from '../../lookups/owed.js'
import type { BetHistory } from '../../lookups/records.js'
import { betReport, unknownBetReport } from '../records/bet.js'
import { owedReport } from '../records/owed.js'
import { playerReport, unknownPlayerReport } from '../records/player.js'
import { transactionReport } from '../records/transaction.js'
import { sourceOptions, withLookups } from './lookup-source.js'
import { otherwise, outputs, text, time, whole } from './option.js'
import { deliver } from './output.js'
import { command } from './subcommand.js'
import { UsageError } from './usage-error.js'

const common = {
  about: `Reads what the wallet has recorded, and changes nothing: a database user with SELECT is enough.
Times are UTC unless they have an offset, such as +01:00. Ids are compared exactly.`,
  exitCodes: 'The exit code is 0, 1 if nothing was found (owed: 0), and 2 if the lookup was not possible.',
  options: { ...sourceOptions, ...outputs },
}

/** @throws {UsageError} nothing is in a range that does not end after its start */
function checkRange({ from, to }: { from?: string | undefined; to?: string | undefined }): void {
  if (from !== undefined && to !== undefined && to <= from)
    throw new UsageError('--to must be later than --from')
}

export const bet = command({
  usage: 'bet <betId>',
  summary: 'explains a bet: each call, its rule, what holds now',
  ...common,
  async work(values, betId) {
    const history = await withLookups(values, lookups => lookups.bet(betId))
    const report = history === null ? unknownBetReport(betId) : betReport(history)
    deliver(report, history && withExplanation(history), values)
    return history === null ? 1 : 0
  },
})

/** The records, each transaction with its rule, and the explanation. */
function withExplanation(history: BetHistory) {
  const { verdict, steps, now, notes } = explainBet(history)
  const transactions = steps.map(({ transaction, rule, why }) => ({ ...transaction, rule, why }))
  return { ...history, transactions, verdict, now, notes }
}

export const transaction = command({
  usage: 'transaction <transactionId>',
  summary: 'shows every operation that has used the id',
  ...common,
  async work(values, transactionId) {
    const found = await withLookups(values, lookups => lookups.transaction(transactionId))
    deliver(transactionReport(transactionId, found), found, values)
    return found.length === 0 ? 1 : 0
  },
})

export const player = command({
  usage: 'player <playerId>',
  summary: 'shows an account with its transactions and bets, page by page',
  ...common,
  options: {
    ...common.options,
    from: time('--from <time>', 'recorded at or after: 2026-11-22 or 2026-11-22T10:00:00Z'),
    to: time('--to <time>', 'recorded before'),
    limit: otherwise('50', whole('--limit <number>', 'transactions per page, at most 1000')),
    cursor: text('--cursor <text>', 'the next page, as the page before has printed it'),
  },
  async work(values, playerId) {
    const { databaseUrl: _, schema, config, allowScan, json, html, ...range } = values
    checkRange(range)
    const history = await withLookups(values, lookups => lookups.player(playerId, range))
    const report = history === null ? unknownPlayerReport(playerId) : playerReport(history, range)
    deliver(report, history, values)
    return history === null ? 1 : 0
  },
})

export const owed = command({
  usage: 'owed',
  summary: 'shows the clawbacks that were not collected, in sum and bet by bet',
  ...common,
  about: `${common.about}\nEvery bet is read; that needs the index of a bet.`,
  options: {
    ...common.options,
    playerId: text('--player <id>', "only this player's"),
    from: time('--from <time>', 'bets whose last clawback was refused at or after'),
    to: time('--to <time>', 'or before'),
  },
  async work(values) {
    checkRange(values)
    const data = await withLookups(values, lookups => findOwed(lookups, values))
    deliver(owedReport(data), data, values)
    return 0
  },
})
