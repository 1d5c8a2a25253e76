/** AU-92x, AU-94x: what a wallet still knows after a long pause, and after a restart (spec 1.5, D5). */

import { add, subtract } from '../../numbers/decimal.js'
import type { AuditCase, BetweenParts } from '../audit-case.js'
import type { CaseContext } from '../case-context.js'

/** A case in two parts: the second one runs after the pause or the restart. */
interface Scenario extends Omit<AuditCase, 'id' | 'name' | 'between' | 'run'> {
  name(after: string): string
  /** In the second part too, `context.opening` is the balance without the bets of the case. */
  run(context: CaseContext, after: string): Promise<() => Promise<void>>
}

const settlementNeeds = ['settle', 'clawbacks'] as const

/** Small stakes: those of all scenarios are open at the same time. */
const stakeOf = ({ wallet, units }: CaseContext) => wallet.bet(units(100))

const scenarios: readonly Scenario[] = [
  {
    name: after => `The retry of a placebet ${after} debits nothing`,
    source: 'spec 1.5, D5',
    quote: 'one-transaction',
    impact: 'A duplicate from a queue debits the stake again, since the record of the first one is gone.',
    async run(context, after) {
      const { prepare, wallet, expect } = context
      const bet = stakeOf(context)
      await prepare.placed(bet, context.opening)
      return async () => {
        const expected = subtract(context.opening, bet.amount)
        await expect.balanceAfter(wallet.place(bet, `retry of the placebet ${after}`), expected)
      }
    },
  },
  {
    name: after => `A placebet whose bet was rolled back before debits nothing ${after}`,
    source: 'spec 4.3, D5, D11',
    impact: 'The tombstone is gone, and the player loses the stake of a cancelled bet.',
    async run(context, after) {
      const { prepare, wallet, expect } = context
      const unknown = stakeOf(context)
      const cancelled = stakeOf(context)
      expect.success(await wallet.rollback(unknown), context.opening)
      await prepare.placed(cancelled, context.opening)
      expect.success(await wallet.rollback(cancelled), context.opening)
      return async () => {
        const label = `placebet ${after}, after its rollback`
        await expect.balanceAfter(wallet.place(unknown, label), context.opening)
        await expect.balanceAfter(wallet.place(cancelled, `retry of the ${label}`), context.opening)
      }
    },
  },
  {
    name: after => `The retry of a rollbackbet ${after} credits nothing`,
    source: 'spec 1.5, D5',
    quote: 'one-transaction',
    impact: 'The platform retries a rollback for hours, and the stake is credited again.',
    async run(context, after) {
      const { prepare, wallet, expect } = context
      const bet = stakeOf(context)
      const transactionId = wallet.id()
      await prepare.placed(bet, context.opening)
      expect.success(await wallet.rollback(bet, transactionId), context.opening)
      return async () => {
        const label = `retry of the rollbackbet ${after}`
        await expect.balanceAfter(wallet.rollback(bet, transactionId, label), context.opening)
      }
    },
  },
  {
    name: after => `A bet can be rolled back ${after}`,
    source: 'spec 4.3',
    impact: 'The platform cancels a bet after an outage, and the player never gets the stake back.',
    async run(context, after) {
      const { prepare, wallet, expect } = context
      const bet = stakeOf(context)
      await prepare.placed(bet, context.opening)
      return async () => {
        const call = wallet.rollback(bet, undefined, `rollbackbet ${after}`)
        expect.success(await expect.balanceAfter(call, context.opening), context.opening)
      }
    },
  },
  {
    name: after => `A placebet that was refused for insufficient funds debits nothing when retried ${after}`,
    source: 'D5, D6',
    impact: 'A delayed duplicate debits the stake of a bet that the sportsbook has already shown as refused.',
    async run(context, after) {
      const { prepare, wallet, expect, units } = context
      const spent = await prepare.spendDownTo(units(50), context.opening)
      const bet = stakeOf(context)
      expect.refusal(await wallet.place(bet))
      expect.success(await wallet.rollback(spent), context.opening)
      return async () => {
        const label = `retry of the refused placebet ${after}`
        await expect.notExecuted(wallet.place(bet, label), context.opening)
      }
    },
  },
  {
    name: after => `The retry of an unsettlement ${after} debits no later payout`,
    source: 'spec 1.5, D5, D18',
    quote: 'one-transaction',
    needs: settlementNeeds,
    impact: 'The retry of a correction debits the corrected payout too.',
    async run(context, after) {
      const { prepare, wallet, expect, units } = context
      const bet = stakeOf(context)
      const staked = await prepare.placed(bet, context.opening)
      const transactionId = wallet.id()
      await prepare.settled(bet, 'BET_PAID', units(150), staked)
      expect.success(await wallet.unsettle(bet, 'UNSCORED', transactionId), staked)
      await prepare.settled(bet, 'BET_PAID', units(130), staked)
      return async () => {
        const call = wallet.unsettle(bet, 'UNSCORED', transactionId, `retry of the unsettlement ${after}`)
        await expect.balanceAfter(call, add(subtract(context.opening, bet.amount), units(130)))
      }
    },
  },
  {
    name: after => `A payout can be unsettled ${after}`,
    source: 'spec 4.2',
    needs: settlementNeeds,
    impact: 'A result that is corrected an hour later is never collected.',
    async run(context, after) {
      const { prepare, wallet, expect, units } = context
      const bet = stakeOf(context)
      const staked = await prepare.placed(bet, context.opening)
      await prepare.settled(bet, 'BET_PAID', units(150), staked)
      return async () => {
        const call = wallet.unsettle(bet, 'UNSCORED', undefined, `unsettlement ${after}`)
        const expected = subtract(context.opening, bet.amount)
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
    async run(context, after) {
      const { prepare, wallet, expect, units } = context
      const bet = stakeOf(context)
      const transactionId = wallet.id()
      const staked = await prepare.placed(bet, context.opening)
      const balance = await prepare.settled(bet, 'BET_PAID', units(150), staked)
      const spent = await prepare.spendDownTo(units(149), balance)
      expect.refusal(await wallet.unsettle(bet, 'UNSCORED', transactionId))
      expect.success(await wallet.rollback(spent), balance)
      return async () => {
        const label = `retry of the refused unsettlement ${after}`
        const expected = add(subtract(context.opening, bet.amount), units(150))
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
    run: context => run(context, after),
  }))

export const later: readonly AuditCase[] = [
  ...casesFor('pause', 921, 'after a long pause'),
  ...casesFor('restart', 941, 'after a restart'),
]
