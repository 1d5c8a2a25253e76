/** AU-24x: retries of transactions that many others have followed (spec 1.5, D5). */

import { add, type Decimal, subtract } from '../../numbers/decimal.js'
import type { Answer } from '../answer.js'
import { casesOf } from '../audit-case.js'
import type { CaseContext } from '../case-context.js'
import { Skipped } from '../case-outcomes.js'
import type { Bet } from '../wallet-calls.js'

/** Caches of transactions often keep a round number of them. */
const transactionsBetween = 1_000

/** As few as a wallet with row locks bears for one player. */
const lanes = 4

/** Whether bets can be settled without starting a process for each. */
const settlesByCall = ({ settle, clawbacks }: CaseContext['settings']): boolean =>
  clawbacks && (typeof settle === 'function' || (typeof settle === 'object' && 'url' in settle))

/** Fewer than usual: these calls are many, and none of them must succeed. */
const attempts = 5

/**
 * Places this many bets of the smallest unit, settles and unsettles them if that is cheap, and rolls them
 * back. Skips the case if the wallet refuses most of them.
 */
async function placeAndRollBack(
  { wallet, expect, settings, units, concurrently }: CaseContext,
  count: number,
): Promise<void> {
  let complete = 0
  let sent = 0
  const open: Bet[] = []
  const canSettle = settlesByCall(settings)
  const inBetween = (operation: string, number: number) => ({
    label: `${operation} ${number}, a transaction in between`,
    attempts,
  })
  await concurrently(async () => {
    while (complete < count && sent < 3 * count) {
      sent += 1
      const number = sent
      const bet = wallet.bet(units(1))
      // Not `place`: each of these bets is rolled back here, and need not be rolled back again at the end.
      const change = inBetween('placebet', number)
      const placed = await wallet.send('/placebet', wallet.placement(bet), change)
      const answers = [placed]
      if (placed.success !== null && canSettle) {
        await wallet.trySettle(bet, 'BET_PAID', units(1))
        answers.push(await wallet.unsettle(bet, 'UNSCORED', undefined, inBetween('unsettlement', number)))
      }
      const undone = await wallet.rollback(bet, undefined, inBetween('rollbackbet', number))
      if (undone.success === null) open.push(bet)
      else {
        wallet.openBets.forget(bet)
        if (answers.every(({ success }) => success !== null)) complete += 1
      }
    }
  }, lanes)
  // A wallet that does not wait for locks may have refused all attempts, as long as the other lanes were
  // busy.
  for (const bet of open) {
    if (canSettle) await wallet.tryUnsettle(bet, 'UNSCORED')
    await expect.undone(bet)
  }
  if (complete < count) throw new Skipped(`only ${complete} of ${sent} bets were accepted`)
}

interface Retry {
  name: string
  send(): Promise<Answer | string | null>
}

/** A refused bet, a cancelled bet, an open bet, and, if bets can be settled, one that was corrected. */
async function oldTransactions(context: CaseContext): Promise<{ retries: Retry[]; balance: Decimal }> {
  const { prepare, wallet, expect, opening, units, settings, between } = context
  const open = wallet.bet()
  const cancelled = wallet.bet()
  const cancelId = wallet.id()
  let balance = await prepare.placed(open, opening)
  await prepare.placed(cancelled, balance)
  await expect.undone(cancelled, balance, cancelId)
  const label = (name: string) => ({ label: `retry of the ${name}` })
  const place = (name: string, bet: Bet): Retry => ({ name, send: () => wallet.place(bet, label(name)) })
  const retries: Retry[] = [
    place('placebet of an open bet', open),
    place('placebet of a cancelled bet', cancelled),
    { name: 'rollbackbet', send: () => wallet.rollback(cancelled, cancelId, label('rollbackbet')) },
  ]
  if (settings.settle === 'unsupported') return { retries, balance }

  const paid = wallet.bet()
  const settlementId = wallet.id()
  const unsettlementId = wallet.id()
  balance = await prepare.placed(paid, balance)
  const payout = between(400, 600)
  await prepare.settled(paid, 'BET_PAID', payout, balance, settlementId)
  retries.push({ name: 'settlement', send: () => wallet.trySettle(paid, 'BET_PAID', payout, settlementId) })
  if (!settings.clawbacks) return { retries, balance: add(balance, payout) }
  expect.success(await wallet.unsettle(paid, 'UNSCORED', unsettlementId), balance)
  const corrected = subtract(payout, units(100))
  await wallet.settle(paid, 'BET_PAID', corrected)
  retries.push({
    name: 'unsettlement',
    send: () => wallet.unsettle(paid, 'UNSCORED', unsettlementId, label('unsettlement')),
  })
  return { retries, balance: add(balance, corrected) }
}

export const oldTransactionCases = casesOf({
  'AU-241': {
    name: 'Retries of transactions change no balance after 1,000 others of each operation',
    source: 'spec 1.5, D5',
    quote: 'one-transaction',
    impact:
      'A cache remembers the last transactions only. In a busy minute, every retry is executed a second time.',
    answers: 1_050,
    async run(context) {
      const { prepare, expect } = context
      const { retries, balance } = await prepare.step(async () => {
        const old = await oldTransactions(context)
        await expect.balance(old.balance, 'before the transactions in between')
        await placeAndRollBack(context, transactionsBetween)
        await expect.balance(old.balance, `after ${transactionsBetween} bets were placed and rolled back`)
        return old
      })
      for (const { name, send } of retries) {
        await send()
        await expect.balance(balance, `after the retry of the ${name}`)
      }
    },
  },
  'AU-242': {
    name: 'A placebet that arrives after its rollback and 1,000 rollbacks of other unknown bets debits nothing',
    source: 'spec 4.1, 4.3, D5, D11',
    quote: 'rollback-corrects',
    impact:
      'Only the last tombstones are kept. After an outage of the platform, the player loses the stakes of cancelled bets.',
    answers: 260,
    async run({ prepare, wallet, expect, opening, concurrently }) {
      const late = [await prepare.cancelled(), await prepare.cancelled()]
      let sent = 0
      await concurrently(async () => {
        while (sent < transactionsBetween) {
          sent += 1
          const label = `rollbackbet ${sent} of unknown bets`
          await wallet.rollback(wallet.bet(), undefined, { label, attempts })
        }
      }, lanes)
      for (const bet of late)
        await expect.balanceAfter(
          wallet.place(bet, `placebet after its rollback and ${sent} others`),
          opening,
        )
    },
  },
})
