/** What is stored is what comes back: nulls, amounts, ids, records. */
import { add, type Decimal, negate, subtract } from '../../money.js'
import type { Player, WalletChanges } from '../../store.js'
import { anna, chen, crediting, entombing, placing, refusing, reversing } from '../changes.js'
import { type Stage, sameAmount, sameTransaction, type Wallet } from '../stage.js'
import { short, shown } from '../story.js'
import type { CaseDefinition } from './case.js'

export const shapeCases: readonly CaseDefinition[] = [
  {
    id: 'WS-01',
    level: 'MUST',
    name: 'What is not there is null: an unknown player, bet and transaction',
    async play(stage: Stage) {
      const wallet = await stage.open()
      const found = await wallet.store.load({
        operation: 'placebet',
        transactionId: 't-0',
        playerId: 'nobody',
        betId: 'b-0',
      })
      for (const part of ['player', 'bet', 'transaction'] as const) {
        stage.check(found[part] === null, `${part} to be null`, found[part])
      }
    },
  },
  {
    id: 'WS-02',
    level: 'MUST',
    name: 'A player comes back with currency and balance as decimal text',
    async play(stage: Stage) {
      const wallet = await stage.open([anna, chen])
      for (const expected of [anna, chen]) {
        const found = await wallet.player(expected.playerId)
        const same =
          found !== null &&
          found.playerId === expected.playerId &&
          found.currency === expected.currency &&
          sameAmount(found.balance, expected.balance)
        stage.check(same, `the player ${shown(expected)}`, found)
      }
    },
  },
  {
    id: 'WS-03',
    level: 'MUST',
    name: 'A bet and its transaction come back as they were committed',
    async play(stage: Stage) {
      const wallet = await stage.open()
      const changes = placing({ transactionId: 't-1', betId: 'b-1' })
      const { walletTransactionId } = await wallet.committed(changes)
      await wallet.expectBet(changes.bet as NonNullable<WalletChanges['bet']>)
      await expectTransaction(stage, wallet, changes)
      const found = await wallet.transaction('placebet', 't-1')
      stage.check(
        found?.walletTransactionId === walletTransactionId,
        `the walletTransactionId that commit answered: ${walletTransactionId}`,
        found?.walletTransactionId,
      )
    },
  },
  {
    id: 'WS-04',
    level: 'MUST',
    name: 'A refusal comes back with code and description: it sticks (D6, D7)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      const description = 'Grenze erreicht: ß, 限度, "quoted", it\'s \\ final'
      const refused = refusing({
        transactionId: 't-1',
        betId: 'b-1',
        errorCode: 'LIMIT_REACHED',
        description,
      })
      await wallet.committed(refused)
      await expectTransaction(stage, wallet, refused)
      const bet = await wallet.bet('b-1')
      stage.check(bet === null, 'no bet from a refusal', bet)
      await wallet.expectBalance('anna', '100')
    },
  },
  {
    id: 'WS-05',
    level: 'MUST',
    name: 'Credits are kept per settlement type, and a type never credited has no key (D18)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      const expected = { BET_PAID: '60', VOIDED: '30', CASHOUT: '7.5' } as const
      let bet = await wallet.bet('b-1')
      stage.check(
        bet !== null && Object.keys(bet.credits).length === 0,
        'credits to be {} at first',
        bet?.credits,
      )
      for (const [type, amount] of Object.entries(expected) as [keyof typeof expected, Decimal][]) {
        await wallet.committed(crediting(bet, { transactionId: `s-${type}`, type, amount }))
        bet = await wallet.bet('b-1')
        stage.check(bet !== null, 'the bet', bet)
      }
      for (const [type, amount] of Object.entries(expected) as [keyof typeof expected, Decimal][]) {
        const credit = bet.credits[type]
        const same = credit !== undefined && sameAmount(credit.live, amount) && sameAmount(credit.owed, '0')
        stage.check(same, `${type} to have ${amount} live`, bet.credits)
      }
      await wallet.committed(reversing(bet, { transactionId: 'u-1', type: 'VOIDED' }))
      const { credits } = (await wallet.bet('b-1')) ?? bet
      const others =
        sameAmount(credits.BET_PAID?.live, expected.BET_PAID) &&
        sameAmount(credits.CASHOUT?.live, expected.CASHOUT)
      stage.check(others, 'BET_PAID and CASHOUT as they were, after VOIDED was reversed', credits)
    },
  },
  {
    id: 'WS-06',
    level: 'MUST',
    name: 'What was reversed and what is owed are remembered beside what is live, null apart from 0 (D7, D18)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      const steps = [
        { amount: '60', closed: false, reversed: '60', owed: '0' },
        { amount: '40', closed: true, reversed: '60', owed: '40' },
        { amount: '0', closed: false, reversed: '60', owed: '40' },
      ]
      for (const [index, { amount, closed, reversed, owed }] of steps.entries()) {
        const placed = await wallet.bet('b-1')
        stage.check(placed !== null, 'the bet', placed)
        await wallet.committed(crediting(placed, { transactionId: `s-${index}`, amount }))
        const paid = await wallet.bet('b-1')
        const live = paid?.credits.BET_PAID?.live
        stage.check(paid !== null && sameAmount(live, amount), `${amount} live`, live)
        await wallet.committed(reversing(paid, { transactionId: `u-${index}`, closed }))
        const credit = (await wallet.bet('b-1'))?.credits.BET_PAID
        const same =
          credit !== undefined &&
          credit.live === null &&
          sameAmount(credit.reversed, reversed) &&
          sameAmount(credit.owed, owed)
        stage.check(same, `live null, reversed ${reversed}, owed ${owed}`, credit)
      }
    },
  },
  {
    id: 'WS-07',
    level: 'MUST',
    name: 'A tombstone is a bet: rolled back, stake 0, of that player (D11)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      const tombstone = entombing({ transactionId: 'r-1', betId: 'b-1' })
      await wallet.committed(tombstone)
      await wallet.expectBet(tombstone.bet as NonNullable<WalletChanges['bet']>)
    },
  },
  {
    id: 'WS-08',
    level: 'MUST',
    name: 'Amounts are exact up to the declared digits and scale, in stakes, credits, deltas and balances (D21)',
    async play(stage: Stage) {
      for (const amount of amountsWithin(limitsOf(stage))) {
        const rich: Player = { ...anna, balance: amount }
        const wallet = await stage.open([rich])
        await wallet.expectBalance('anna', amount)
        await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1', stake: amount }))
        await wallet.expectBalance('anna', '0')
        const bet = await wallet.bet('b-1')
        stage.check(bet !== null && sameAmount(bet.stake, amount), `a stake of exactly ${amount}`, bet?.stake)
        const transaction = await wallet.transaction('placebet', 't-1')
        stage.check(
          sameAmount(transaction?.amount, amount),
          `an amount of exactly ${amount}`,
          transaction?.amount,
        )
        stage.check(
          sameAmount(transaction?.delta, negate(amount)),
          `a delta of exactly ${negate(amount)}`,
          transaction?.delta,
        )
        const { balance } = await wallet.committed(crediting(bet, { transactionId: 's-1', amount }))
        stage.check(sameAmount(balance, amount), `an answered balance of exactly ${amount}`, balance)
        const live = (await wallet.bet('b-1'))?.credits.BET_PAID?.live
        stage.check(sameAmount(live, amount), `a live credit of exactly ${amount}`, live)
      }
    },
  },
  {
    id: 'WS-09',
    level: 'MUST',
    name: 'Sums are exact: 0.1 + 0.2 is 0.3, and a great balance keeps its smallest unit (D21)',
    async play(stage: Stage) {
      const { digits, scale } = limitsOf(stage)
      const unit = scale === 0 ? '1' : `0.${'0'.repeat(scale - 1)}1`
      const great = subtract(`1${'0'.repeat(digits - scale)}`, unit)
      const wallet = await stage.open([{ ...anna, balance: great }])
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1', stake: unit }))
      await wallet.expectBalance('anna', subtract(great, unit))
      if (scale === 0) return
      const small = await stage.open([{ ...anna, balance: '0.3' }])
      for (const part of ['1', '2', '3']) {
        await small.committed(placing({ transactionId: `t-${part}`, betId: `b-${part}`, stake: '0.1' }))
      }
      await small.expectBalance('anna', '0')
    },
  },
  {
    id: 'WS-10',
    level: 'MUST',
    name: 'An amount just beyond the declared limits is exact, refused or a fault; never rounded or wrapped (D22)',
    needs: ['limits'],
    async play(stage: Stage) {
      const { digits, scale } = limitsOf(stage)
      const tooFine = `1.${'0'.repeat(scale)}1`
      const wallet = await stage.open([{ ...anna, balance: digits - scale >= 2 ? '10' : '1' }])
      const before = await wallet.balance('anna')
      const changes = placing({ transactionId: 't-1', betId: 'b-1', stake: tooFine })
      await exactOrNothing(stage, wallet, changes, before)

      const tooGreat = `1${'0'.repeat(digits - scale)}`
      const second = await stage.open()
      await second.committed(placing({ transactionId: 't-1', betId: 'b-1', stake: '1' }))
      const bet = await second.bet('b-1')
      stage.check(bet !== null, 'the bet', bet)
      await exactOrNothing(stage, second, crediting(bet, { transactionId: 's-1', amount: tooGreat }), '99')
    },
  },
  {
    id: 'WS-11',
    level: 'MUST',
    name: 'Ids of 255 characters are told apart by their last one (D24)',
    play: stage =>
      tellApart(stage, ['x'.repeat(254).concat('a'), 'x'.repeat(254).concat('b'), 'x'.repeat(254)]),
  },
  {
    id: 'WS-12',
    level: 'MUST',
    name: 'Ids are told apart by case (D24)',
    play: stage => tellApart(stage, ['abc', 'ABC', 'aBc']),
  },
  {
    id: 'WS-13',
    level: 'MUST',
    name: 'Ids are told apart by spaces at either end (D24)',
    play: stage => tellApart(stage, ['abc', ' abc', 'abc ', 'abc  ']),
  },
  {
    id: 'WS-14',
    level: 'MUST',
    name: 'Ids of any language come back as they were, accents and composition told apart (D24)',
    play: stage =>
      tellApart(stage, [
        'é',
        'e\u0301',
        'e',
        'ß',
        'ss',
        '球',
        '🏇'.repeat(60),
        "o'hara; --",
        '100%_',
        '"\\n',
        '{}',
      ]),
  },
  {
    id: 'WS-15',
    level: 'MUST',
    name: 'Ids that look like numbers stay text (D24)',
    play: stage =>
      tellApart(stage, ['1', '01', '1.0', '1e0', '+1', '12345678901234567890', '12345678901234567891']),
  },
  {
    id: 'WS-16',
    level: 'MUST',
    name: 'What was handed over can be changed by its owner afterwards, without a trace in the store',
    async play(stage: Stage) {
      const wallet = await stage.open()
      const changes = placing({ transactionId: 't-1', betId: 'b-1' })
      await wallet.committed(changes)
      stage.story.tell('kit', 'changes the objects that it gave to commit')
      scribble(changes)
      const bet = await wallet.bet('b-1')
      stage.check(
        bet !== null && sameAmount(bet.stake, '30') && bet.revision === 1,
        'the bet as committed',
        bet,
      )

      stage.story.tell('kit', 'changes the objects that it got from load')
      const keys = { operation: 'placebet', transactionId: 't-1', playerId: 'anna', betId: 'b-1' } as const
      scribble(await wallet.store.load(keys))
      await wallet.expectBalance('anna', '70')
      await wallet.expectBet(
        placing({ transactionId: 't-1', betId: 'b-1' }).bet as NonNullable<WalletChanges['bet']>,
      )
      await expectTransaction(stage, wallet, placing({ transactionId: 't-1', betId: 'b-1' }))
    },
  },
  {
    id: 'WS-17',
    level: 'MUST',
    name: 'Bet and transaction are found by their own ids alone, whichever player and bet are asked for with them (D4, D15, D16)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      const asked = [
        { playerId: 'ben', betId: 'b-1' },
        { playerId: 'nobody', betId: 'b-1' },
        { playerId: 'anna', betId: 'b-2' },
      ]
      for (const { playerId, betId } of asked) {
        const found = await wallet.store.load({
          operation: 'placebet',
          transactionId: 't-1',
          playerId,
          betId,
        })
        const { bet, transaction } = found
        stage.check(
          transaction?.playerId === 'anna' && transaction.betId === 'b-1',
          `t-1 as it is, anna's on b-1, also when ${playerId} and ${betId} are asked for`,
          transaction,
        )
        if (betId === 'b-2') stage.check(bet === null, 'no bet b-2', bet)
        else
          stage.check(
            bet?.playerId === 'anna',
            `b-1 as it is, anna's, also when ${playerId} is asked for`,
            bet,
          )
      }
    },
  },
  {
    id: 'WS-18',
    level: 'MUST',
    name: 'Texts come back whole at their full length: ids of 255 characters, a code of 64, a description of 500 (D24)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      // Of each character four bytes in UTF-8, and two units in UTF-16; and it is the last one that tells them apart.
      const [first, second] = ['1', '2'].map(last => '🏇'.repeat(254).concat(last)) as [string, string]
      const placed = placing({ transactionId: first, betId: first })
      await wallet.committed(placed)
      await wallet.expectBet(placed.bet as NonNullable<WalletChanges['bet']>)
      await expectTransaction(stage, wallet, placed)
      const refused = refusing({
        transactionId: second,
        betId: second,
        errorCode: 'LIMIT_'.padEnd(64, 'X'),
        description: '限度'.repeat(249).concat('🏇'),
      })
      await wallet.committed(refused)
      await expectTransaction(stage, wallet, refused)
    },
  },
  {
    id: 'WS-19',
    level: 'SHOULD',
    name: 'The platform’s date comes back to the millisecond, as an instant in UTC (D25)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      // Where clocks skip an hour, after 2038, and before 1970.
      const dates = ['2026-03-29T01:30:00.001Z', '2049-12-31T23:59:59.999Z', '1969-07-20T20:17:40.123Z']
      for (const [index, date] of dates.entries()) {
        const changes = placing({ transactionId: `t-${index}`, betId: `b-${index}`, stake: '1' })
        await wallet.committed({ ...changes, transaction: { ...changes.transaction, transactionDate: date } })
        const found = (await wallet.transaction('placebet', `t-${index}`))?.transactionDate
        stage.check(found === date, `the transactionDate ${date}`, found)
      }
    },
  },
]

async function expectTransaction(
  stage: Stage,
  wallet: Wallet,
  { transaction }: WalletChanges,
): Promise<void> {
  const found = await wallet.transaction(transaction.operation, transaction.transactionId)
  stage.check(
    found !== null && sameTransaction(found, transaction),
    `the transaction ${shown(transaction)}`,
    found,
  )
}

function limitsOf(stage: Stage): { digits: number; scale: number } {
  return stage.harness.limits ?? { digits: 33, scale: 18 }
}

function amountsWithin({ digits, scale }: { digits: number; scale: number }): Decimal[] {
  const whole = digits - scale
  const most = '9'.repeat(whole) + (scale === 0 ? '' : `.${'9'.repeat(scale)}`)
  const pattern = '1234567890'.repeat(4)
  const mixed =
    pattern.slice(0, whole) + (scale === 0 ? '' : `.${pattern.slice(0, scale).replace(/0$/, '1')}`)
  const cents = scale >= 2 ? ['0.01', '0.07', '1.1'] : []
  const least = scale === 0 ? '1' : `0.${'0'.repeat(scale - 1)}1`
  return [most, mixed, least, ...cents]
}

/** Two players, bets and transactions by each of the ids must not meet. */
async function tellApart(stage: Stage, ids: readonly string[]): Promise<void> {
  const players = ids.map((playerId, index) => ({ playerId, currency: 'EUR', balance: String(100 + index) }))
  const wallet = await stage.open(players)
  for (const [index, player] of players.entries()) {
    const id = player.playerId
    const others = ids.filter(other => other !== id).map(short)
    await wallet.committed(
      placing({ transactionId: id, betId: id, player, stake: String(index + 1) }),
      `${short(id)} is another id than ${others.join(', ')}`,
    )
  }
  for (const [index, player] of players.entries()) {
    const id = player.playerId
    const found = await wallet.player(id)
    stage.check(found?.playerId === id, `the player ${short(id)}`, found)
    await wallet.expectBalance(id, '99')
    const bet = await wallet.bet(id)
    stage.check(
      bet !== null && bet.betId === id && bet.playerId === id && sameAmount(bet.stake, String(index + 1)),
      `the bet ${short(id)} with a stake of ${index + 1}`,
      bet,
    )
    const transaction = await wallet.transaction('placebet', id)
    stage.check(
      transaction !== null && transaction.transactionId === id && transaction.betId === id,
      `the transaction ${short(id)}`,
      transaction,
    )
  }
}

/** Beyond the limits: all of it exactly, or none of it. */
async function exactOrNothing(
  stage: Stage,
  wallet: Wallet,
  changes: WalletChanges,
  before: Decimal,
): Promise<void> {
  const { transaction, balance } = changes
  const result = await wallet.commit(changes).catch((error: unknown) => ({ status: 'threw' as const, error }))
  const after = await wallet.balance('anna')
  const found = await wallet.transaction(transaction.operation, transaction.transactionId)
  if (result.status === 'committed') {
    const exact = add(before, balance?.delta ?? '0')
    stage.check(sameAmount(after, exact), `a balance of exactly ${exact}, or a refusal`, after)
    stage.check(
      sameAmount(found?.amount, transaction.amount),
      `an amount of exactly ${transaction.amount}`,
      found?.amount,
    )
    return
  }
  stage.check(
    result.status === 'refused' || result.status === 'threw',
    'committed exactly, refused, or a fault that says why',
    result,
  )
  stage.check(sameAmount(after, before) && found === null, `nothing written, balance ${before}`, {
    after,
    found,
  })
}

/** Changes whatever can be changed, deeply; frozen objects are fine too. */
function scribble(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) {
    scribble(item)
    if (typeof item !== 'object') Reflect.set(value, key, typeof item === 'number' ? item + 7 : 'scribbled')
  }
  if ('credits' in value)
    Reflect.set(value.credits as object, 'VOIDED', { live: '1', reversed: '0', owed: '0' })
}
