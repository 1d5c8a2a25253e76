/** AU-3xx: rollbacks that arrive before their bets, or concurrently (D11). */

import { add } from '../../numbers/decimal.js'
import { casesOf } from '../audit-case.js'
import type { CaseContext } from '../case-context.js'
import { expectOthersUnchanged } from './basics.js'

/** Pairs of calls per round: more than one, since the gap in a wallet may be shorter than a millisecond. */
const pairs = 4

/** Sends a placebet and the rollback of its bet almost at the same time, for several bets at once. */
async function race(
  { wallet, expect, opening, units, random, concurrently, wait }: CaseContext,
  first: 'placebet' | 'rollbackbet',
  round: number,
) {
  const undone = await concurrently(pairs, async pair => {
    const bet = wallet.bet(units(random.between(20, 60)))
    const place = () => wallet.place(bet, { label: `placebet ${pair + 1} (round ${round})`, attempts: 1 })
    const undo = () => wallet.rollback(bet, undefined, `concurrent rollbackbet ${pair + 1} (round ${round})`)
    // Half of the pairs are sent in one moment.
    const afterMs = pair % 2 === 0 ? 0 : random.between(1, 3)
    const other = async <T>(call: () => Promise<T>): Promise<T> => {
      if (afterMs > 0) await wait(afterMs)
      return await call()
    }
    if (first === 'placebet') return (await Promise.all([place(), other(undo)]))[1]
    return (await Promise.all([undo(), other(place)]))[0]
  })
  for (const answer of undone) expect.success(answer)
  await expect.balance(opening, 'after concurrent placebets and rollbacks')
}

export const lateBets = casesOf({
  'AU-301': {
    name: 'A placebet that arrives after its rollback debits nothing',
    source: 'spec 4.1, 4.3, D11',
    quote: 'rollback-corrects',
    impact:
      'The player loses the stake of a cancelled bet: no settlement and no further rollback will follow.',
    async run({ prepare, wallet, expect, opening }) {
      const bet = await prepare.cancelled()
      await wallet.place(bet, 'placebet after its rollback')
      await expect.balance(opening, 'after a placebet that arrived after its rollback')
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
      for (let time = 1; time <= 2; time += 1) await wallet.place(bet, `late placebet, copy ${time}`)
      await wallet.place({ ...bet, transactionId: wallet.id() }, 'late placebet under another transactionId')
      await expect.balance(opening, 'after late placebets')
    },
  },
  'AU-304': {
    name: 'A rollback after a refused late placebet credits nothing',
    source: 'D11, D12',
    impact: 'Money is created: a stake that was never debited is credited.',
    async run({ prepare, wallet, expect, opening }) {
      const bet = await prepare.cancelled()
      await wallet.place(bet, 'placebet after its rollback')
      await expect.balance(opening, 'after a late placebet')
      for (let time = 1; time <= 2; time += 1) await wallet.rollback(bet)
      await expect.balance(opening, 'after further rollbacks of a late placebet')
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
      for (let time = 1; time <= 2; time += 1)
        expect.success(await wallet.rollback(bet, transactionId), opening)
      await wallet.place(bet, 'placebet after its rollback')
      expect.success(await wallet.rollback(bet, transactionId), opening)
      await expect.balance(opening, 'after retries of the rollback before and after a late placebet')
    },
  },
  'AU-306': {
    name: 'A concurrent placebet and rollback net to zero when the placebet is sent first',
    source: 'spec 4.1, 4.3, D11',
    quote: 'rollback-corrects',
    impact:
      'A placebet that timed out is rolled back while it is still in flight: the stake is lost between the two.',
    async run(context) {
      for (let round = 1; round <= 2 * context.settings.raceRounds; round += 1)
        await race(context, 'placebet', round)
    },
  },
  'AU-307': {
    name: 'A concurrent placebet and rollback net to zero when the rollback is sent first',
    source: 'spec 4.1, 4.3, D11',
    quote: 'rollback-corrects',
    impact:
      'As in AU-306, in the other order: the rollback finds no bet, and the placebet is committed after it.',
    async run(context) {
      for (let round = 1; round <= 2 * context.settings.raceRounds; round += 1)
        await race(context, 'rollbackbet', round)
    },
  },
  'AU-308': {
    name: 'Many concurrent placebets and rollbacks of one bet net to zero',
    source: 'spec 1.5, 4.3, D11, D12',
    quote: 'rollback-corrects',
    impact: 'Retries of both calls meet. Any difference from zero is money of the player or of the operator.',
    async run({ wallet, expect, opening, units, settings, random, concurrently }) {
      for (let round = 1; round <= settings.raceRounds; round += 1) {
        const bet = wallet.bet(units(random.between(20, 60)))
        const rollbackId = wallet.id()
        const answers = await concurrently(settings.concurrency, index =>
          index % 2 === 0
            ? wallet.place(bet, { label: `placebet, copy ${index / 2 + 1} (round ${round})`, attempts: 1 })
            : wallet.rollback(bet, rollbackId, `rollbackbet, copy ${(index + 1) / 2} (round ${round})`),
        )
        await expect.balance(opening, 'after many concurrent placebets and rollbacks of one bet')
        for (const [index, answer] of answers.entries()) if (index % 2 === 1) expect.success(answer)
      }
    },
  },
  'AU-309': {
    name: 'The tombstone of an unknown bet blocks that bet only',
    source: 'D11',
    impact: 'After one late bet the player cannot bet any more, or late bets of other players are accepted.',
    async run({ prepare, wallet, expect, opening }) {
      const [late, other] = [wallet.bet(), wallet.bet()]
      await prepare.rolledBack(late, opening)
      const after = await expect.debit(other, opening)
      await wallet.place(late, 'placebet after its rollback')
      await expect.balance(after, 'after a late placebet and another bet')
      await expect.executed(await wallet.rollback(other), opening, 'after the other bet was rolled back')
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
        const label = `placebet of a ${betType} after its rollback`
        await wallet.place(bet, { fields: { betType, odds: undefined }, label })
        await expect.balance(opening, `after a ${label}`)
      }
      const refused = wallet.bet(add(opening, units(1)))
      expect.refusal(await wallet.place(refused))
      await prepare.rolledBack(refused, opening)
      const again = { ...refused, transactionId: wallet.id(), amount: units(100) }
      const label = 'placebet of the refused bet after its rollback, under another transactionId'
      await wallet.place(again, label)
      await expect.balance(opening, `after a ${label}`)
    },
  },
  'AU-311': {
    name: 'A placebet of each player that arrives after its rollback debits nothing',
    source: 'spec 4.1, 4.3, D11',
    quote: 'rollback-corrects',
    needs: ['other-player'],
    impact: 'Tombstones are kept for some players only: the others lose the stakes of cancelled bets.',
    async run(context) {
      const { wallet, expect, opening, settings } = context
      const other = settings.otherPlayerId ?? ''
      const currency = await expect.currencyOf(other)
      const others = await expect.currentBalance(other)
      // 1 is an amount in every currency.
      const late = [wallet.bet({ units: 1n, scale: 0 }, other), wallet.bet()] as const
      for (const bet of late) await wallet.rollback(bet)
      const label = 'placebet of the other player after its rollback'
      const answer = await wallet.place(late[0], { fields: { currency }, label })
      await expectOthersUnchanged(context, others, answer)
      await wallet.place(late[1], 'placebet after the rollbacks of two players')
      await expect.balance(opening, 'after late placebets of two players')
    },
  },
})
