/** AU-1xx: the three operations, each on its own (spec 1 to 4). */
import type { AuditCase } from '../case.js'
import { add, compare, subtract, textOf, zero } from '../decimal.js'
import { numberText, raw } from '../json.js'
import { found, sumOf } from '../stage.js'

const unknownPlayer = 'nobody'

export const basics: readonly AuditCase[] = [
  {
    id: 'AU-101',
    level: 'MUST',
    title: 'A placebet takes its stake and answers the balance that is left, in the player’s currency',
    source: 'spec 1.4, 3, 4.1',
    impact:
      'Stakes that are not taken are bets for free; a wrong balance is shown to the player by the sportsbook.',
    async play(stage) {
      const after = await stage.placed(stage.bet(), stage.opening)
      await stage.holds(after, 'after the bet')
    },
  },
  {
    id: 'AU-102',
    level: 'MUST',
    title: 'A stake above the funds is refused with INSUFFICIENT_FUNDS and takes nothing',
    source: 'spec 3, 4.1, 7',
    impact: 'Players bet money that they do not have, and the operator pays the winnings.',
    async play(stage) {
      const bet = stage.bet(add(stage.opening, stage.units(1)))
      stage.refused(await stage.place(bet), 'INSUFFICIENT_FUNDS')
      await stage.holds(stage.opening, 'after the refusal')
    },
  },
  {
    id: 'AU-103',
    level: 'MUST',
    title: 'A stake of exactly the funds is taken, and the smallest one after it is refused',
    source: 'spec 3, 4.1',
    impact: 'Off by one at the floor: a player cannot stake the last cent, or goes below nothing.',
    async play(stage) {
      const all = stage.units(stage.wholeUnits(stage.opening))
      const rest = await stage.placed(stage.bet(all), stage.opening)
      stage.refused(await stage.place(stage.bet(stage.units(1))), 'INSUFFICIENT_FUNDS')
      await stage.holds(rest, 'after all funds were staked')
    },
  },
  {
    id: 'AU-104',
    level: 'MUST',
    title: 'A rollbackbet gives the stake back and answers the balance with it',
    source: 'spec 1.4, 3, 4.3',
    impact: 'The player pays for bets that the sportsbook gave up.',
    async play(stage) {
      const bet = stage.bet()
      await stage.placed(bet, stage.opening)
      stage.accepted(await stage.rollback(bet), stage.opening)
      await stage.holds(stage.opening, 'after the rollback')
    },
  },
  {
    id: 'AU-105',
    level: 'MUST',
    title: 'A rollbackbet of a bet that is not known succeeds and moves nothing',
    source: 'spec 3, 4.3',
    impact: 'The platform repeats the rollback for ever, or a player is paid for a bet that was never taken.',
    async play(stage) {
      stage.accepted(await stage.rollback(stage.bet()), stage.opening)
      await stage.holds(stage.opening, 'after the rollback of a bet that is not known')
    },
  },
  {
    id: 'AU-106',
    level: 'MUST',
    title: 'A rollbackbet for a player who is not known is refused with INVALID_PLAYER',
    source: 'spec 7, D16',
    impact: 'The platform believes that a stake went back to somebody who does not exist.',
    async play(stage) {
      const { betId } = stage.bet()
      stage.refused(
        await stage.rollback({ betId, playerId: `${stage.id()}-${unknownPlayer}` }),
        'INVALID_PLAYER',
      )
    },
  },
  {
    id: 'AU-107',
    level: 'MUST',
    title: 'A placebet for a player who is not known is refused with INVALID_PLAYER',
    source: 'spec 7, D16',
    impact: 'A bet is accepted for which nobody has paid.',
    async play(stage) {
      const bet = stage.bet(stage.units(1), `${stage.id()}-${unknownPlayer}`)
      stage.refused(await stage.place(bet), 'INVALID_PLAYER')
    },
  },
  {
    id: 'AU-108',
    level: 'MUST',
    title: 'An unsettlement for a player who is not known is refused with INVALID_PLAYER',
    source: 'spec 7, D16',
    impact: 'The platform books a clawback as collected from somebody who does not exist.',
    async play(stage) {
      const bet = stage.bet(stage.units(1), `${stage.id()}-${unknownPlayer}`)
      stage.refused(await stage.unsettle(bet, 'UNSCORED'), 'INVALID_PLAYER')
    },
  },
  {
    id: 'AU-109',
    level: 'MUST',
    title: 'Bets of each betType are taken, and one without odds is taken too',
    source: 'spec 4.1',
    impact: 'A whole kind of bets fails in production, and nobody sees it in a test of single bets.',
    async play(stage) {
      let balance = stage.opening
      for (const betType of ['SINGLE', 'MULTIPLE', 'TEASER']) {
        const bet = stage.bet()
        balance = subtract(balance, bet.amount)
        stage.accepted(
          await stage.place(bet, { fields: { betType }, label: `placebet of a ${betType}` }),
          balance,
        )
      }
      const bet = stage.bet()
      const answer = await stage.place(bet, { fields: { odds: undefined }, label: 'placebet without odds' })
      stage.accepted(answer, subtract(balance, bet.amount))
    },
  },
  {
    id: 'AU-110',
    level: 'SHOULD',
    title: 'A placebet with further fields, or with odds of null, is taken',
    source: 'D26',
    impact: 'On the day on which the platform adds a field, every bet is refused.',
    async play(stage) {
      const [first, second] = [stage.bet(), stage.bet()]
      const fields = { brandId: 'b-1', legs: [{ eventId: 7, live: true }] }
      const balance = subtract(stage.opening, first.amount)
      stage.accepted(await stage.place(first, { fields, label: 'placebet with further fields' }), balance)
      const answer = await stage.place(second, {
        fields: { odds: null },
        label: 'placebet with odds of null',
      })
      stage.accepted(answer, subtract(balance, second.amount))
    },
  },
  {
    id: 'AU-111',
    level: 'MUST',
    title: 'A stake in another currency than the player’s is refused and takes nothing',
    source: 'spec 4.1, D23',
    impact: '30 JPY are taken as 30 EUR, or the other way round.',
    async play(stage) {
      const currency = stage.foreignCurrency()
      const answer = await stage.place(stage.bet(), {
        fields: { currency },
        label: `placebet in ${currency}`,
      })
      stage.refused(answer)
      await stage.holds(stage.opening, `after a stake in ${currency} was refused`)
    },
  },
  {
    id: 'AU-112',
    level: 'MUST',
    title: 'Each bet is on its own: the rollback of one gives back its stake and no other',
    source: 'spec 2, 4.3',
    impact: 'A rollback gives back the stake of another bet: too much or too little.',
    async play(stage) {
      const bets = [
        stage.bet(stage.units(110)),
        stage.bet(stage.units(120)),
        stage.bet(stage.units(140)),
      ] as const
      for (const bet of bets) stage.accepted(await stage.place(bet))
      const [first, middle, last] = bets
      const rest = subtract(stage.opening, sumOf(bets))
      stage.accepted(await stage.rollback(middle), add(rest, middle.amount))
      stage.accepted(await stage.rollback(first), subtract(stage.opening, last.amount))
      await stage.holds(subtract(stage.opening, last.amount), 'with one of three bets left')
    },
  },
  {
    id: 'AU-113',
    level: 'MUST',
    title: 'The rollback of a bet that was refused for funds succeeds and gives nothing',
    source: 'spec 4.3, D11',
    impact: 'Money out of nothing: whoever bets more than there is, is paid the stake by the rollback.',
    async play(stage) {
      const bet = stage.bet(add(stage.opening, stage.units(100)))
      stage.refused(await stage.place(bet), 'INSUFFICIENT_FUNDS')
      stage.accepted(await stage.rollback(bet), stage.opening)
      await stage.holds(stage.opening, 'after a refused bet was rolled back')
    },
  },
  {
    id: 'AU-114',
    level: 'SHOULD',
    title:
      'A success is balance, currency and walletTransactionId as text, with nothing else, with the agreed status',
    source: 'spec 2, decisions: errors over HTTP',
    impact: 'A platform that reads strictly refuses the answer, and rolls back bets that were taken.',
    async play(stage) {
      const bet = stage.bet()
      const taken = await stage.place(bet)
      const given = await stage.rollback(bet)
      for (const answer of [taken, given]) {
        stage.accepted(answer)
        const fields = [...(answer.fields?.keys() ?? [])].sort().join(', ')
        if (!/^balance, currency(, walletTransactionId)?$/.test(fields))
          stage.fail('the fields balance, currency and perhaps walletTransactionId', fields, answer)
        if (answer.fields?.has('walletTransactionId') && answer.success?.walletTransactionId === null)
          stage.fail('no walletTransactionId, or one that is text', 'null', answer)
        const agreed = stage.settings.statusCodes.get('SUCCESS') ?? []
        if (!agreed.includes(answer.status ?? 0))
          stage.fail(`status ${agreed.join(' or ')}`, found(answer), answer)
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
    impact: 'Text where a number is expected, or 100.1 where 100.10 is: somebody’s parser or eye stumbles.',
    async play(stage) {
      const bet = stage.bet(stage.units(100))
      for (const answer of [await stage.place(bet), await stage.rollback(bet)]) {
        stage.accepted(answer)
        const balance = numberText(answer.fields?.get('balance'))
        const expected = textOf(answer.success?.balance ?? zero, stage.settings.minorUnits)
        if (balance?.text !== expected || balance.quoted)
          stage.fail(`the JSON number ${expected}`, answer.text.slice(0, 200), answer)
      }
    },
  },
  {
    id: 'AU-116',
    level: 'MAY',
    title: 'Different transactions have different walletTransactionIds',
    source: 'spec 2',
    impact: 'Two movements share one reference, and a dispute cannot be traced.',
    async play(stage) {
      const [first, second] = [stage.bet(), stage.bet()]
      const answers = [await stage.place(first), await stage.place(second), await stage.rollback(first)]
      const references = answers.map(answer => {
        stage.accepted(answer)
        return answer.success?.walletTransactionId ?? null
      })
      const named = references.filter(reference => reference !== null)
      if (new Set(named).size !== named.length)
        stage.fail('three references that differ, where there are any', references.join(', '))
    },
  },
  {
    id: 'AU-117',
    level: 'MAY',
    title: 'A stake of 0 (a free bet) is taken, also without funds',
    source: 'D22',
    impact: 'Free bets that the platform sends with a stake of 0 are refused.',
    async play(stage) {
      const all = stage.units(stage.wholeUnits(stage.opening))
      const rest = await stage.placed(stage.bet(all), stage.opening)
      const answer = await stage.place(stage.bet(zero), { fields: { amount: raw('0') } })
      stage.accepted(answer, rest)
    },
  },
  {
    id: 'AU-118',
    level: 'MUST',
    title: 'One player’s call moves no money of another’s bet',
    source: 'spec 2, D15',
    needs: ['other player'],
    impact: 'A rollback pays the stake of one player to another, or a bet is stolen by its id.',
    async play(stage) {
      const other = stage.settings.otherPlayerId ?? ''
      const others = await stage.balance(other)
      const bet = stage.bet()
      const after = await stage.placed(bet, stage.opening)
      const label = 'rollbackbet in the name of the other player'
      stage.refused(await stage.rollback({ betId: bet.betId, playerId: other }, undefined, { label }))
      await stage.holds(after, 'after another player’s rollback of the bet')
      const theirs = await stage.balance(other)
      if (compare(theirs, others) !== 0)
        stage.fail(`the other player’s balance to stay ${textOf(others)}`, textOf(theirs))
      stage.accepted(await stage.rollback(bet), stage.opening)
    },
  },
  {
    id: 'AU-119',
    level: 'SHOULD',
    title:
      'A call that names another player than the bet’s is refused with INVALID_PLAYER, or INVALID_BET for a placebet',
    source: 'D15',
    needs: ['other player'],
    impact: 'The platform cannot tell a mix-up of players from a bet that is settled.',
    async play(stage) {
      const playerId = stage.settings.otherPlayerId ?? ''
      const bet = stage.bet()
      stage.accepted(await stage.place(bet))
      const label = 'in the name of the other player'
      const rollback = await stage.rollback({ betId: bet.betId, playerId }, undefined, {
        label: `rollbackbet ${label}`,
      })
      stage.refusedAs(rollback, 'INVALID_PLAYER')
      const unsettled = await stage.unsettle({ ...bet, playerId }, 'UNSCORED', undefined, {
        label: `unsettlement ${label}`,
      })
      stage.refusedAs(unsettled, 'INVALID_PLAYER')
      const again = { ...bet, transactionId: stage.id(), playerId }
      stage.refusedAs(await stage.place(again, { label: `placebet ${label}` }), 'INVALID_BET')
    },
  },
  {
    id: 'AU-120',
    level: 'MUST',
    title: 'A transactionId of one player’s bet moves nothing when it comes with another player and bet',
    source: 'spec 1.5, 2, D1, D4',
    needs: ['other player'],
    impact: 'Ids are unique per player only: the platform knows of one transaction, the wallet of two.',
    async play(stage) {
      const other = stage.settings.otherPlayerId ?? ''
      const currency = await stage.currencyOf(other)
      const others = await stage.balance(other)
      const bet = stage.bet()
      const after = await stage.placed(bet, stage.opening)
      const theirs = { ...stage.bet(bet.amount, other), transactionId: bet.transactionId }
      const label = 'placebet of the other player with a known transactionId'
      await stage.place(theirs, { fields: { currency }, label })
      await stage.holds(after, `after a ${label}`)
      const now = await stage.balance(other)
      if (compare(now, others) !== 0)
        stage.fail(`the other player’s balance to stay ${textOf(others)}`, textOf(now))
    },
  },
]
