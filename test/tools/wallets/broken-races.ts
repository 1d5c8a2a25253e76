/** Wallets with defects of concurrency, time, currency and decimals: one defect each. */
import { add } from '../../../src/money.js'
import type { Bet } from '../../../src/store.js'
import { withDelta } from './broken-settlements.js'
import { answer, type BrokenWallet, roundTrip, storeWith } from './broken-wallet.js'

/** A call that holds locks, and may wait for one. */
interface Holder {
  waitsFor: string | null
}

/** Row locks as a database has them: a call that would wait in a circle is the victim of the deadlock. */
function createLocks() {
  const holders = new Map<string, Holder>()
  const queues = new Map<string, (() => void)[]>()
  const isCircle = (from: string, mine: Holder): boolean => {
    const holder = holders.get(from)
    if (holder === mine) return true
    return holder !== undefined && holder.waitsFor !== null && isCircle(holder.waitsFor, mine)
  }
  return {
    /** Returns whether the lock was taken; `false` for a deadlock. */
    async take(name: string, mine: Holder): Promise<boolean> {
      while (holders.has(name)) {
        if (isCircle(name, mine)) return false
        mine.waitsFor = name
        await new Promise<void>(resolve => queues.set(name, [...(queues.get(name) ?? []), resolve]))
        mine.waitsFor = null
      }
      holders.set(name, mine)
      return true
    },
    release(mine: Holder): void {
      for (const [name, holder] of holders) {
        if (holder !== mine) continue
        holders.delete(name)
        const waiting = queues.get(name) ?? []
        queues.delete(name)
        for (const resolve of waiting) resolve()
      }
    },
  }
}

export const brokenRaces: BrokenWallet[] = [
  {
    name: 'takes the locks of bet and player in opposite orders',
    kinds: [],
    break: affected => {
      const locks = createLocks()
      return {
        async call({ operation, body: { betId = '', playerId = '' }, next }) {
          const names = [`bet ${betId}`, `player ${playerId}`]
          if (operation === 'rollbackbet' || operation === 'settlement') names.reverse()
          const mine: Holder = { waitsFor: null }
          try {
            for (const name of names) {
              if (!(await locks.take(name, mine))) {
                affected(betId)
                return answer(500, { errorCode: 'INTERNAL_ERROR', description: 'deadlock detected' })
              }
              await roundTrip(5)
            }
            return await next()
          } finally {
            locks.release(mine)
          }
        },
      }
    },
  },
  {
    name: 'credits the stake twice for two rollbacks at the same time',
    kinds: ['balance'],
    options: { concurrency: 16 },
    break: affected => ({
      store: memory =>
        storeWith(
          memory,
          async changes => {
            const result = await memory.commit(changes)
            const { transaction, account, bet } = changes
            if (
              result.status !== 'conflict' ||
              transaction.operation !== 'rollbackbet' ||
              account.delta === '0'
            )
              return result
            affected(bet?.betId ?? '')
            return {
              status: 'committed',
              balance: memory.deposit(transaction.playerId, account.delta),
              walletTransactionId: null,
            }
          },
          async keys => {
            const snapshot = await memory.load(keys)
            if (keys.operation === 'rollbackbet') await roundTrip()
            return snapshot
          },
        ),
    }),
  },
  {
    name: 'keeps tombstones for 30 s',
    kinds: ['late-bet'],
    options: { pauseMs: 31_000 },
    break: (affected, now) => {
      const tombstones = new Map<string, { bet: Bet; since: number }>()
      const isKept = (betId: string) => now() - (tombstones.get(betId)?.since ?? 0) <= 30_000
      return {
        store: memory =>
          storeWith(
            memory,
            async changes => {
              const { bet, transaction } = changes
              if (bet === null) return memory.commit(changes)
              const { betId } = bet
              if (transaction.operation === 'rollbackbet' && bet.revision === 1) {
                if (!tombstones.has(betId)) tombstones.set(betId, { bet, since: now() })
                return memory.commit({ ...changes, bet: null })
              }
              if (transaction.operation === 'placebet' && tombstones.has(betId)) {
                if (isKept(betId)) return { status: 'conflict' }
                affected(betId)
              }
              return memory.commit(changes)
            },
            async keys => {
              const snapshot = await memory.load(keys)
              const kept = isKept(keys.betId) ? tombstones.get(keys.betId)?.bet : undefined
              return { ...snapshot, bet: snapshot.bet ?? kept ?? null }
            },
          ),
      }
    },
  },
  {
    name: 'refuses rollbacks after 5 s',
    kinds: ['refused'],
    options: { pauseMs: 6_000 },
    break: (affected, now) => {
      const placedAt = new Map<string, number>()
      return {
        async call({ operation, body: { betId = '' }, memory, next }) {
          const age = now() - (placedAt.get(betId) ?? Number.POSITIVE_INFINITY)
          if (operation === 'rollbackbet' && age > 5_000 && memory.bet(betId)?.status === 'PLACED') {
            affected(betId)
            return answer(400, { errorCode: 'INVALID_BET', description: 'too old' })
          }
          const response = await next()
          if (operation === 'placebet' && !placedAt.has(betId)) placedAt.set(betId, now())
          return response
        },
      }
    },
  },
  {
    name: 'compares currency codes without case',
    kinds: ['currency'],
    break: affected => ({
      async call({ operation, body: { betId = '', currency = '' }, text, next }) {
        if (operation !== 'placebet' || currency === currency.toUpperCase()) return next()
        affected(betId)
        return next(text.replace(`"currency":"${currency}"`, `"currency":"${currency.toUpperCase()}"`))
      },
    }),
  },
  {
    name: 'takes every currency for the player’s',
    kinds: ['currency'],
    break: affected => ({
      async call({ operation, body: { betId = '', currency = '', playerId = '' }, memory, text, next }) {
        const own = memory.account(playerId)?.currency ?? ''
        if (operation !== 'placebet' || currency === own) return next()
        affected(betId)
        return next(text.replace(`"currency":"${currency}"`, `"currency":"${own}"`))
      },
    }),
  },
  {
    name: 'rounds amounts at three decimals',
    kinds: ['balance'],
    players: [{ playerId: 'eva', currency: 'BTC', balance: '0.75' }],
    break: affected => ({
      store: memory =>
        storeWith(memory, async changes => {
          const { account, transaction } = changes
          if (account.delta === '0') return memory.commit(changes)
          const rounded = add(Number(account.delta).toFixed(3), '0')
          if (Number(rounded) === Number(account.delta)) return memory.commit(changes)
          affected(transaction.betId)
          return memory.commit(withDelta(changes, rounded))
        }),
    }),
  },
]
