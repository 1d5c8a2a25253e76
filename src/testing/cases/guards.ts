/** Each guard alone, the others satisfied; and nothing is written where one does not hold. */
import { add, subtract } from '../../money.js'
import type { Bet } from '../../store.js'
import {
  anna,
  ben,
  chen,
  crediting,
  entombing,
  placing,
  refusing,
  reversing,
  rollingBack,
} from '../changes.js'
import { type Stage, sameAmount, type Wallet } from '../stage.js'
import type { CaseDefinition } from './case.js'

export const guardCases: readonly CaseDefinition[] = [
  {
    id: 'WS-20',
    level: 'MUST',
    name: 'Guard 1: a transaction that is recorded is a conflict, also for another bet (D1)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      await wallet.conflicts(placing({ transactionId: 't-1', betId: 'b-2' }), 'the transaction is recorded')
      await wallet.expectBalance('anna', '70')
    },
  },
  {
    id: 'WS-21',
    level: 'MUST',
    name: 'Guard 1: transactionIds are unique over all players (D1)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      const ofBen = placing({ transactionId: 't-1', betId: 'b-2', player: ben })
      await wallet.conflicts(ofBen, 'the transaction of another player has this id')
      const found = await wallet.transaction('placebet', 't-1')
      stage.check(found?.playerId === 'anna', "t-1 to stay anna's", found)
    },
  },
  {
    id: 'WS-22',
    level: 'MUST',
    name: 'Guard 1: a transaction is known by operation and id: the placebet’s id can be the rollback’s (D1)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      const bet = await betOf(stage, wallet, 'b-1')
      await wallet.committed(rollingBack(bet, { transactionId: 't-1' }))
      await wallet.expectBalance('anna', '100')
      const [placed, rolled] = [
        await wallet.transaction('placebet', 't-1'),
        await wallet.transaction('rollbackbet', 't-1'),
      ]
      stage.check(sameAmount(placed?.delta, '-30'), 'the placebet to keep its delta of -30', placed)
      stage.check(sameAmount(rolled?.delta, '30'), 'the rollbackbet to have a delta of 30', rolled)
    },
  },
  {
    id: 'WS-23',
    level: 'MUST',
    name: 'Guard 1: a recorded refusal takes its transactionId like any other (D6)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(refusing({ transactionId: 't-1', betId: 'b-1' }))
      await wallet.conflicts(placing({ transactionId: 't-1', betId: 'b-1' }), 'its refusal is recorded')
      await wallet.expectBalance('anna', '100')
    },
  },
  {
    id: 'WS-24',
    level: 'MUST',
    name: 'Guard 2: a new bet whose id is known is a conflict, under another transaction (D10)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      await wallet.conflicts(placing({ transactionId: 't-2', betId: 'b-1' }), 'the bet is known')
    },
  },
  {
    id: 'WS-25',
    level: 'MUST',
    name: 'Guard 2: betIds are unique over all players (D1)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      await wallet.conflicts(placing({ transactionId: 't-2', betId: 'b-1', player: ben }), 'the bet is known')
      const bet = await betOf(stage, wallet, 'b-1')
      stage.check(bet.playerId === 'anna', "b-1 to stay anna's", bet)
    },
  },
  {
    id: 'WS-26',
    level: 'MUST',
    name: 'Guard 2: a tombstone takes its betId: a bet that comes after its rollback is a conflict (D11)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(entombing({ transactionId: 'r-1', betId: 'b-1' }))
      await wallet.conflicts(placing({ transactionId: 't-1', betId: 'b-1' }), 'the bet was rolled back')
      await wallet.expectBalance('anna', '100')
    },
  },
  {
    id: 'WS-27',
    level: 'MUST',
    name: 'Guard 2: a change built on an older revision of the bet is a conflict',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      const old = await betOf(stage, wallet, 'b-1')
      await wallet.committed(crediting(old, { transactionId: 's-1', amount: '60' }))
      await wallet.conflicts(
        crediting(old, { transactionId: 's-2', amount: '5' }),
        'the bet has changed since',
      )
      await wallet.conflicts(rollingBack(old, { transactionId: 'r-1' }), 'the bet has changed since')
      await wallet.expectBalance('anna', '130')
    },
  },
  {
    id: 'WS-28',
    level: 'MUST',
    name: 'Guard 2: a change of a bet that is not there is a conflict, and so is one that skips a revision',
    async play(stage: Stage) {
      const wallet = await stage.open()
      const ghost: Bet = { ...bareBet('b-1'), revision: 1 }
      await wallet.conflicts(crediting(ghost, { transactionId: 's-1', amount: '60' }), 'there is no such bet')
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      const ahead: Bet = { ...(await betOf(stage, wallet, 'b-1')), revision: 2 }
      await wallet.conflicts(
        crediting(ahead, { transactionId: 's-2', amount: '60' }),
        'revision 2 is not stored yet',
      )
    },
  },
  {
    id: 'WS-29',
    level: 'MUST',
    name: 'Guard 2: the revision rises by one with every change of the bet',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      const changes = [
        (bet: Bet) => crediting(bet, { transactionId: 's-1', amount: '60' }),
        (bet: Bet) => reversing(bet, { transactionId: 'u-1' }),
        (bet: Bet) => crediting(bet, { transactionId: 's-2', amount: '0' }),
        (bet: Bet) => reversing(bet, { transactionId: 'u-2', closed: true }),
        (bet: Bet) => rollingBack(bet, { transactionId: 'r-1' }),
      ]
      for (const [index, change] of changes.entries()) {
        const bet = await betOf(stage, wallet, 'b-1')
        stage.check(bet.revision === index + 1, `revision ${index + 1}`, bet.revision)
        await wallet.committed(change(bet))
      }
    },
  },
  {
    id: 'WS-30',
    level: 'MUST',
    name: 'Guard 3: a stake above the balance is a conflict, and one of exactly the balance is not',
    async play(stage: Stage) {
      const wallet = await stage.open()
      const above = placing({ transactionId: 't-1', betId: 'b-1', stake: '100.01' })
      await wallet.conflicts(above, 'the balance would fall below its floor')
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1', stake: '100' }))
      await wallet.expectBalance('anna', '0')
    },
  },
  {
    id: 'WS-31',
    level: 'MUST',
    name: 'Guard 3: the floor is the one that commit is given, also where it is not 0',
    async play(stage: Stage) {
      const wallet = await stage.open()
      const withFloor = (floor: string, transactionId: string) => {
        const changes = placing({ transactionId, betId: transactionId, stake: '30' })
        return { ...changes, balance: { currency: 'EUR', delta: '-30', floor } }
      }
      await wallet.conflicts(withFloor('70.01', 't-1'), '70 would be below the floor of 70.01')
      await wallet.committed(withFloor('70', 't-2'))
      await wallet.expectBalance('anna', '70')
    },
  },
  {
    id: 'WS-32',
    level: 'MUST',
    name: 'Guard 3: amounts are compared as numbers: 9 is less than 10, and 100 is more than 20',
    async play(stage: Stage) {
      const wallet = await stage.open([
        { ...anna, balance: '9' },
        { ...ben, balance: '100' },
      ])
      await wallet.conflicts(
        placing({ transactionId: 't-1', betId: 'b-1', stake: '10' }),
        '9 does not cover 10',
      )
      await wallet.committed(placing({ transactionId: 't-2', betId: 'b-2', stake: '20', player: ben }))
      await wallet.expectBalance('ben', '80')
    },
  },
  {
    id: 'WS-33',
    level: 'MUST',
    name: 'Guard 3: another currency than the player’s is a conflict, taking and giving (D23)',
    async play(stage: Stage) {
      const wallet = await stage.open([anna, chen])
      const inEuro = { ...chen, currency: 'EUR' }
      await wallet.conflicts(
        placing({ transactionId: 't-1', betId: 'b-1', player: inEuro }),
        'the player has another currency',
      )
      await wallet.committed(placing({ transactionId: 't-2', betId: 'b-2', player: chen }))
      const bet = await betOf(stage, wallet, 'b-2')
      await wallet.conflicts(
        crediting(bet, { transactionId: 's-1', amount: '60', player: inEuro }),
        'the player has another currency',
      )
      await wallet.expectBalance('chen', '9970')
    },
  },
  {
    id: 'WS-34',
    level: 'MUST',
    name: 'Guard 3: without a floor money is given, also to a balance below 0',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      // Below 0 by a change without a floor, as the PAM's own rules may have it.
      const bet = await betOf(stage, wallet, 'b-1')
      const overdrawn = crediting(bet, { transactionId: 's-1', amount: '0' })
      const taken = { ...overdrawn, balance: { currency: 'EUR', delta: '-100', floor: null } }
      const result = await wallet.commit({ ...taken, transaction: { ...taken.transaction, delta: '-100' } })
      if (result.status !== 'committed') {
        stage.check(
          result.status === 'refused',
          'committed or refused: a store may forbid balances below 0',
          result,
        )
        return
      }
      await wallet.committed(
        crediting(await betOf(stage, wallet, 'b-1'), { transactionId: 's-2', amount: '5' }),
      )
      await wallet.expectBalance('anna', '-25')
    },
  },
  {
    id: 'WS-35',
    level: 'MUST',
    name: 'Where nothing moves (balance is null), no floor is tested and the balance stays as it is',
    async play(stage: Stage) {
      const wallet = await stage.open([{ ...anna, balance: '0' }, ben])
      const { balance } = await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1', stake: '0' }))
      stage.check(sameAmount(balance, '0'), 'the balance of 0 in the answer', balance)
      await wallet.committed(entombing({ transactionId: 'r-2', betId: 'b-2' }))
      await wallet.committed(refusing({ transactionId: 't-3', betId: 'b-3' }))
      await wallet.expectBalance('anna', '0')
      await wallet.expectBalance('ben', '100')
    },
  },
  {
    id: 'WS-36',
    level: 'MUST',
    name: 'Only the player of the transaction is moved, and only the bet of the changes is written',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      await wallet.committed(placing({ transactionId: 't-2', betId: 'b-2', player: ben, stake: '5' }))
      const second = await betOf(stage, wallet, 'b-2')
      await wallet.committed(
        crediting(await betOf(stage, wallet, 'b-1'), { transactionId: 's-1', amount: '60' }),
      )
      await wallet.expectBet(second)
      await wallet.expectBalance('anna', '130')
      await wallet.expectBalance('ben', '95')
    },
  },
  {
    id: 'WS-37',
    level: 'MUST',
    name: 'Guard 1 holds for every operation, and for refusals: what is recorded is never recorded again (D1)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      const recorded = 'the transaction is recorded, for another bet'
      for (const betId of ['b-1', 'b-2']) await wallet.committed(placing({ transactionId: betId, betId }))
      const first = () => betOf(stage, wallet, 'b-1')
      const second = () => betOf(stage, wallet, 'b-2')
      await wallet.committed(crediting(await first(), { transactionId: 's-1', amount: '60' }))
      await wallet.conflicts(crediting(await second(), { transactionId: 's-1', amount: '60' }), recorded)
      await wallet.committed(crediting(await second(), { transactionId: 's-2', amount: '60' }))
      await wallet.committed(reversing(await first(), { transactionId: 'u-1' }))
      await wallet.conflicts(reversing(await second(), { transactionId: 'u-1' }), recorded)
      await wallet.committed(reversing(await second(), { transactionId: 'u-2' }))
      await wallet.committed(rollingBack(await first(), { transactionId: 'r-1' }))
      await wallet.conflicts(rollingBack(await second(), { transactionId: 'r-1' }), recorded)
      await wallet.conflicts(entombing({ transactionId: 'r-1', betId: 'b-3' }), recorded)
      await wallet.conflicts(refusing({ transactionId: 'b-1', betId: 'b-1' }), 'the bet was accepted')
      await wallet.expectBalance('anna', '70')

      const ofAnna = 'the transaction is recorded, for another player'
      await wallet.committed(placing({ transactionId: 'b-9', betId: 'b-9', player: ben }))
      const bens = () => betOf(stage, wallet, 'b-9')
      await wallet.conflicts(
        crediting(await bens(), { transactionId: 's-1', amount: '60', player: ben }),
        ofAnna,
      )
      await wallet.committed(crediting(await bens(), { transactionId: 's-9', amount: '60', player: ben }))
      await wallet.conflicts(reversing(await bens(), { transactionId: 'u-1', player: ben }), ofAnna)
      await wallet.committed(reversing(await bens(), { transactionId: 'u-9', player: ben }))
      await wallet.conflicts(rollingBack(await bens(), { transactionId: 'r-1', player: ben }), ofAnna)
      await wallet.expectBalance('ben', '70')
    },
  },
  {
    id: 'WS-38',
    level: 'MUST',
    name: 'Guard 2 holds for every operation: a settlement of any type or of nothing, an unsettlement, a tombstone',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      await wallet.conflicts(entombing({ transactionId: 'r-1', betId: 'b-1' }), 'the bet has come since')
      await wallet.committed(
        crediting(await betOf(stage, wallet, 'b-1'), { transactionId: 's-1', amount: '60' }),
      )
      const paid = await betOf(stage, wallet, 'b-1')
      await wallet.committed(reversing(paid, { transactionId: 'u-1' }))
      for (const type of ['BET_PAID', 'VOIDED', 'CASHOUT'] as const) {
        for (const amount of ['0', '5']) {
          const late = crediting(paid, { transactionId: `s-${type}-${amount}`, type, amount })
          await wallet.conflicts(late, 'the bet has changed since')
        }
      }
      await wallet.conflicts(reversing(paid, { transactionId: 'u-2' }), 'the credit was reversed since')
      const closing = reversing(paid, { transactionId: 'u-3', closed: true })
      await wallet.conflicts(closing, 'the credit was reversed since')
      await wallet.expectBalance('anna', '70')
    },
  },
  {
    id: 'WS-39',
    level: 'MUST',
    name: 'Guard 3 tests the very balance that load shows, for a stake as for a clawback',
    async play(stage: Stage) {
      const wallet = await stage.open()
      await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
      await wallet.committed(
        crediting(await betOf(stage, wallet, 'b-1'), { transactionId: 's-1', amount: '60' }),
      )
      const paid = await betOf(stage, wallet, 'b-1')
      const shown = await wallet.balance('anna')
      const above = placing({ transactionId: 't-2', betId: 'b-2', stake: add(shown, '0.01') })
      await wallet.conflicts(above, `load shows ${shown}, a cent less`)
      const spent = subtract(shown, '59.99')
      await wallet.committed(placing({ transactionId: 't-3', betId: 'b-3', stake: spent }))
      await wallet.conflicts(
        reversing(paid, { transactionId: 'u-1' }),
        'load shows 59.99, and 60 are to be taken',
      )
      await wallet.committed(placing({ transactionId: 't-4', betId: 'b-4', stake: '59.99' }))
      await wallet.expectBalance('anna', '0')
    },
  },
]

export async function betOf(stage: Stage, wallet: Wallet, betId: string): Promise<Bet> {
  const bet = await wallet.bet(betId)
  stage.check(bet !== null, `the bet ${betId}`, bet)
  return bet
}

function bareBet(betId: string): Bet {
  return { betId, playerId: 'anna', currency: 'EUR', stake: '30', status: 'PLACED', credits: {}, revision: 1 }
}
