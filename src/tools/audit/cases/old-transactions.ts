/** AU-24x: retries of transactions that many others have followed (spec 1.5, D5). */

import { add, type Decimal, subtract } from '../../platform/decimal.js'
import type { AuditCase } from '../audit-case.js'
import { type Answer, type Bet, Skipped, type Stage } from '../stage.js'

/** Caches of transactions often keep a round number of them. */
const transactionsBetween = 1_000

/** As few as a wallet with row locks bears for one player. */
const lanes = 4

/** Whether bets can be settled without starting a process for each. */
const settlesByCall = ({ settle, clawbacks }: Stage['settings']): boolean =>
  clawbacks && (typeof settle === 'function' || (typeof settle === 'object' && 'url' in settle))

/** Fewer than usual: these calls are many, and none of them must succeed. */
const attempts = 5

/**
 * Places this many bets of the smallest unit, settles and unsettles them if that is cheap, and rolls them back. Skips
 * the case if the wallet refuses most of them.
 */
async function placeAndRollBack(stage: Stage, count: number): Promise<void> {
  let complete = 0
  let sent = 0
  const open: Bet[] = []
  const canSettle = settlesByCall(stage.settings)
  const inBetween = (operation: string, number: number) => ({
    label: `${operation} ${number}, a transaction in between`,
    attempts,
  })
  await stage.concurrently(lanes, async () => {
    while (complete < count && sent < 3 * count) {
      sent += 1
      const number = sent
      const bet = stage.bet(stage.units(1))
      // Not `place`: each of these bets is rolled back here, and need not be rolled back again at the end.
      const placed = await stage.send('/placebet', stage.placement(bet), {
        ...inBetween('placebet', number),
        isUsual: true,
      })
      const answers = [placed]
      if (placed.success !== null && canSettle) {
        await stage.trySettle(bet, 'BET_PAID', stage.units(1))
        answers.push(await stage.unsettle(bet, 'UNSCORED', undefined, inBetween('unsettlement', number)))
      }
      const undone = await stage.rollback(bet, undefined, inBetween('rollbackbet', number))
      if (undone.success === null) open.push(bet)
      else {
        stage.forget(bet)
        if (answers.every(({ success }) => success !== null)) complete += 1
      }
    }
  })
  // A wallet that does not wait for locks may have refused all attempts, as long as the other lanes were busy.
  for (const bet of open) {
    if (canSettle) await stage.unsettle(bet, 'UNSCORED', undefined, { mayFail: true })
    stage.expectSuccess(await stage.rollback(bet))
  }
  if (complete < count) throw new Skipped(`only ${complete} of ${sent} bets were accepted`)
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
    title: 'Retries of transactions change no balance after 1,000 others of each operation',
    source: 'spec 1.5, D5',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    impact:
      'A cache remembers the last transactions only. In a busy minute, every retry is executed a second time.',
    async play(stage) {
      const { retries, balance } = await stage.prepare(async () => {
        const old = await oldTransactions(stage)
        await stage.expectBalance(old.balance, 'before the transactions in between')
        await placeAndRollBack(stage, transactionsBetween)
        await stage.expectBalance(
          old.balance,
          `after ${transactionsBetween} bets were placed and rolled back`,
        )
        return old
      })
      for (const { name, send } of retries) {
        await send()
        await stage.expectBalance(balance, `after the retry of the ${name}`)
      }
    },
  },
  {
    id: 'AU-242',
    level: 'MUST',
    title:
      'A placebet that arrives after its rollback and 1,000 rollbacks of other unknown bets debits nothing',
    source: 'spec 4.1, 4.3, D5, D11',
    quote: 'If it fails or times out, the platform sends a rollback to correct the balance.',
    impact:
      'Only the last tombstones are kept. After an outage of the platform, the player loses the stakes of cancelled bets.',
    describes: ['too little'],
    async play(stage) {
      const late = [stage.bet(), stage.bet()]
      for (const bet of late) stage.expectSuccess(await stage.rollback(bet), stage.opening)
      let sent = 0
      await stage.concurrently(lanes, async () => {
        while (sent < transactionsBetween) {
          sent += 1
          await stage.rollback(stage.bet(), undefined, {
            label: `rollbackbet ${sent} of unknown bets`,
            attempts,
          })
        }
      })
      for (const bet of late) {
        await stage.place(bet, { label: `placebet after its rollback and ${sent} others` })
        await stage.expectBalance(stage.opening, 'after a placebet that arrived after its rollback')
      }
    },
  },
]
