/** Partitions, each with a database of its own: one of them is unavailable. */
import type { WalletStore } from '../../store.js'
import { type CaseContext, casesOf } from '../case-context.js'
import { anna, placeBet } from '../changes.js'
import { type CallResult, call, shownTally, tally } from '../platform-calls.js'
import type { Wallet } from '../wallet.js'
import { otherPlayers } from './all-or-nothing.js'

export const partitionCases = casesOf({
  'WS-90 While a partition is unavailable, every request of its players is a fault, and no other partition answers in its place; players of other partitions are served':
    {
      idScope: 'player',
      needs: ['stopPartition'],
      players: [anna, ...otherPlayers],
      async run(wallet, context) {
        await wallet.expectCommitted(placeBet('t-1', 'b-1'))
        await callsWhileStopped(context, wallet)

        for (const { playerId } of [anna, ...otherPlayers]) await rollBackAll(context, wallet.store, playerId)
        for (const { playerId } of [anna, ...otherPlayers])
          await wallet.expectBalance(playerId, '100', 'every bet is rolled back')
      },
    },
})

/** The bets of anna: the first one was placed before the partition stopped. */
const betsOf = (playerId: string) => (playerId === anna.playerId ? ['1', '2'] : [`of-${playerId}`])

const placed = (context: CaseContext, store: WalletStore, playerId: string, bet: string) =>
  call(context, store, 'placebet', { transactionId: `t-${bet}`, betId: `b-${bet}`, playerId })

const rolledBack = (context: CaseContext, store: WalletStore, playerId: string, bet: string) =>
  call(context, store, 'rollbackbet', { transactionId: `r-${bet}`, betId: `b-${bet}`, playerId })

/** Calls for anna, whose partition is stopped, and for the others. Afterwards all of them have ended. */
async function callsWhileStopped(context: CaseContext, wallet: Wallet): Promise<void> {
  const { store } = wallet
  const { trace, options } = context
  trace.note('kit', 'stops the partition of anna')
  const resume = await wallet.hook('stopPartition', 'anna')
  context.check(typeof resume === 'function', 'stopPartition to return a function', resume)
  const early: CallResult[] = []
  const ofAnna = [
    placed(context, store, 'anna', '1'), // a retry
    placed(context, store, 'anna', '2'),
    rolledBack(context, store, 'anna', '1'),
  ]
  for (const one of ofAnna) one.then(answer => early.push(answer))
  const ofOthers = otherPlayers.flatMap(({ playerId }) =>
    betsOf(playerId).map(bet => placed(context, store, playerId, bet)),
  )
  try {
    await expectOneServed(context, ofOthers)
    await context.atMost(options.timeoutMs, Promise.all(ofAnna))
    const allFaults = early.every(answer => 'fault' in answer)
    context.check(allFaults, 'faults only, for a player whose partition is unavailable', shownAnswers(early))
  } finally {
    trace.note('kit', 'lets the partition answer again')
    await resume()
  }
  const ended = Promise.all([...ofOthers, ...ofAnna])
  const answers = (await context.withTimeout('every call to end after that', ended)).slice(0, ofOthers.length)
  const decided = answers.every(answer => answer.ok || 'fault' in answer)
  context.check(decided, 'bets of other players accepted, or a fault', shownAnswers(answers))
}

/** A player of another partition is served. Those of the stopped one may wait, or get a fault. */
async function expectOneServed(context: CaseContext, calls: readonly Promise<CallResult>[]): Promise<void> {
  const accepted = calls.map(async one => {
    const answer = await one
    if (!answer.ok) throw new Error('not accepted')
  })
  const served = Promise.any(accepted).then(
    () => true,
    () => false,
  )
  const expected = 'a bet of a player of another partition to be accepted meanwhile'
  const isServed = await context.withTimeout(expected, served)
  context.check(isServed, expected, isServed ? '' : shownAnswers(await Promise.all(calls)))
}

async function rollBackAll(context: CaseContext, store: WalletStore, playerId: string): Promise<void> {
  for (const bet of betsOf(playerId)) {
    const answer = await rolledBack(context, store, playerId, bet)
    context.check(answer.ok, `the rollback of b-${bet} to succeed`, shownAnswers([answer]))
  }
}

const shownAnswers = (answers: readonly CallResult[]) => shownTally(tally(answers))
