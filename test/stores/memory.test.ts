import { describe, expect, test } from 'vitest'
import type { Bet, Transaction, WalletChanges } from '../../src/store.js'
import { createMemoryStore } from '../../src/stores/memory.js'
import { alice, bet, uncollected, live, snapshot, transaction } from '../fixtures.js'

const keys = { operation: 'placebet', transactionId: 'place-1', playerId: 'alice', betId: 'bet-1' } as const

/** A placebet of 30, its guards all satisfied by a store with alice's 100 EUR and nothing else. */
function changes(fields: Partial<WalletChanges> = {}): WalletChanges {
  return {
    transaction: transaction({ walletTransactionId: null }),
    bet: bet(),
    balance: { currency: 'EUR', delta: '-30', floor: '0' },
    request: {},
    ...fields,
  }
}

const other: Partial<Transaction> = { transactionId: 'other', walletTransactionId: null }
const committed = { status: 'committed', walletTransactionId: expect.any(String) }

/** alice, and a placebet of 30 that is committed. */
async function withBet() {
  const store = createMemoryStore([alice])
  await store.commit(changes())
  return store
}

describe('given what is stored, when it is loaded', () => {
  test('and there is nothing, then null for each', async () => {
    expect(await createMemoryStore().load(keys)).toEqual({ player: null, bet: null, transaction: null })
  })

  test('and everything is there, then the records, with the reference that commit answered', async () => {
    const store = createMemoryStore([alice])
    const result = await store.commit(changes())
    expect(result).toEqual({ ...committed, balance: '70' })
    const { walletTransactionId } = result as { walletTransactionId: string }
    expect(await store.load(keys)).toEqual(
      snapshot({
        player: { ...alice, balance: '70' },
        bet: bet(),
        transaction: transaction({ walletTransactionId }),
      }),
    )
  })

  test('and the bet and the transaction are of others, then they are found by their own ids', async () => {
    const store = await withBet()
    expect(await store.load({ ...keys, playerId: 'bob' })).toMatchObject({
      player: null,
      bet: { playerId: 'alice' },
      transaction: { playerId: 'alice' },
    })
  })

  test('and only the operation differs, then it is another transaction (D1)', async () => {
    const store = await withBet()
    expect((await store.load({ ...keys, operation: 'rollbackbet' })).transaction).toBeNull()
  })

  test.each(['__proto__', 'constructor', ' place-1', 'PLACE-1'])(
    'and the id is %s, then nothing is found',
    async id => {
      const store = await withBet()
      const all = { ...keys, transactionId: id, playerId: id, betId: id }
      expect(await store.load(all)).toEqual({ player: null, bet: null, transaction: null })
    },
  )
})

describe('given one guard that does not hold and all others satisfied, when it is committed, then conflict', () => {
  test.each<[string, Partial<WalletChanges>]>([
    ['guard 1: the transaction exists', { bet: bet({ betId: 'bet-2' }) }],
    [
      "guard 1: it exists, as another player's",
      { transaction: transaction({ playerId: 'bob' }), bet: null, balance: null },
    ],
    ['guard 2: the bet exists', { transaction: transaction(other) }],
    ['guard 2: the bet is behind', { transaction: transaction(other), bet: bet({ revision: 3 }) }],
    [
      'guard 2: the bet does not exist',
      { transaction: transaction(other), bet: bet({ betId: 'bet-2', revision: 2 }) },
    ],
    [
      'guard 3: the currency differs',
      { transaction: transaction(other), bet: null, balance: { currency: 'USD', delta: '30', floor: null } },
    ],
    [
      'guard 3: a cent below the floor',
      {
        transaction: transaction(other),
        bet: null,
        balance: { currency: 'EUR', delta: '-70.01', floor: '0' },
      },
    ],
    [
      'guard 3: below another floor',
      {
        transaction: transaction(other),
        bet: null,
        balance: { currency: 'EUR', delta: '-30', floor: '40.01' },
      },
    ],
    [
      'the player is gone',
      { transaction: transaction({ ...other, playerId: 'carol' }), bet: null, balance: null },
    ],
  ])('%s, and nothing is written', async (_name, fields) => {
    const store = await withBet()
    store.openPlayer({ ...alice, playerId: 'bob' })
    const before = [store.player('alice'), store.player('bob'), store.bets(), store.transactions()]
    expect(await store.commit(changes(fields))).toEqual({ status: 'conflict' })
    expect([store.player('alice'), store.player('bob'), store.bets(), store.transactions()]).toEqual(before)
  })
})

describe('given guards that hold just so, when it is committed, then all of it is written', () => {
  test('the balance reaches the floor', async () => {
    const store = await withBet()
    const balance = { currency: 'EUR', delta: '-70.00', floor: '0' }
    expect(await store.commit(changes({ transaction: transaction(other), bet: null, balance }))).toEqual({
      ...committed,
      balance: '0',
    })
  })

  test('there is no floor', async () => {
    const store = createMemoryStore([{ ...alice, balance: '-50' }])
    const balance = { currency: 'EUR', delta: '30', floor: null }
    expect(await store.commit(changes({ balance }))).toEqual({ ...committed, balance: '-20' })
  })

  test('the same transactionId in another operation (D1)', async () => {
    const store = await withBet()
    const rollback = transaction({ operation: 'rollbackbet' })
    const result = await store.commit(
      changes({ transaction: rollback, bet: bet({ revision: 2 }), balance: null }),
    )
    expect(result).toEqual({ ...committed, balance: '70' })
    expect(store.transactions()).toHaveLength(2)
    expect(store.bet('bet-1')?.revision).toBe(2)
  })

  test('nothing moves and no bet is touched: the balance is answered all the same', async () => {
    const store = createMemoryStore([{ ...alice, balance: '-5' }])
    const refusal = { errorCode: 'INSUFFICIENT_FUNDS', description: 'short' }
    const result = await store.commit(
      changes({ transaction: transaction({ refusal }), bet: null, balance: null }),
    )
    expect(result).toEqual({ ...committed, balance: '-5' })
    expect(store.bets()).toEqual([])
    expect(store.transactions()).toMatchObject([{ refusal }])
  })

  test('every reference is its own', async () => {
    const store = createMemoryStore([alice])
    for (const id of ['1', '2', '3']) {
      await store.commit(changes({ transaction: transaction({ transactionId: id }), bet: null }))
    }
    const references = store.transactions().map(({ walletTransactionId }) => walletTransactionId)
    expect(new Set(references).size).toBe(3)
  })
})

describe('given what the store was handed and what it gave', () => {
  test('when what was handed over is changed afterwards, then what is stored stays', async () => {
    const player = { ...alice }
    const store = createMemoryStore([player])
    const refusal = { errorCode: 'X', description: 'x' }
    const handed = changes({
      transaction: transaction({ refusal }),
      bet: bet({ credits: { VOIDED: live('30') } }),
    })
    await store.commit(handed)
    const before = await store.load(keys)
    const copy = structuredClone(before)

    player.balance = '1000000'
    refusal.errorCode = 'Y'
    handed.transaction.amount = '1'
    Object.assign(handed.bet as Bet, { stake: '1', status: 'ROLLED_BACK' })
    Object.assign(handed.bet?.credits ?? {}, { BET_PAID: live('1') })
    Object.assign(handed.bet?.credits.VOIDED ?? {}, { live: '1' })

    expect(await store.load(keys)).toEqual(copy)
    expect(before).toEqual(copy)
  })

  test('when what was given is changed, then it throws or what is stored stays', async () => {
    const store = await withBet()
    await store.commit(
      changes({
        transaction: transaction(other),
        bet: bet({ credits: { BET_PAID: live('60') }, revision: 2 }),
      }),
    )
    const copy = structuredClone(await store.load(keys))
    const { player, bet: found, transaction: first } = await store.load(keys)
    for (const given of [player, found, found?.credits, found?.credits.BET_PAID, first]) {
      for (const key of Object.keys(given ?? {})) {
        expect(() => Object.assign(given ?? {}, { [key]: 'changed' })).toThrow(TypeError)
      }
    }
    store.bets().pop()
    store.transactions().pop()
    expect(await store.load(keys)).toEqual(copy)
    expect([store.bets().length, store.transactions().length]).toEqual([1, 2])
  })

  test('when a commit changes the balance, then a snapshot of before stays as it was', async () => {
    const store = createMemoryStore([alice])
    const before = await store.load(keys)
    await store.commit(changes())
    expect(before).toEqual(snapshot())
  })
})

describe("given the PAM's side", () => {
  test('when a player is opened, then the player is known; twice, and it throws', () => {
    const store = createMemoryStore()
    expect(store.player('alice')).toBeNull()
    store.openPlayer(alice)
    expect(store.player('alice')).toEqual(alice)
    expect(() => store.openPlayer({ ...alice, balance: '5' })).toThrow(/playerId/)
    expect(store.player('alice')).toEqual(alice)
  })

  test('when players are given at first and one is there twice, then it throws', () => {
    expect(() => createMemoryStore([alice, alice])).toThrow(/playerId/)
  })

  test.each<[string, unknown]>([
    ['playerId', ''],
    ['playerId', 17],
    ['playerId', undefined],
    ['currency', ''],
    ['currency', null],
    ['balance', 100],
    ['balance', '-0'],
    ['balance', '1e2'],
    ['balance', ''],
    ['balance', undefined],
  ])('when a player has a bad %s (%s), then a TypeError names it', (field, value) => {
    const store = createMemoryStore()
    const player = { ...alice, [field]: value }
    expect(() => store.openPlayer(player)).toThrow(TypeError)
    expect(() => store.openPlayer(player)).toThrow(new RegExp(`^${field} must be`))
    expect(() => createMemoryStore([player])).toThrow(new RegExp(`^${field} must be`))
  })

  test('when money is deposited and withdrawn, then exactly, and the balance is given', () => {
    const store = createMemoryStore([{ ...alice, balance: '0.1' }])
    expect(store.deposit('alice', '0.2')).toBe('0.3')
    expect(store.withdraw('alice', '0.30')).toBe('0')
    expect(store.player('alice')?.balance).toBe('0')
  })

  test('when more is withdrawn than is there, then a RangeError, and the balance stays', () => {
    const store = createMemoryStore([alice])
    expect(() => store.withdraw('alice', '100.01')).toThrow(RangeError)
    expect(store.player('alice')?.balance).toBe('100')
  })

  test('when money is deposited on a balance below 0, then it is taken', () => {
    expect(createMemoryStore([{ ...alice, balance: '-50' }]).deposit('alice', '20')).toBe('-30')
  })

  test.each(['deposit', 'withdraw'] as const)(
    'when the %s is bad, then a TypeError names the field',
    name => {
      const store = createMemoryStore([alice])
      for (const amount of ['-1', '', '1e2', '-0', 5 as never]) {
        expect(() => store[name]('alice', amount)).toThrow(TypeError)
        expect(() => store[name]('alice', amount)).toThrow(/^amount/)
      }
      expect(() => store[name]('nobody', '1')).toThrow(TypeError)
      expect(() => store[name]('nobody', '1')).toThrow(/^playerId/)
      expect(store.player('alice')).toEqual(alice)
    },
  )

  test('when bets, transactions and debts are asked for, then all of them or a player’s, in order', async () => {
    const store = createMemoryStore([alice, { ...alice, playerId: 'bob' }])
    expect(store.owed('alice')).toBe('0')
    const place = (id: string, playerId: string, credits: Bet['credits']) =>
      store.commit(
        changes({
          transaction: transaction({ transactionId: id, playerId, betId: id }),
          bet: bet({ betId: id, playerId, credits }),
          balance: null,
        }),
      )
    await place('2', 'alice', { BET_PAID: uncollected('0.1'), VOIDED: uncollected('0.2') })
    await place('1', 'bob', { BET_PAID: uncollected('5') })
    await place('3', 'alice', { BET_PAID: { live: '9', reversed: '9', owed: '1' } })

    expect(store.bets().map(({ betId }) => betId)).toEqual(['2', '1', '3'])
    expect(store.bets('alice').map(({ betId }) => betId)).toEqual(['2', '3'])
    expect(store.transactions().map(({ transactionId }) => transactionId)).toEqual(['2', '1', '3'])
    expect(store.transactions('bob').map(({ transactionId }) => transactionId)).toEqual(['1'])
    expect([store.owed('alice'), store.owed('bob'), store.owed('nobody')]).toEqual(['1.3', '5', '0'])
    expect(store.bet('nothing')).toBeNull()
  })
})
