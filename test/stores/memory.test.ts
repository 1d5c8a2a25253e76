import { describe, expect, test } from 'vitest'
import type { Bet, Transaction, WalletChanges } from '../../src/store.js'
import { createMemoryStore } from '../../src/stores/memory.js'
import { alice, bet, live, snapshot, transaction, uncollected } from '../fixtures.js'

const keys = { operation: 'placebet', transactionId: 'place-1', playerId: 'alice', betId: 'bet-1' } as const

/** A placebet of 30. All of its guards hold in a store with alice's 100 EUR and nothing else. */
function changes(fields: Partial<WalletChanges> = {}): WalletChanges {
  return {
    transaction: transaction({ walletTransactionId: null }),
    bet: bet(),
    credit: null,
    account: { currency: 'EUR', delta: '-30', floor: '0' },
    request: {},
    ...fields,
  }
}

/** Of a commit that moves nothing. */
const unchanged = { currency: 'EUR', delta: '0', floor: null }
const other: Partial<Transaction> = { transactionId: 'other', walletTransactionId: null }
const committed = { status: 'committed', walletTransactionId: expect.any(String) }

/** A store with alice and a committed placebet of 30. */
async function withBet() {
  const store = createMemoryStore([alice])
  await store.commit(changes())
  return store
}

describe('given a store, when a snapshot is loaded', () => {
  test('and the store is empty, then each record is null', async () => {
    expect(await createMemoryStore().load(keys)).toEqual({ accounts: [], bet: null, transaction: null })
  })

  test('and all three records exist, then they are returned, with the reference that commit returned', async () => {
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

  test('and the bet and the transaction belong to another player, then they are found by their own ids', async () => {
    const store = await withBet()
    expect(await store.load({ ...keys, playerId: 'bob' })).toMatchObject({
      accounts: [],
      bet: { playerId: 'alice' },
      transaction: { playerId: 'alice' },
    })
  })

  test('and only the operation differs, then it is another transaction (D1)', async () => {
    const store = await withBet()
    expect((await store.load({ ...keys, operation: 'rollbackbet' })).transaction).toBeNull()
  })

  test.each(['__proto__', 'constructor', ' place-1', 'PLACE-1'])(
    'and the id is %j, then nothing is found',
    async id => {
      const store = await withBet()
      const all = { ...keys, transactionId: id, playerId: id, betId: id }
      expect(await store.load(all)).toEqual({ accounts: [], bet: null, transaction: null })
    },
  )
})

describe('given changes of which one guard does not hold and all others do, when they are committed, then conflict', () => {
  test.each<[string, Partial<WalletChanges>]>([
    ['guard 1: the transaction exists', { bet: bet({ betId: 'bet-2' }) }],
    [
      'guard 1: the transaction exists, for another player',
      { transaction: transaction({ playerId: 'bob' }), bet: null, account: unchanged },
    ],
    ['guard 2: the bet exists', { transaction: transaction(other) }],
    ['guard 2: the stored revision is lower', { transaction: transaction(other), bet: bet({ revision: 3 }) }],
    [
      'guard 2: the bet does not exist',
      { transaction: transaction(other), bet: bet({ betId: 'bet-2', revision: 2 }) },
    ],
    [
      'guard 3: the currency differs',
      { transaction: transaction(other), bet: null, account: { currency: 'USD', delta: '30', floor: null } },
    ],
    [
      'guard 3: the balance would be one cent below the floor',
      {
        transaction: transaction(other),
        bet: null,
        account: { currency: 'EUR', delta: '-70.01', floor: '0' },
      },
    ],
    [
      'guard 3: the balance would be below a floor other than 0',
      {
        transaction: transaction(other),
        bet: null,
        account: { currency: 'EUR', delta: '-30', floor: '40.01' },
      },
    ],
    [
      'the player was removed',
      { transaction: transaction({ ...other, playerId: 'carol' }), bet: null, account: unchanged },
    ],
  ])('%s, and nothing is written', async (_name, fields) => {
    const store = await withBet()
    store.openAccount({ ...alice, playerId: 'bob' })
    const before = [store.account('alice'), store.account('bob'), store.bets(), store.transactions()]
    expect(await store.commit(changes(fields))).toEqual({ status: 'conflict' })
    expect([store.account('alice'), store.account('bob'), store.bets(), store.transactions()]).toEqual(before)
  })
})

describe('given changes at the limit of their guards, when they are committed, then everything is written', () => {
  test('the balance reaches the floor exactly', async () => {
    const store = await withBet()
    const account = { currency: 'EUR', delta: '-70.00', floor: '0' }
    expect(await store.commit(changes({ transaction: transaction(other), bet: null, account }))).toEqual({
      ...committed,
      balance: '0',
    })
  })

  test('there is no floor', async () => {
    const store = createMemoryStore([{ ...alice, balance: '-50' }])
    const account = { currency: 'EUR', delta: '30', floor: null }
    expect(await store.commit(changes({ account }))).toEqual({ ...committed, balance: '-20' })
  })

  test('the same transactionId in another operation (D1)', async () => {
    const store = await withBet()
    const rollback = transaction({ operation: 'rollbackbet' })
    const result = await store.commit(
      changes({ transaction: rollback, bet: bet({ revision: 2 }), account: unchanged }),
    )
    expect(result).toEqual({ ...committed, balance: '70' })
    expect(store.transactions()).toHaveLength(2)
    expect(store.bet('bet-1')?.revision).toBe(2)
  })

  test('neither the balance nor a bet changes: the balance is returned nevertheless', async () => {
    const store = createMemoryStore([{ ...alice, balance: '-5' }])
    const refusal = { errorCode: 'INSUFFICIENT_FUNDS', description: 'short' }
    const result = await store.commit(
      changes({ transaction: transaction({ refusal }), bet: null, account: unchanged }),
    )
    expect(result).toEqual({ ...committed, balance: '-5' })
    expect(store.bets()).toEqual([])
    expect(store.transactions()).toMatchObject([{ refusal }])
  })

  test('every reference is unique', async () => {
    const store = createMemoryStore([alice])
    for (const id of ['1', '2', '3']) {
      await store.commit(changes({ transaction: transaction({ transactionId: id }), bet: null }))
    }
    const references = store.transactions().map(({ walletTransactionId }) => walletTransactionId)
    expect(new Set(references).size).toBe(3)
  })
})

describe('given the arguments and the results of the store', () => {
  test('when the arguments are changed afterwards, then the stored records stay unchanged', async () => {
    const player = { ...alice }
    const store = createMemoryStore([player])
    const refusal = { errorCode: 'X', description: 'x' }
    const passed = changes({
      transaction: transaction({ refusal }),
      bet: bet({ credits: { VOIDED: live('30') } }),
    })
    await store.commit(passed)
    const before = await store.load(keys)
    const copy = structuredClone(before)

    player.balance = '1000000'
    refusal.errorCode = 'Y'
    passed.transaction.amount = '1'
    Object.assign(passed.bet as Bet, { stake: '1', status: 'ROLLED_BACK' })
    Object.assign(passed.bet?.credits ?? {}, { BET_PAID: live('1') })
    Object.assign(passed.bet?.credits.VOIDED ?? {}, { live: '1' })

    expect(await store.load(keys)).toEqual(copy)
    expect(before).toEqual(copy)
  })

  test('when a result is changed, then it throws, or the stored records stay unchanged', async () => {
    const store = await withBet()
    await store.commit(
      changes({
        transaction: transaction(other),
        bet: bet({ credits: { BET_PAID: live('60') }, revision: 2 }),
      }),
    )
    const copy = structuredClone(await store.load(keys))
    const {
      accounts: [player],
      bet: found,
      transaction: first,
    } = await store.load(keys)
    for (const record of [player, found, found?.credits, found?.credits.BET_PAID, first]) {
      for (const key of Object.keys(record ?? {})) {
        expect(() => Object.assign(record ?? {}, { [key]: 'changed' })).toThrow(TypeError)
      }
    }
    store.bets().pop()
    store.transactions().pop()
    expect(await store.load(keys)).toEqual(copy)
    expect([store.bets().length, store.transactions().length]).toEqual([1, 2])
  })

  test('when a commit changes the balance, then an earlier snapshot stays unchanged', async () => {
    const store = createMemoryStore([alice])
    const before = await store.load(keys)
    await store.commit(changes())
    expect(before).toEqual(snapshot())
  })
})

describe("given the PAM's side", () => {
  test('when a player is opened, then the player is known; opened again, it throws', () => {
    const store = createMemoryStore()
    expect(store.account('alice')).toBeNull()
    store.openAccount(alice)
    expect(store.account('alice')).toEqual(alice)
    expect(() => store.openAccount({ ...alice, balance: '5' })).toThrow(/playerId/)
    expect(store.account('alice')).toEqual(alice)
  })

  test('when an initial player is duplicated, then it throws', () => {
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
  ])('when a player has an invalid %s (%s), then a TypeError names it', (field, value) => {
    const store = createMemoryStore()
    const player = { ...alice, [field]: value }
    expect(() => store.openAccount(player)).toThrow(TypeError)
    expect(() => store.openAccount(player)).toThrow(new RegExp(`^${field} must be`))
    expect(() => createMemoryStore([player])).toThrow(new RegExp(`^${field} must be`))
  })

  test('when money is deposited and withdrawn, then the sum is exact and the balance is returned', () => {
    const store = createMemoryStore([{ ...alice, balance: '0.1' }])
    expect(store.deposit('alice', '0.2')).toBe('0.3')
    expect(store.withdraw('alice', '0.30')).toBe('0')
    expect(store.account('alice')?.balance).toBe('0')
  })

  test('when more than the balance is withdrawn, then a RangeError, and the balance does not change', () => {
    const store = createMemoryStore([alice])
    expect(() => store.withdraw('alice', '100.01')).toThrow(RangeError)
    expect(store.account('alice')?.balance).toBe('100')
  })

  test('when money is deposited on a balance below 0, then it is accepted', () => {
    expect(createMemoryStore([{ ...alice, balance: '-50' }]).deposit('alice', '20')).toBe('-30')
  })

  test.each(['deposit', 'withdraw'] as const)(
    'when the arguments of %s are invalid, then a TypeError names the field',
    name => {
      const store = createMemoryStore([alice])
      for (const amount of ['-1', '', '1e2', '-0', 5 as never]) {
        expect(() => store[name]('alice', amount)).toThrow(TypeError)
        expect(() => store[name]('alice', amount)).toThrow(/^amount/)
      }
      expect(() => store[name]('unknown', '1')).toThrow(TypeError)
      expect(() => store[name]('unknown', '1')).toThrow(/^playerId/)
      expect(store.account('alice')).toEqual(alice)
    },
  )

  test('when bets, transactions and owed amounts are queried, then all of them or a player’s are returned, in order', async () => {
    const store = createMemoryStore([alice, { ...alice, playerId: 'bob' }])
    expect(store.owed('alice')).toEqual({})
    const place = (id: string, playerId: string, credits: Bet['credits']) =>
      store.commit(
        changes({
          transaction: transaction({ transactionId: id, playerId, betId: id }),
          bet: bet({ betId: id, playerId, credits }),
          account: unchanged,
        }),
      )
    await place('2', 'alice', { BET_PAID: uncollected('0.1'), VOIDED: uncollected('0.2') })
    await place('1', 'bob', { BET_PAID: uncollected('5') })
    await place('3', 'alice', { BET_PAID: { live: '9', reversed: '9', owed: '1' } })

    expect(store.bets().map(({ betId }) => betId)).toEqual(['2', '1', '3'])
    expect(store.bets('alice').map(({ betId }) => betId)).toEqual(['2', '3'])
    expect(store.transactions().map(({ transactionId }) => transactionId)).toEqual(['2', '1', '3'])
    expect(store.transactions('bob').map(({ transactionId }) => transactionId)).toEqual(['1'])
    expect([store.owed('alice'), store.owed('bob'), store.owed('unknown')]).toEqual([
      { EUR: '1.3' },
      { EUR: '5' },
      {},
    ])
    expect(store.bet('unknown')).toBeNull()
  })
})

describe('given a player with accounts in EUR and JPY', () => {
  const yen = { playerId: 'alice', currency: 'JPY', balance: '5000' }
  const placing = (account: WalletChanges['account']) => changes({ account, bet: null })

  test('when one is named, then it alone changes, and its balance is returned', async () => {
    const store = createMemoryStore([alice, yen])
    const result = await store.commit(placing({ currency: 'JPY', delta: '-300', floor: '0' }))
    expect(result).toEqual({ ...committed, balance: '4700' })
    expect((await store.load(keys)).accounts).toEqual([alice, { ...yen, balance: '4700' }])
  })

  test('when the funds of the other are needed, or a third one is named, then conflict', async () => {
    const store = createMemoryStore([alice, yen])
    for (const account of [
      { currency: 'EUR', delta: '-300', floor: '0' },
      { currency: 'USD', delta: '0', floor: null },
    ])
      expect(await store.commit(placing(account))).toEqual({ status: 'conflict' })
    expect(store.accounts('alice')).toEqual([alice, yen])
  })

  test('when other code writes, then it names the account', () => {
    const store = createMemoryStore([alice, yen])
    expect(store.deposit('alice', '1', 'JPY')).toBe('5001')
    expect(store.withdraw('alice', '1', 'EUR')).toBe('99')
    expect(store.account('alice', 'JPY')?.balance).toBe('5001')
    expect(store.account('alice', 'USD')).toBeNull()
    expect(() => store.deposit('alice', '1')).toThrow('currency is required: the player has several accounts')
    expect(() => store.openAccount(yen)).toThrow('the player already has an account in this currency')
  })

  test('when clawbacks are owed in both currencies, then they are not added', async () => {
    const store = createMemoryStore([alice, yen])
    for (const currency of ['EUR', 'JPY'])
      await store.commit({
        ...changes({ account: { ...unchanged, currency } }),
        transaction: transaction({ transactionId: currency, betId: currency }),
        bet: bet({ betId: currency, currency, credits: { BET_PAID: uncollected('5') } }),
      })
    expect(store.owed('alice')).toEqual({ EUR: '5', JPY: '5' })
  })
})
