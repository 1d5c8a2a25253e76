/** Any history on two partitions: each answers as if the other did not exist. */
import type { WalletStore } from 'bet-wallet'
import { partitionStore } from 'bet-wallet'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { history, initialPlayers, policy } from '../../src/testing/arbitraries.js'
import { createModel, type HistoryStep, type WalletPolicy } from '../../src/testing/model.js'
import { toModelBet } from '../../src/testing/model-comparison.js'
import { toCents } from '../../src/testing/platform.js'
import { expectBalancesToAddUp, expectBetsToAddUp } from './money.js'
import { runs, timeoutMs } from './runs.js'
import { openWallet } from './wallet.js'

const bets = ['b1', 'b2', 'b3', 'b4', 'b5']
/** `unknown-player` is in none of them. */
const partitionOf: Record<string, 'first' | 'second' | 'none'> = {
  ...{ ann: 'first', cy: 'first', bo: 'second', new: 'second' },
}
const playersIn = (partition: string) =>
  initialPlayers.filter(({ playerId }) => partitionOf[playerId] === partition)

function openPartitions(rules: WalletPolicy) {
  const stores: Record<string, WalletStore> = {}
  const joined = partitionStore(playerId => stores[partitionOf[playerId] ?? 'none'] ?? null)
  const open = (partition: string) => ({
    players: playersIn(partition),
    model: createModel(playersIn(partition), rules),
    wallet: openWallet(playersIn(partition), rules, store => {
      if (partition !== 'none') stores[partition] = store
      return joined
    }),
  })
  return { first: open('first'), second: open('second'), none: open('none') }
}

function playerOf(step: HistoryStep): string {
  return step.step === 'call' ? step.request.playerId : step.playerId
}

/** Nothing is sent for a player without a partition: no fault can meet it. */
function possible(step: HistoryStep): HistoryStep {
  const isAnswered = partitionOf[playerOf(step)] !== undefined
  return isAnswered || step.step !== 'call' ? step : { ...step, fault: 'none' }
}

// The players have bets and transactions with the same ids. Seen red with a store that routes by betId, and
// with one that routes an unknown player to the first partition.
test(
  'gets from each partition the answers, balances and bets of a wallet with its players alone; the money adds up',
  () =>
    fc.assert(
      fc.asyncProperty(history, policy, async (steps, rules) => {
        const partitions = openPartitions(rules)
        for (const step of steps.map(possible)) {
          const { wallet, model } = partitions[partitionOf[playerOf(step)] ?? 'none']
          const { answer } = await wallet.perform(step)
          expect(answer, JSON.stringify(step, printable)).toEqual(model.perform(step))
        }
        for (const { players, wallet, model } of Object.values(partitions)) {
          for (const { playerId } of players)
            expect(toCents(wallet.memory.account(playerId)?.balance ?? 'none')).toBe(model.balance(playerId))
          for (const betId of bets) expect(toModelBet(wallet.memory.bet(betId))).toEqual(model.bet(betId))
          expectBalancesToAddUp(wallet.memory, players, wallet.external)
          expectBetsToAddUp(wallet.memory)
        }
      }),
      runs(1000),
    ),
  timeoutMs,
)

const printable = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
