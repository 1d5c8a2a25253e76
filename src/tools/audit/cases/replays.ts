/** AU-2xx: retries, at once, later and concurrent; and known ids with a different content (spec 1.5). */

import { add, subtract, textOf, zero } from '../../platform/decimal.js'
import { type Json, raw } from '../../platform/json.js'
import type { AuditCase } from '../audit-case.js'
import { type Answer, type Bet, describeAnswer, type Stage, sumOf } from '../stage.js'

/** The ways in which a call with a known transactionId may differ. */
const changesOfPlacebet: readonly { name: string; change(stage: Stage, bet: Bet): Record<string, Json> }[] = [
  {
    name: 'amount',
    change: (stage, bet) => ({ amount: raw(textOf(subtract(bet.amount, stage.units(1)))) }),
  },
  { name: 'betId', change: stage => ({ betId: `${stage.id()}-b` }) },
  { name: 'currency', change: stage => ({ currency: stage.foreignCurrency() }) },
  { name: 'playerId', change: stage => ({ playerId: `${stage.id()}-unknown` }) },
]

async function changed(stage: Stage, name: string): Promise<{ answer: Answer; bet: Bet }> {
  const bet = stage.bet()
  await stage.placeSuccessfully(bet, stage.opening)
  const fields = changesOfPlacebet.find(change => change.name === name)?.change(stage, bet) ?? {}
  if (typeof fields.betId === 'string') stage.track({ ...bet, betId: fields.betId })
  const answer = await stage.place(bet, { fields, label: `retry of the placebet with a different ${name}` })
  return { answer, bet }
}

const conflicts: readonly AuditCase[] = changesOfPlacebet.map(({ name }, index) => ({
  id: `AU-${231 + index}`,
  level: 'SHOULD',
  title: `A placebet with a known transactionId and a different ${name} is refused`,
  source: 'D3, D4',
  impact: 'A success would confirm a transaction that was not executed: the books differ from then on.',
  async play(stage) {
    const { answer, bet } = await changed(stage, name)
    stage.expectRefusal(answer)
    const retry = await stage.place(bet, { label: 'retry of the original placebet' })
    stage.expectSuccess(retry, subtract(stage.opening, bet.amount))
  },
}))

export const replays: readonly AuditCase[] = [
  {
    id: 'AU-201',
    level: 'MUST',
    title: 'A placebet that is retried at once gets the same answer and debits the stake once',
    source: 'spec 1.5, D2',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    impact: 'Every retry by a proxy or the network debits the stake again.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placeSuccessfully(bet, stage.opening)
      for (let time = 2; time <= 3; time += 1)
        stage.expectSuccess(await stage.place(bet, { label: `retry ${time - 1} of the placebet` }), after)
      await stage.expectBalance(after, 'after three copies of one placebet')
    },
  },
  {
    id: 'AU-202',
    level: 'MUST',
    title: 'A placebet that is retried later debits the stake once and returns the current balance',
    source: 'spec 1.4, 1.5, D2',
    quote: "A success reports the player's current balance and its currency.",
    impact: 'A late duplicate debits a second stake, or the sportsbook shows an outdated balance.',
    async play(stage) {
      const [first, second, third] = [stage.bet(), stage.bet(), stage.bet()]
      for (const bet of [first, second, third]) await stage.placePrepared(bet)
      stage.expectSuccess(await stage.rollback(second))
      const current = subtract(stage.opening, sumOf([first, third]))
      const retry = await stage.place(first, { label: 'retry of the first placebet after other bets' })
      stage.expectSuccess(retry, current)
      await stage.expectBalance(current, 'after a late retry')
    },
  },
  {
    id: 'AU-203',
    level: 'MUST',
    title: 'Concurrent copies of one placebet are all accepted and debit the stake once',
    source: 'spec 1.5, D2',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    impact:
      'Concurrent duplicates debit the stake more than once. This is the most frequent defect of wallets.',
    async play(stage) {
      let balance = stage.opening
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = stage.bet(stage.units(stage.random.between(20, 60)))
        const answers = await stage.concurrently(stage.settings.concurrency, copy =>
          stage.place(bet, { label: `copy ${copy + 1} of one placebet (round ${round})` }),
        )
        balance = subtract(balance, bet.amount)
        await stage.expectBalance(balance, `after ${answers.length} concurrent copies of one placebet`)
        for (const answer of answers) stage.expectSuccess(answer)
        stage.expectSuccess(await stage.rollback(bet))
        balance = stage.opening
      }
    },
  },
  {
    id: 'AU-204',
    level: 'MUST',
    title: 'A rollbackbet that is retried, at once or later, credits the stake once',
    source: 'spec 1.5, 4.3',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    impact: 'Every retry of a rollback credits the stake again.',
    async play(stage) {
      const [bet, other] = [stage.bet(), stage.bet()]
      await stage.placePrepared(bet)
      const transactionId = stage.id()
      for (let time = 1; time <= 2; time += 1)
        stage.expectSuccess(await stage.rollback(bet, transactionId), stage.opening)
      const after = await stage.placeSuccessfully(other, stage.opening)
      const label = 'retry of the rollbackbet after another bet'
      stage.expectSuccess(await stage.rollback(bet, transactionId, { label }), after)
      await stage.expectBalance(after, 'after three copies of one rollback')
    },
  },
  {
    id: 'AU-205',
    level: 'MUST',
    title: 'Concurrent copies of one rollbackbet credit the stake once',
    source: 'spec 1.5, 4.3',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    impact:
      'The platform retries a rollback that timed out while the first one is still in flight: the stake is credited twice.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = stage.bet(stage.units(stage.random.between(20, 60)))
        await stage.placePrepared(bet)
        const transactionId = stage.id()
        const answers = await stage.concurrently(stage.settings.concurrency, copy =>
          stage.rollback(bet, transactionId, {
            label: `copy ${copy + 1} of one rollbackbet (round ${round})`,
          }),
        )
        await stage.expectBalance(stage.opening, `after ${answers.length} concurrent copies of one rollback`)
        for (const answer of answers) stage.expectSuccess(answer)
      }
    },
  },
  {
    id: 'AU-206',
    level: 'MUST',
    title: 'Further rollbacks of a bet under other transactionIds credit nothing',
    source: 'spec 4.3, D12',
    impact: 'Two systems of the platform cancel the same bet, and the player receives the stake twice.',
    async play(stage) {
      const bet = stage.bet()
      await stage.placePrepared(bet)
      stage.expectSuccess(await stage.rollback(bet), stage.opening)
      for (let time = 2; time <= 3; time += 1) {
        await stage.rollback(bet, undefined, { label: `rollbackbet ${time} under another transactionId` })
        await stage.expectBalance(stage.opening, `after rollback ${time} under another transactionId`)
      }
    },
  },
  {
    id: 'AU-207',
    level: 'SHOULD',
    title: 'A rollbackbet of a bet that is already rolled back succeeds, under any transactionId',
    source: 'D12',
    impact:
      'The platform retries until it receives a success, which never comes, until an operator intervenes.',
    async play(stage) {
      const bet = stage.bet()
      await stage.placePrepared(bet)
      for (let time = 1; time <= 2; time += 1) stage.expectSuccess(await stage.rollback(bet), stage.opening)
    },
  },
  {
    id: 'AU-208',
    level: 'MUST',
    title: 'Concurrent rollbacks of one bet under different transactionIds credit the stake once',
    source: 'spec 4.3, D12',
    impact:
      'As in AU-206, if the calls arrive within milliseconds, before the wallet has recorded the first one.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = stage.bet(stage.units(stage.random.between(20, 60)))
        await stage.placePrepared(bet)
        await stage.concurrently(stage.settings.concurrency, copy =>
          stage.rollback(bet, undefined, {
            label: `rollbackbet ${copy + 1} under its own transactionId (round ${round})`,
          }),
        )
        await stage.expectBalance(stage.opening, 'after concurrent rollbacks of one bet')
      }
    },
  },
  {
    id: 'AU-209',
    level: 'MUST',
    title:
      'A placebet that was refused for insufficient funds debits nothing when retried, even with sufficient funds',
    source: 'D6',
    impact: 'A delayed duplicate debits the stake of a bet that the sportsbook has already shown as refused.',
    async play(stage) {
      const spent = await stage.spendDownTo(stage.units(50), stage.opening)
      const bet = stage.bet(stage.units(100))
      stage.expectRefusal(await stage.place(bet))
      stage.expectSuccess(await stage.rollback(spent), stage.opening)
      const retry = await stage.place(bet, { label: 'retry of the refused placebet, with sufficient funds' })
      await stage.expectBalance(stage.opening, 'after the retry of a refused placebet')
      stage.expectError(retry)
    },
  },
  {
    id: 'AU-210',
    level: 'SHOULD',
    title: 'The retry of a refused call gets the same refusal: the same status and error code',
    source: 'D2, D6',
    impact:
      'One call has two different answers. The platform believes the second one, and its books differ from the wallet’s.',
    async play(stage) {
      const bet = stage.bet(stage.units(stage.wholeUnits(stage.opening) + 100n))
      const [first, second] = [await stage.place(bet), await stage.place(bet)]
      stage.expectRefusal(first)
      if (first.status !== second.status || first.errorCode !== second.errorCode)
        stage.fail(`the same answer: ${describeAnswer(first)}`, describeAnswer(second), second)
    },
  },
  {
    id: 'AU-211',
    level: 'SHOULD',
    title: 'A replayed success has the walletTransactionId of the first answer',
    source: 'spec 1.5, D2',
    impact: 'One transaction has two references, and reconciliation counts it twice.',
    async play(stage) {
      const bet = stage.bet()
      const rollbackId = stage.id()
      const pairs = [
        [await stage.place(bet), await stage.place(bet)],
        [await stage.rollback(bet, rollbackId), await stage.rollback(bet, rollbackId)],
      ] as const
      for (const [first, second] of pairs) {
        stage.expectSuccess(first)
        stage.expectSuccess(second)
        const [one, two] = [first.success?.walletTransactionId, second.success?.walletTransactionId]
        if (one !== two) stage.fail(`the same walletTransactionId: ${one}`, String(two), second)
      }
    },
  },
  {
    id: 'AU-212',
    level: 'MUST',
    title: 'The retry of a placebet whose bet was rolled back debits nothing',
    source: 'spec 1.5, D14',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    impact: 'A stake is debited for a cancelled bet, and no later call will return it.',
    async play(stage) {
      const bet = stage.bet()
      await stage.placePrepared(bet)
      stage.expectSuccess(await stage.rollback(bet), stage.opening)
      await stage.place(bet, { label: 'retry of the placebet after its rollback' })
      await stage.expectBalance(stage.opening, 'after the retry of a placebet that was rolled back')
    },
  },
  {
    id: 'AU-213',
    level: 'SHOULD',
    title: 'The retry of a placebet whose bet was rolled back gets the first answer',
    source: 'D2, D14',
    impact: 'With a refusal, the first placebet seems to have failed, and the platform rolls back once more.',
    async play(stage) {
      const bet = stage.bet()
      await stage.placePrepared(bet)
      stage.expectSuccess(await stage.rollback(bet))
      stage.expectSuccess(await stage.place(bet), stage.opening)
    },
  },
  {
    id: 'AU-214',
    level: 'MUST',
    title: 'A second placebet for the same bet under another transactionId debits nothing',
    source: 'spec 2, D10',
    quote: 'identifies the bet; connects it with its settlements, unsettlements and rollbacks',
    impact: 'One bet has two stakes. A rollback or a settlement covers only one of them.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placeSuccessfully(bet, stage.opening)
      await stage.place(
        { ...bet, transactionId: stage.id() },
        { label: 'placebet for the same bet under another transactionId' },
      )
      await stage.expectBalance(after, 'after a second placebet for the same bet')
    },
  },
  {
    id: 'AU-215',
    level: 'SHOULD',
    title: 'A second placebet for the same bet under another transactionId is refused',
    source: 'D10',
    impact: 'A success would mean that a second stake was debited.',
    async play(stage) {
      const bet = stage.bet()
      await stage.placeSuccessfully(bet, stage.opening)
      const retry = { ...bet, transactionId: stage.id() }
      for (let time = 1; time <= 2; time += 1) stage.expectRefusal(await stage.place(retry))
    },
  },
  {
    id: 'AU-216',
    level: 'MUST',
    title: 'Concurrent placebets for one bet under different transactionIds debit one stake',
    source: 'spec 2, D10',
    quote: 'identifies the bet; connects it with its settlements, unsettlements and rollbacks',
    impact:
      'As in AU-214, if the calls arrive within milliseconds, before the wallet has recorded the first one.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = stage.bet(stage.units(stage.random.between(20, 60)))
        const answers = await stage.concurrently(stage.settings.concurrency, copy =>
          stage.place(
            { ...bet, transactionId: stage.id() },
            { label: `placebet ${copy + 1} for one bet (round ${round})` },
          ),
        )
        const balance = subtract(stage.opening, bet.amount)
        await stage.expectBalance(balance, `after ${answers.length} concurrent placebets for one bet`)
        stage.expectSuccess(await stage.rollback(bet), stage.opening)
      }
    },
  },
  {
    id: 'AU-217',
    level: 'MUST',
    title: 'Concurrent placebets for different bets under one transactionId debit one stake',
    source: 'spec 1.5, D1, D4',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    impact: 'The same transaction is recorded twice, but the platform has it once.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const transactionId = stage.id()
        const amount = stage.units(stage.random.between(20, 60))
        const bets = Array.from({ length: stage.settings.concurrency }, () => ({
          ...stage.bet(amount),
          transactionId,
        }))
        await stage.concurrently(bets.length, index => stage.place(bets[index] as Bet))
        await stage.expectBalance(
          subtract(stage.opening, amount),
          `after ${bets.length} concurrent bets under one transactionId`,
        )
        for (const bet of bets) stage.expectSuccess(await stage.rollback(bet))
        await stage.expectBalance(stage.opening, 'after all of these bets were rolled back')
      }
    },
  },
  {
    id: 'AU-218',
    level: 'MUST',
    title: 'A known transactionId with a different amount, bet, currency or player changes no balance',
    source: 'spec 1.5, D4',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    impact: 'A retry changes money: a value that was corrupted on the way is booked.',
    async play(stage) {
      for (const { name } of changesOfPlacebet) {
        const { bet } = await changed(stage, name)
        const balance = subtract(stage.opening, bet.amount)
        await stage.expectBalance(balance, `after a retry with a different ${name}`)
        stage.expectSuccess(await stage.rollback(bet), stage.opening)
      }
    },
  },
  {
    id: 'AU-219',
    level: 'SHOULD',
    title: 'A retried placebet may differ in odds, betType, sessionId and transactionDate',
    source: 'D3',
    impact: 'A retry with a new date or session is refused, and an accepted bet is reported as failed.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placeSuccessfully(bet, stage.opening)
      const other: Record<string, Json | undefined> = {
        odds: raw('2.75'),
        betType: 'MULTIPLE',
        sessionId: 'another-session',
        transactionDate: stage.settings.formatDate(new Date(Date.now() - 60_000)),
      }
      const each = Object.entries(other).map(([name, value]) => ({ [name]: value }))
      for (const fields of [...each, other, { odds: undefined }]) {
        const label = `retry of the placebet with a different ${Object.keys(fields).join(', ')}`
        stage.expectSuccess(await stage.place(bet, { fields, label }), after)
      }
    },
  },
  {
    id: 'AU-220',
    level: 'SHOULD',
    title: 'A retried rollbackbet may differ in transactionDate',
    source: 'D3',
    impact: 'A retried rollback is refused, and the platform retries it indefinitely.',
    async play(stage) {
      const bet = stage.bet()
      const transactionId = stage.id()
      await stage.placePrepared(bet)
      stage.expectSuccess(await stage.rollback(bet, transactionId), stage.opening)
      const fields = { transactionDate: stage.settings.formatDate(new Date(Date.now() - 60_000)) }
      const label = 'retry of the rollbackbet with a different transactionDate'
      stage.expectSuccess(await stage.rollback(bet, transactionId, { fields, label }), stage.opening)
    },
  },
  {
    id: 'AU-221',
    level: 'SHOULD',
    title: 'Amounts are compared by value: 2, 2.00 and 2.000 are the same transaction',
    source: 'D3, D21',
    impact: 'A retry from another serialiser is refused as a conflict.',
    async play(stage) {
      const bet = stage.bet(stage.units(200))
      const after = await stage.placeSuccessfully(bet, stage.opening)
      const text = textOf(bet.amount, stage.settings.minorUnits)
      for (const writing of [text, `${text}${text.includes('.') ? '0' : '.0'}`]) {
        const label = `retry of the placebet with amount ${writing}`
        stage.expectSuccess(await stage.place(bet, { fields: { amount: raw(writing) }, label }), after)
      }
    },
  },
  {
    id: 'AU-222',
    level: 'SHOULD',
    title: 'A rollbackbet may reuse the transactionId of its placebet',
    source: 'D1',
    impact: 'A platform that reuses the id receives a success, but the stake stays in the wallet.',
    async play(stage) {
      const bet = stage.bet()
      await stage.placePrepared(bet)
      const label = 'rollbackbet with the transactionId of the placebet'
      stage.expectSuccess(await stage.rollback(bet, bet.transactionId, { label }), stage.opening)
      await stage.expectBalance(stage.opening, 'after a rollback with the transactionId of the placebet')
    },
  },
  {
    id: 'AU-223',
    level: 'MUST',
    title: 'A rollbackbet with a known transactionId and a different bet changes no balance',
    source: 'spec 1.5, D4',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    impact: 'One transaction credits two stakes.',
    async play(stage) {
      const [first, second] = [stage.bet(), stage.bet()]
      for (const bet of [first, second]) await stage.placePrepared(bet)
      const transactionId = stage.id()
      const balance = subtract(stage.opening, second.amount)
      stage.expectSuccess(await stage.rollback(first, transactionId), balance)
      await stage.rollback(second, transactionId, {
        label: 'retry of the rollbackbet with a different betId',
      })
      await stage.expectBalance(balance, 'after a retry of the rollback with a different betId')
    },
  },
  {
    id: 'AU-224',
    level: 'MUST',
    title: 'A bet that was rolled back cannot be placed again, not even under another transactionId',
    source: 'D10, D11',
    impact:
      'A stake is debited for a bet that the platform has cancelled: no settlement and no rollback will follow.',
    async play(stage) {
      const bet = stage.bet()
      await stage.placePrepared(bet)
      stage.expectSuccess(await stage.rollback(bet), stage.opening)
      const label = 'placebet for the rolled-back bet under another transactionId'
      const answer = await stage.place({ ...bet, transactionId: stage.id() }, { label })
      await stage.expectBalance(stage.opening, 'after a second placebet for a rolled-back bet')
      stage.expectRefusal(answer)
    },
  },
  {
    id: 'AU-225',
    level: 'SHOULD',
    title:
      'The transactionDate does not affect the decision: a rollback dated before its placebet is executed',
    source: 'D25',
    impact: 'Two servers of the platform have different clocks, and stakes stay in the wallet.',
    async play(stage) {
      const bet = stage.bet()
      await stage.placePrepared(bet)
      const fields = { transactionDate: stage.settings.formatDate(new Date(Date.now() - 3_600_000)) }
      const label = 'rollbackbet dated one hour before its placebet'
      stage.expectSuccess(await stage.rollback(bet, undefined, { fields, label }), stage.opening)
    },
  },
  {
    id: 'AU-226',
    level: 'MUST',
    title:
      'A rollbackbet is executed whatever the dates of bet and rollback are: hours, a day or a month ago',
    source: 'spec 4.3, D25',
    quote: 'the bet exists | the placebet is undone',
    impact:
      'After an outage, the platform’s rollbacks are refused as too late, and the stakes stay in the wallet.',
    describes: ['too little', 'refused'],
    async play(stage) {
      for (const hours of [2, 26, 24 * 32]) {
        const transactionDate = stage.settings.formatDate(new Date(Date.now() - hours * 3_600_000))
        for (const isRollbackOld of [true, false]) {
          const bet = stage.bet()
          const when = `${hours} hours ago`
          const label = `placebet dated ${when}`
          // A wallet may refuse an old bet.
          const placed = await stage.place(bet, { fields: { transactionDate }, label })
          if (placed.errorCode !== null) continue
          stage.expectSuccess(placed)
          const change = isRollbackOld ? { fields: { transactionDate } } : {}
          const undone = `rollbackbet dated ${isRollbackOld ? when : 'now'} of a bet of ${when}`
          stage.expectSuccess(
            await stage.rollback(bet, undefined, { ...change, label: undone }),
            stage.opening,
          )
        }
      }
      await stage.expectBalance(stage.opening, 'after late rollbacks')
    },
  },
  ...conflicts,
  {
    id: 'AU-236',
    level: 'MUST',
    title: 'The retry of an accepted placebet succeeds when the funds are spent by then',
    source: 'spec 1.5, D2',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    impact:
      'The stake is debited, and the platform has the bet as refused: no settlement and no rollback follows.',
    describes: ['refused', 'too little'],
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placeSuccessfully(bet, stage.opening)
      stage.expectSuccess(await stage.place(bet, { label: 'retry of the placebet' }), after)
      await stage.spendDownTo(zero, after)
      const label = 'retry of the placebet, without funds'
      stage.expectSuccess(await stage.place(bet, { label }), zero)
    },
  },
  {
    id: 'AU-237',
    level: 'SHOULD',
    title: 'A replayed success has the status of the first answer',
    source: 'spec 1.5, D2',
    impact: 'The platform may take another status for another outcome.',
    async play(stage) {
      const bet = stage.bet()
      const rollbackId = stage.id()
      const calls = [() => stage.place(bet), () => stage.rollback(bet, rollbackId)]
      for (const call of calls) {
        const [first, second] = [await call(), await call()]
        for (const answer of [first, second]) stage.expectSuccess(answer)
        if (first.status !== second.status)
          stage.fail(`the same status: ${first.status}`, String(second.status), second)
      }
    },
  },
  {
    id: 'AU-238',
    level: 'SHOULD',
    title: 'The transactionId of a refused placebet with another bet, amount or currency is refused',
    source: 'D3, D4, D6',
    impact: 'One id stands for a refused and for an accepted bet: the books differ from then on.',
    async play(stage) {
      const amount = raw(textOf(stage.units(100)))
      const changes: Record<string, Json>[] = [
        { amount },
        { amount, betId: `${stage.id()}-b` },
        { amount, currency: stage.foreignCurrency() },
      ]
      for (const fields of changes) {
        const refused = stage.bet(add(stage.opening, stage.units(100)))
        stage.expectRefusal(await stage.place(refused))
        if (typeof fields.betId === 'string') stage.track({ ...refused, betId: fields.betId })
        const label = `placebet with the transactionId of a refused one and another ${Object.keys(fields).join(' and ')}`
        const answer = await stage.place(refused, { fields, label })
        await stage.expectBalance(stage.opening, `after a ${label}`)
        stage.expectRefusal(answer)
      }
    },
  },
  {
    id: 'AU-235',
    level: 'SHOULD',
    title: 'A rollbackbet with a known transactionId and a different betId or playerId is refused',
    source: 'D3, D4',
    impact:
      'A success would tell the platform that the second bet was rolled back, but its stake stays in the wallet.',
    async play(stage) {
      const bet = stage.bet()
      const transactionId = stage.id()
      await stage.placePrepared(bet)
      stage.expectSuccess(await stage.rollback(bet, transactionId), stage.opening)
      const another = await stage.rollback({ ...bet, betId: `${stage.id()}-b` }, transactionId, {
        label: 'retry of the rollbackbet with a different betId',
      })
      stage.expectRefusal(another)
      const unknown = await stage.rollback({ ...bet, playerId: `${stage.id()}-unknown` }, transactionId, {
        label: 'retry of the rollbackbet with a different playerId',
      })
      stage.expectRefusal(unknown)
    },
  },
]
