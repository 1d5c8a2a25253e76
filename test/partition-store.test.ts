/** `partitionStore`: its routes, its faults, and the rules that no longer hold between two partitions. */
import { describe, expect, test, vi } from 'vitest'
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  partitionStore,
  recordSettlement,
  WalletError,
  type WalletOutcome,
  type WalletStore,
} from '../src/index.js'
import { createMemoryStore, type MemoryStore } from '../src/stores/memory.js'
import { toCents } from '../src/testing/platform.js'
import { placeBet, rollbackBet, settlement, unsettlement } from './fixtures.js'

const player = (playerId: string) => ({ playerId, currency: 'EUR', balance: '100' })
const keys = { operation: 'placebet', transactionId: 't-1', betId: 'b-1' } as const

/** Anna is in the first ledger, ben in the second, and others in none. */
function twoLedgers() {
  const [first, second] = [createMemoryStore([player('anna')]), createMemoryStore([player('ben')])]
  const ledgers: Record<string, MemoryStore> = { anna: first, ben: second }
  const store = partitionStore(playerId => ledgers[playerId] ?? null)
  return { store, ledgers: [first, second] }
}

function oneLedger() {
  const store = createMemoryStore([player('anna'), player('ben')])
  return { store, ledgers: [store] }
}

const anna = { playerId: 'anna', transactionId: 't-1', betId: 'b-1', amount: '30' }
const shown = (outcome: WalletOutcome) => (outcome.ok ? `ok ${outcome.balance}` : outcome.errorCode)

/** Every balance is 100 plus all recorded deltas, and not negative; a rolled-back bet nets to zero. */
function expectExactBooks(ledgers: readonly MemoryStore[]): void {
  for (const ledger of ledgers) {
    for (const { playerId, balance } of ['anna', 'ben'].flatMap(id => ledger.account(id) ?? [])) {
      const deltas = ledger.transactions(playerId).map(({ delta }) => toCents(delta))
      expect(toCents(balance)).toBe(100_00n + deltas.reduce((sum, delta) => sum + delta, 0n))
      expect(toCents(balance)).toBeGreaterThanOrEqual(0n)
    }
    for (const { betId, status } of ledger.bets()) {
      const deltas = ledger.transactions().filter(one => one.betId === betId && status === 'ROLLED_BACK')
      expect(deltas.reduce((sum, { delta }) => sum + toCents(delta), 0n)).toBe(0n)
    }
  }
}

describe('between players of different partitions', () => {
  describe.each([
    ['one ledger', oneLedger, { d4: 'TRANSACTION_CONFLICT', d10: 'INVALID_BET', d15: 'INVALID_PLAYER' }],
    ['two ledgers', twoLedgers, { d4: 'ok 80.00', d10: 'ok 80.00', d15: 'ok 100.00' }],
  ])('%s', (name, open, expected) => {
    const isOne = name === 'one ledger'

    test("D4: given anna's t-1, when ben bets as t-1, then each pays the stakes that were answered ok", async () => {
      const { store, ledgers } = open()
      await handlePlaceBet(store, placeBet(anna))
      const ofBen = { playerId: 'ben', transactionId: 't-1', betId: 'b-2', amount: '20' }
      for (const balance of [expected.d4, expected.d4]) // the second one is a retry
        expect(shown(await handlePlaceBet(store, placeBet(ofBen)))).toBe(balance)
      expect(shown(await handlePlaceBet(store, placeBet(anna)))).toBe('ok 70.00')
      expectExactBooks(ledgers)
      // The platform gives both up.
      for (const ids of [anna, ofBen])
        await handleRollbackBet(
          store,
          rollbackBet({ playerId: ids.playerId, betId: ids.betId, transactionId: `r-${ids.betId}` }),
        )
      expect(balances(ledgers)).toEqual(['100', '100'])
      expectExactBooks(ledgers)
    })

    test("D10: given anna's b-1, when ben bets on b-1, then each pays his own stake and gets his own win", async () => {
      const { store, ledgers } = open()
      await handlePlaceBet(store, placeBet(anna))
      const ofBen = { playerId: 'ben', transactionId: 't-2', betId: 'b-1' }
      expect(shown(await handlePlaceBet(store, placeBet({ ...ofBen, amount: '20' })))).toBe(expected.d10)
      await recordSettlement(store, settlement({ ...anna, transactionId: 's-1', amount: '60' }))
      expect(balances(ledgers)).toEqual(['130', isOne ? '100' : '80'])
      await handleUnsettlement(store, unsettlement({ ...anna, transactionId: 'u-1' }))
      expect(balances(ledgers)).toEqual(['70', isOne ? '100' : '80'])
      expectExactBooks(ledgers)
    })

    test("D15: given anna's b-1, when ben rolls b-1 back, then nothing moves and anna's bet stays as it is", async () => {
      const { store, ledgers } = open()
      await handlePlaceBet(store, placeBet(anna))
      const ofBen = { playerId: 'ben', betId: 'b-1' }
      expect(shown(await handleRollbackBet(store, rollbackBet({ ...ofBen, transactionId: 'r-1' })))).toBe(
        expected.d15,
      )
      expect(balances(ledgers)).toEqual(['70', '100'])
      const bet = (await store.load({ ...keys, playerId: 'anna' })).bet
      expect(bet).toMatchObject({ playerId: 'anna', status: 'PLACED' })
      // The rollback that names anna still returns her stake.
      expect(shown(await handleRollbackBet(store, rollbackBet({ ...anna, transactionId: 'r-2' })))).toBe(
        'ok 100.00',
      )
      expectExactBooks(ledgers)
    })

    test("D11: given ben's rollback of b-1, when anna's b-1 arrives late, then she pays once at most, and gets it back", async () => {
      const { store, ledgers } = open()
      const ofBen = { playerId: 'ben', betId: 'b-1' }
      await handleRollbackBet(store, rollbackBet({ ...ofBen, transactionId: 'r-1' }))
      const late = isOne ? 'INVALID_BET' : 'ok 70.00'
      expect(shown(await handlePlaceBet(store, placeBet(anna)))).toBe(late)
      expect(balances(ledgers)).toEqual([isOne ? '100' : '70', '100'])
      const rolledBack = await handleRollbackBet(store, rollbackBet({ ...anna, transactionId: 'r-2' }))
      expect(shown(rolledBack)).toBe(isOne ? 'INVALID_PLAYER' : 'ok 100.00')
      expect(balances(ledgers)).toEqual(['100', '100'])
      expectExactBooks(ledgers)
    })

    test("D15: given anna's b-1 with a credit, when ben settles or unsettles b-1, then it is refused and nothing moves", async () => {
      const { store, ledgers } = open()
      await handlePlaceBet(store, placeBet(anna))
      await recordSettlement(store, settlement({ ...anna, transactionId: 's-1', amount: '60' }))
      const ofBen = { playerId: 'ben', betId: 'b-1' }
      const refusal = isOne ? 'INVALID_PLAYER' : 'INVALID_BET'
      expect(shown(await recordSettlement(store, settlement({ ...ofBen, transactionId: 's-2' })))).toBe(
        refusal,
      )
      expect(shown(await handleUnsettlement(store, unsettlement({ ...ofBen, transactionId: 'u-1' })))).toBe(
        refusal,
      )
      expect(balances(ledgers)).toEqual(['130', '100'])
      expectExactBooks(ledgers)
    })

    test("D16: given anna's t-1, when a player without a partition bets as t-1, then it is refused and nothing is recorded", async () => {
      const { store, ledgers } = open()
      await handlePlaceBet(store, placeBet(anna))
      const ofUnknown = placeBet({ ...anna, playerId: 'unknown-player' })
      const refusal = isOne ? 'TRANSACTION_CONFLICT' : 'INVALID_PLAYER'
      expect(shown(await handlePlaceBet(store, ofUnknown))).toBe(refusal)
      for (const handle of [handleRollbackBet, handleUnsettlement]) {
        const request = handle === handleRollbackBet ? rollbackBet() : unsettlement()
        const ids = { playerId: 'unknown-player', transactionId: 'x-1', betId: 'b-9' }
        expect(shown(await handle(store, { ...request, ...ids }))).toBe('INVALID_PLAYER')
      }
      expect(ledgers.flatMap(ledger => ledger.transactions())).toHaveLength(1)
      expectExactBooks(ledgers)
    })
  })

  const balances = (ledgers: readonly MemoryStore[]) =>
    ['anna', 'ben'].map(id => ledgers.map(ledger => ledger.account(id)?.balance).find(Boolean))
})

describe('the routes', () => {
  test('every call goes to the store of its player, and to no other', async () => {
    const { store, ledgers } = twoLedgers()
    const calls = ledgers.map(ledger => [vi.spyOn(ledger, 'load'), vi.spyOn(ledger, 'commit')])
    await handlePlaceBet(store, placeBet({ ...anna, playerId: 'ben' }))
    await store.load({ ...keys, playerId: 'ben' })
    expect(calls.map(spies => spies.map(({ mock }) => mock.calls.length))).toEqual([
      [0, 0],
      [1, 1],
    ])
  })

  test('loadConfirmed is that of the partition, or its load if it has none', async () => {
    const [first, second] = [createMemoryStore([player('anna')]), createMemoryStore([player('ben')])]
    const confirmed = vi.fn(first.load)
    const stores: Record<string, WalletStore> = { anna: { ...first, loadConfirmed: confirmed }, ben: second }
    const store = partitionStore(async playerId => stores[playerId] ?? null)
    const load = vi.spyOn(second, 'load')
    for (const playerId of ['anna', 'ben'])
      expect((await store.loadConfirmed?.({ ...keys, playerId }))?.accounts[0]?.playerId).toBe(playerId)
    expect([confirmed.mock.calls.length, load.mock.calls.length]).toEqual([1, 1])
    expect(await store.loadConfirmed?.({ ...keys, playerId: 'unknown-player' })).toEqual({
      ...{ accounts: [], bet: null, transaction: null },
    })
  })

  test('loadConfirmed keeps the `this` of a store that is a class', async () => {
    class Ledger implements WalletStore {
      readonly contractVersion = 2
      readonly #memory = createMemoryStore([player('anna')])
      load: WalletStore['load'] = keys => this.#memory.load(keys)
      loadConfirmed(asked: Parameters<WalletStore['load']>[0]) {
        return this.load(asked)
      }
      commit: WalletStore['commit'] = changes => this.#memory.commit(changes)
    }
    const store = partitionStore(() => new Ledger())
    expect((await store.loadConfirmed?.({ ...keys, playerId: 'anna' }))?.accounts[0]?.balance).toBe('100')
  })
})

describe('faults', () => {
  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 'no fault',
      (error: unknown) => (error instanceof WalletError ? error.code : String(error)),
    )

  test('of a partition do not touch the players of another', async () => {
    const down: WalletStore = {
      contractVersion: 2,
      load: () => new Promise(() => {}), // never ends
      commit: () => new Promise(() => {}),
    }
    const store = partitionStore(playerId =>
      playerId === 'anna' ? down : createMemoryStore([player('ben')]),
    )
    void handlePlaceBet(store, placeBet(anna))
    expect(shown(await handlePlaceBet(store, placeBet({ ...anna, playerId: 'ben' })))).toBe('ok 70.00')
  })

  test.each([
    ['load', 'unavailable', Object.assign(new Error('down'), { code: 'UNAVAILABLE' }), 'UNAVAILABLE'],
    ['load', 'any other', new Error('down'), 'LOAD_FAILED'],
  ])('of a partition keep their meaning: %s, %s', async (_, __, error, code) => {
    const store = partitionStore(() => ({
      ...createMemoryStore(),
      load: () => Promise.reject(error),
    }))
    expect(await codeOf(handleRollbackBet(store, rollbackBet()))).toBe(code)
  })

  test('a partition that is unavailable, or throws, in commit', async () => {
    const of = (commit: WalletStore['commit']) =>
      handlePlaceBet(
        partitionStore(() => ({ ...createMemoryStore([player('anna')]), commit })),
        placeBet(anna),
      )
    expect(await codeOf(of(async () => ({ status: 'unavailable' })))).toBe('UNAVAILABLE')
    expect(await codeOf(of(() => Promise.reject(new Error('lost'))))).toBe('COMMIT_UNKNOWN')
  })

  test.each([
    ['the error of a player who is being moved', { code: 'UNAVAILABLE' }, 'UNAVAILABLE', 'UNAVAILABLE'],
    ['any other error', {}, 'LOAD_FAILED', 'COMMIT_UNKNOWN'],
  ])('of storeOf: %s', async (_, fields, ofLoad, ofCommit) => {
    const cause = Object.assign(new Error('no directory'), fields)
    for (const storeOf of [
      () => Promise.reject(cause),
      () => {
        throw cause
      },
    ]) {
      const store = partitionStore(storeOf)
      expect(await codeOf(handleRollbackBet(store, rollbackBet()))).toBe(ofLoad)
      expect(await codeOf(handlePlaceBet(store, placeBet()))).toBe(ofCommit)
    }
  })

  test.each([undefined, {}, { load() {}, commit() {} }])(
    'storeOf must return a store or null: %j',
    async found => {
      const store = partitionStore(() => found as never)
      const rule = 'The store violates its contract'
      await expect(store.load({ ...keys, playerId: 'anna' })).rejects.toThrow(rule)
      await expect(store.loadConfirmed?.({ ...keys, playerId: 'anna' })).rejects.toThrow(rule)
      await expect(store.commit({ transaction: { playerId: 'anna' } } as never)).rejects.toThrow(rule)
    },
  )
})

test('a settlement in a partition that adds no credits loads its bet, and one in another partition does not', async () => {
  const commits: [player: string, isCredit: boolean][] = []
  const partitionOf = (playerId: string): WalletStore => {
    const memory = createMemoryStore([player(playerId)])
    return {
      ...memory,
      addsCredits: playerId === 'anna',
      commit(changes) {
        commits.push([playerId, changes.credit !== null])
        return memory.commit(changes)
      },
    }
  }
  const partitions = { anna: partitionOf('anna'), ben: partitionOf('ben') }
  const store = partitionStore(playerId => partitions[playerId as 'anna' | 'ben'])
  for (const playerId of ['anna', 'ben']) {
    await handlePlaceBet(store, placeBet({ playerId, betId: playerId, transactionId: playerId }))
    const settled = settlement({ playerId, betId: playerId, transactionId: playerId })
    expect(await recordSettlement(store, settled)).toMatchObject({ ok: true, replayed: false })
  }
  expect(commits.filter(([, isCredit]) => isCredit)).toEqual([['anna', true]])
})
