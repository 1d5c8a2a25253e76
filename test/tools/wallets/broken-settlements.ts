/** Wallets that reverse settlements wrongly: one defect each. */
import type { WalletChanges } from '../../../src/index.js'
import { add, compare, isZero, negate } from '../../../src/money.js'
import type { SettlementType } from '../../../src/store.js'
import type { MemoryStore } from '../../../src/stores/memory.js'
import { answer, type BrokenWallet, storeWith } from './broken-wallet.js'

/** A settlement of a bet that is live, in the wallet's own records. */
interface Live {
  type: SettlementType
  amount: string
}

const reverses = { UNSCORED: 'BET_PAID', UNVOIDED: 'VOIDED' } as const

/**
 * Debits another amount than the live credit of the type.
 *
 * @param due returns the amount, from the bet's live settlements of all types in the order in which they came
 */
function debits(
  due: (all: readonly Live[], type: SettlementType, stake: string) => string,
): BrokenWallet['break'] {
  return affected => ({
    store: memory => {
      const lives = new Map<string, Live[]>()
      return storeWith(memory, async changes => {
        const { transaction, account } = changes
        const { operation, betId, type, amount, refusal } = transaction
        const all = lives.get(betId) ?? []
        if (operation === 'settlement') {
          const result = await memory.commit(changes)
          if (result.status === 'committed')
            lives.set(betId, [...all, { type: type as SettlementType, amount: amount ?? '0' }])
          return result
        }
        if (operation !== 'unsettlement' || refusal !== null) return memory.commit(changes)
        const credited = reverses[type as keyof typeof reverses]
        const right = sum(all.filter(one => one.type === credited))
        const wrong = due(all, credited, memory.bet(betId)?.stake ?? '0')
        const result = await memory.commit(
          compare(wrong, right) === 0 || account.delta === '0' ? changes : withDelta(changes, negate(wrong)),
        )
        if (result.status !== 'committed') return result
        if (compare(wrong, right) !== 0) affected(betId)
        lives.set(
          betId,
          all.filter(one => one.type !== credited),
        )
        return result
      })
    },
  })
}

const sum = (all: readonly Live[]) => all.reduce((total, { amount }) => add(total, amount), '0')
const lastOf = (all: readonly Live[], type?: SettlementType) =>
  all.findLast(one => type === undefined || one.type === type)?.amount ?? '0'

/** The same changes with another change of the balance, whatever the funds are. */
export function withDelta(changes: WalletChanges, delta: string): WalletChanges {
  const { transaction, account } = changes
  if (account.delta === '0') return changes
  return {
    ...changes,
    transaction: { ...transaction, delta },
    account: { ...account, delta, floor: null },
  }
}

/** A store that answers what `load` answers, with one player changed. */
function withPlentyOfFunds(memory: MemoryStore): MemoryStore['load'] {
  return async keys => {
    const snapshot = await memory.load(keys)
    const isNew = keys.operation === 'unsettlement' && snapshot.transaction === null
    if (!isNew) return snapshot
    return {
      ...snapshot,
      accounts: snapshot.accounts.map(account => ({ ...account, balance: '999999999999' })),
    }
  }
}

export const brokenSettlements: BrokenWallet[] = [
  {
    name: 'reverses a void by the stake, and not by what the void credited',
    kinds: ['balance', 'overspent'],
    break: debits((all, type, stake) =>
      type === 'VOIDED' ? stake : sum(all.filter(one => one.type === type)),
    ),
  },
  {
    name: 'takes two equal payouts of a bet for one when it reverses them',
    kinds: ['balance'],
    break: debits((all, type) => {
      const amounts = all.filter(one => one.type === type).map(({ amount }) => amount)
      return [...new Set(amounts)].reduce((total, amount) => add(total, amount), '0')
    }),
  },
  {
    name: 'reverses payout and void alike for UNSCORED',
    kinds: ['balance', 'overspent'],
    break: debits((all, type) =>
      sum(all.filter(one => one.type === type || (type === 'BET_PAID' && one.type === 'VOIDED'))),
    ),
  },
  {
    name: 'reverses the last of several voids only',
    kinds: ['balance'],
    break: debits((all, type) =>
      type === 'VOIDED' ? lastOf(all, type) : sum(all.filter(one => one.type === type)),
    ),
  },
  {
    name: 'reverses the last of several payouts only',
    kinds: ['balance'],
    break: debits((all, type) =>
      type === 'BET_PAID' ? lastOf(all, type) : sum(all.filter(one => one.type === type)),
    ),
  },
  {
    name: 'reverses the last settlement of a bet, of whatever type',
    kinds: ['balance', 'overspent'],
    break: debits(all => lastOf(all)),
  },
  {
    name: 'debits a clawback without looking at the funds',
    kinds: ['overspent'],
    break: affected => ({
      store: memory =>
        storeWith(
          memory,
          async changes => {
            const { transaction, account } = changes
            if (transaction.operation !== 'unsettlement' || account.delta === '0')
              return memory.commit(changes)
            const result = await memory.commit({ ...changes, account: { ...account, floor: null } })
            if (result.status === 'committed' && result.balance.startsWith('-')) affected(transaction.betId)
            return result
          },
          withPlentyOfFunds(memory),
        ),
    }),
  },
  {
    name: 'collects a refused clawback from the next settlement',
    kinds: ['balance'],
    break: affected => ({
      store: memory => {
        const owed = new Map<string, string>()
        return storeWith(memory, async changes => {
          const { transaction, account } = changes
          const { operation, playerId, betId, refusal } = transaction
          if (operation === 'unsettlement' && refusal !== null) {
            const bet = memory.bet(betId)
            const live = bet?.credits[reverses[transaction.type as keyof typeof reverses]]?.live ?? '0'
            const result = await memory.commit(changes)
            if (result.status === 'committed') owed.set(playerId, add(owed.get(playerId) ?? '0', live))
            return result
          }
          const debt = owed.get(playerId) ?? '0'
          if (operation !== 'settlement' || account.delta === '0' || isZero(debt))
            return memory.commit(changes)
          const collected = compare(debt, account.delta) < 0 ? debt : account.delta
          const result = await memory.commit(withDelta(changes, add(account.delta, negate(collected))))
          if (result.status === 'committed') {
            owed.set(playerId, add(debt, negate(collected)))
            affected(betId)
          }
          return result
        })
      },
    }),
  },
  {
    name: 'refuses the rollback of a bet whose void was reversed',
    kinds: ['refused'],
    break: affected => ({
      async call({ operation, body: { betId = '' }, memory, next }) {
        const bet = memory.bet(betId)
        const isReversed = bet?.credits.VOIDED?.live === null && bet.status === 'PLACED'
        if (operation !== 'rollbackbet' || !isReversed) return next()
        affected(betId)
        return answer(400, { errorCode: 'INVALID_BET', description: 'settled' })
      },
    }),
  },
]
