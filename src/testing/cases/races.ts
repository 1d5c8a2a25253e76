/** Concurrent requests through the handlers: the result must be that of some sequential order. */
import { add } from '../../money.js'
import type { WalletStore } from '../../store.js'
import type { CaseContext, CaseDefinition } from '../case-context.js'
import { anna, ben, placeBet, refuseBet } from '../changes.js'
import { sameAmount } from '../equality.js'
import { commitTogether } from '../gathered-commits.js'
import { type CallResult, call, shownTally, tally } from '../platform-calls.js'
import type { Wallet } from '../wallet.js'

const concurrentCalls = 16
const rounds = 4

export const raceCases: readonly CaseDefinition[] = [
  {
    id: 'WS-60',
    level: 'MUST',
    name: 'Concurrent copies of one placebet all succeed and debit the stake once (P05)',
    async run(context: CaseContext) {
      const wallet = await context.open()
      const answers = await concurrently(concurrentCalls, () =>
        call(context, wallet.store, 'placebet', { transactionId: 't-1', betId: 'b-1' }),
      )
      expectTally(context, answers, { ok: concurrentCalls })
      const references = new Set(
        answers.map(answer => ('walletTransactionId' in answer ? answer.walletTransactionId : 0)),
      )
      context.check(references.size === 1, 'one walletTransactionId for all of them', [...references])
      await wallet.expectBalance('anna', '70')
    },
  },
  {
    id: 'WS-61',
    level: 'MUST',
    name: 'Concurrent placebets of two players with one transactionId and different bets: one succeeds, the others are refused as TRANSACTION_CONFLICT (D4)',
    async run(context: CaseContext) {
      const wallet = await context.open()
      const ofAnna = context.keepsIdsApart()
      const answers = await concurrently(concurrentCalls, index =>
        call(context, wallet.store, 'placebet', {
          transactionId: 't-1',
          betId: `b-${index}`,
          amount: '5',
          playerId: ofAnna || index % 2 ? 'anna' : 'ben',
        }),
      )
      expectTally(context, answers, { ok: 1, TRANSACTION_CONFLICT: concurrentCalls - 1 })
      await expectOneStakeOf5(context, wallet)
    },
  },
  {
    id: 'WS-62',
    level: 'MUST',
    name: 'Concurrent placebets of two players with one betId and different transactionIds: one succeeds (D10)',
    async run(context: CaseContext) {
      const wallet = await context.open()
      const ofAnna = context.keepsIdsApart()
      const answers = await concurrently(concurrentCalls, index =>
        call(context, wallet.store, 'placebet', {
          transactionId: `t-${index}`,
          betId: 'b-1',
          amount: '5',
          playerId: ofAnna || index % 2 ? 'anna' : 'ben',
        }),
      )
      expectTally(context, answers, { ok: 1, INVALID_BET: concurrentCalls - 1 })
      await expectOneStakeOf5(context, wallet)
    },
  },
  {
    id: 'WS-63',
    level: 'MUST',
    name: 'Concurrent bets on a small balance: exactly as many succeed as the balance covers (P06)',
    async run(context: CaseContext) {
      const wallet = await context.open()
      const answers = await concurrently(concurrentCalls, index =>
        call(context, wallet.store, 'placebet', {
          transactionId: `t-${index}`,
          betId: `b-${index}`,
          amount: '20',
        }),
      )
      expectTally(context, answers, { ok: 5, INSUFFICIENT_FUNDS: concurrentCalls - 5 })
      await wallet.expectBalance('anna', '0')
    },
  },
  {
    id: 'WS-64',
    level: 'MUST',
    name: 'A placebet and its rollback, sent concurrently, net to zero in any order (R06)',
    async run(context: CaseContext) {
      const wallet = await context.open()
      for (let round = 0; round < rounds; round += 1) {
        const betId = `b-${round}`
        const calls = Array.from(
          { length: 4 },
          (_, index) => (store: WalletStore) =>
            index % 2 === round % 2
              ? call(context, store, 'placebet', { transactionId: `t-${round}`, betId })
              : call(context, store, 'rollbackbet', { transactionId: `r-${round}`, betId }),
        )
        const isTogether = round < rounds / 2
        const answers = isTogether
          ? await commitTogether(calls.map(run => ({ store: wallet.store, run })))
          : await concurrently(calls.length, index => calls[index]?.(wallet.store) as Promise<CallResult>)
        context.check(
          answers.filter((_, index) => index % 2 !== round % 2).every(({ ok }) => ok),
          'the rollback to succeed',
          answers,
        )
        await wallet.expectBalance('anna', '100', 'the stake of a rolled-back bet is returned')
        const bet = await wallet.existingBet(betId)
        context.check(bet.status === 'ROLLED_BACK', 'the bet to be rolled back', bet)
      }
    },
  },
  {
    id: 'WS-65',
    level: 'MUST',
    name: 'Two concurrent settlements of one bet are both credited (D17)',
    async run(context: CaseContext) {
      const wallet = await placed(context)
      const answers = await concurrently(4, index =>
        call(context, wallet.store, 'settlement', {
          transactionId: `s-${index % 2}`,
          betId: 'b-1',
          amount: '60',
        }),
      )
      expectTally(context, answers, { ok: 4 })
      await wallet.expectBalance('anna', '190')
      const live = (await wallet.existingBet('b-1')).credits.BET_PAID?.live
      context.check(sameAmount(live, '120'), '120 live', live)
    },
  },
  {
    id: 'WS-66',
    level: 'MUST',
    name: 'Concurrent unsettlements of one credit debit it once (D18)',
    async run(context: CaseContext) {
      const wallet = await paid(context)
      const answers = await concurrently(4, index =>
        call(context, wallet.store, 'unsettlement', { transactionId: `u-${index}`, betId: 'b-1' }),
      )
      expectTally(context, answers, { ok: 1, INVALID_BET: 3 })
      await wallet.expectBalance('anna', '70', 'the credit of 60 was debited once')
    },
  },
  {
    id: 'WS-67',
    level: 'MUST',
    name: 'A clawback and a placebet on the same funds, sent concurrently: exactly one of them debits the balance (U03)',
    async run(context: CaseContext) {
      for (const order of ['clawback first', 'bet first', 'together']) {
        const wallet = await paid(context)
        const clawBack = (store = wallet.store) =>
          call(context, store, 'unsettlement', { transactionId: 'u-1', betId: 'b-1' })
        const place = (store = wallet.store) =>
          call(context, store, 'placebet', { transactionId: 't-2', betId: 'b-2', amount: '100' })
        const [clawback, bet] = (
          order === 'together'
            ? await commitTogether([clawBack, place].map(run => ({ store: wallet.store, run })))
            : await bothConcurrently(order === 'clawback first', clawBack, place)
        ) as [CallResult, CallResult]
        expectTally(context, [clawback, bet], { ok: 1, INSUFFICIENT_FUNDS: 1 })
        await wallet.expectBalance('anna', clawback.ok ? '70' : '30')
        const credit = (await wallet.existingBet('b-1')).credits.BET_PAID
        const same =
          credit && credit.live === null && sameAmount(clawback.ok ? credit.reversed : credit.owed, '60')
        context.check(same === true, `the 60 ${clawback.ok ? 'reversed' : 'owed'}`, credit)
      }
    },
  },
  {
    id: 'WS-68',
    level: 'MUST',
    name: 'Concurrent bets of many players all succeed, and each debits its own player',
    async run(context: CaseContext) {
      const players = Array.from({ length: concurrentCalls }, (_, index) => ({
        ...anna,
        playerId: `p-${index}`,
      }))
      const wallet = await context.open(players)
      const answers = await concurrently(concurrentCalls * 2, index => {
        const id = `${index}`
        return call(context, wallet.store, 'placebet', {
          transactionId: id,
          betId: id,
          playerId: `p-${index % concurrentCalls}`,
        })
      })
      expectTally(context, answers, { ok: concurrentCalls * 2 })
      for (const { playerId } of players) await wallet.expectBalance(playerId, '40')
    },
  },
  {
    id: 'WS-69',
    level: 'MUST',
    name: 'A settlement and a rollback of one bet, sent concurrently: exactly one of them succeeds (D13)',
    async run(context: CaseContext) {
      for (const settlementFirst of [true, false]) {
        const wallet = await placed(context)
        const [settled, rolled] = await bothConcurrently(
          settlementFirst,
          () => call(context, wallet.store, 'settlement', { transactionId: 's-1', betId: 'b-1' }),
          () => call(context, wallet.store, 'rollbackbet', { transactionId: 'r-1', betId: 'b-1' }),
        )
        expectTally(context, [settled, rolled], { ok: 1, INVALID_BET: 1 })
        await wallet.expectBalance('anna', settled.ok ? '130' : '100')
      }
    },
  },
  {
    id: 'WS-70',
    level: 'MUST',
    name: 'Concurrent copies of a rollback, under two transactionIds, return the stake once (R02)',
    async run(context: CaseContext) {
      const wallet = await placed(context)
      const answers = await concurrently(concurrentCalls, index =>
        call(context, wallet.store, 'rollbackbet', { transactionId: `r-${index % 2}`, betId: 'b-1' }),
      )
      expectTally(context, answers, { ok: concurrentCalls })
      await wallet.expectBalance('anna', '100', 'the stake of 30 was returned once')
    },
  },
  {
    id: 'WS-71',
    level: 'MUST',
    name: 'committed.balance includes the commit itself: without other writers it is the new balance',
    async run(context: CaseContext) {
      const wallet = await context.open()
      const stakes = ['30', '0', '20.5']
      const balances = ['70', '70', '49.5']
      for (const [index, stake] of stakes.entries()) {
        const { balance } = await wallet.expectCommitted(placeBet(`t-${index}`, `b-${index}`, { stake }))
        context.check(sameAmount(balance, balances[index]), `${balances[index]} in the answer`, balance)
      }
    },
  },
  {
    id: 'WS-72',
    level: 'MUST',
    name: 'committed.balance is a balance that the player had between the commit and its answer, even under concurrency',
    async run(context: CaseContext) {
      const wallet = await context.open([anna, ben])
      const results = await concurrently(concurrentCalls, index =>
        wallet.commit(placeBet(`t-${index}`, `b-${index}`, { stake: '1' })),
      )
      const balances = results.map(result =>
        result.status === 'committed' ? Number(result.balance) : Number.NaN,
      )
      const final = Number(await wallet.balance('anna'))
      const answered = balances.filter(balance => !Number.isNaN(balance))
      context.check(
        answered.every(balance => balance >= final && balance <= 99) && Math.min(...answered) === final,
        `answered balances from ${final} (the last) to 99 (the first)`,
        balances,
      )
    },
  },
  {
    id: 'WS-73',
    level: 'MUST',
    name: 'Concurrent settlements, rollbacks and placebets on different bets of one player are all in the balance',
    async run(context: CaseContext) {
      const wallet = await context.open()
      for (let index = 0; index < 12; index += 1) {
        await wallet.expectCommitted(placeBet(`t-${index}`, `b-${index}`, { stake: '5' }))
      }
      // From 40: 6 settlements of 10, 6 rollbacks of 5, 4 bets of 1.
      const answers = await concurrently(concurrentCalls, index => {
        const ids = { transactionId: `n-${index}`, betId: `b-${index}` }
        if (index >= 12) return call(context, wallet.store, 'placebet', { ...ids, amount: '1' })
        return index % 2 === 0
          ? call(context, wallet.store, 'settlement', { ...ids, amount: '10' })
          : call(context, wallet.store, 'rollbackbet', ids)
      })
      expectTally(context, answers, { ok: concurrentCalls })
      await wallet.expectBalance('anna', '126')
    },
  },
  {
    id: 'WS-74',
    level: 'MUST',
    name: 'A refusal and an acceptance of one transactionId, committed concurrently: one is recorded, the others are conflicts (D6)',
    async run(context: CaseContext) {
      const wallet = await context.open()
      for (let round = 0; round < rounds; round += 1) {
        const [id, betId] = [`t-${round}`, `b-${round}`]
        const results = await concurrently(concurrentCalls, index =>
          wallet.commit(
            (index + round) % 2 === 0 ? refuseBet(id, betId) : placeBet(id, betId, { stake: '5' }),
          ),
        )
        const committed = results.filter(({ status }) => status === 'committed').length
        context.check(committed === 1, `one of ${concurrentCalls} committed`, `${committed} committed`)
        const recorded = await wallet.transaction('placebet', id)
        const bet = await wallet.bet(betId)
        const fits = recorded !== null && (recorded.refusal === null) === (bet !== null)
        context.check(fits, 'a bet if it was accepted, no bet if it was refused', { recorded, bet })
      }
    },
  },
]

async function concurrently<T>(count: number, start: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => start(index)))
}

/** Most stores process the first call first, so the cases use both orders. */
async function bothConcurrently<T>(
  inOrder: boolean,
  one: () => Promise<T>,
  other: () => Promise<T>,
): Promise<[T, T]> {
  const sent = inOrder ? [one(), other()] : [other(), one()].reverse()
  return (await Promise.all(sent)) as [T, T]
}

async function expectOneStakeOf5(context: CaseContext, wallet: Wallet): Promise<void> {
  const sum = add(await wallet.balance('anna'), await wallet.balance('ben'))
  context.check(sameAmount(sum, '195'), 'one stake of 5 debited: 195 of 100 and 100', sum)
}

async function placed(context: CaseContext): Promise<Wallet> {
  const wallet = await context.open()
  await wallet.expectCommitted(placeBet('t-1', 'b-1'))
  return wallet
}

async function paid(context: CaseContext): Promise<Wallet> {
  const wallet = await placed(context)
  const answer = await call(context, wallet.store, 'settlement', {
    transactionId: 's-1',
    betId: 'b-1',
    amount: '60',
  })
  context.check(answer.ok, 'the settlement to be credited', answer)
  return wallet
}

function expectTally(
  context: CaseContext,
  answers: readonly CallResult[],
  expected: Record<string, number>,
): void {
  const actual = tally(answers)
  const same = Object.keys({ ...actual, ...expected }).every(key => actual[key] === expected[key])
  context.check(same, `the answers ${shownTally(expected)}`, shownTally(actual))
}
