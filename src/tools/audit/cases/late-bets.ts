/** AU-3xx: rollbacks that arrive before their bets, or concurrently (D11). */

import { add } from '../../numbers/decimal.js'
import { casesOf } from '../audit-case.js'
import { type CaseContext, eachRound } from '../case-context.js'
import { otherPlayer } from './basics.js'

/** Pairs of calls per round: more than one, since the gap in a wallet may be shorter than a millisecond. */
const pairs = 4

/** Sends a placebet and the rollback of its bet almost at the same time, for several bets at once. */
async function race(
  { wallet, expect, random, opening, between, concurrently, wait }: CaseContext,
  first: 'placebet' | 'rollbackbet',
): Promise<void> {
  const undone = await concurrently(async pair => {
    const bet = wallet.bet(between(20, 60))
    const place = () => wallet.place(bet, { label: `placebet ${pair + 1}`, attempts: 1 })
    const undo = () => wallet.rollback(bet, undefined, `concurrent rollbackbet ${pair + 1}`)
    // Half of the pairs are sent in one moment.
    const afterMs = pair % 2 === 0 ? 0 : random.between(1, 3)
    const later = async <T>(call: () => Promise<T>): Promise<T> => {
      if (afterMs > 0) await wait(afterMs)
      return await call()
    }
    if (first === 'placebet') return (await Promise.all([place(), later(undo)]))[1]
    return (await Promise.all([undo(), later(place)]))[0]
  }, pairs)
  for (const answer of undone) expect.success(answer)
  await expect.balance(opening, 'after concurrent placebets and rollbacks')
}

const lateLabel = 'placebet after its rollback'

export const lateBets = casesOf({
  'AU-301': {
    name: 'A placebet that arrives after its rollback debits nothing',
    source: 'spec 4.1, 4.3, D11',
    quote: 'rollback-corrects',
    impact:
      'The player loses the stake of a cancelled bet: no settlement and no further rollback will follow.',
    async run({ prepare, wallet, expect, opening }) {
      const bet = await prepare.cancelled()
      await expect.balanceAfter(wallet.place(bet, lateLabel), opening)
    },
  },
  'AU-302': {
    level: 'SHOULD',
    name: 'A placebet that arrives after its rollback is refused',
    source: 'D11',
    impact: 'A success would mean that a bet is open which the platform has cancelled.',
    async run({ prepare, wallet, expect }) {
      const bet = await prepare.cancelled()
      expect.refusal(await wallet.place(bet))
    },
  },
  'AU-303': {
    name: 'A late placebet debits nothing when it is retried, nor under another transactionId',
    source: 'D6, D11',
    impact: 'The first late copy is refused, but the second one is accepted.',
    async run({ prepare, wallet, expect, opening }) {
      const bet = await prepare.cancelled()
      for (const time of [1, 2]) await wallet.place(bet, `late placebet, copy ${time}`)
      const label = 'late placebet under another transactionId'
      await expect.balanceAfter(wallet.placeAnew(bet, label), opening)
    },
  },
  'AU-304': {
    name: 'A rollback after a refused late placebet credits nothing',
    source: 'D11, D12',
    impact: 'Money is created: a stake that was never debited is credited.',
    async run({ prepare, wallet, expect, opening }) {
      const bet = await prepare.cancelled()
      await expect.balanceAfter(wallet.place(bet, lateLabel), opening)
      await expect.balanceAfter(wallet.rollback(bet), opening)
      await expect.balanceAfter(wallet.rollback(bet), opening)
    },
  },
  'AU-305': {
    name: 'The retried rollback of an unknown bet succeeds and changes no balance, even after the late placebet',
    source: 'spec 1.5, 4.3',
    quote: 'rollback-of-unknown-bet',
    impact: 'The platform never receives the confirmation that the bet is cancelled.',
    async run({ wallet, expect, opening }) {
      const bet = wallet.bet()
      const transactionId = wallet.id()
      await expect.undone(bet, opening, transactionId)
      await expect.undone(bet, opening, transactionId)
      await wallet.place(bet, lateLabel)
      await expect.executed(wallet.rollback(bet, transactionId), opening)
    },
  },
  'AU-306': {
    name: 'A concurrent placebet and rollback net to zero when the placebet is sent first',
    source: 'spec 4.1, 4.3, D11',
    quote: 'rollback-corrects',
    impact:
      'A placebet that timed out is rolled back while it is still in flight: the stake is lost between the two.',
    run: eachRound(context => race(context, 'placebet'), 2),
  },
  'AU-307': {
    name: 'A concurrent placebet and rollback net to zero when the rollback is sent first',
    source: 'spec 4.1, 4.3, D11',
    quote: 'rollback-corrects',
    impact:
      'As in AU-306, in the other order: the rollback finds no bet, and the placebet is committed after it.',
    run: eachRound(context => race(context, 'rollbackbet'), 2),
  },
  'AU-308': {
    name: 'Many concurrent placebets and rollbacks of one bet net to zero',
    source: 'spec 1.5, 4.3, D11, D12',
    quote: 'rollback-corrects',
    impact: 'Retries of both calls meet. Any difference from zero is money of the player or of the operator.',
    run: eachRound(async ({ wallet, expect, opening, between, concurrently }) => {
      const bet = wallet.bet(between(20, 60))
      const rollbackId = wallet.id()
      const answers = await concurrently(index =>
        index % 2 === 0
          ? wallet.place(bet, { label: `placebet, copy ${index / 2 + 1}`, attempts: 1 })
          : wallet.rollback(bet, rollbackId, `rollbackbet, copy ${(index + 1) / 2}`),
      )
      await expect.balance(opening, 'after many concurrent placebets and rollbacks of one bet')
      for (const [index, answer] of answers.entries()) if (index % 2 === 1) expect.success(answer)
    }),
  },
  'AU-309': {
    name: 'The tombstone of an unknown bet blocks that bet only',
    source: 'D11',
    impact: 'After one late bet the player cannot bet any more, or late bets of other players are accepted.',
    async run({ prepare, wallet, expect, opening }) {
      const late = await prepare.cancelled()
      const other = wallet.bet()
      const after = await expect.debit(other, opening)
      await expect.balanceAfter(wallet.place(late, lateLabel), after)
      await expect.executed(wallet.rollback(other), opening)
    },
  },
  'AU-310': {
    name: 'A placebet after its rollback debits nothing, whatever its betType, and also if the bet was refused before',
    source: 'spec 4.1, 4.3, D11',
    quote: 'rollback-corrects',
    impact: 'The tombstone holds for some bets only: of the others, the player loses the stake.',
    async run({ prepare, wallet, expect, opening, units }) {
      for (const betType of ['SINGLE', 'MULTIPLE', 'TEASER']) {
        const bet = await prepare.cancelled()
        const change = {
          fields: { betType, odds: undefined },
          label: `placebet of a ${betType} after its rollback`,
        }
        await expect.balanceAfter(wallet.place(bet, change), opening)
      }
      const refused = wallet.bet(add(opening, units(1)))
      expect.refusal(await wallet.place(refused))
      await prepare.rolledBack(refused, opening)
      const label = 'placebet of the refused bet after its rollback, under another transactionId'
      await expect.balanceAfter(wallet.placeAnew({ ...refused, amount: units(100) }, label), opening)
    },
  },
  'AU-311': {
    name: 'A placebet of each player that arrives after its rollback debits nothing',
    source: 'spec 4.1, 4.3, D11',
    quote: 'rollback-corrects',
    needs: ['other-player'],
    impact: 'Tombstones are kept for some players only: the others lose the stakes of cancelled bets.',
    async run(context) {
      const { wallet, expect, opening } = context
      const other = await otherPlayer(context)
      const currency = await expect.currencyOf(other.playerId)
      // 1 is an amount in every currency.
      const late = [wallet.bet({ units: 1n, scale: 0 }, other.playerId), wallet.bet()] as const
      for (const bet of late) await wallet.rollback(bet)
      const label = 'placebet of the other player after its rollback'
      const answer = await wallet.place(late[0], { fields: { currency }, label })
      await other.unchanged(answer)
      await wallet.place(late[1], 'placebet after the rollbacks of two players')
      await expect.balance(opening, 'after late placebets of two players')
    },
  },
})
