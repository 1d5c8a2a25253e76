/** Concurrent requests through the handlers: the result must be that of some sequential order. */
import { add } from '../../money.js'
import type { Operation, WalletStore } from '../../store.js'
import { type CaseContext, casesOf, concurrently, type Run } from '../case-context.js'
import { anna, ben, placeBet, refuseBet } from '../changes.js'
import { sameAmount } from '../equality.js'
import { commitTogether } from '../gathered-commits.js'
import { type CallResult, call, shownTally, tally } from '../platform-calls.js'
import type { Wallet } from '../wallet.js'

const concurrentCalls = 16
const rounds = 4
const manyPlayers = Array.from({ length: concurrentCalls }, (_, index) => ({
  ...anna,
  playerId: `p-${index}`,
}))

export const raceCases = casesOf({
  async 'WS-60 Concurrent copies of one placebet all succeed and debit the stake once (P05)'(
    wallet,
    context,
  ) {
    const answers = await race(context, wallet, () => ['placebet', ids('t-1', 'b-1')], {
      ok: concurrentCalls,
    })
    const references = new Set(
      answers.map(answer => ('walletTransactionId' in answer ? answer.walletTransactionId : 0)),
    )
    context.check(references.size === 1, 'one walletTransactionId for all of them', [...references])
    await wallet.expectBalance('anna', '70')
  },
  'WS-61 Concurrent placebets of two players with one transactionId and different bets: one succeeds, the others are refused as TRANSACTION_CONFLICT (D4)':
    oneStakeOf5(index => ids('t-1', `b-${index}`), 'TRANSACTION_CONFLICT'),
  'WS-62 Concurrent placebets of two players with one betId and different transactionIds: one succeeds (D10)':
    oneStakeOf5(index => ids(`t-${index}`, 'b-1'), 'INVALID_BET'),
  async 'WS-63 Concurrent bets on a small balance: exactly as many succeed as the balance covers (P06)'(
    wallet,
    context,
  ) {
    await race(context, wallet, index => ['placebet', { ...ids(`t-${index}`, `b-${index}`), amount: '20' }], {
      ok: 5,
      INSUFFICIENT_FUNDS: concurrentCalls - 5,
    })
    await wallet.expectBalance('anna', '0')
  },
  async 'WS-64 A placebet and its rollback, sent concurrently, net to zero in any order (R06)'(
    wallet,
    context,
  ) {
    for (let round = 0; round < rounds; round += 1) {
      const betId = `b-${round}`
      const calls = Array.from(
        { length: 4 },
        (_, index) => (store: WalletStore) =>
          index % 2 === round % 2
            ? call(context, store, 'placebet', ids(`t-${round}`, betId))
            : call(context, store, 'rollbackbet', ids(`r-${round}`, betId)),
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
  async 'WS-65 Two concurrent settlements of one bet are both credited (D17)'(wallet, context) {
    await wallet.expectCommitted(placeBet('t-1', 'b-1'))
    await race(context, wallet, index => ['settlement', ids(`s-${index % 2}`, 'b-1')], { ok: 4 })
    await wallet.expectBalance('anna', '190')
    context.expectAmount((await wallet.existingBet('b-1')).credits.BET_PAID?.live, '120', 'live')
  },
  async 'WS-66 Concurrent unsettlements of one credit debit it once (D18)'(wallet, context) {
    await paid(context, wallet)
    await race(context, wallet, index => ['unsettlement', ids(`u-${index}`, 'b-1')], {
      ok: 1,
      INVALID_BET: 3,
    })
    await wallet.expectBalance('anna', '70', 'the credit of 60 was debited once')
  },
  'WS-67 A clawback and a placebet on the same funds, sent concurrently: exactly one of them debits the balance (U03)':
    {
      async runAlone(context) {
        for (const order of ['clawback first', 'bet first', 'together']) {
          const wallet = await context.open()
          await paid(context, wallet)
          const clawBack = (store = wallet.store) => call(context, store, 'unsettlement', ids('u-1', 'b-1'))
          const place = (store = wallet.store) =>
            call(context, store, 'placebet', { ...ids('t-2', 'b-2'), amount: '100' })
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
  'WS-68 Concurrent bets of many players all succeed, and each debits its own player': {
    players: manyPlayers,
    async run(wallet, context) {
      const requestOf = (index: number): Request => {
        return ['placebet', { ...ids(`${index}`, `${index}`), playerId: `p-${index % concurrentCalls}` }]
      }
      await race(context, wallet, requestOf, { ok: 2 * concurrentCalls })
      for (const { playerId } of manyPlayers) await wallet.expectBalance(playerId, '40')
    },
  },
  'WS-69 A settlement and a rollback of one bet, sent concurrently: exactly one of them succeeds (D13)': {
    async runAlone(context) {
      for (const settlementFirst of [true, false]) {
        const wallet = await context.open()
        await wallet.expectCommitted(placeBet('t-1', 'b-1'))
        const [settled, rolled] = await bothConcurrently(
          settlementFirst,
          () => call(context, wallet.store, 'settlement', ids('s-1', 'b-1')),
          () => call(context, wallet.store, 'rollbackbet', ids('r-1', 'b-1')),
        )
        expectTally(context, [settled, rolled], { ok: 1, INVALID_BET: 1 })
        await wallet.expectBalance('anna', settled.ok ? '130' : '100')
      }
    },
  },
  async 'WS-70 Concurrent copies of a rollback, under two transactionIds, return the stake once (R02)'(
    wallet,
    context,
  ) {
    await wallet.expectCommitted(placeBet('t-1', 'b-1'))
    await race(context, wallet, index => ['rollbackbet', ids(`r-${index % 2}`, 'b-1')], {
      ok: concurrentCalls,
    })
    await wallet.expectBalance('anna', '100', 'the stake of 30 was returned once')
  },
  async 'WS-71 committed.balance includes the commit itself: without other writers it is the new balance'(
    wallet,
    context,
  ) {
    const stakes = ['30', '0', '20.5']
    const balances = ['70', '70', '49.5']
    for (const [index, stake] of stakes.entries()) {
      const { balance } = await wallet.expectCommitted(placeBet(`t-${index}`, `b-${index}`, { stake }))
      context.expectAmount(balance, balances[index] ?? '', 'in the answer')
    }
  },
  'WS-72 committed.balance is a balance that the player had between the commit and its answer, even under concurrency':
    {
      players: [anna, ben],
      async run(wallet, context) {
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
  async 'WS-73 Concurrent settlements, rollbacks and placebets on different bets of one player are all in the balance'(
    wallet,
    context,
  ) {
    for (let index = 0; index < 12; index += 1) {
      await wallet.expectCommitted(placeBet(`t-${index}`, `b-${index}`, { stake: '5' }))
    }
    // From 40: 6 settlements of 10, 6 rollbacks of 5, 4 bets of 1.
    const requestOf = (index: number): Request => {
      const own = ids(`n-${index}`, `b-${index}`)
      if (index >= 12) return ['placebet', { ...own, amount: '1' }]
      return index % 2 === 0 ? ['settlement', { ...own, amount: '10' }] : ['rollbackbet', own]
    }
    await race(context, wallet, requestOf, { ok: concurrentCalls })
    await wallet.expectBalance('anna', '126')
  },
  async 'WS-74 A refusal and an acceptance of one transactionId, committed concurrently: one is recorded, the others are conflicts (D6)'(
    wallet,
    context,
  ) {
    for (let round = 0; round < rounds; round += 1) {
      const [id, betId] = [`t-${round}`, `b-${round}`]
      const results = await concurrently(concurrentCalls, index =>
        wallet.commit((index + round) % 2 === 0 ? refuseBet(id, betId) : placeBet(id, betId, { stake: '5' })),
      )
      const committed = results.filter(({ status }) => status === 'committed').length
      context.check(committed === 1, `one of ${concurrentCalls} committed`, `${committed} committed`)
      const recorded = await wallet.transaction('placebet', id)
      const bet = await wallet.bet(betId)
      const fits = recorded !== null && (recorded.refusal === null) === (bet !== null)
      context.check(fits, 'a bet if it was accepted, no bet if it was refused', { recorded, bet })
    }
  },
})

/** Most stores process the first call first, so the cases use both orders. */
async function bothConcurrently<T>(
  inOrder: boolean,
  one: () => Promise<T>,
  other: () => Promise<T>,
): Promise<[T, T]> {
  const sent = inOrder ? [one(), other()] : [other(), one()].reverse()
  return (await Promise.all(sent)) as [T, T]
}

/** Placebets of two players with these ids: one succeeds, and the others are refused. */
function oneStakeOf5(idsOf: (index: number) => ReturnType<typeof ids>, refused: string): Run {
  return async (wallet, context) => {
    const ofAnna = context.keepsIdsApart()
    const requestOf = (index: number): Request => {
      const playerId = ofAnna || index % 2 ? 'anna' : 'ben'
      return ['placebet', { ...idsOf(index), amount: '5', playerId }]
    }
    await race(context, wallet, requestOf, { ok: 1, [refused]: concurrentCalls - 1 })
    const sum = add(await wallet.balance('anna'), await wallet.balance('ben'))
    context.check(sameAmount(sum, '195'), 'one stake of 5 debited: 195 of 100 and 100', sum)
  }
}

/** A bet with a stake of 30 has won 60. */
async function paid(context: CaseContext, wallet: Wallet): Promise<void> {
  await wallet.expectCommitted(placeBet('t-1', 'b-1'))
  const answer = await call(context, wallet.store, 'settlement', ids('s-1', 'b-1'))
  context.check(answer.ok, 'the settlement to be credited', answer)
}

type Request = [operation: Operation, fields: Parameters<typeof call>[3]]

const ids = (transactionId: string, betId: string) => ({ transactionId, betId })

/** Sends as many requests at the same time as answers are expected. */
async function race(
  context: CaseContext,
  { store }: Wallet,
  requestOf: (index: number) => Request,
  expected: Record<string, number>,
): Promise<CallResult[]> {
  const count = Object.values(expected).reduce((sum, each) => sum + each)
  const answers = await concurrently(count, index => call(context, store, ...requestOf(index)))
  expectTally(context, answers, expected)
  return answers
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
