/** AU-92x, AU-94x: what a wallet still knows after a long pause, and after a restart (spec 1.5, D5). */

import { add, type Decimal, subtract } from '../../numbers/decimal.js'
import type { AuditCase, BetweenParts } from '../audit-case.js'
import type { CaseContext } from '../case-context.js'
import type { Bet } from '../wallet-calls.js'

/** A case in two parts: the second one runs after the pause or the restart. */
interface Scenario extends Omit<AuditCase, 'id' | 'name' | 'between' | 'run'> {
  name(after: string): string
  /**
   * @param bet with a small stake: those of all scenarios are open at the same time
   * @returns the second part, which gets the balance of then, without the bets of the case
   */
  run(context: CaseContext, bet: Bet, after: string): Promise<(opening: Decimal) => Promise<void>>
}

const settlementNeeds = ['settle', 'clawbacks'] as const

const scenarios: readonly Scenario[] = [
  {
    name: after => `The retry of a placebet ${after} debits nothing`,
    source: 'spec 1.5, D5',
    quote: 'one-transaction',
    impact: 'A duplicate from a queue debits the stake again, since the record of the first one is gone.',
    async run({ prepare, wallet, expect, opening }, bet, after) {
      await prepare.placed(bet, opening)
      return async now => {
        const expected = subtract(now, bet.amount)
        await expect.balanceAfter(wallet.place(bet, `retry of the placebet ${after}`), expected)
      }
    },
  },
  {
    name: after => `A placebet whose bet was rolled back before debits nothing ${after}`,
    source: 'spec 4.3, D5, D11',
    impact: 'The tombstone is gone, and the player loses the stake of a cancelled bet.',
    async run({ prepare, wallet, expect, opening }, unknown, after) {
      const cancelled = wallet.bet(unknown.amount)
      await expect.undone(unknown, opening)
      await prepare.placed(cancelled, opening)
      await expect.undone(cancelled, opening)
      return async now => {
        const label = `placebet ${after}, after its rollback`
        await expect.balanceAfter(wallet.place(unknown, label), now)
        await expect.balanceAfter(wallet.place(cancelled, `retry of the ${label}`), now)
      }
    },
  },
  {
    name: after => `The retry of a rollbackbet ${after} credits nothing`,
    source: 'spec 1.5, D5',
    quote: 'one-transaction',
    impact: 'The platform retries a rollback for hours, and the stake is credited again.',
    async run({ prepare, wallet, expect, opening }, bet, after) {
      const transactionId = wallet.id()
      await prepare.placed(bet, opening)
      await expect.undone(bet, opening, transactionId)
      return async now => {
        const label = `retry of the rollbackbet ${after}`
        await expect.balanceAfter(wallet.rollback(bet, transactionId, label), now)
      }
    },
  },
  {
    name: after => `A bet can be rolled back ${after}`,
    source: 'spec 4.3',
    impact: 'The platform cancels a bet after an outage, and the player never gets the stake back.',
    async run({ prepare, wallet, expect, opening }, bet, after) {
      await prepare.placed(bet, opening)
      return async now => {
        const call = wallet.rollback(bet, undefined, `rollbackbet ${after}`)
        expect.success(await expect.balanceAfter(call, now), now)
      }
    },
  },
  {
    name: after => `A placebet that was refused for insufficient funds debits nothing when retried ${after}`,
    source: 'D5, D6',
    impact: 'A delayed duplicate debits the stake of a bet that the sportsbook has already shown as refused.',
    async run({ prepare, wallet, expect, opening, units }, bet, after) {
      const spent = await prepare.spendDownTo(units(50), opening)
      expect.refusal(await wallet.place(bet))
      await expect.undone(spent, opening)
      return async now => {
        const label = `retry of the refused placebet ${after}`
        await expect.notExecuted(wallet.place(bet, label), now)
      }
    },
  },
  {
    name: after => `The retry of an unsettlement ${after} debits no later payout`,
    source: 'spec 1.5, D5, D18',
    quote: 'one-transaction',
    needs: settlementNeeds,
    impact: 'The retry of a correction debits the corrected payout too.',
    async run({ prepare, wallet, expect, opening, units }, bet, after) {
      const staked = await prepare.placed(bet, opening)
      const transactionId = wallet.id()
      await prepare.settled(bet, 'BET_PAID', units(150), staked)
      expect.success(await wallet.unsettle(bet, 'UNSCORED', transactionId), staked)
      await prepare.settled(bet, 'BET_PAID', units(130), staked)
      return async now => {
        const call = wallet.unsettle(bet, 'UNSCORED', transactionId, `retry of the unsettlement ${after}`)
        await expect.balanceAfter(call, add(subtract(now, bet.amount), units(130)))
      }
    },
  },
  {
    name: after => `A payout can be unsettled ${after}`,
    source: 'spec 4.2',
    needs: settlementNeeds,
    impact: 'A result that is corrected an hour later is never collected.',
    async run({ prepare, wallet, expect, opening, units }, bet, after) {
      const staked = await prepare.placed(bet, opening)
      await prepare.settled(bet, 'BET_PAID', units(150), staked)
      return async now => {
        const call = wallet.unsettle(bet, 'UNSCORED', undefined, `unsettlement ${after}`)
        const expected = subtract(now, bet.amount)
        expect.success(await expect.balanceAfter(call, expected), expected)
      }
    },
  },
  {
    name: after => `A clawback that was refused for insufficient funds stays refused ${after}`,
    source: 'spec 4.2 rule 2, D5, D7',
    needs: settlementNeeds,
    impact:
      'The platform nets the amount off later winnings, and the wallet collects it too: the player pays twice.',
    async run({ prepare, wallet, expect, opening, units }, bet, after) {
      const transactionId = wallet.id()
      const staked = await prepare.placed(bet, opening)
      const balance = await prepare.settled(bet, 'BET_PAID', units(150), staked)
      const spent = await prepare.spendDownTo(units(149), balance)
      expect.refusal(await wallet.unsettle(bet, 'UNSCORED', transactionId))
      await expect.undone(spent, balance)
      return async now => {
        const label = `retry of the refused unsettlement ${after}`
        const expected = add(subtract(now, bet.amount), units(150))
        const call = wallet.unsettle(bet, 'UNSCORED', transactionId, label)
        expect.refusal(await expect.balanceAfter(call, expected))
      }
    },
  },
]

const casesFor = (between: BetweenParts, firstId: number, after: string): AuditCase[] =>
  scenarios.map(({ name, needs = [], run, ...rest }, index) => ({
    ...rest,
    id: `AU-${firstId + index}`,
    name: name(after),
    needs: [between, ...needs],
    between,
    async run(context) {
      const second = await run(context, context.wallet.bet(context.units(100)), after)
      return () => second(context.opening)
    },
  }))

export const later: readonly AuditCase[] = [
  ...casesFor('pause', 921, 'after a long pause'),
  ...casesFor('restart', 941, 'after a restart'),
]
