/** AU-3xx: rollbacks that arrive before their bets, or concurrently (D11). */

import { add } from '../../platform/decimal.js'
import type { AuditCase } from '../audit-case.js'
import type { Stage } from '../stage.js'
import { expectOthersUnchanged } from './basics.js'

/** Pairs of calls per round: more than one, since the gap in a wallet may be shorter than a millisecond. */
const pairs = 4

/** Sends a placebet and the rollback of its bet almost at the same time, for several bets at once. */
async function race(stage: Stage, first: 'placebet' | 'rollbackbet', round: number) {
  const undone = await stage.concurrently(pairs, async pair => {
    const bet = stage.bet(stage.units(stage.random.between(20, 60)))
    const place = () => stage.place(bet, { label: `placebet ${pair + 1} (round ${round})`, attempts: 1 })
    const undo = () =>
      stage.rollback(bet, undefined, { label: `concurrent rollbackbet ${pair + 1} (round ${round})` })
    // Half of the pairs are sent in one moment.
    const afterMs = pair % 2 === 0 ? 0 : stage.random.between(1, 3)
    const other = async <T>(call: () => Promise<T>): Promise<T> => {
      if (afterMs > 0) await stage.wait(afterMs)
      return await call()
    }
    if (first === 'placebet') return (await Promise.all([place(), other(undo)]))[1]
    return (await Promise.all([undo(), other(place)]))[0]
  })
  for (const answer of undone) stage.expectSuccess(answer)
  await stage.expectBalance(stage.opening, 'after concurrent placebets and rollbacks')
}

export const lateBets: readonly AuditCase[] = [
  {
    id: 'AU-301',
    level: 'MUST',
    title: 'A placebet that arrives after its rollback debits nothing',
    source: 'spec 4.1, 4.3, D11',
    quote: 'If it fails or times out, the platform sends a rollback to correct the balance.',
    impact:
      'The player loses the stake of a cancelled bet: no settlement and no further rollback will follow.',
    async play(stage) {
      const bet = stage.bet()
      stage.expectSuccess(await stage.rollback(bet), stage.opening)
      await stage.place(bet, { label: 'placebet after its rollback' })
      await stage.expectBalance(stage.opening, 'after a placebet that arrived after its rollback')
    },
  },
  {
    id: 'AU-302',
    level: 'SHOULD',
    title: 'A placebet that arrives after its rollback is refused',
    source: 'D11',
    impact: 'A success would mean that a bet is open which the platform has cancelled.',
    async play(stage) {
      const bet = stage.bet()
      stage.expectSuccess(await stage.rollback(bet), stage.opening)
      stage.expectRefusal(await stage.place(bet))
    },
  },
  {
    id: 'AU-303',
    level: 'MUST',
    title: 'A late placebet debits nothing when it is retried, nor under another transactionId',
    source: 'D6, D11',
    impact: 'The first late copy is refused, but the second one is accepted.',
    async play(stage) {
      const bet = stage.bet()
      stage.expectSuccess(await stage.rollback(bet), stage.opening)
      for (let time = 1; time <= 2; time += 1)
        await stage.place(bet, { label: `late placebet, copy ${time}` })
      await stage.place(
        { ...bet, transactionId: stage.id() },
        { label: 'late placebet under another transactionId' },
      )
      await stage.expectBalance(stage.opening, 'after late placebets')
    },
  },
  {
    id: 'AU-304',
    level: 'MUST',
    title: 'A rollback after a refused late placebet credits nothing',
    source: 'D11, D12',
    impact: 'Money is created: a stake that was never debited is credited.',
    async play(stage) {
      const bet = stage.bet()
      stage.expectSuccess(await stage.rollback(bet), stage.opening)
      await stage.place(bet, { label: 'placebet after its rollback' })
      await stage.expectBalance(stage.opening, 'after a late placebet')
      for (let time = 1; time <= 2; time += 1) await stage.rollback(bet)
      await stage.expectBalance(stage.opening, 'after further rollbacks of a late placebet')
    },
  },
  {
    id: 'AU-305',
    level: 'MUST',
    title:
      'The retried rollback of an unknown bet succeeds and changes no balance, even after the late placebet',
    source: 'spec 1.5, 4.3',
    quote: 'If no bet has this betId, the answer is a success',
    impact: 'The platform never receives the confirmation that the bet is cancelled.',
    async play(stage) {
      const bet = stage.bet()
      const transactionId = stage.id()
      for (let time = 1; time <= 2; time += 1)
        stage.expectSuccess(await stage.rollback(bet, transactionId), stage.opening)
      await stage.place(bet, { label: 'placebet after its rollback' })
      stage.expectSuccess(await stage.rollback(bet, transactionId), stage.opening)
      await stage.expectBalance(
        stage.opening,
        'after retries of the rollback before and after a late placebet',
      )
    },
  },
  {
    id: 'AU-306',
    level: 'MUST',
    title: 'A concurrent placebet and rollback net to zero when the placebet is sent first',
    source: 'spec 4.1, 4.3, D11',
    quote: 'If it fails or times out, the platform sends a rollback to correct the balance.',
    impact:
      'A placebet that timed out is rolled back while it is still in flight: the stake is lost between the two.',
    async play(stage) {
      for (let round = 1; round <= 2 * stage.settings.raceRounds; round += 1)
        await race(stage, 'placebet', round)
    },
  },
  {
    id: 'AU-307',
    level: 'MUST',
    title: 'A concurrent placebet and rollback net to zero when the rollback is sent first',
    source: 'spec 4.1, 4.3, D11',
    quote: 'If it fails or times out, the platform sends a rollback to correct the balance.',
    impact:
      'As in AU-306, in the other order: the rollback finds no bet, and the placebet is committed after it.',
    async play(stage) {
      for (let round = 1; round <= 2 * stage.settings.raceRounds; round += 1)
        await race(stage, 'rollbackbet', round)
    },
  },
  {
    id: 'AU-308',
    level: 'MUST',
    title: 'Many concurrent placebets and rollbacks of one bet net to zero',
    source: 'spec 1.5, 4.3, D11, D12',
    quote: 'If it fails or times out, the platform sends a rollback to correct the balance.',
    impact: 'Retries of both calls meet. Any difference from zero is money of the player or of the operator.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = stage.bet(stage.units(stage.random.between(20, 60)))
        const rollbackId = stage.id()
        const answers = await stage.concurrently(stage.settings.concurrency, index =>
          index % 2 === 0
            ? stage.place(bet, { label: `placebet, copy ${index / 2 + 1} (round ${round})`, attempts: 1 })
            : stage.rollback(bet, rollbackId, {
                label: `rollbackbet, copy ${(index + 1) / 2} (round ${round})`,
              }),
        )
        await stage.expectBalance(stage.opening, 'after many concurrent placebets and rollbacks of one bet')
        for (const [index, answer] of answers.entries()) if (index % 2 === 1) stage.expectSuccess(answer)
      }
    },
  },
  {
    id: 'AU-309',
    level: 'MUST',
    title: 'The tombstone of an unknown bet blocks that bet only',
    source: 'D11',
    impact: 'After one late bet the player cannot bet any more, or late bets of other players are accepted.',
    async play(stage) {
      const [late, other] = [stage.bet(), stage.bet()]
      stage.expectSuccess(await stage.rollback(late), stage.opening)
      const after = await stage.expectDebit(other, stage.opening)
      await stage.place(late, { label: 'placebet after its rollback' })
      await stage.expectBalance(after, 'after a late placebet and another bet')
      stage.expectSuccess(await stage.rollback(other), stage.opening)
      await stage.expectBalance(stage.opening, 'after the other bet was rolled back')
    },
  },
  {
    id: 'AU-310',
    level: 'MUST',
    title:
      'A placebet after its rollback debits nothing, whatever its betType, and also if the bet was refused before',
    source: 'spec 4.1, 4.3, D11',
    quote: 'If it fails or times out, the platform sends a rollback to correct the balance.',
    impact: 'The tombstone holds for some bets only: of the others, the player loses the stake.',
    describes: ['too little'],
    async play(stage) {
      for (const betType of ['SINGLE', 'MULTIPLE', 'TEASER']) {
        const bet = stage.bet()
        stage.expectSuccess(await stage.rollback(bet), stage.opening)
        const label = `placebet of a ${betType} after its rollback`
        await stage.place(bet, { fields: { betType, odds: undefined }, label })
        await stage.expectBalance(stage.opening, `after a ${label}`)
      }
      const refused = stage.bet(add(stage.opening, stage.units(1)))
      stage.expectRefusal(await stage.place(refused))
      stage.expectSuccess(await stage.rollback(refused), stage.opening)
      const again = { ...refused, transactionId: stage.id(), amount: stage.units(100) }
      const label = 'placebet of the refused bet after its rollback, under another transactionId'
      await stage.place(again, { label })
      await stage.expectBalance(stage.opening, `after a ${label}`)
    },
  },
  {
    id: 'AU-311',
    level: 'MUST',
    title: 'A placebet of each player that arrives after its rollback debits nothing',
    source: 'spec 4.1, 4.3, D11',
    quote: 'If it fails or times out, the platform sends a rollback to correct the balance.',
    needs: ['other-player'],
    impact: 'Tombstones are kept for some players only: the others lose the stakes of cancelled bets.',
    describes: ['too little'],
    async play(stage) {
      const other = stage.settings.otherPlayerId ?? ''
      const currency = await stage.currencyOf(other)
      const others = await stage.balance(other)
      // 1 is an amount in every currency.
      const late = [stage.bet({ units: 1n, scale: 0 }, other), stage.bet()] as const
      for (const bet of late) await stage.rollback(bet)
      const label = 'placebet of the other player after its rollback'
      await stage.place(late[0], { fields: { currency }, label })
      await expectOthersUnchanged(stage, others)
      await stage.place(late[1], { label: 'placebet after the rollbacks of two players' })
      await stage.expectBalance(stage.opening, 'after late placebets of two players')
    },
  },
]
