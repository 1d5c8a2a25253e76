/** AU-1xx: each of the three operations alone (spec 1 to 4). */

import { add, compare, type Decimal, subtract, textOf, zero } from '../../platform/decimal.js'
import { numberText, raw } from '../../platform/json.js'
import { quoteOf } from '../answer.js'
import type { AuditCase } from '../audit-case.js'
import { type Answer, describeAnswer, Skipped, type Stage, sumOf } from '../stage.js'

const unknownPlayer = 'unknown-player'

export const basics: readonly AuditCase[] = [
  {
    id: 'AU-101',
    level: 'MUST',
    title: 'A placebet debits the stake and returns the remaining balance in the player’s currency',
    source: 'spec 1.4, 3, 4.1',
    quote: 'funds suffice | the stake is debited',
    impact: 'Stakes that are not debited are free bets. The sportsbook shows the player a wrong balance.',
    async play(stage) {
      const after = await stage.expectDebit(stage.bet(), stage.opening)
      await stage.expectBalance(after, 'after the bet')
    },
  },
  {
    id: 'AU-104',
    level: 'MUST',
    title: 'A rollbackbet credits the stake and returns the new balance',
    source: 'spec 1.4, 3, 4.3',
    quote: 'the bet exists | the placebet is undone',
    impact: 'The player pays for bets that the sportsbook has cancelled.',
    async play(stage) {
      const bet = stage.bet()
      await stage.placeSuccessfully(bet, stage.opening)
      stage.expectSuccess(await stage.rollback(bet), stage.opening)
      await stage.expectBalance(stage.opening, 'after the rollback')
    },
  },
  {
    id: 'AU-102',
    level: 'MUST',
    title: 'A stake above the funds is refused and debits nothing',
    source: 'spec 3, 4.1, 7',
    quote: 'funds do not suffice | none: INSUFFICIENT_FUNDS',
    impact: 'Players bet money that they do not have, and the operator pays the winnings.',
    async play(stage) {
      const bet = stage.bet(add(stage.opening, stage.units(1)))
      stage.expectRefusal(await stage.place(bet))
      await stage.expectBalance(stage.opening, 'after the refusal')
    },
  },
  {
    id: 'AU-103',
    level: 'MUST',
    title: 'A stake of exactly the funds is debited, and a further stake of the smallest unit is refused',
    source: 'spec 3, 4.1',
    quote: 'funds suffice | the stake is debited',
    impact:
      'An off-by-one at the limit: a player cannot stake the last cent, or the balance becomes negative.',
    async play(stage) {
      const all = stage.units(stage.wholeUnits(stage.opening))
      const rest = await stage.expectDebit(stage.bet(all), stage.opening)
      stage.expectRefusal(await stage.place(stage.bet(stage.units(1))))
      await stage.expectBalance(rest, 'after all funds were staked')
    },
  },
  {
    id: 'AU-105',
    level: 'MUST',
    title: 'A rollbackbet of an unknown bet succeeds and does not change the balance',
    source: 'spec 3, 4.3',
    quote: 'If no bet has this betId, the answer is a success',
    impact:
      'The platform retries the rollback indefinitely, or the player is paid for a bet that was never placed.',
    async play(stage) {
      stage.expectSuccess(await stage.rollback(stage.bet()), stage.opening)
      await stage.expectBalance(stage.opening, 'after the rollback of an unknown bet')
    },
  },
  {
    id: 'AU-106',
    level: 'MUST',
    title: 'A rollbackbet for an unknown player is refused',
    source: 'spec 7, D16',
    quote: 'the player is unknown or invalid',
    impact: 'The platform believes that it returned a stake to a player who does not exist.',
    async play(stage) {
      const { betId } = stage.bet()
      stage.expectRefusal(await stage.rollback({ betId, playerId: `${stage.id()}-${unknownPlayer}` }))
    },
  },
  {
    id: 'AU-107',
    level: 'MUST',
    title: 'A placebet for an unknown player is refused',
    source: 'spec 7, D16',
    quote: 'the player is unknown or invalid',
    impact: 'The sportsbook accepts a bet that no player has paid for.',
    async play(stage) {
      const bet = stage.bet(stage.units(1), `${stage.id()}-${unknownPlayer}`)
      stage.expectRefusal(await stage.place(bet))
    },
  },
  {
    id: 'AU-108',
    level: 'MUST',
    title: 'An unsettlement for an unknown player is refused',
    source: 'spec 7, D16',
    quote: 'the player is unknown or invalid',
    impact: 'The platform records a clawback as collected from a player who does not exist.',
    async play(stage) {
      const bet = stage.bet(stage.units(1), `${stage.id()}-${unknownPlayer}`)
      stage.expectRefusal(await stage.unsettle(bet, 'UNSCORED'))
    },
  },
  {
    id: 'AU-122',
    level: 'SHOULD',
    title: 'Calls for an unknown player do not create the player: each of them is refused, however often',
    source: 'spec 7, D16',
    impact: 'A mistyped playerId becomes an account, and later calls for it succeed.',
    async play(stage) {
      const playerId = `${stage.id()}-${unknownPlayer}`
      for (let time = 1; time <= 2; time += 1)
        for (const answer of await callsForUnknownPlayer(stage, playerId)) stage.expectRefusal(answer)
      stage.expectRefusal(await stage.place(stage.bet(zero, playerId), { label: 'placebet of 0' }))
    },
  },
  {
    id: 'AU-109',
    level: 'MUST',
    title: 'Bets of every betType are accepted, and so is a bet without odds',
    source: 'spec 4.1',
    quote: 'SINGLE, MULTIPLE or TEASER; for information',
    impact: 'All bets of one type fail in production, and tests with single bets do not show it.',
    async play(stage) {
      let balance = stage.opening
      for (const betType of ['SINGLE', 'MULTIPLE', 'TEASER']) {
        const bet = stage.bet()
        balance = subtract(balance, bet.amount)
        stage.expectSuccess(
          await stage.place(bet, { fields: { betType }, label: `placebet of a ${betType}` }),
          balance,
        )
      }
      const bet = stage.bet()
      const answer = await stage.place(bet, { fields: { odds: undefined }, label: 'placebet without odds' })
      stage.expectSuccess(answer, subtract(balance, bet.amount))
    },
  },
  {
    id: 'AU-110',
    level: 'SHOULD',
    title: 'A placebet with additional fields, or with odds of null, is accepted',
    source: 'D26',
    impact: 'Every bet is refused from the day on which the platform adds a field.',
    async play(stage) {
      const [first, second] = [stage.bet(), stage.bet()]
      const fields = { brandId: 'b-1', legs: [{ eventId: 7, live: true }] }
      const balance = subtract(stage.opening, first.amount)
      stage.expectSuccess(
        await stage.place(first, { fields, label: 'placebet with additional fields' }),
        balance,
      )
      const answer = await stage.place(second, {
        fields: { odds: null },
        label: 'placebet with odds of null',
      })
      stage.expectSuccess(answer, subtract(balance, second.amount))
    },
  },
  {
    id: 'AU-111',
    level: 'MUST',
    title:
      'A stake in a currency other than the player’s is refused, or converted: it is not debited one to one',
    source: 'spec 4.1, D23',
    impact: 'A stake of 30 JPY is debited as 30 EUR, or the other way round.',
    async play(stage) {
      const currency = stage.foreignCurrency()
      const bet = stage.bet()
      const answer = await stage.place(bet, { fields: { currency }, label: `placebet in ${currency}` })
      if (answer.success === null) {
        stage.expectError(answer)
        await stage.expectBalance(stage.opening, `after a stake in ${currency} was refused`)
        return
      }
      const debited = subtract(stage.opening, await stage.balance())
      if (compare(debited, bet.amount) === 0 || debited.units <= 0n)
        stage.fail(
          `a refusal, or a debit of another amount than ${textOf(bet.amount)}`,
          `a debit of ${textOf(debited)}`,
          answer,
        )
      stage.expectSuccess(await stage.rollback(bet), stage.opening)
    },
  },
  {
    id: 'AU-112',
    level: 'MUST',
    title: 'A rollback credits the stake of its own bet and of no other',
    source: 'spec 2, 4.3',
    quote: 'identifies the bet; connects it with its settlements, unsettlements and rollbacks',
    impact: 'A rollback credits the stake of another bet: too much or too little.',
    async play(stage) {
      const bets = [
        stage.bet(stage.units(110)),
        stage.bet(stage.units(120)),
        stage.bet(stage.units(140)),
      ] as const
      for (const bet of bets) await stage.placePrepared(bet)
      const [first, middle, last] = bets
      const rest = subtract(stage.opening, sumOf(bets))
      stage.expectSuccess(await stage.rollback(middle), add(rest, middle.amount))
      stage.expectSuccess(await stage.rollback(first), subtract(stage.opening, last.amount))
      await stage.expectBalance(subtract(stage.opening, last.amount), 'with one of three bets left')
    },
  },
  {
    id: 'AU-113',
    level: 'MUST',
    title: 'The rollback of a bet that was refused for insufficient funds succeeds and credits nothing',
    source: 'spec 4.3, D11',
    quote: 'If no bet has this betId, the answer is a success',
    impact: 'Money is created: a player bets more than the funds, and the rollback pays out the stake.',
    async play(stage) {
      const bet = stage.bet(add(stage.opening, stage.units(100)))
      stage.expectRefusal(await stage.place(bet))
      stage.expectSuccess(await stage.rollback(bet), stage.opening)
      await stage.expectBalance(stage.opening, 'after a refused bet was rolled back')
    },
  },
  {
    id: 'AU-114',
    level: 'SHOULD',
    title:
      'A success has balance, currency and optionally walletTransactionId (a string), no other fields, and the agreed status',
    source: 'spec 2, docs/errors.md',
    impact: 'A platform with a strict parser rejects the answer and rolls back bets that were accepted.',
    async play(stage) {
      const bet = stage.bet()
      const placed = await stage.place(bet)
      const returned = await stage.rollback(bet)
      for (const answer of [placed, returned]) {
        stage.expectSuccess(answer)
        const fields = [...(answer.fields?.keys() ?? [])].sort().join(', ')
        if (!/^balance, currency(, walletTransactionId)?$/.test(fields))
          stage.fail('the fields balance, currency and optionally walletTransactionId', fields, answer)
        if (answer.fields?.has('walletTransactionId') && answer.success?.walletTransactionId === null)
          stage.fail('no walletTransactionId, or a string', 'null', answer)
        const agreed = stage.settings.statusCodes.get('SUCCESS') ?? []
        if (!agreed.includes(answer.status ?? 0))
          stage.fail(`status ${agreed.join(' or ')}`, describeAnswer(answer), answer)
        const type = answer.headers['content-type'] ?? 'no Content-Type'
        if (!/^application\/json\b/i.test(type)) stage.fail('Content-Type application/json', type, answer)
      }
    },
  },
  {
    id: 'AU-115',
    level: 'MAY',
    title: 'The balance is a JSON number with the decimals of its currency (100.00)',
    source: 'spec 2, D21',
    impact:
      'A string instead of a number, or 100.1 instead of 100.10, can be misread by parsers and by people.',
    async play(stage) {
      const bet = stage.bet(stage.units(100))
      for (const answer of [await stage.place(bet), await stage.rollback(bet)]) {
        stage.expectSuccess(answer)
        const balance = numberText(answer.fields?.get('balance'))
        const expected = textOf(answer.success?.balance ?? zero, stage.settings.minorUnits)
        if (balance?.text !== expected || balance.quoted)
          stage.fail(`the JSON number ${expected}`, quoteOf(answer), answer)
      }
    },
  },
  {
    id: 'AU-116',
    level: 'SHOULD',
    title: 'Different transactions have different walletTransactionIds',
    source: 'spec 2',
    impact: 'Two transactions share one reference, and a dispute cannot be traced.',
    async play(stage) {
      const [first, second] = [stage.bet(), stage.bet()]
      const answers = [await stage.place(first), await stage.place(second), await stage.rollback(first)]
      const references = answers.map(answer => {
        stage.expectSuccess(answer)
        return answer.success?.walletTransactionId ?? null
      })
      const named = references.filter(reference => reference !== null)
      if (new Set(named).size !== named.length)
        stage.fail('three different references, or none', references.join(', '))
    },
  },
  {
    id: 'AU-117',
    level: 'MAY',
    title: 'A stake of 0 (a free bet) is accepted, even without funds',
    source: 'D22',
    impact: 'Free bets that the platform sends with a stake of 0 are refused.',
    async play(stage) {
      const all = stage.units(stage.wholeUnits(stage.opening))
      const rest = await stage.placeSuccessfully(stage.bet(all), stage.opening)
      const answer = await stage.place(stage.bet(zero), { fields: { amount: raw('0') } })
      stage.expectSuccess(answer, rest)
    },
  },
  {
    id: 'AU-123',
    level: 'SHOULD',
    title: 'A free bet (a stake of 0) can be rolled back, also once more',
    source: 'spec 4.3, D12, D22',
    impact: 'The platform retries the rollback until it receives a success, which never comes.',
    async play(stage) {
      const bet = stage.bet(zero)
      const answer = await stage.place(bet)
      if (answer.success === null)
        throw new Skipped(`a stake of 0 is answered with ${describeAnswer(answer)}`)
      const transactionId = stage.id()
      const label = 'rollbackbet of the free bet'
      for (const id of [transactionId, transactionId, stage.id()])
        stage.expectSuccess(await stage.rollback(bet, id, { label }), stage.opening)
    },
  },
  {
    id: 'AU-118',
    level: 'MUST',
    title: 'A call for one player does not change the bet or the balance of another',
    source: 'spec 2, D15',
    needs: ['other-player'],
    impact: 'A rollback pays the stake of one player to another, or a bet is stolen by its id.',
    async play(stage) {
      const other = stage.settings.otherPlayerId ?? ''
      const others = await stage.balance(other)
      const bet = stage.bet()
      const after = await stage.placeSuccessfully(bet, stage.opening)
      // A wallet that looks for a bet of this player finds none, and answers with a success (spec 4.3 rule 1).
      const label = 'rollbackbet for the other player'
      await stage.rollback({ betId: bet.betId, playerId: other }, undefined, { label })
      await stage.expectBalance(after, 'after a rollback for another player')
      await expectOthersUnchanged(stage, others)
      stage.expectSuccess(await stage.rollback(bet), stage.opening)
    },
  },
  {
    id: 'AU-119',
    level: 'SHOULD',
    title: 'A call for a player who does not own the bet is refused',
    source: 'D15',
    needs: ['other-player'],
    impact: 'The platform cannot tell a mix-up of players from a settled bet.',
    async play(stage) {
      const { rollback, unsettlement, placebet } = await callForOtherPlayer(stage)
      stage.expectRefusal(rollback)
      stage.expectError(unsettlement)
      stage.expectRefusal(placebet)
    },
  },
  {
    id: 'AU-120',
    level: 'MUST',
    title: 'A transactionId that another player’s bet has used changes no balance',
    source: 'spec 1.5, 2, D1, D4',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    needs: ['other-player'],
    impact: 'Ids are unique per player only: the platform has one transaction, the wallet has two.',
    async play(stage) {
      const other = stage.settings.otherPlayerId ?? ''
      const currency = await stage.currencyOf(other)
      const others = await stage.balance(other)
      const bet = stage.bet()
      const after = await stage.placeSuccessfully(bet, stage.opening)
      const theirs = { ...stage.bet(bet.amount, other), transactionId: bet.transactionId }
      const label = 'placebet of the other player with a known transactionId'
      await stage.place(theirs, { fields: { currency }, label })
      await stage.expectBalance(after, `after a ${label}`)
      await expectOthersUnchanged(stage, others)
    },
  },
  {
    id: 'AU-121',
    level: 'SHOULD',
    title: 'A currency code in the other case is refused',
    source: 'D23',
    impact: 'Codes that differ in case can be different units: GBp is a hundredth of GBP.',
    async play(stage) {
      const { currency } = stage.settings
      const other = currency === currency.toLowerCase() ? currency.toUpperCase() : currency.toLowerCase()
      if (other === currency) throw new Skipped(`${currency} has no letters`)
      const label = `placebet in ${other}`
      const answer = await stage.place(stage.bet(), { fields: { currency: other }, label })
      stage.expectRefusal(answer)
      await stage.expectBalance(stage.opening, `after a ${label} was refused`)
    },
  },
]

/** Expects that the other player still has this balance. */
export async function expectOthersUnchanged(stage: Stage, before: Decimal): Promise<void> {
  const now = await stage.balance(stage.settings.otherPlayerId ?? '')
  if (compare(now, before) !== 0)
    stage.fail(`no change of the other player’s balance, ${textOf(before)}`, textOf(now))
}

/** Each operation once, for a player whom the wallet does not know: the answers. */
export async function callsForUnknownPlayer(
  stage: Stage,
  playerId = `${stage.id()}-${unknownPlayer}`,
): Promise<Answer[]> {
  const bet = stage.bet(stage.units(1), playerId)
  return [await stage.place(bet), await stage.rollback(bet), await stage.unsettle(bet, 'UNSCORED')]
}

/** Each operation for the bet of a player, in the name of another player: the answers. */
export async function callForOtherPlayer(
  stage: Stage,
): Promise<Record<'rollback' | 'unsettlement' | 'placebet', Answer>> {
  const playerId = stage.settings.otherPlayerId ?? ''
  const bet = stage.bet()
  await stage.placePrepared(bet)
  const theirs = { ...bet, transactionId: stage.id(), playerId }
  const label = (operation: string) => `${operation} for the other player`
  return {
    rollback: await stage.rollback({ betId: bet.betId, playerId }, undefined, {
      label: label('rollbackbet'),
    }),
    unsettlement: await stage.unsettle({ ...bet, playerId }, 'UNSCORED', undefined, {
      label: label('unsettlement'),
      mayFail: true,
    }),
    placebet: await stage.place(theirs, { label: label('placebet') }),
  }
}
