/** Wallets that are broken in one way each, and remember which bets they have spoilt. */

import type { Difference, SimulationOptions } from '../../../src/audit/simulator/index.js'
import type { HttpResponse } from '../../../src/http/index.js'
import type { WalletStore } from '../../../src/index.js'
import type { MemoryStore } from '../../../src/stores/memory.js'
import type { Breakage, Call } from './wallet.js'

export interface BrokenWallet {
  name: string
  /** One of these is what the sportsbook has to find. */
  found: Difference['kind'][]
  /** `spoilt` is told of every bet whose money or answers are wrong from then on. */
  break(spoilt: (betId: string) => void): Breakage
  options?: Partial<SimulationOptions>
}

const ok = ({ status }: HttpResponse) => status === 200

function answer(status: number, body: Record<string, unknown>): HttpResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** Takes as much as there is. Gives whether it took anything. */
function take(memory: MemoryStore, playerId: string, amount: string): boolean {
  const balance = memory.player(playerId)?.balance ?? '0'
  const least = Number(balance) < Number(amount) ? balance : amount
  if (Number(least) === 0) return false
  memory.withdraw(playerId, least)
  return true
}

/** Knows which calls of an operation came before, by their transactionIds. */
function repeats() {
  const seen = new Set<string>()
  return ({ operation, body }: Call): boolean => {
    const key = `${operation} ${body.transactionId}`
    const again = seen.has(key)
    seen.add(key)
    return again
  }
}

/** Something is done beside what is right, on a repeated and successful call of one operation. */
function onRepeat(operation: string, spoil: (call: Call) => boolean): BrokenWallet['break'] {
  return spoilt => {
    const isRepeat = repeats()
    return {
      async call(call) {
        const again = isRepeat(call)
        const response = await call.next()
        if (call.operation === operation && again && ok(response) && spoil(call))
          spoilt(call.body.betId ?? '')
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

/** What a settlement is to credit, or a placebet took, by the wallet's own records. */
function recorded({ memory, body }: Call, operation: string): string | undefined {
  const all = memory
    .transactions(body.playerId)
    .filter(one => one.betId === body.betId && one.refusal === null)
  const delta = all.findLast(one => one.operation === operation)?.delta
  return delta?.replace('-', '')
}

function storeWith(memory: MemoryStore, commit: WalletStore['commit'], load = memory.load): WalletStore {
  return { contractVersion: 1, load, commit }
}

/** Answers that a commit was done, and does nothing. */
async function pretend(memory: MemoryStore, playerId: string) {
  const balance = memory.player(playerId)?.balance ?? '0'
  return { status: 'committed', balance, walletTransactionId: null } as const
}

export const brokenWallets: BrokenWallet[] = [
  {
    name: 'accepts a bet that comes after its own rollback',
    found: ['late-bet'],
    break: spoilt => ({
      store: memory =>
        storeWith(memory, async changes => {
          const { bet } = changes
          const tombstone = bet?.status === 'ROLLED_BACK' && bet.revision === 1
          if (tombstone) spoilt(bet.betId)
          return memory.commit(tombstone ? { ...changes, bet: null } : changes)
        }),
    }),
  },
  {
    name: 'takes the stake of a repeated bet again',
    found: ['balance'],
    break: onRepeat('placebet', call => take(call.memory, call.body.playerId ?? '', call.body.amount ?? '0')),
  },
  {
    name: 'gives the stake back for every repeat of a rollback',
    found: ['balance'],
    break: onRepeat('rollbackbet', call => deposit(call, recorded(call, 'placebet'))),
  },
  {
    name: 'gives the stake back again under another transactionId',
    found: ['balance'],
    break: spoilt => {
      const rolledBack = new Map<string, string>()
      return {
        async call(call) {
          const response = await call.next()
          const { betId = '', transactionId = '' } = call.body
          if (call.operation !== 'rollbackbet' || !ok(response)) return response
          const first = rolledBack.get(betId)
          if (first === undefined) rolledBack.set(betId, transactionId)
          else if (first !== transactionId && deposit(call, recorded(call, 'placebet'))) spoilt(betId)
          return response
        },
      }
    },
  },
  {
    name: 'takes a clawback again when it is repeated',
    found: ['balance'],
    break: onRepeat('unsettlement', call =>
      take(call.memory, call.body.playerId ?? '', recorded(call, 'unsettlement') ?? '0'),
    ),
  },
  {
    name: 'forgets that a clawback was refused, and takes it when there are funds',
    found: ['replay'],
    break: spoilt => ({
      store: memory =>
        storeWith(memory, async changes => {
          const { operation, refusal, betId, playerId } = changes.transaction
          if (operation !== 'unsettlement' || refusal === null) return memory.commit(changes)
          spoilt(betId)
          return pretend(memory, playerId)
        }),
    }),
  },
  {
    name: 'forgets that a bet was refused, and takes it when there are funds',
    found: ['replay'],
    break: spoilt => ({
      store: memory =>
        storeWith(memory, async changes => {
          const { operation, refusal, betId, playerId } = changes.transaction
          if (operation !== 'placebet' || refusal === null) return memory.commit(changes)
          spoilt(betId)
          return pretend(memory, playerId)
        }),
    }),
  },
  {
    name: 'credits whole units only',
    found: ['balance'],
    break: spoilt => ({
      store: memory =>
        storeWith(memory, async changes => {
          const { balance, transaction } = changes
          if (transaction.operation !== 'settlement' || balance === null || !balance.delta.includes('.')) {
            return memory.commit(changes)
          }
          spoilt(transaction.betId)
          const delta = balance.delta.split('.')[0] as string
          return memory.commit({ ...changes, balance: delta === '0' ? null : { ...balance, delta } })
        }),
    }),
  },
  {
    name: 'counts in floats',
    found: ['balance'],
    break: spoilt => {
      const sums = new Map<string, number>()
      return {
        async call({ memory, next, body: { playerId = '', betId = '' } }) {
          const response = await next()
          if (!ok(response)) return response
          const opening = sums.get(playerId)
          const exact = Number(memory.player(playerId)?.balance)
          const deltas = memory.transactions(playerId).map(({ delta }) => Number(delta))
          const start = opening ?? exact
          sums.set(playerId, start)
          const sum = deltas.reduce((total, delta) => total + delta, start)
          if (sum !== exact) spoilt(betId)
          return { ...response, body: response.body.replace(/"balance":[0-9.]+/, `"balance":${sum}`) }
        },
      }
    },
  },
  {
    name: 'answers every seventh settlement with success and forgets it',
    found: ['balance'],
    break: spoilt => {
      let settlements = 0
      return {
        async call({ operation, body, memory, next }) {
          if (operation !== 'settlement') return next()
          settlements += 1
          if (settlements % 7 !== 0) return next()
          if (Number(body.amount) > 0) spoilt(body.betId ?? '')
          const { balance = '', currency = '' } = memory.player(body.playerId ?? '') ?? {}
          return answer(200, { balance: Number(balance), currency })
        },
      }
    },
  },
  {
    name: 'credits a settlement again when it is repeated',
    found: ['balance'],
    break: onRepeat('settlement', call => deposit(call, call.body.amount)),
  },
  {
    name: 'loses an update when two calls come at once',
    found: ['balance'],
    options: { concurrency: 16 },
    break: spoilt => ({
      store: memory => {
        const seen = new Map<string, string>()
        return storeWith(
          memory,
          async changes => {
            const { transactionId, playerId, betId } = changes.transaction
            const result = await memory.commit(changes)
            if (result.status !== 'committed' || changes.balance === null) return result
            // Writes back what it read a while ago, with its own delta.
            const due = Number(seen.get(transactionId)) + Number(changes.balance.delta)
            const off = Number(result.balance) - due
            if (Math.abs(off) < 0.0005) return result
            spoilt(betId)
            const amount = Math.abs(off).toFixed(3)
            if (off > 0) take(memory, playerId, amount)
            else memory.deposit(playerId, amount)
            return result
          },
          async keys => {
            const snapshot = await memory.load(keys)
            seen.set(keys.transactionId, snapshot.player?.balance ?? '0')
            await new Promise(resolve => setImmediate(resolve))
            return snapshot
          },
        )
      },
    }),
  },
  {
    name: 'tests the funds when it looks, and not when it writes',
    found: ['overspent', 'balance'],
    options: { concurrency: 16 },
    break: spoilt => ({
      store: memory =>
        storeWith(
          memory,
          async changes => {
            const { balance, transaction } = changes
            if (balance === null || transaction.operation !== 'placebet') return memory.commit(changes)
            const result = await memory.commit({ ...changes, balance: { ...balance, floor: null } })
            if (result.status === 'committed' && result.balance.startsWith('-')) spoilt(transaction.betId)
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
    name: 'refuses to roll back a bet that it does not know',
    found: ['refused'],
    break: spoilt => ({
      async call({ operation, body: { betId = '' }, memory, next }) {
        // The balance can be read: those are the bets that nobody ever placed.
        if (operation !== 'rollbackbet' || memory.bet(betId) !== null || betId.startsWith('run-n'))
          return next()
        spoilt(betId)
        return answer(400, { errorCode: 'INVALID_BET', description: 'no such bet' })
      },
    }),
  },
  {
    name: 'takes a repeat for a conflict',
    found: ['replay'],
    break: spoilt => {
      const isRepeat = repeats()
      return {
        async call(call) {
          if (!isRepeat(call) || call.operation !== 'settlement') return call.next()
          spoilt(call.body.betId ?? '')
          return answer(409, { errorCode: 'TRANSACTION_CONFLICT', description: 'known' })
        },
      }
    },
  },
  {
    name: 'gives every repeat a reference of its own',
    found: ['replay'],
    break: spoilt => {
      const isRepeat = repeats()
      let references = 0
      return {
        async call(call) {
          const again = isRepeat(call)
          const response = await call.next()
          if (!again || !ok(response)) return response
          spoilt(call.body.betId ?? '')
          references += 1
          return { ...response, body: response.body.replace(/"W[0-9]+"/, `"again-${references}"`) }
        },
      }
    },
  },
  {
    name: 'takes what is there when it refuses a clawback',
    found: ['balance', 'closing-balance'],
    break: spoilt => ({
      async call({ operation, body: { playerId = '', betId = '' }, memory, next }) {
        const response = await next()
        if (operation !== 'unsettlement' || response.status !== 402) return response
        if (take(memory, playerId, memory.player(playerId)?.balance ?? '0')) spoilt(betId)
        return response
      },
    }),
  },
  {
    name: 'reverses a void without taking its amount',
    found: ['balance'],
    break: spoilt => ({
      store: memory =>
        storeWith(memory, async changes => {
          if (changes.transaction.type !== 'UNVOIDED' || changes.balance === null)
            return memory.commit(changes)
          spoilt(changes.transaction.betId)
          return memory.commit({ ...changes, balance: null })
        }),
    }),
  },
  {
    name: 'refuses for good an unsettlement that is faster than its settlement',
    found: ['refused'],
    break: spoilt => ({
      async call({ body, next }) {
        const response = await next()
        if (response.status !== 503) return response
        spoilt(body.betId ?? '')
        return answer(404, { errorCode: 'SETTLEMENT_NOT_FOUND', description: 'none' })
      },
    }),
  },
  {
    name: 'forgets transactions after a while',
    found: ['replay'],
    break: spoilt => ({
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
            spoilt(keys.betId)
            return { ...snapshot, transaction: null }
          },
        )
      },
    }),
  },
  {
    name: 'answers repeats out of a cache, with the balance of then',
    found: ['balance'],
    break: spoilt => {
      const cache = new Map<string, HttpResponse>()
      return {
        async call({ operation, body, memory, next }) {
          const key = `${operation} ${body.transactionId}`
          const cached = cache.get(key)
          if (cached !== undefined) {
            const { balance = '' } = memory.player(body.playerId ?? '') ?? {}
            if (!cached.body.includes(`"balance":${Number(balance)}`)) spoilt(body.betId ?? '')
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
    name: 'rolls back without giving the stake back',
    found: ['balance'],
    break: spoilt => ({
      store: memory =>
        storeWith(memory, async changes => {
          const { transaction, balance } = changes
          if (transaction.operation !== 'rollbackbet' || balance === null) return memory.commit(changes)
          spoilt(transaction.betId)
          return memory.commit({ ...changes, balance: null })
        }),
    }),
  },
  {
    name: 'credits a settlement to somebody else, too',
    found: ['balance'],
    break: spoilt => ({
      async call({ operation, body, memory, next }) {
        const response = await next()
        if (
          operation === 'settlement' &&
          body.playerId === 'cem' &&
          Number(body.amount) > 0 &&
          ok(response)
        ) {
          memory.deposit('ann', body.amount as string)
          spoilt('of ann')
        }
        return response
      },
    }),
  },
  {
    name: 'refuses every tenth bet for funds that are there',
    found: ['refused'],
    break: spoilt => {
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
          spoilt(betId)
          return answer(402, { errorCode: 'INSUFFICIENT_FUNDS', description: 'no' })
        },
      }
    },
  },
  {
    name: 'never says anything definite of some unsettlements',
    found: ['unanswered'],
    break: spoilt => ({
      async call({ operation, body: { betId = '' }, next }) {
        if (operation !== 'unsettlement' || !betId.endsWith('7')) return next()
        spoilt(betId)
        return answer(500, { errorCode: 'INTERNAL_ERROR', description: 'again' })
      },
    }),
  },
  {
    name: 'answers in another currency',
    found: ['currency'],
    break: spoilt => ({
      async call({ operation, body, next }) {
        const response = await next()
        if (operation !== 'settlement' || !ok(response)) return response
        spoilt(body.betId ?? '')
        return { ...response, body: response.body.replace(/"currency":"..."/, '"currency":"XXX"') }
      },
    }),
  },
  {
    name: 'writes balances as nobody can read them',
    found: ['unreadable'],
    break: spoilt => ({
      async call({ operation, body, next }) {
        const response = await next()
        if (operation !== 'unsettlement' || !ok(response) || !body.betId?.endsWith('7')) return response
        spoilt(body.betId)
        return { ...response, body: response.body.replace(/"balance":([0-9.]+)/, '"balance":"EUR $1"') }
      },
    }),
  },
]
