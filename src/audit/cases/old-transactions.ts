/** AU-24x: retries of transactions that many others have followed (spec 1.5, D5). */
import type { AuditCase } from '../audit-case.js'
import { add, type Decimal, subtract } from '../decimal.js'
import { type Answer, type Bet, Skipped, type Stage } from '../stage.js'

/** Caches of transactions often keep a round number of them. */
const transactionsBetween = 1_000

/** As few as a wallet with row locks bears for one player. */
const lanes = 4

/** Places and rolls back this many bets of the smallest unit. Skips the case if the wallet refuses most of them. */
async function placeAndRollBack(stage: Stage, count: number): Promise<void> {
  let accepted = 0
  let sent = 0
  await stage.concurrently(lanes, async () => {
    while (accepted < count && sent < 2 * count) {
      sent += 1
      const bet = stage.bet(stage.units(1))
      // Not `place`: each of these bets is rolled back here, and need not be rolled back again at the end.
      const label = `placebet ${sent}, a transaction in between`
      const answer = await stage.send('/placebet', stage.placement(bet), { label })
      if (answer.success !== null) accepted += 1
      await stage.rollback(bet, undefined, { label: `rollbackbet ${sent}, a transaction in between` })
    }
  })
  if (accepted < count) throw new Skipped(`only ${accepted} of ${sent} bets were accepted`)
}

interface Retry {
  name: string
  send(): Promise<Answer | string | null>
}

/** A refused bet, a cancelled bet, an open bet, and, if bets can be settled, one that was corrected. */
async function oldTransactions(stage: Stage): Promise<{ retries: Retry[]; balance: Decimal }> {
  const [open, cancelled] = [stage.bet(), stage.bet()]
  const cancelId = stage.id()
  let balance = await stage.placeSuccessfully(open, stage.opening)
  await stage.placeSuccessfully(cancelled, balance)
  stage.expectSuccess(await stage.rollback(cancelled, cancelId), balance)
  const label = (name: string) => ({ label: `retry of the ${name}` })
  const place = (name: string, bet: Bet): Retry => ({ name, send: () => stage.place(bet, label(name)) })
  const retries: Retry[] = [
    place('placebet of an open bet', open),
    place('placebet of a cancelled bet', cancelled),
    {
      name: 'rollbackbet',
      send: () => stage.rollback(cancelled, cancelId, label('rollbackbet')),
    },
  ]
  if (stage.settings.settle === 'unsupported') return { retries, balance }

  const paid = stage.bet()
  const [settlementId, unsettlementId] = [stage.id(), stage.id()]
  balance = await stage.placeSuccessfully(paid, balance)
  const payout = stage.units(stage.random.between(400, 600))
  await stage.settle(paid, 'BET_PAID', payout, settlementId)
  await stage.expectBalance(add(balance, payout), 'after a settlement')
  retries.push({ name: 'settlement', send: () => stage.trySettle(paid, 'BET_PAID', payout, settlementId) })
  if (!stage.settings.clawbacks) return { retries, balance: add(balance, payout) }
  stage.expectSuccess(await stage.unsettle(paid, 'UNSCORED', unsettlementId), balance)
  const corrected = subtract(payout, stage.units(100))
  await stage.settle(paid, 'BET_PAID', corrected)
  retries.push({
    name: 'unsettlement',
    send: () => stage.unsettle(paid, 'UNSCORED', unsettlementId, label('unsettlement')),
  })
  return { retries, balance: add(balance, corrected) }
}

export const oldTransactionCases: readonly AuditCase[] = [
  {
    id: 'AU-241',
    level: 'MUST',
    title: 'Retries of transactions change no balance after 1,000 other bets and their rollbacks',
    source: 'spec 1.5, D5',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    impact:
      'A cache remembers the last transactions only. In a busy minute, every retry is executed a second time.',
    async play(stage) {
      const { retries, balance } = await oldTransactions(stage)
      await stage.expectBalance(balance, 'before the transactions in between')
      await placeAndRollBack(stage, transactionsBetween)
      await stage.expectBalance(balance, `after ${transactionsBetween} bets were placed and rolled back`)
      for (const { name, send } of retries) {
        await send()
        await stage.expectBalance(balance, `after the retry of the ${name}`)
      }
    },
  },
]
