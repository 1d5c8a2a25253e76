/** AU-2xx: the same call again, at once, later, and many at a time; and the same id with other content (spec 1.5). */
import type { AuditCase } from '../case.js'
import { subtract, textOf } from '../decimal.js'
import { type Json, raw } from '../json.js'
import { type Answer, type Bet, found, type Stage, sumOf } from '../stage.js'

/** The same transactionId with one field changed, each alone. */
const changesOfPlacebet: readonly { name: string; change(stage: Stage, bet: Bet): Record<string, Json> }[] = [
  {
    name: 'amount',
    change: (stage, bet) => ({ amount: raw(textOf(subtract(bet.amount, stage.units(1)))) }),
  },
  { name: 'betId', change: stage => ({ betId: `${stage.id()}-b` }) },
  { name: 'currency', change: stage => ({ currency: stage.foreignCurrency() }) },
  { name: 'playerId', change: stage => ({ playerId: `${stage.id()}-nobody` }) },
]

async function changed(stage: Stage, name: string): Promise<{ answer: Answer; bet: Bet }> {
  const bet = stage.bet()
  stage.accepted(await stage.place(bet), subtract(stage.opening, bet.amount))
  const fields = changesOfPlacebet.find(change => change.name === name)?.change(stage, bet) ?? {}
  if (typeof fields.betId === 'string') stage.expectBet({ ...bet, betId: fields.betId })
  const answer = await stage.place(bet, { fields, label: `the same placebet with another ${name}` })
  return { answer, bet }
}

const conflicts: readonly AuditCase[] = changesOfPlacebet.map(({ name }, index) => ({
  id: `AU-${231 + index}`,
  level: 'SHOULD',
  title: `A placebet with a known transactionId and another ${name} is refused with TRANSACTION_CONFLICT`,
  source: 'D3, D4',
  impact: 'The platform is told that something moved that did not: the books differ from that moment on.',
  async play(stage) {
    const { answer, bet } = await changed(stage, name)
    stage.refusedAs(answer, 'TRANSACTION_CONFLICT')
    const again = await stage.place(bet, { label: 'the first placebet again' })
    stage.accepted(again, subtract(stage.opening, bet.amount))
  },
}))

export const repeats: readonly AuditCase[] = [
  {
    id: 'AU-201',
    level: 'MUST',
    title: 'A placebet that comes twice is answered alike and taken once',
    source: 'spec 1.5, D2',
    impact: 'Every retry of a proxy or a network is a second stake.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placed(bet, stage.opening)
      for (let time = 2; time <= 3; time += 1)
        stage.accepted(await stage.place(bet, { label: `the same placebet, time ${time}` }), after)
      await stage.holds(after, 'after three copies of one placebet')
    },
  },
  {
    id: 'AU-202',
    level: 'MUST',
    title: 'A placebet that comes again later is taken once and answered with the current balance',
    source: 'spec 1.4, 1.5, D2',
    impact: 'A late duplicate takes a second stake, or the sportsbook shows a balance of long ago.',
    async play(stage) {
      const [first, second, third] = [stage.bet(), stage.bet(), stage.bet()]
      for (const bet of [first, second, third]) stage.accepted(await stage.place(bet))
      stage.accepted(await stage.rollback(second))
      const current = subtract(stage.opening, sumOf([first, third]))
      const again = await stage.place(first, { label: 'the first placebet again, after others' })
      stage.accepted(again, current)
      await stage.holds(current, 'after a late duplicate')
    },
  },
  {
    id: 'AU-203',
    level: 'MUST',
    title: 'Copies of one placebet at the same time are all accepted and taken once',
    source: 'spec 1.5, D2',
    impact:
      'Duplicates that race each other take the stake more than once: the most frequent fault of wallets.',
    async play(stage) {
      let balance = stage.opening
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = stage.bet(stage.units(stage.random.between(20, 60)))
        const answers = await stage.together(stage.settings.concurrency, copy =>
          stage.place(bet, { label: `copy ${copy + 1} of one placebet (round ${round})` }),
        )
        balance = subtract(balance, bet.amount)
        await stage.holds(balance, `after ${answers.length} copies of one placebet at once`)
        for (const answer of answers) stage.accepted(answer)
        stage.accepted(await stage.rollback(bet))
        balance = stage.opening
      }
    },
  },
  {
    id: 'AU-204',
    level: 'MUST',
    title: 'A rollbackbet that comes again, at once or later, gives the stake back once',
    source: 'spec 1.5, 4.3',
    impact: 'Every retry of a rollback pays the player the stake again.',
    async play(stage) {
      const [bet, other] = [stage.bet(), stage.bet()]
      stage.accepted(await stage.place(bet))
      const transactionId = stage.id()
      for (let time = 1; time <= 2; time += 1)
        stage.accepted(await stage.rollback(bet, transactionId), stage.opening)
      const after = await stage.placed(other, stage.opening)
      const label = 'the same rollbackbet, after another bet'
      stage.accepted(await stage.rollback(bet, transactionId, { label }), after)
      await stage.holds(after, 'after three copies of one rollback')
    },
  },
  {
    id: 'AU-205',
    level: 'MUST',
    title: 'Copies of one rollbackbet at the same time give the stake back once',
    source: 'spec 1.5, 4.3',
    impact:
      'The platform repeats a rollback that timed out while the first is under way: the stake comes back twice.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = stage.bet(stage.units(stage.random.between(20, 60)))
        stage.accepted(await stage.place(bet))
        const transactionId = stage.id()
        const answers = await stage.together(stage.settings.concurrency, copy =>
          stage.rollback(bet, transactionId, {
            label: `copy ${copy + 1} of one rollbackbet (round ${round})`,
          }),
        )
        await stage.holds(stage.opening, `after ${answers.length} copies of one rollback at once`)
        for (const answer of answers) stage.accepted(answer)
      }
    },
  },
  {
    id: 'AU-206',
    level: 'MUST',
    title: 'A bet that is rolled back again under other transactionIds is given back once',
    source: 'spec 4.3, D12',
    impact: 'Two systems of the platform undo the same bet, and the player has the stake twice.',
    async play(stage) {
      const bet = stage.bet()
      stage.accepted(await stage.place(bet))
      stage.accepted(await stage.rollback(bet), stage.opening)
      for (let time = 2; time <= 3; time += 1) {
        await stage.rollback(bet, undefined, { label: `rollbackbet under another id, time ${time}` })
        await stage.holds(stage.opening, `after rollback ${time} under another id`)
      }
    },
  },
  {
    id: 'AU-207',
    level: 'SHOULD',
    title: 'A rollbackbet of a bet that is rolled back already is a success, under whatever transactionId',
    source: 'D12',
    impact: 'The caller retries until it hears success: it never ends, and somebody is called at night.',
    async play(stage) {
      const bet = stage.bet()
      stage.accepted(await stage.place(bet))
      for (let time = 1; time <= 2; time += 1) stage.accepted(await stage.rollback(bet), stage.opening)
    },
  },
  {
    id: 'AU-208',
    level: 'MUST',
    title: 'Rollbacks of one bet under different transactionIds at the same time give the stake back once',
    source: 'spec 4.3, D12',
    impact: 'As AU-206, in the milliseconds in which a wallet has not looked yet.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = stage.bet(stage.units(stage.random.between(20, 60)))
        stage.accepted(await stage.place(bet))
        await stage.together(stage.settings.concurrency, copy =>
          stage.rollback(bet, undefined, {
            label: `rollbackbet ${copy + 1} under its own id (round ${round})`,
          }),
        )
        await stage.holds(stage.opening, 'after many rollbacks of one bet at once')
      }
    },
  },
  {
    id: 'AU-209',
    level: 'MUST',
    title:
      'A placebet that was refused for funds stays refused when it comes again, whatever the funds are by then',
    source: 'D6',
    impact:
      'A delayed duplicate takes a stake for a bet that the sportsbook has told the player was refused.',
    async play(stage) {
      const spent = await stage.spendDownTo(stage.units(50), stage.opening)
      const bet = stage.bet(stage.units(100))
      stage.refused(await stage.place(bet), 'INSUFFICIENT_FUNDS')
      stage.accepted(await stage.rollback(spent), stage.opening)
      const again = await stage.place(bet, { label: 'the refused placebet again, with ample funds' })
      await stage.holds(stage.opening, 'after a refused placebet came again')
      stage.refused(again, 'INSUFFICIENT_FUNDS')
    },
  },
  {
    id: 'AU-210',
    level: 'SHOULD',
    title: 'A refusal that comes again is the same: status, code and all',
    source: 'D2, D6',
    impact: 'Two answers to one call: the platform believes the second one, and its books differ.',
    async play(stage) {
      const bet = stage.bet(stage.units(stage.wholeUnits(stage.opening) + 100n))
      const [first, second] = [await stage.place(bet), await stage.place(bet)]
      stage.refused(first)
      if (first.status !== second.status || first.errorCode !== second.errorCode)
        stage.fail(`${found(first)} again`, found(second), second)
    },
  },
  {
    id: 'AU-211',
    level: 'SHOULD',
    title: 'A repeated success names the walletTransactionId of the first',
    source: 'spec 1.5, D2',
    impact: 'One movement has two references, and whoever reconciles counts it twice.',
    async play(stage) {
      const bet = stage.bet()
      const rollbackId = stage.id()
      const pairs = [
        [await stage.place(bet), await stage.place(bet)],
        [await stage.rollback(bet, rollbackId), await stage.rollback(bet, rollbackId)],
      ] as const
      for (const [first, second] of pairs) {
        stage.accepted(first)
        stage.accepted(second)
        const [one, two] = [first.success?.walletTransactionId, second.success?.walletTransactionId]
        if (one !== two) stage.fail(`walletTransactionId ${one} again`, String(two), second)
      }
    },
  },
  {
    id: 'AU-212',
    level: 'MUST',
    title: 'A placebet that comes again after its bet was rolled back takes nothing',
    source: 'spec 1.5, D14',
    impact: 'A stake is taken for a bet that was undone, and nobody will ever give it back.',
    async play(stage) {
      const bet = stage.bet()
      stage.accepted(await stage.place(bet))
      stage.accepted(await stage.rollback(bet), stage.opening)
      await stage.place(bet, { label: 'the same placebet after its rollback' })
      await stage.holds(stage.opening, 'after a duplicate of a bet that was rolled back')
    },
  },
  {
    id: 'AU-213',
    level: 'SHOULD',
    title: 'A placebet that comes again after its bet was rolled back is answered as at first',
    source: 'D2, D14',
    impact:
      'A refusal here looks as if the first placebet had failed, and the platform rolls back once more.',
    async play(stage) {
      const bet = stage.bet()
      stage.accepted(await stage.place(bet))
      stage.accepted(await stage.rollback(bet))
      stage.accepted(await stage.place(bet), stage.opening)
    },
  },
  {
    id: 'AU-214',
    level: 'MUST',
    title: 'A second placebet for a bet, under another transactionId, takes nothing',
    source: 'spec 2, D10',
    impact: 'One bet, two stakes: a rollback or a settlement will only ever see one of them.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placed(bet, stage.opening)
      await stage.place({ ...bet, transactionId: stage.id() }, { label: 'the same bet under another id' })
      await stage.holds(after, 'after a second placebet for one bet')
    },
  },
  {
    id: 'AU-215',
    level: 'SHOULD',
    title: 'A second placebet for a bet, under another transactionId, is refused with INVALID_BET',
    source: 'D10',
    impact: 'A success would say that a second stake was taken.',
    async play(stage) {
      const bet = stage.bet()
      await stage.placed(bet, stage.opening)
      const again = { ...bet, transactionId: stage.id() }
      for (let time = 1; time <= 2; time += 1) stage.refusedAs(await stage.place(again), 'INVALID_BET')
    },
  },
  {
    id: 'AU-216',
    level: 'MUST',
    title: 'Placebets for one bet under different transactionIds at the same time take one stake',
    source: 'spec 2, D10',
    impact: 'As AU-214, in the milliseconds in which a wallet has not looked yet.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = stage.bet(stage.units(stage.random.between(20, 60)))
        const answers = await stage.together(stage.settings.concurrency, copy =>
          stage.place(
            { ...bet, transactionId: stage.id() },
            { label: `placebet ${copy + 1} for one bet (round ${round})` },
          ),
        )
        const balance = subtract(stage.opening, bet.amount)
        await stage.holds(balance, `after ${answers.length} placebets for one bet at once`)
        stage.accepted(await stage.rollback(bet), stage.opening)
      }
    },
  },
  {
    id: 'AU-217',
    level: 'MUST',
    title: 'A transactionId that comes with different bets at the same time takes one stake',
    source: 'spec 1.5, D1, D4',
    impact: 'The same transaction is recorded twice, and the platform knows of one.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const transactionId = stage.id()
        const amount = stage.units(stage.random.between(20, 60))
        const bets = Array.from({ length: stage.settings.concurrency }, () => ({
          ...stage.bet(amount),
          transactionId,
        }))
        await stage.together(bets.length, index => stage.place(bets[index] as Bet))
        await stage.holds(
          subtract(stage.opening, amount),
          `after ${bets.length} bets with one transactionId at once`,
        )
        for (const bet of bets) stage.accepted(await stage.rollback(bet))
        await stage.holds(stage.opening, 'after each of these bets was rolled back')
      }
    },
  },
  {
    id: 'AU-218',
    level: 'MUST',
    title: 'A known transactionId with another amount, bet, currency or player moves nothing',
    source: 'spec 1.5, D4',
    impact: 'A repeat that changes money: whatever changed on the way is booked.',
    async play(stage) {
      for (const { name } of changesOfPlacebet) {
        const { bet } = await changed(stage, name)
        const balance = subtract(stage.opening, bet.amount)
        await stage.holds(balance, `after the same transactionId with another ${name}`)
        stage.accepted(await stage.rollback(bet), stage.opening)
      }
    },
  },
  {
    id: 'AU-219',
    level: 'SHOULD',
    title:
      'A repeated placebet may have other odds, betType, sessionId or transactionDate, each alone and all together',
    source: 'D3',
    impact:
      'A retry with a refreshed date or session is refused, and a bet that was taken is reported as failed.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placed(bet, stage.opening)
      const other: Record<string, Json | undefined> = {
        odds: raw('2.75'),
        betType: 'MULTIPLE',
        sessionId: 'another-session',
        transactionDate: stage.settings.formatDate(new Date(Date.now() - 60_000)),
      }
      const each = Object.entries(other).map(([name, value]) => ({ [name]: value }))
      for (const fields of [...each, other, { odds: undefined }]) {
        const label = `the same placebet with another ${Object.keys(fields).join(', ')}`
        stage.accepted(await stage.place(bet, { fields, label }), after)
      }
    },
  },
  {
    id: 'AU-220',
    level: 'SHOULD',
    title: 'A repeated rollbackbet may have another transactionDate',
    source: 'D3',
    impact: 'A retried rollback is refused, and the platform repeats it for ever.',
    async play(stage) {
      const bet = stage.bet()
      const transactionId = stage.id()
      stage.accepted(await stage.place(bet))
      stage.accepted(await stage.rollback(bet, transactionId), stage.opening)
      const fields = { transactionDate: stage.settings.formatDate(new Date(Date.now() - 60_000)) }
      const label = 'the same rollbackbet with another transactionDate'
      stage.accepted(await stage.rollback(bet, transactionId, { fields, label }), stage.opening)
    },
  },
  {
    id: 'AU-221',
    level: 'SHOULD',
    title: 'Amounts are compared by value: 2, 2.00 and 2.000 are the same transaction',
    source: 'D3, D21',
    impact: 'A retry that another serialiser wrote is refused as a conflict.',
    async play(stage) {
      const bet = stage.bet(stage.units(200))
      const after = await stage.placed(bet, stage.opening)
      const text = textOf(bet.amount, stage.settings.minorUnits)
      for (const writing of [text, `${text}${text.includes('.') ? '0' : '.0'}`]) {
        const label = `the same placebet with amount ${writing}`
        stage.accepted(await stage.place(bet, { fields: { amount: raw(writing) }, label }), after)
      }
    },
  },
  {
    id: 'AU-222',
    level: 'SHOULD',
    title: 'A rollbackbet may have the transactionId of its placebet',
    source: 'D1',
    impact: 'A platform that reuses the id hears success, and the stake stays in the wallet.',
    async play(stage) {
      const bet = stage.bet()
      stage.accepted(await stage.place(bet))
      const label = 'rollbackbet with the transactionId of the placebet'
      stage.accepted(await stage.rollback(bet, bet.transactionId, { label }), stage.opening)
      await stage.holds(stage.opening, 'after a rollback with the transactionId of the placebet')
    },
  },
  {
    id: 'AU-223',
    level: 'MUST',
    title: 'A rollbackbet with a known transactionId and another bet moves nothing',
    source: 'spec 1.5, D4',
    impact: 'One transaction gives back two stakes.',
    async play(stage) {
      const [first, second] = [stage.bet(), stage.bet()]
      for (const bet of [first, second]) stage.accepted(await stage.place(bet))
      const transactionId = stage.id()
      const balance = subtract(stage.opening, second.amount)
      stage.accepted(await stage.rollback(first, transactionId), balance)
      await stage.rollback(second, transactionId, { label: 'the same rollbackbet with another betId' })
      await stage.holds(balance, 'after the same rollback with another betId')
    },
  },
  {
    id: 'AU-224',
    level: 'MUST',
    title: 'A bet that was rolled back cannot be placed again, also not under another transactionId',
    source: 'D10, D11',
    impact:
      'A stake is taken for a bet that the platform has given up: nobody will settle it or give it back.',
    async play(stage) {
      const bet = stage.bet()
      stage.accepted(await stage.place(bet))
      stage.accepted(await stage.rollback(bet), stage.opening)
      const label = 'the bet that was rolled back, under another id'
      const answer = await stage.place({ ...bet, transactionId: stage.id() }, { label })
      await stage.holds(stage.opening, 'after a bet that was rolled back was placed again')
      stage.refused(answer)
    },
  },
  {
    id: 'AU-225',
    level: 'SHOULD',
    title: 'A transactionDate decides nothing: a rollback that is dated before its placebet is done',
    source: 'D25',
    impact: 'Two servers of the platform with clocks that differ, and stakes stay in the wallet.',
    async play(stage) {
      const bet = stage.bet()
      stage.accepted(await stage.place(bet))
      const fields = { transactionDate: stage.settings.formatDate(new Date(Date.now() - 3_600_000)) }
      const label = 'rollbackbet that is dated an hour before its placebet'
      stage.accepted(await stage.rollback(bet, undefined, { fields, label }), stage.opening)
    },
  },
  ...conflicts,
  {
    id: 'AU-235',
    level: 'SHOULD',
    title:
      'A rollbackbet with a known transactionId and another betId or playerId is refused with TRANSACTION_CONFLICT',
    source: 'D3, D4',
    impact:
      'Success would tell the platform that the second bet was rolled back, and its stake stays in the wallet.',
    async play(stage) {
      const bet = stage.bet()
      const transactionId = stage.id()
      stage.accepted(await stage.place(bet))
      stage.accepted(await stage.rollback(bet, transactionId), stage.opening)
      const another = await stage.rollback({ ...bet, betId: `${stage.id()}-b` }, transactionId, {
        label: 'the same rollbackbet with another betId',
      })
      stage.refusedAs(another, 'TRANSACTION_CONFLICT')
      const nobody = await stage.rollback({ ...bet, playerId: `${stage.id()}-nobody` }, transactionId, {
        label: 'the same rollbackbet with another playerId',
      })
      stage.refusedAs(nobody, 'TRANSACTION_CONFLICT')
    },
  },
]
