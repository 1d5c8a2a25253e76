/** AU-92x, AU-94x: what a wallet still knows after a long pause, and after a restart (spec 1.5, D5). */

import { add, subtract } from '../../platform/decimal.js'
import type { AuditCase, Need } from '../audit-case.js'
import type { Stage } from '../stage.js'

/** A case in two acts: the second one is played after the pause or the restart. */
interface Scenario extends Pick<AuditCase, 'level' | 'source' | 'quote' | 'impact'> {
  title(after: string): string
  needs?: readonly Need[]
  /** In the second act, `stage.opening` is the balance without the bets of the case, as in the first one. */
  play(stage: Stage, after: string): Promise<() => Promise<void>>
}

const retriesQuote =
  'A second request with the same transactionId is the same transaction, and the balance changes at most once.'
const settlementNeeds = ['settle', 'clawbacks'] as const

/** Small stakes: those of all scenarios are open at the same time. */
const stakeOf = (stage: Stage) => stage.bet(stage.units(100))

const scenarios: readonly Scenario[] = [
  {
    level: 'MUST',
    title: after => `The retry of a placebet ${after} debits nothing`,
    source: 'spec 1.5, D5',
    quote: retriesQuote,
    impact: 'A duplicate from a queue debits the stake again, since the record of the first one is gone.',
    async play(stage, after) {
      const bet = stakeOf(stage)
      await stage.placeSuccessfully(bet, stage.opening)
      return async () => {
        await stage.place(bet, { label: `retry of the placebet ${after}` })
        await stage.expectBalance(
          subtract(stage.opening, bet.amount),
          `after the retry of a placebet ${after}`,
        )
      }
    },
  },
  {
    level: 'MUST',
    title: after => `A placebet whose bet was rolled back before debits nothing ${after}`,
    source: 'spec 4.3, D5, D11',
    impact: 'The tombstone is gone, and the player loses the stake of a cancelled bet.',
    async play(stage, after) {
      const [unknown, cancelled] = [stakeOf(stage), stakeOf(stage)]
      stage.expectSuccess(await stage.rollback(unknown), stage.opening)
      await stage.placeSuccessfully(cancelled, stage.opening)
      stage.expectSuccess(await stage.rollback(cancelled), stage.opening)
      return async () => {
        await stage.place(unknown, { label: `placebet ${after}, after its rollback` })
        await stage.expectBalance(stage.opening, `after a placebet ${after}, after its rollback`)
        await stage.place(cancelled, { label: `retry of the placebet ${after}, after its rollback` })
        await stage.expectBalance(stage.opening, `after the retry of a placebet ${after}, after its rollback`)
      }
    },
  },
  {
    level: 'MUST',
    title: after => `The retry of a rollbackbet ${after} credits nothing`,
    source: 'spec 1.5, D5',
    quote: retriesQuote,
    impact: 'The platform retries a rollback for hours, and the stake is credited again.',
    async play(stage, after) {
      const bet = stakeOf(stage)
      const transactionId = stage.id()
      await stage.placeSuccessfully(bet, stage.opening)
      stage.expectSuccess(await stage.rollback(bet, transactionId), stage.opening)
      return async () => {
        await stage.rollback(bet, transactionId, { label: `retry of the rollbackbet ${after}` })
        await stage.expectBalance(stage.opening, `after the retry of a rollbackbet ${after}`)
      }
    },
  },
  {
    level: 'MUST',
    title: after => `A bet can be rolled back ${after}`,
    source: 'spec 4.3',
    impact: 'The platform cancels a bet after an outage, and the player never gets the stake back.',
    async play(stage, after) {
      const bet = stakeOf(stage)
      await stage.placeSuccessfully(bet, stage.opening)
      return async () => {
        const answer = await stage.rollback(bet, undefined, { label: `rollbackbet ${after}` })
        await stage.expectBalance(stage.opening, `after the rollback of a bet ${after}`)
        stage.expectSuccess(answer, stage.opening)
      }
    },
  },
  {
    // As AU-209: the money is debited for a bet that the platform has as refused, however long ago that was.
    level: 'MUST',
    title: after => `A placebet that was refused for insufficient funds debits nothing when retried ${after}`,
    source: 'D5, D6',
    impact: 'A delayed duplicate debits the stake of a bet that the sportsbook has already shown as refused.',
    async play(stage, after) {
      const spent = await stage.spendDownTo(stage.units(50), stage.opening)
      const bet = stakeOf(stage)
      stage.expectRefusal(await stage.place(bet))
      stage.expectSuccess(await stage.rollback(spent), stage.opening)
      return async () => {
        const retry = await stage.place(bet, { label: `retry of the refused placebet ${after}` })
        await stage.expectBalance(stage.opening, `after the retry of a refused placebet ${after}`)
        stage.expectError(retry)
      }
    },
  },
  {
    level: 'MUST',
    title: after => `The retry of an unsettlement ${after} debits no later payout`,
    source: 'spec 1.5, D5, D18',
    quote: retriesQuote,
    needs: settlementNeeds,
    impact: 'The retry of a correction debits the corrected payout too.',
    async play(stage, after) {
      const bet = stakeOf(stage)
      const staked = await stage.placeSuccessfully(bet, stage.opening)
      const transactionId = stage.id()
      await stage.settle(bet, 'BET_PAID', stage.units(150))
      await stage.expectBalance(add(staked, stage.units(150)), 'after a payout')
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED', transactionId), staked)
      await stage.settle(bet, 'BET_PAID', stage.units(130))
      await stage.expectBalance(add(staked, stage.units(130)), 'after a second payout')
      return async () => {
        await stage.unsettle(bet, 'UNSCORED', transactionId, { label: `retry of the unsettlement ${after}` })
        const due = add(subtract(stage.opening, bet.amount), stage.units(130))
        await stage.expectBalance(due, `after the retry of an unsettlement ${after}`)
      }
    },
  },
  {
    level: 'MUST',
    title: after => `A payout can be unsettled ${after}`,
    source: 'spec 4.2',
    needs: settlementNeeds,
    impact: 'A result that is corrected an hour later is never collected.',
    async play(stage, after) {
      const bet = stakeOf(stage)
      const staked = await stage.placeSuccessfully(bet, stage.opening)
      await stage.settle(bet, 'BET_PAID', stage.units(150))
      await stage.expectBalance(add(staked, stage.units(150)), 'after a payout')
      return async () => {
        const answer = await stage.unsettle(bet, 'UNSCORED', undefined, { label: `unsettlement ${after}` })
        const due = subtract(stage.opening, bet.amount)
        await stage.expectBalance(due, `after an unsettlement ${after}`)
        stage.expectSuccess(answer, due)
      }
    },
  },
  {
    level: 'MUST',
    title: after => `A clawback that was refused for insufficient funds stays refused ${after}`,
    source: 'spec 4.2 rule 2, D5, D7',
    needs: settlementNeeds,
    impact:
      'The platform nets the amount off later winnings, and the wallet collects it too: the player pays twice.',
    async play(stage, after) {
      const bet = stakeOf(stage)
      const transactionId = stage.id()
      const staked = await stage.placeSuccessfully(bet, stage.opening)
      const balance = add(staked, stage.units(150))
      await stage.settle(bet, 'BET_PAID', stage.units(150))
      await stage.expectBalance(balance, 'after a payout')
      const spent = await stage.spendDownTo(stage.units(149), balance)
      stage.expectRefusal(await stage.unsettle(bet, 'UNSCORED', transactionId))
      stage.expectSuccess(await stage.rollback(spent), balance)
      return async () => {
        const label = `retry of the refused unsettlement ${after}`
        const retry = await stage.unsettle(bet, 'UNSCORED', transactionId, { label })
        const due = add(subtract(stage.opening, bet.amount), stage.units(150))
        await stage.expectBalance(due, `after the retry of a refused clawback ${after}`)
        stage.expectRefusal(retry)
      }
    },
  },
]

const casesFor = (later: 'patience' | 'restart', firstId: number, after: string): AuditCase[] =>
  scenarios.map(({ title, needs = [], play, ...rest }, index) => ({
    ...rest,
    id: `AU-${firstId + index}`,
    title: title(after),
    needs: [later, ...needs],
    later,
    play: stage => play(stage, after),
  }))

export const later: readonly AuditCase[] = [
  ...casesFor('patience', 921, 'after a long pause'),
  ...casesFor('restart', 941, 'after a restart'),
]
