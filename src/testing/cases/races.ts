/** Requests at the same time, through the handlers: any order will do, but only an order. */

import { add } from '../../money.js'
import { type Answer, call, shownTally, tally } from '../calls.js'
import { anna, ben, placing, refusing } from '../changes.js'
import { type Stage, sameAmount, type Wallet } from '../stage.js'
import type { CaseDefinition } from './case.js'
import { betOf } from './guards.js'

const crowd = 16
const rounds = 4

export const raceCases: readonly CaseDefinition[] = [
  {
    id: 'WS-60',
    level: 'MUST',
    name: 'One placebet many times at once: accepted each time, taken once (P05)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      const answers = await atOnce(crowd, () =>
        call(stage, wallet.store, 'placebet', { transactionId: 't-1', betId: 'b-1' }),
      )
      expectTally(stage, answers, { ok: crowd })
      const references = new Set(
        answers.map(answer => ('walletTransactionId' in answer ? answer.walletTransactionId : 0)),
      )
      stage.check(references.size === 1, 'one walletTransactionId for all of them', [...references])
      await wallet.expectBalance('anna', '70')
    },
  },
  {
    id: 'WS-61',
    level: 'MUST',
    name: 'One transactionId with many bets at once, of two players: one is taken, the others are a TRANSACTION_CONFLICT (D4)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      const answers = await atOnce(crowd, index =>
        call(stage, wallet.store, 'placebet', {
          transactionId: 't-1',
          betId: `b-${index}`,
          amount: '5',
          playerId: index % 2 ? 'anna' : 'ben',
        }),
      )
      expectTally(stage, answers, { ok: 1, TRANSACTION_CONFLICT: crowd - 1 })
      await expectOneStakeOf5(stage, wallet)
    },
  },
  {
    id: 'WS-62',
    level: 'MUST',
    name: 'One betId under many transactionIds at once, of two players: one is taken (D10)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      const answers = await atOnce(crowd, index =>
        call(stage, wallet.store, 'placebet', {
          transactionId: `t-${index}`,
          betId: 'b-1',
          amount: '5',
          playerId: index % 2 ? 'anna' : 'ben',
        }),
      )
      expectTally(stage, answers, { ok: 1, INVALID_BET: crowd - 1 })
      await expectOneStakeOf5(stage, wallet)
    },
  },
  {
    id: 'WS-63',
    level: 'MUST',
    name: 'Many bets on few funds at once: exactly as many are taken as the funds cover (P06)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      const answers = await atOnce(crowd, index =>
        call(stage, wallet.store, 'placebet', {
          transactionId: `t-${index}`,
          betId: `b-${index}`,
          amount: '20',
        }),
      )
      expectTally(stage, answers, { ok: 5, INSUFFICIENT_FUNDS: crowd - 5 })
      await wallet.expectBalance('anna', '0')
    },
  },
  {
    id: 'WS-64',
    level: 'MUST',
    name: 'A placebet and its rollback at once net to zero, in whatever order (R06)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      for (let round = 0; round < rounds; round += 1) {
        const betId = `b-${round}`
        const answers = await atOnce(4, index =>
          index % 2 === round % 2
            ? call(stage, wallet.store, 'placebet', { transactionId: `t-${round}`, betId })
            : call(stage, wallet.store, 'rollbackbet', { transactionId: `r-${round}`, betId }),
        )
        stage.check(
          answers.filter((_, index) => index % 2 !== round % 2).every(({ ok }) => ok),
          'the rollback to succeed',
          answers,
        )
        await wallet.expectBalance('anna', '100', 'a stake that was rolled back has been given back')
        const bet = await betOf(stage, wallet, betId)
        stage.check(bet.status === 'ROLLED_BACK', 'the bet to be rolled back', bet)
      }
    },
  },
  {
    id: 'WS-65',
    level: 'MUST',
    name: 'Two settlements of one bet at once are both credited (D17)',
    async play(stage: Stage) {
      const wallet = await placed(stage)
      const answers = await atOnce(4, index =>
        call(stage, wallet.store, 'settlement', {
          transactionId: `s-${index % 2}`,
          betId: 'b-1',
          amount: '60',
        }),
      )
      expectTally(stage, answers, { ok: 4 })
      await wallet.expectBalance('anna', '190')
      const live = (await betOf(stage, wallet, 'b-1')).credits.BET_PAID?.live
      stage.check(sameAmount(live, '120'), '120 live', live)
    },
  },
  {
    id: 'WS-66',
    level: 'MUST',
    name: 'Two unsettlements of one credit at once collect it once (D18)',
    async play(stage: Stage) {
      const wallet = await paid(stage)
      const answers = await atOnce(4, index =>
        call(stage, wallet.store, 'unsettlement', { transactionId: `u-${index}`, betId: 'b-1' }),
      )
      expectTally(stage, answers, { ok: 1, INVALID_BET: 3 })
      await wallet.expectBalance('anna', '70', 'the credit of 60 was taken back once')
    },
  },
  {
    id: 'WS-67',
    level: 'MUST',
    name: 'A clawback and a placebet on the same funds at once: one of them is taken (U03)',
    async play(stage: Stage) {
      for (const clawbackFirst of [true, false]) {
        const wallet = await paid(stage)
        const [clawback, bet] = await bothAtOnce(
          clawbackFirst,
          () => call(stage, wallet.store, 'unsettlement', { transactionId: 'u-1', betId: 'b-1' }),
          () => call(stage, wallet.store, 'placebet', { transactionId: 't-2', betId: 'b-2', amount: '100' }),
        )
        expectTally(stage, [clawback, bet], { ok: 1, INSUFFICIENT_FUNDS: 1 })
        await wallet.expectBalance('anna', clawback.ok ? '70' : '30')
        const credit = (await betOf(stage, wallet, 'b-1')).credits.BET_PAID
        const kept =
          credit && credit.live === null && sameAmount(clawback.ok ? credit.reversed : credit.owed, '60')
        stage.check(kept === true, `the 60 ${clawback.ok ? 'reversed' : 'owed'}`, credit)
      }
    },
  },
  {
    id: 'WS-68',
    level: 'MUST',
    name: 'Bets of many players at once are all taken, each from its own player',
    async play(stage: Stage) {
      const players = Array.from({ length: crowd }, (_, index) => ({ ...anna, playerId: `p-${index}` }))
      const wallet = await stage.open(players)
      const answers = await atOnce(crowd * 2, index => {
        const id = `${index}`
        return call(stage, wallet.store, 'placebet', {
          transactionId: id,
          betId: id,
          playerId: `p-${index % crowd}`,
        })
      })
      expectTally(stage, answers, { ok: crowd * 2 })
      for (const { playerId } of players) await wallet.expectBalance(playerId, '40')
    },
  },
  {
    id: 'WS-69',
    level: 'MUST',
    name: 'A settlement and a rollback of one bet at once: it is paid or rolled back, never both (D13)',
    async play(stage: Stage) {
      for (const settlementFirst of [true, false]) {
        const wallet = await placed(stage)
        const [settled, rolled] = await bothAtOnce(
          settlementFirst,
          () => call(stage, wallet.store, 'settlement', { transactionId: 's-1', betId: 'b-1' }),
          () => call(stage, wallet.store, 'rollbackbet', { transactionId: 'r-1', betId: 'b-1' }),
        )
        expectTally(stage, [settled, rolled], { ok: 1, INVALID_BET: 1 })
        await wallet.expectBalance('anna', settled.ok ? '130' : '100')
      }
    },
  },
  {
    id: 'WS-70',
    level: 'MUST',
    name: 'One rollback many times at once, under two ids, gives the stake back once (R02)',
    async play(stage: Stage) {
      const wallet = await placed(stage)
      const answers = await atOnce(crowd, index =>
        call(stage, wallet.store, 'rollbackbet', { transactionId: `r-${index % 2}`, betId: 'b-1' }),
      )
      expectTally(stage, answers, { ok: crowd })
      await wallet.expectBalance('anna', '100', 'the stake of 30 was given back once')
    },
  },
  {
    id: 'WS-71',
    level: 'MUST',
    name: 'committed.balance includes its own commit: the new balance when nobody interferes',
    async play(stage: Stage) {
      const wallet = await stage.open()
      const stakes = ['30', '0', '20.5']
      const balances = ['70', '70', '49.5']
      for (const [index, stake] of stakes.entries()) {
        const { balance } = await wallet.committed(
          placing({ transactionId: `t-${index}`, betId: `b-${index}`, stake }),
        )
        stage.check(sameAmount(balance, balances[index]), `${balances[index]} in the answer`, balance)
      }
    },
  },
  {
    id: 'WS-72',
    level: 'MUST',
    name: 'committed.balance is one that the player had between the commit and its answer, also in a crowd',
    async play(stage: Stage) {
      const wallet = await stage.open([anna, ben])
      const results = await atOnce(crowd, index =>
        wallet.commit(placing({ transactionId: `t-${index}`, betId: `b-${index}`, stake: '1' })),
      )
      const balances = results.map(result =>
        result.status === 'committed' ? Number(result.balance) : Number.NaN,
      )
      const final = Number(await wallet.balance('anna'))
      const taken = balances.filter(balance => !Number.isNaN(balance))
      stage.check(
        taken.every(balance => balance >= final && balance <= 99) && Math.min(...taken) === final,
        `answered balances from ${final} (the last) to 99 (the first)`,
        balances,
      )
    },
  },
  {
    id: 'WS-73',
    level: 'MUST',
    name: 'Settlements and rollbacks of different bets of one player at once, with bets beside them, are all in the balance',
    async play(stage: Stage) {
      const wallet = await stage.open()
      for (let index = 0; index < 12; index += 1) {
        await wallet.committed(placing({ transactionId: `t-${index}`, betId: `b-${index}`, stake: '5' }))
      }
      // From 40: 6 settlements of 10, 6 rollbacks of 5, 4 bets of 1.
      const answers = await atOnce(crowd, index => {
        const ids = { transactionId: `n-${index}`, betId: `b-${index}` }
        if (index >= 12) return call(stage, wallet.store, 'placebet', { ...ids, amount: '1' })
        return index % 2 === 0
          ? call(stage, wallet.store, 'settlement', { ...ids, amount: '10' })
          : call(stage, wallet.store, 'rollbackbet', ids)
      })
      expectTally(stage, answers, { ok: crowd })
      await wallet.expectBalance('anna', '126')
    },
  },
  {
    id: 'WS-74',
    level: 'MUST',
    name: 'A refusal and an acceptance of one transactionId at once: one of them is recorded, and the others are conflicts (D6)',
    async play(stage: Stage) {
      const wallet = await stage.open()
      for (let round = 0; round < rounds; round += 1) {
        const ids = { transactionId: `t-${round}`, betId: `b-${round}` }
        const results = await atOnce(crowd, index =>
          wallet.commit((index + round) % 2 === 0 ? refusing(ids) : placing({ ...ids, stake: '5' })),
        )
        const committed = results.filter(({ status }) => status === 'committed').length
        stage.check(committed === 1, `one of ${crowd} committed`, `${committed} committed`)
        const found = await wallet.transaction('placebet', ids.transactionId)
        const bet = await wallet.bet(ids.betId)
        const fits = found !== null && (found.refusal === null) === (bet !== null)
        stage.check(fits, 'a bet where it was accepted, and none where it was refused', { found, bet })
      }
    },
  },
]

async function atOnce<T>(count: number, start: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => start(index)))
}

/** Who is sent first comes first on most stores, and so both orders are played. */
async function bothAtOnce<T>(
  inOrder: boolean,
  one: () => Promise<T>,
  other: () => Promise<T>,
): Promise<[T, T]> {
  const sent = inOrder ? [one(), other()] : [other(), one()].reverse()
  return (await Promise.all(sent)) as [T, T]
}

async function expectOneStakeOf5(stage: Stage, wallet: Wallet): Promise<void> {
  const sum = add(await wallet.balance('anna'), await wallet.balance('ben'))
  stage.check(sameAmount(sum, '195'), 'one stake of 5 taken: 195 left of 100 and 100', sum)
}

async function placed(stage: Stage): Promise<Wallet> {
  const wallet = await stage.open()
  await wallet.committed(placing({ transactionId: 't-1', betId: 'b-1' }))
  return wallet
}

async function paid(stage: Stage): Promise<Wallet> {
  const wallet = await placed(stage)
  const answer = await call(stage, wallet.store, 'settlement', {
    transactionId: 's-1',
    betId: 'b-1',
    amount: '60',
  })
  stage.check(answer.ok, 'the settlement to be credited', answer)
  return wallet
}

function expectTally(stage: Stage, answers: readonly Answer[], expected: Record<string, number>): void {
  const found = tally(answers)
  const same = Object.keys({ ...found, ...expected }).every(key => found[key] === expected[key])
  stage.check(same, `the answers to be ${shownTally(expected)}`, shownTally(found))
}
