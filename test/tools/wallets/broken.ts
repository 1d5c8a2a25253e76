/** Wallets with one defect each, which remember the bets that it affected. */

import type { HttpResponse } from '../../../src/http/index.js'
import type { MemoryStore } from '../../../src/stores/memory.js'
import { brokenRaces } from './broken-races.js'
import { brokenSettlements } from './broken-settlements.js'
import { answer, type BrokenWallet, storeWith } from './broken-wallet.js'
import type { Call } from './library.js'

const ok = ({ status }: HttpResponse) => status === 200

/** Debits at most the balance. Returns whether the balance changed. */
function take(memory: MemoryStore, playerId: string, amount: string): boolean {
  const balance = memory.account(playerId)?.balance ?? '0'
  const least = Number(balance) < Number(amount) ? balance : amount
  if (Number(least) === 0) return false
  memory.withdraw(playerId, least)
  return true
}

/** Returns whether a request was received before, by its transactionId. */
function repeats() {
  const seen = new Set<string>()
  return ({ operation, body }: Call): boolean => {
    const key = `${operation} ${body.transactionId}`
    const again = seen.has(key)
    seen.add(key)
    return again
  }
}

/** Adds an error to every successful retry of one operation. */
function onRepeat(operation: string, spoil: (call: Call) => boolean): BrokenWallet['break'] {
  return affected => {
    const isRepeat = repeats()
    return {
      async call(call) {
        const again = isRepeat(call)
        const response = await call.next()
        if (call.operation === operation && again && ok(response) && spoil(call))
          affected(call.body.betId ?? '')
        return response
      },
    }
  }
}

function deposit({ memory, body }: Call, amount: string | undefined): boolean {
  if (amount === undefined || Number(amount) === 0) return false
  memory.deposit(body.playerId ?? '', amount)
  return true
}

/** The amount of a bet's last transaction of this operation, in the wallet's own records. */
function recorded({ memory, body }: Call, operation: string): string | undefined {
  const all = memory
    .transactions(body.playerId)
    .filter(one => one.betId === body.betId && one.refusal === null)
  const delta = all.findLast(one => one.operation === operation)?.delta
  return delta?.replace('-', '')
}

/** Reports a commit that was not made. */
async function pretend(memory: MemoryStore, playerId: string) {
  const balance = memory.account(playerId)?.balance ?? '0'
  return { status: 'committed', balance, walletTransactionId: null } as const
}

export const brokenWallets: BrokenWallet[] = [
  ...brokenSettlements,
  ...brokenRaces,
  {
    name: 'accepts a bet that arrives after its own rollback',
    kinds: ['late-bet'],
    break: affected => ({
      store: memory =>
        storeWith(memory, async changes => {
          const { bet } = changes
          const tombstone = bet?.status === 'ROLLED_BACK' && bet.revision === 1
          if (tombstone) affected(bet.betId)
          return memory.commit(tombstone ? { ...changes, bet: null } : changes)
        }),
    }),
  },
  {
    name: 'debits the stake again on a retry',
    kinds: ['balance'],
    break: onRepeat('placebet', call => take(call.memory, call.body.playerId ?? '', call.body.amount ?? '0')),
  },
  {
    name: 'credits the stake again for every retry of a rollback',
    kinds: ['balance'],
    break: onRepeat('rollbackbet', call => deposit(call, recorded(call, 'placebet'))),
  },
  {
    name: 'credits the stake again for a rollback with another transactionId',
    kinds: ['balance'],
    break: affected => {
      const rolledBack = new Map<string, string>()
      return {
        async call(call) {
          const response = await call.next()
          const { betId = '', transactionId = '' } = call.body
          if (call.operation !== 'rollbackbet' || !ok(response)) return response
          const first = rolledBack.get(betId)
          if (first === undefined) rolledBack.set(betId, transactionId)
          else if (first !== transactionId && deposit(call, recorded(call, 'placebet'))) affected(betId)
          return response
        },
      }
    },
  },
  {
    name: 'debits a clawback again on a retry',
    kinds: ['balance'],
    break: onRepeat('unsettlement', call =>
      take(call.memory, call.body.playerId ?? '', recorded(call, 'unsettlement') ?? '0'),
    ),
  },
  {
    name: 'forgets that a clawback was refused, and debits it when there are funds',
    kinds: ['replay'],
    break: affected => ({
      store: memory =>
        storeWith(memory, async changes => {
          const { operation, refusal, betId, playerId } = changes.transaction
          if (operation !== 'unsettlement' || refusal === null) return memory.commit(changes)
          affected(betId)
          return pretend(memory, playerId)
        }),
    }),
  },
  {
    name: 'forgets that a bet was refused, and accepts it when there are funds',
    kinds: ['replay'],
    break: affected => ({
      store: memory =>
        storeWith(memory, async changes => {
          const { operation, refusal, betId, playerId } = changes.transaction
          if (operation !== 'placebet' || refusal === null) return memory.commit(changes)
          affected(betId)
          return pretend(memory, playerId)
        }),
    }),
  },
  {
    name: 'credits whole units only',
    kinds: ['balance'],
    break: affected => ({
      store: memory =>
        storeWith(memory, async changes => {
          const { account, transaction } = changes
          if (
            transaction.operation !== 'settlement' ||
            account.delta === '0' ||
            !account.delta.includes('.')
          ) {
            return memory.commit(changes)
          }
          affected(transaction.betId)
          const delta = account.delta.split('.')[0] as string
          return memory.commit({ ...changes, account: { ...account, delta } })
        }),
    }),
  },
  {
    name: 'adds amounts as floats',
    kinds: ['balance'],
    break: affected => {
      const sums = new Map<string, number>()
      return {
        async call({ memory, next, body: { playerId = '', betId = '' } }) {
          const response = await next()
          if (!ok(response)) return response
          const opening = sums.get(playerId)
          const exact = Number(memory.account(playerId)?.balance)
          const deltas = memory.transactions(playerId).map(({ delta }) => Number(delta))
          const start = opening ?? exact
          sums.set(playerId, start)
          const sum = deltas.reduce((total, delta) => total + delta, start)
          if (sum !== exact) affected(betId)
          return { ...response, body: response.body.replace(/"balance":[0-9.]+/, `"balance":${sum}`) }
        },
      }
    },
  },
  {
    name: 'answers every seventh settlement with success and does not record it',
    kinds: ['balance'],
    break: affected => {
      let settlements = 0
      return {
        async call({ operation, body, memory, next }) {
          if (operation !== 'settlement') return next()
          settlements += 1
          if (settlements % 7 !== 0) return next()
          if (Number(body.amount) > 0) affected(body.betId ?? '')
          const { balance = '', currency = '' } = memory.account(body.playerId ?? '') ?? {}
          return answer(200, { balance: Number(balance), currency })
        },
      }
    },
  },
  {
    name: 'credits a settlement again on a retry',
    kinds: ['balance'],
    break: onRepeat('settlement', call => deposit(call, call.body.amount)),
  },
  {
    name: 'loses an update when two requests are concurrent',
    kinds: ['balance'],
    options: { concurrency: 16 },
    break: affected => ({
      store: memory => {
        const seen = new Map<string, string>()
        return storeWith(
          memory,
          async changes => {
            const { transactionId, playerId, betId } = changes.transaction
            const result = await memory.commit(changes)
            if (result.status !== 'committed' || changes.account.delta === '0') return result
            // Writes the balance that it read earlier, plus its own delta.
            const due = Number(seen.get(transactionId)) + Number(changes.account.delta)
            const off = Number(result.balance) - due
            if (Math.abs(off) < 0.0005) return result
            affected(betId)
            const amount = Math.abs(off).toFixed(3)
            if (off > 0) take(memory, playerId, amount)
            else memory.deposit(playerId, amount)
            return result
          },
          async keys => {
            const snapshot = await memory.load(keys)
            seen.set(keys.transactionId, snapshot.accounts[0]?.balance ?? '0')
            await new Promise(resolve => setImmediate(resolve))
            return snapshot
          },
        )
      },
    }),
  },
  {
    name: 'checks the funds when it reads, and not when it writes',
    kinds: ['overspent', 'balance'],
    options: { concurrency: 16 },
    break: affected => ({
      store: memory =>
        storeWith(
          memory,
          async changes => {
            const { account, transaction } = changes
            if (account.delta === '0' || transaction.operation !== 'placebet') return memory.commit(changes)
            const result = await memory.commit({ ...changes, account: { ...account, floor: null } })
            if (result.status === 'committed' && result.balance.startsWith('-')) affected(transaction.betId)
            return result
          },
          async keys => {
            const snapshot = await memory.load(keys)
            for (let turn = 0; turn < 20; turn += 1) await new Promise(resolve => setImmediate(resolve))
            return snapshot
          },
        ),
    }),
  },
  {
    name: 'refuses to roll back an unknown bet',
    kinds: ['refused'],
    break: affected => ({
      async call({ operation, body: { betId = '' }, memory, next }) {
        // Except for bets that were never placed, with which the balance is read.
        if (operation !== 'rollbackbet' || memory.bet(betId) !== null || betId.startsWith('run-n'))
          return next()
        affected(betId)
        return answer(400, { errorCode: 'INVALID_BET', description: 'no such bet' })
      },
    }),
  },
  {
    name: 'answers a retry with a conflict',
    kinds: ['replay'],
    break: affected => {
      const isRepeat = repeats()
      return {
        async call(call) {
          if (!isRepeat(call) || call.operation !== 'settlement') return call.next()
          affected(call.body.betId ?? '')
          return answer(409, { errorCode: 'TRANSACTION_CONFLICT', description: 'known' })
        },
      }
    },
  },
  {
    name: 'answers every retry with another reference',
    kinds: ['replay'],
    break: affected => {
      const isRepeat = repeats()
      let references = 0
      return {
        async call(call) {
          const again = isRepeat(call)
          const response = await call.next()
          if (!again || !ok(response)) return response
          affected(call.body.betId ?? '')
          references += 1
          return { ...response, body: response.body.replace(/"W[0-9]+"/, `"again-${references}"`) }
        },
      }
    },
  },
  {
    name: 'debits the remaining balance when it refuses a clawback',
    kinds: ['balance', 'closing-balance'],
    break: affected => ({
      async call({ operation, body: { playerId = '', betId = '' }, memory, next }) {
        const response = await next()
        if (operation !== 'unsettlement' || response.status !== 402) return response
        if (take(memory, playerId, memory.account(playerId)?.balance ?? '0')) affected(betId)
        return response
      },
    }),
  },
  {
    name: 'reverses a void without debiting its amount',
    kinds: ['balance'],
    break: affected => ({
      store: memory =>
        storeWith(memory, async changes => {
          if (changes.transaction.type !== 'UNVOIDED' || changes.account.delta === '0')
            return memory.commit(changes)
          affected(changes.transaction.betId)
          return memory.commit({ ...changes, account: { ...changes.account, delta: '0', floor: null } })
        }),
    }),
  },
  {
    name: 'refuses an unsettlement that arrives before its settlement',
    kinds: ['refused'],
    break: affected => ({
      async call({ body, next }) {
        const response = await next()
        if (response.status !== 503) return response
        affected(body.betId ?? '')
        return answer(404, { errorCode: 'SETTLEMENT_NOT_FOUND', description: 'none' })
      },
    }),
  },
  {
    name: 'forgets transactions after a while',
    kinds: ['replay'],
    break: affected => ({
      store: memory => {
        const order = new Map<string, number>()
        return storeWith(
          memory,
          async changes => {
            order.set(`${changes.transaction.operation} ${changes.transaction.transactionId}`, order.size)
            return memory.commit(changes)
          },
          async keys => {
            const snapshot = await memory.load(keys)
            const since = order.size - (order.get(`${keys.operation} ${keys.transactionId}`) ?? order.size)
            if (snapshot.transaction === null || since < 200) return snapshot
            affected(keys.betId)
            return { ...snapshot, transaction: null }
          },
        )
      },
    }),
  },
  {
    name: 'answers retries from a cache, with an old balance',
    kinds: ['balance'],
    break: affected => {
      const cache = new Map<string, HttpResponse>()
      return {
        async call({ operation, body, memory, next }) {
          const key = `${operation} ${body.transactionId}`
          const cached = cache.get(key)
          if (cached !== undefined) {
            const { balance = '' } = memory.account(body.playerId ?? '') ?? {}
            if (!cached.body.includes(`"balance":${Number(balance)}`)) affected(body.betId ?? '')
            return cached
          }
          const response = await next()
          if (ok(response)) cache.set(key, response)
          return response
        },
      }
    },
  },
  {
    name: 'rolls back without crediting the stake',
    kinds: ['balance'],
    break: affected => ({
      store: memory =>
        storeWith(memory, async changes => {
          const { transaction, account } = changes
          if (transaction.operation !== 'rollbackbet' || account.delta === '0') return memory.commit(changes)
          affected(transaction.betId)
          return memory.commit({ ...changes, account: { ...changes.account, delta: '0', floor: null } })
        }),
    }),
  },
  {
    name: 'credits a settlement to another player, too',
    kinds: ['balance'],
    break: affected => ({
      async call({ operation, body, memory, next }) {
        const response = await next()
        if (
          operation === 'settlement' &&
          body.playerId === 'cem' &&
          Number(body.amount) > 0 &&
          ok(response)
        ) {
          memory.deposit('ann', body.amount as string)
          affected('of ann')
        }
        return response
      },
    }),
  },
  {
    name: 'refuses every tenth bet although the funds suffice',
    kinds: ['refused'],
    break: affected => {
      const isRepeat = repeats()
      const refused = new Set<string>()
      let bets = 0
      return {
        async call(call) {
          const { operation, body, next } = call
          const { transactionId = '', betId = '' } = body
          if (operation !== 'placebet') return next()
          if (!isRepeat(call)) bets += 1
          if (bets % 10 === 0 && call.memory.bet(betId) === null) refused.add(transactionId)
          if (!refused.has(transactionId)) return next()
          affected(betId)
          return answer(402, { errorCode: 'INSUFFICIENT_FUNDS', description: 'no' })
        },
      }
    },
  },
  {
    name: 'never answers some unsettlements definitely',
    kinds: ['unanswered'],
    break: affected => ({
      async call({ operation, body: { betId = '' }, next }) {
        if (operation !== 'unsettlement' || !betId.endsWith('7')) return next()
        affected(betId)
        return answer(500, { errorCode: 'INTERNAL_ERROR', description: 'again' })
      },
    }),
  },
  {
    name: 'answers in another currency',
    kinds: ['currency'],
    break: affected => ({
      async call({ operation, body, next }) {
        const response = await next()
        if (operation !== 'settlement' || !ok(response)) return response
        affected(body.betId ?? '')
        return { ...response, body: response.body.replace(/"currency":"..."/, '"currency":"XXX"') }
      },
    }),
  },
  {
    name: 'answers balances that are not decimals',
    kinds: ['unreadable'],
    break: affected => ({
      async call({ operation, body, next }) {
        const response = await next()
        if (operation !== 'unsettlement' || !ok(response) || !body.betId?.endsWith('7')) return response
        affected(body.betId)
        return { ...response, body: response.body.replace(/"balance":([0-9.]+)/, '"balance":"EUR $1"') }
      },
    }),
  },
]
