/** AU-3xx: rollbacks that come before their bets, or at the same moment (D11). */
import type { AuditCase } from '../case.js'
import type { Stage } from '../stage.js'

async function race(stage: Stage, first: 'placebet' | 'rollbackbet', afterMs: number, round: number) {
  const bet = stage.bet(stage.units(stage.random.between(20, 60)))
  const place = () => stage.place(bet, { label: `placebet (round ${round})` })
  const undo = () =>
    stage.rollback(bet, undefined, { label: `rollbackbet at the same moment (round ${round})` })
  const calls = first === 'placebet' ? [place, undo] : [undo, place]
  const [one, two] = await Promise.all([
    calls[0]?.(),
    (async () => {
      if (afterMs > 0) await stage.wait(afterMs)
      return await calls[1]?.()
    })(),
  ])
  stage.accepted((first === 'placebet' ? two : one) as NonNullable<typeof one>)
  await stage.holds(stage.opening, 'after a placebet and its rollback at the same moment')
}

export const lateBets: readonly AuditCase[] = [
  {
    id: 'AU-301',
    level: 'MUST',
    title: 'A placebet that arrives after its rollback takes nothing',
    source: 'spec 4.1, 4.3, D11',
    impact:
      'The player loses the stake of a bet that the platform gave up: no settlement and no rollback will ever come.',
    async play(stage) {
      const bet = stage.bet()
      stage.accepted(await stage.rollback(bet), stage.opening)
      await stage.place(bet, { label: 'the placebet, after its rollback' })
      await stage.holds(stage.opening, 'after a placebet that came after its rollback')
    },
  },
  {
    id: 'AU-302',
    level: 'SHOULD',
    title: 'A placebet that arrives after its rollback is refused with INVALID_BET',
    source: 'D11',
    impact: 'Success would mean that a bet is open which the platform has given up.',
    async play(stage) {
      const bet = stage.bet()
      stage.accepted(await stage.rollback(bet), stage.opening)
      stage.refusedAs(await stage.place(bet), 'INVALID_BET')
    },
  },
  {
    id: 'AU-303',
    level: 'MUST',
    title: 'A late placebet takes nothing when it comes again, or under another transactionId',
    source: 'D6, D11',
    impact: 'The first late copy is turned away, and the second one is taken.',
    async play(stage) {
      const bet = stage.bet()
      stage.accepted(await stage.rollback(bet), stage.opening)
      for (let time = 1; time <= 2; time += 1)
        await stage.place(bet, { label: `late placebet, time ${time}` })
      await stage.place({ ...bet, transactionId: stage.id() }, { label: 'late placebet under another id' })
      await stage.holds(stage.opening, 'after late placebets')
    },
  },
  {
    id: 'AU-304',
    level: 'MUST',
    title: 'A rollback after a late placebet was refused gives nothing',
    source: 'D11, D12',
    impact: 'Money out of nothing: the stake that was never taken is given back.',
    async play(stage) {
      const bet = stage.bet()
      stage.accepted(await stage.rollback(bet), stage.opening)
      await stage.place(bet, { label: 'the placebet, after its rollback' })
      await stage.holds(stage.opening, 'after a late placebet')
      for (let time = 1; time <= 2; time += 1) await stage.rollback(bet)
      await stage.holds(stage.opening, 'after a late placebet was rolled back again')
    },
  },
  {
    id: 'AU-305',
    level: 'MUST',
    title:
      'A rollback of an unknown bet that comes again is a success and moves nothing, also after the late placebet',
    source: 'spec 1.5, 4.3',
    impact: 'The platform never hears that the bet is undone.',
    async play(stage) {
      const bet = stage.bet()
      const transactionId = stage.id()
      for (let time = 1; time <= 2; time += 1)
        stage.accepted(await stage.rollback(bet, transactionId), stage.opening)
      await stage.place(bet, { label: 'the placebet, after its rollback' })
      stage.accepted(await stage.rollback(bet, transactionId), stage.opening)
      await stage.holds(stage.opening, 'after the same rollback before and after a late placebet')
    },
  },
  {
    id: 'AU-306',
    level: 'MUST',
    title: 'A placebet and its rollback at the same moment net to zero, the placebet sent first',
    source: 'spec 4.1, 4.3, D11',
    impact:
      'A placebet that times out is rolled back while it is under way: the stake is lost between the two.',
    async play(stage) {
      for (let round = 1; round <= 2 * stage.settings.raceRounds; round += 1)
        await race(stage, 'placebet', stage.random.between(0, 3), round)
    },
  },
  {
    id: 'AU-307',
    level: 'MUST',
    title: 'A placebet and its rollback at the same moment net to zero, the rollback sent first',
    source: 'spec 4.1, 4.3, D11',
    impact:
      'As AU-306, from the other side: the rollback looks, finds nothing, and the placebet lands behind it.',
    async play(stage) {
      for (let round = 1; round <= 2 * stage.settings.raceRounds; round += 1)
        await race(stage, 'rollbackbet', stage.random.between(0, 3), round)
    },
  },
  {
    id: 'AU-308',
    level: 'MUST',
    title: 'A crowd of placebets and rollbacks of one bet at the same moment nets to zero',
    source: 'spec 1.5, 4.3, D11, D12',
    impact: 'Retries on both sides meet: whatever is not zero is somebody’s money.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = stage.bet(stage.units(stage.random.between(20, 60)))
        const rollbackId = stage.id()
        const answers = await stage.together(stage.settings.concurrency, index =>
          index % 2 === 0
            ? stage.place(bet, { label: `placebet, copy ${index / 2 + 1} (round ${round})` })
            : stage.rollback(bet, rollbackId, {
                label: `rollbackbet, copy ${(index + 1) / 2} (round ${round})`,
              }),
        )
        await stage.holds(stage.opening, 'after a crowd of placebets and rollbacks of one bet')
        for (const [index, answer] of answers.entries()) if (index % 2 === 1) stage.accepted(answer)
      }
    },
  },
  {
    id: 'AU-309',
    level: 'MUST',
    title: 'A rollback of an unknown bet is remembered for its own bet only',
    source: 'D11',
    impact: 'After one late bet the player cannot bet any more, or late bets of others get through.',
    async play(stage) {
      const [late, other] = [stage.bet(), stage.bet()]
      stage.accepted(await stage.rollback(late), stage.opening)
      const after = await stage.placed(other, stage.opening)
      await stage.place(late, { label: 'the placebet, after its rollback' })
      await stage.holds(after, 'after a late placebet beside another bet')
      stage.accepted(await stage.rollback(other), stage.opening)
      await stage.holds(stage.opening, 'after the other bet was rolled back')
    },
  },
]
