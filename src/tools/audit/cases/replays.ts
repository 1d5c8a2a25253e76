/** AU-2xx: retries, at once, later and concurrent; and known ids with a different content (spec 1.5). */

import { add, subtract, textOf, zero } from '../../numbers/decimal.js'
import { type Json, raw } from '../../wire/json.js'
import { describeAnswer } from '../answer.js'
import { type AuditCase, casesOf } from '../audit-case.js'
import { type CaseContext, eachRound } from '../case-context.js'
import { Skipped } from '../case-outcomes.js'
import { type Bet, sumOf } from '../wallet-calls.js'
import { callForOtherPlayer, otherPlayer } from './basics.js'

/** A way in which a call with a known transactionId may differ. */
type Change = (context: CaseContext, bet: Bet) => Json

const changes = {
  amount: ({ units }, bet) => raw(textOf(subtract(bet.amount, units(1)))),
  betId: ({ wallet }) => `${wallet.id()}-b`,
  currency: ({ foreignCurrency }) => foreignCurrency(),
  playerId: ({ wallet }) => `${wallet.id()}-unknown`,
} as const satisfies Record<string, Change>

type Changed = keyof typeof changes

async function changed(context: CaseContext, field: Changed) {
  const { prepare, wallet } = context
  const { bet } = await prepare.openBet()
  const fields: Record<string, Json> = { [field]: changes[field](context, bet) }
  if (typeof fields.betId === 'string') wallet.openBets.track({ ...bet, betId: fields.betId })
  const answer = await wallet.place(bet, { fields, label: `retry of the placebet with a different ${field}` })
  return { answer, bet }
}

const conflictCase = (field: Changed): Omit<AuditCase, 'id'> => ({
  level: 'SHOULD',
  name: `A placebet with a known transactionId and a different ${field} is refused`,
  source: 'D3, D4',
  impact: 'A success would confirm a transaction that was not executed: the books differ from then on.',
  async run(context) {
    const { wallet, expect, opening } = context
    const { answer, bet } = await changed(context, field)
    expect.refusal(answer)
    const retry = await wallet.place(bet, 'retry of the original placebet')
    expect.success(retry, subtract(opening, bet.amount))
  },
})

export const replays = casesOf({
  'AU-201': {
    name: 'A placebet that is retried at once gets the same answer and debits the stake once',
    source: 'spec 1.5, D2',
    quote: 'one-transaction',
    impact: 'Every retry by a proxy or the network debits the stake again.',
    async run({ prepare, wallet, expect }) {
      const { bet, staked } = await prepare.openBet()
      expect.success(await wallet.place(bet, 'retry 1 of the placebet'), staked)
      await expect.executed(wallet.place(bet, 'retry 2 of the placebet'), staked)
    },
  },
  'AU-203': {
    name: 'Concurrent copies of one placebet are all accepted and debit the stake once',
    source: 'spec 1.5, D2',
    quote: 'one-transaction',
    impact:
      'Concurrent duplicates debit the stake more than once. This is the most frequent defect of wallets.',
    run: eachRound(async ({ wallet, expect, opening, between, concurrently }) => {
      const bet = wallet.bet(between(20, 60))
      const answers = await concurrently(copy => wallet.place(bet, `copy ${copy + 1} of one placebet`))
      const balance = subtract(opening, bet.amount)
      await expect.balance(balance, `after ${answers.length} concurrent copies of one placebet`)
      for (const answer of answers) expect.success(answer)
      await expect.undone(bet)
    }),
  },
  'AU-202': {
    name: 'A placebet that is retried later debits the stake once and returns the current balance',
    source: 'spec 1.4, 1.5, D2',
    quote: 'current-balance',
    impact: 'A late duplicate debits a second stake, or the sportsbook shows an outdated balance.',
    async run({ prepare, wallet, expect, opening }) {
      const first = wallet.bet()
      const second = wallet.bet()
      const third = wallet.bet()
      for (const bet of [first, second, third]) await prepare.placedAnyhow(bet)
      await expect.undone(second)
      const current = subtract(opening, sumOf([first, third]))
      await expect.executed(wallet.place(first, 'retry of the first placebet after other bets'), current)
    },
  },
  'AU-204': {
    name: 'A rollbackbet that is retried, at once or later, credits the stake once',
    source: 'spec 1.5, 4.3',
    quote: 'one-transaction',
    impact: 'Every retry of a rollback credits the stake again.',
    async run({ prepare, wallet, expect, opening }) {
      const bet = wallet.bet()
      await prepare.placedAnyhow(bet)
      const transactionId = wallet.id()
      await expect.undone(bet, opening, transactionId)
      await expect.executed(wallet.rollback(bet, transactionId), opening)
      const after = await prepare.placed(wallet.bet(), opening)
      const label = 'retry of the rollbackbet after another bet'
      await expect.executed(wallet.rollback(bet, transactionId, label), after)
    },
  },
  'AU-206': {
    name: 'Further rollbacks of a bet under other transactionIds credit nothing',
    source: 'spec 4.3, D12',
    impact: 'Two systems of the platform cancel the same bet, and the player receives the stake twice.',
    async run({ prepare, wallet, expect, opening }) {
      const { bet } = await prepare.openBet()
      await expect.undone(bet, opening)
      for (const time of [2, 3]) {
        const label = `rollbackbet ${time} under another transactionId`
        await expect.balanceAfter(wallet.rollback(bet, undefined, label), opening)
      }
    },
  },
  'AU-205': {
    name: 'Concurrent copies of one rollbackbet credit the stake once',
    source: 'spec 1.5, 4.3',
    quote: 'one-transaction',
    impact:
      'The platform retries a rollback that timed out while the first one is still in flight: the stake is credited twice.',
    run: eachRound(async ({ prepare, wallet, expect, opening, between, concurrently }) => {
      const bet = wallet.bet(between(20, 60))
      await prepare.placedAnyhow(bet)
      const transactionId = wallet.id()
      const answers = await concurrently(copy =>
        wallet.rollback(bet, transactionId, `copy ${copy + 1} of one rollbackbet`),
      )
      await expect.balance(opening, `after ${answers.length} concurrent copies of one rollback`)
      for (const answer of answers) expect.success(answer)
    }),
  },
  'AU-207': {
    level: 'SHOULD',
    name: 'A rollbackbet of a bet that is already rolled back succeeds, under any transactionId',
    source: 'D12',
    impact:
      'The platform retries until it receives a success, which never comes, until an operator intervenes.',
    async run({ prepare, expect, opening }) {
      const { bet } = await prepare.openBet()
      await expect.undone(bet, opening)
      await expect.undone(bet, opening)
    },
  },
  'AU-208': {
    name: 'Concurrent rollbacks of one bet under different transactionIds credit the stake once',
    source: 'spec 4.3, D12',
    impact:
      'As in AU-206, if the calls arrive within milliseconds, before the wallet has recorded the first one.',
    run: eachRound(async ({ prepare, wallet, expect, opening, between, concurrently }) => {
      const bet = wallet.bet(between(20, 60))
      await prepare.placedAnyhow(bet)
      await concurrently(copy =>
        wallet.rollback(bet, undefined, `rollbackbet ${copy + 1} under its own transactionId`),
      )
      await expect.balance(opening, 'after concurrent rollbacks of one bet')
    }),
  },
  'AU-209': {
    name: 'A placebet that was refused for insufficient funds debits nothing when retried, even with sufficient funds',
    source: 'D6',
    impact: 'A delayed duplicate debits the stake of a bet that the sportsbook has already shown as refused.',
    async run({ prepare, wallet, expect, opening, units }) {
      const spent = await prepare.spendDownTo(units(50), opening)
      const bet = wallet.bet(units(100))
      expect.refusal(await wallet.place(bet))
      await expect.undone(spent, opening)
      const label = 'retry of the refused placebet, with sufficient funds'
      await expect.notExecuted(wallet.place(bet, label), opening)
    },
  },
  'AU-210': {
    level: 'SHOULD',
    name: 'The retry of a refused call gets the same refusal: the same status and error code',
    source: 'D2, D6',
    impact:
      'One call has two different answers. The platform believes the second one, and its books differ from the wallet’s.',
    async run({ wallet, expect, opening, units, wholeUnits }) {
      const bet = wallet.bet(units(wholeUnits(opening) + 100n))
      const first = await wallet.place(bet)
      expect.refusal(first)
      expect.sameRefusal(first, await wallet.place(bet))
    },
  },
  'AU-211': {
    level: 'SHOULD',
    name: 'A replayed success has the walletTransactionId of the first answer',
    source: 'spec 1.5, D2',
    impact: 'One transaction has two references, and reconciliation counts it twice.',
    async run({ wallet, expect }) {
      const bet = wallet.bet()
      const rollbackId = wallet.id()
      const pairs = [
        [await wallet.place(bet), await wallet.place(bet)],
        [await wallet.rollback(bet, rollbackId), await wallet.rollback(bet, rollbackId)],
      ] as const
      for (const [first, second] of pairs) {
        expect.success(first)
        expect.success(second)
        const one = first.success?.walletTransactionId
        const two = second.success?.walletTransactionId
        if (one !== two) expect.fail(`the same walletTransactionId: ${one}`, String(two), second)
      }
    },
  },
  'AU-212': {
    name: 'The retry of a placebet whose bet was rolled back debits nothing',
    source: 'spec 1.5, D14',
    quote: 'one-transaction',
    impact: 'A stake is debited for a cancelled bet, and no later call will return it.',
    async run({ prepare, wallet, expect, opening }) {
      const { bet } = await prepare.openBet()
      await expect.undone(bet, opening)
      await expect.balanceAfter(wallet.place(bet, 'retry of the placebet after its rollback'), opening)
    },
  },
  'AU-213': {
    level: 'SHOULD',
    name: 'The retry of a placebet whose bet was rolled back gets the first answer',
    source: 'D2, D14',
    impact: 'With a refusal, the first placebet seems to have failed, and the platform rolls back once more.',
    async run({ prepare, wallet, expect, opening }) {
      const { bet } = await prepare.openBet()
      await expect.undone(bet)
      expect.success(await wallet.place(bet), opening)
    },
  },
  'AU-214': {
    name: 'A second placebet for the same bet under another transactionId debits nothing',
    source: 'spec 2, D10',
    quote: 'bet-id',
    impact: 'One bet has two stakes. A rollback or a settlement covers only one of them.',
    async run({ prepare, wallet, expect }) {
      const { bet, staked } = await prepare.openBet()
      await expect.balanceAfter(wallet.placeAnew(bet), staked)
    },
  },
  'AU-215': {
    level: 'SHOULD',
    name: 'A second placebet for the same bet under another transactionId is refused',
    source: 'D10',
    impact: 'A success would mean that a second stake was debited.',
    async run({ prepare, wallet, expect }) {
      const { bet } = await prepare.openBet()
      const retry = { ...bet, transactionId: wallet.id() }
      expect.refusal(await wallet.place(retry))
      expect.refusal(await wallet.place(retry))
    },
  },
  'AU-216': {
    name: 'Concurrent placebets for one bet under different transactionIds debit one stake',
    source: 'spec 2, D10',
    quote: 'bet-id',
    impact:
      'As in AU-214, if the calls arrive within milliseconds, before the wallet has recorded the first one.',
    run: eachRound(async ({ wallet, expect, opening, between, concurrently }) => {
      const bet = wallet.bet(between(20, 60))
      const answers = await concurrently(copy => wallet.placeAnew(bet, `placebet ${copy + 1} for one bet`))
      const balance = subtract(opening, bet.amount)
      await expect.balance(balance, `after ${answers.length} concurrent placebets for one bet`)
      await expect.undone(bet, opening)
    }),
  },
  'AU-218': {
    name: 'A known transactionId with a different amount, bet, currency or player changes no balance',
    source: 'spec 1.5, D4',
    quote: 'one-transaction',
    impact: 'A retry changes money: a value that was corrupted on the way is booked.',
    async run(context) {
      const { expect, opening } = context
      for (const field of Object.keys(changes) as Changed[]) {
        const { bet, answer } = await changed(context, field)
        await expect.balanceAfter(answer, subtract(opening, bet.amount))
        await expect.undone(bet, opening)
      }
    },
  },
  'AU-217': {
    name: 'Concurrent placebets for different bets under one transactionId debit one stake',
    source: 'spec 1.5, D1, D4',
    quote: 'one-transaction',
    impact: 'The same transaction is recorded twice, but the platform has it once.',
    run: eachRound(async ({ wallet, expect, settings, opening, between }) => {
      const transactionId = wallet.id()
      const amount = between(20, 60)
      const bets = wallet.bets(settings.concurrency, () => amount).map(bet => ({ ...bet, transactionId }))
      await Promise.all(bets.map(bet => wallet.place(bet)))
      const balance = subtract(opening, amount)
      await expect.balance(balance, `after ${bets.length} concurrent bets under one transactionId`)
      for (const bet of bets) await expect.undone(bet)
      await expect.balance(opening, 'after all of these bets were rolled back')
    }),
  },
  'AU-219': {
    level: 'SHOULD',
    name: 'A retried placebet may differ in odds, betType, sessionId and transactionDate',
    source: 'D3',
    impact: 'A retry with a new date or session is refused, and an accepted bet is reported as failed.',
    async run({ prepare, wallet, expect, dateOf }) {
      const { bet, staked } = await prepare.openBet()
      const other: Record<string, Json | undefined> = {
        odds: raw('2.75'),
        betType: 'MULTIPLE',
        sessionId: 'another-session',
        transactionDate: dateOf(60_000),
      }
      const each = Object.entries(other).map(([name, value]) => ({ [name]: value }))
      for (const fields of [...each, other, { odds: undefined }]) {
        const label = `retry of the placebet with a different ${Object.keys(fields).join(', ')}`
        expect.success(await wallet.place(bet, { fields, label }), staked)
      }
    },
  },
  'AU-220': {
    level: 'SHOULD',
    name: 'A retried rollbackbet may differ in transactionDate',
    source: 'D3',
    impact: 'A retried rollback is refused, and the platform retries it indefinitely.',
    async run({ prepare, wallet, expect, opening, dateOf }) {
      const bet = wallet.bet()
      const transactionId = wallet.id()
      await prepare.placedAnyhow(bet)
      await expect.undone(bet, opening, transactionId)
      const label = 'retry of the rollbackbet with a different transactionDate'
      const change = { fields: { transactionDate: dateOf(60_000) }, label }
      expect.success(await wallet.rollback(bet, transactionId, change), opening)
    },
  },
  'AU-222': {
    level: 'SHOULD',
    name: 'A rollbackbet may reuse the transactionId of its placebet',
    source: 'D1',
    impact: 'A platform that reuses the id receives a success, but the stake stays in the wallet.',
    async run({ prepare, wallet, expect, opening }) {
      const { bet } = await prepare.openBet()
      const label = 'rollbackbet with the transactionId of the placebet'
      await expect.executed(wallet.rollback(bet, bet.transactionId, label), opening)
    },
  },
  'AU-223': {
    name: 'A rollbackbet with a known transactionId and a different bet changes no balance',
    source: 'spec 1.5, D4',
    quote: 'one-transaction',
    impact: 'One transaction credits two stakes.',
    async run({ prepare, wallet, expect, opening }) {
      const first = wallet.bet()
      const second = wallet.bet()
      for (const bet of [first, second]) await prepare.placedAnyhow(bet)
      const transactionId = wallet.id()
      const balance = subtract(opening, second.amount)
      await expect.undone(first, balance, transactionId)
      const label = 'retry of the rollbackbet with a different betId'
      await expect.balanceAfter(wallet.rollback(second, transactionId, label), balance)
    },
  },
  'AU-224': {
    name: 'A bet that was rolled back cannot be placed again, not even under another transactionId',
    source: 'D10, D11',
    impact:
      'A stake is debited for a bet that the platform has cancelled: no settlement and no rollback will follow.',
    async run({ prepare, wallet, expect, opening }) {
      const { bet } = await prepare.openBet()
      await expect.undone(bet, opening)
      const label = 'placebet for the rolled-back bet under another transactionId'
      expect.refusal(await expect.balanceAfter(wallet.placeAnew(bet, label), opening))
    },
  },
  'AU-225': {
    level: 'SHOULD',
    name: 'The transactionDate does not affect the decision: a rollback dated before its placebet is executed',
    source: 'D25',
    impact: 'Two servers of the platform have different clocks, and stakes stay in the wallet.',
    async run({ prepare, wallet, expect, opening, dateOf }) {
      const { bet } = await prepare.openBet()
      const fields = { transactionDate: dateOf(3_600_000) }
      const label = 'rollbackbet dated one hour before its placebet'
      expect.success(await wallet.rollback(bet, undefined, { fields, label }), opening)
    },
  },
  'AU-226': {
    name: 'A rollbackbet is executed whatever the dates of bet and rollback are: hours, a day or a month ago',
    source: 'spec 4.3, D25',
    quote: 'placebet-undone',
    impact:
      'After an outage, the platform’s rollbacks are refused as too late, and the stakes stay in the wallet.',
    async run({ wallet, expect, opening, dateOf }) {
      for (const hours of [2, 26, 24 * 32])
        for (const isRollbackOld of [true, false]) {
          const fields = { transactionDate: dateOf(hours * 3_600_000) }
          const bet = wallet.bet()
          const when = `${hours} hours ago`
          // A wallet may refuse an old bet.
          const placed = await wallet.place(bet, { fields, label: `placebet dated ${when}` })
          if (placed.errorCode !== null) continue
          expect.success(placed)
          const label = `rollbackbet dated ${isRollbackOld ? when : 'now'} of a bet of ${when}`
          const undone = wallet.rollback(bet, undefined, { label, ...(isRollbackOld ? { fields } : {}) })
          await expect.executed(undone, opening)
        }
    },
  },
  'AU-231': conflictCase('amount'),
  'AU-232': conflictCase('betId'),
  'AU-233': conflictCase('currency'),
  'AU-234': conflictCase('playerId'),
  'AU-236': {
    name: 'The retry of an accepted placebet succeeds when the funds are spent by then',
    source: 'spec 1.5, D2',
    quote: 'one-transaction',
    impact:
      'The stake is debited, and the platform has the bet as refused: no settlement and no rollback follows.',
    async run({ prepare, wallet, expect }) {
      const { bet, staked } = await prepare.openBet()
      expect.success(await wallet.place(bet), staked)
      await prepare.spendDownTo(zero, staked)
      expect.success(await wallet.place(bet, 'retry of the placebet, without funds'), zero)
    },
  },
  'AU-237': {
    level: 'SHOULD',
    name: 'A replayed success has the status of the first answer',
    source: 'spec 1.5, D2',
    impact: 'The platform may take another status for another outcome.',
    async run({ wallet, expect }) {
      const bet = wallet.bet()
      const rollbackId = wallet.id()
      const calls = [() => wallet.place(bet), () => wallet.rollback(bet, rollbackId)]
      for (const call of calls) {
        const first = await call()
        const second = await call()
        for (const answer of [first, second]) expect.success(answer)
        if (first.status !== second.status)
          expect.fail(`the same status: ${first.status}`, String(second.status), second)
      }
    },
  },
  'AU-238': {
    level: 'SHOULD',
    name: 'The transactionId of a refused placebet with another bet, amount or currency is refused',
    source: 'D3, D4, D6',
    impact: 'One id stands for a refused and for an accepted bet: the books differ from then on.',
    async run({ wallet, expect, opening, units, foreignCurrency }) {
      const amount = raw(textOf(units(100)))
      const changes: Record<string, Json>[] = [
        { amount },
        { amount, betId: `${wallet.id()}-b` },
        { amount, currency: foreignCurrency() },
      ]
      for (const fields of changes) {
        const refused = wallet.bet(add(opening, units(100)))
        expect.refusal(await wallet.place(refused))
        if (typeof fields.betId === 'string') wallet.openBets.track({ ...refused, betId: fields.betId })
        const label = `placebet with the transactionId of a refused one and another ${Object.keys(fields).join(' and ')}`
        expect.refusal(await expect.balanceAfter(wallet.place(refused, { fields, label }), opening))
      }
    },
  },
  'AU-235': {
    level: 'SHOULD',
    name: 'A rollbackbet with a known transactionId and a different betId or playerId is refused',
    source: 'D3, D4',
    impact:
      'A success would tell the platform that the second bet was rolled back, but its stake stays in the wallet.',
    async run({ prepare, wallet, expect, opening }) {
      const bet = wallet.bet()
      const transactionId = wallet.id()
      await prepare.placedAnyhow(bet)
      await expect.undone(bet, opening, transactionId)
      const others = { betId: `${wallet.id()}-b`, playerId: `${wallet.id()}-unknown` }
      for (const [name, value] of Object.entries(others)) {
        const label = `retry of the rollbackbet with a different ${name}`
        expect.refusal(await wallet.rollback({ ...bet, [name]: value }, transactionId, label))
      }
    },
  },
  'AU-119': {
    level: 'SHOULD',
    name: 'A call for a player who does not own the bet is refused',
    source: 'D15',
    needs: ['other-player'],
    impact: 'The platform cannot tell a mix-up of players from a settled bet.',
    async run(context) {
      const { expect } = context
      const { rollback, unsettlement, placebet } = await callForOtherPlayer(context)
      expect.refusal(rollback)
      expect.error(unsettlement)
      expect.refusal(placebet)
    },
  },
  'AU-120': {
    name: 'A transactionId that another player’s bet has used changes no balance',
    source: 'spec 1.5, 2, D1, D4',
    quote: 'one-transaction',
    needs: ['other-player'],
    impact: 'Ids are unique per player only: the platform has one transaction, the wallet has two.',
    async run(context) {
      const { prepare, wallet, expect } = context
      const other = await otherPlayer(context)
      const currency = await expect.currencyOf(other.playerId)
      const { bet, staked } = await prepare.openBet()
      const theirs = { ...wallet.bet(bet.amount, other.playerId), transactionId: bet.transactionId }
      const label = 'placebet of the other player with a known transactionId'
      const call = wallet.place(theirs, { fields: { currency }, label })
      await other.unchanged(await expect.balanceAfter(call, staked))
    },
  },
  'AU-123': {
    level: 'SHOULD',
    name: 'A free bet (a stake of 0) can be rolled back, also once more',
    source: 'spec 4.3, D12, D22',
    impact: 'The platform retries the rollback until it receives a success, which never comes.',
    async run({ wallet, expect, opening }) {
      const bet = wallet.bet(zero)
      const answer = await wallet.place(bet)
      if (answer.success === null)
        throw new Skipped(`a stake of 0 is answered with ${describeAnswer(answer)}`)
      const transactionId = wallet.id()
      const label = 'rollbackbet of the free bet'
      for (const id of [transactionId, transactionId, wallet.id()])
        expect.success(await wallet.rollback(bet, id, label), opening)
    },
  },
})
