/** The events of a store with an outbox: one for each recorded transaction, written by its own commit. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { subscribe } from '../../src/diagnostics.js'
import { handlePlaceBet, handleRollbackBet, handleUnsettlement, recordSettlement } from '../../src/index.js'
import type { RecordedTransaction } from '../../src/lookups/index.js'
import { placeBet, rollbackBet, settlement, unsettlement } from '../fixtures.js'
import { databases, type Wallet } from './databases.js'

const span = { from: '2026-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' }

describe.each(databases.filter(({ skipped }) => skipped === null))('on $name', ({ open }) => {
  let wallet: Wallet
  beforeAll(async () => {
    wallet = await open()
  })
  afterAll(() => wallet.close())

  const recorded = async (): Promise<RecordedTransaction[]> => {
    const all: RecordedTransaction[] = []
    for await (const each of wallet.lookups.transactions(span)) all.push(each)
    return all
  }
  /** Takes every event from the outbox, as one relay does. */
  async function drained(): Promise<RecordedTransaction[]> {
    const events: RecordedTransaction[] = []
    for (;;) {
      const { claimed, more } = await wallet.outbox.claim(50, 60_000)
      if (claimed.length === 0 && !more) return events
      events.push(...claimed.map(({ event }) => event))
      await wallet.outbox.remove(claimed)
    }
  }
  const byId = (one: RecordedTransaction, other: RecordedTransaction) =>
    one.walletTransactionId < other.walletTransactionId ? -1 : 1

  it('given every operation, refusals, a tombstone and retries, then each transaction has one event with its content', async () => {
    const { store } = wallet
    await handlePlaceBet(store, placeBet())
    await handlePlaceBet(store, placeBet()) // a replay
    await handlePlaceBet(store, placeBet({ transactionId: 'poor', betId: 'bet-poor', amount: '1000' })) // D6
    await recordSettlement(store, settlement())
    await handleUnsettlement(store, unsettlement())
    await recordSettlement(store, settlement({ transactionId: 'settle-2', amount: '0' }))
    await handleRollbackBet(store, rollbackBet({ betId: 'never-placed', transactionId: 'tombstone' })) // D11
    await handlePlaceBet(store, placeBet({ betId: 'never-placed', transactionId: 'late' })) // D12
    await handlePlaceBet(store, placeBet({ playerId: 'nobody', transactionId: 'nobody', betId: 'b' })) // not recorded
    await handlePlaceBet(store, placeBet({ playerId: 'bob', transactionId: 'foreign' })) // of another's bet

    const events = await drained()
    expect(events.sort(byId)).toEqual((await recorded()).sort(byId))
    expect(new Set(events.map(({ operation }) => operation)).size).toBe(4)
    expect(events.find(({ transactionId }) => transactionId === 'poor')).toMatchObject({
      refusal: { errorCode: 'INSUFFICIENT_FUNDS' },
      balanceAfter: '70',
      delta: '0',
    })
    expect(events.find(({ transactionId }) => transactionId === 'unsettle-1')).toMatchObject({
      delta: '-60',
      accountCurrency: 'EUR',
    })
  })

  it('given requests that share batches, then each accepted and recorded one has an event, those of a bet in the order of commits', async () => {
    const { store } = wallet
    const before = (await recorded()).length
    const bets = Array.from({ length: 40 }, (_, n) => `batch-${n}`)
    const place = (betId: string) =>
      handlePlaceBet(store, placeBet({ betId, transactionId: `place-${betId}`, amount: '1' }))
    const settle = (betId: string) =>
      recordSettlement(store, settlement({ betId, transactionId: `settle-${betId}`, amount: '2' }))
    // Also a recorded refusal of the same bet in the same batch.
    const again = (betId: string) =>
      handlePlaceBet(store, placeBet({ betId, transactionId: `again-${betId}`, amount: '1' }))
    await Promise.all(bets.map(place))
    await Promise.all(bets.flatMap(betId => [settle(betId), again(betId)]))

    const events = await drained()
    expect(events).toHaveLength((await recorded()).length - before)
    const all = new Map(
      (await recorded()).map((each, place) => [each.walletTransactionId, { ...each, place }]),
    )
    for (const betId of bets) {
      const ofBet = events.filter(event => event.betId === betId)
      expect(ofBet[0]?.transactionId).toBe(`place-${betId}`)
      const places = ofBet.map(({ walletTransactionId }) => all.get(walletTransactionId)?.place ?? -1)
      expect(places).toEqual([...places].sort((a, b) => a - b))
    }
  })

  it('given transactions of one bet at once, then no batch has two of them: one has no order of its own', async () => {
    await handlePlaceBet(wallet.store, placeBet({ betId: 'one', transactionId: 'one', amount: '1' }))
    const sizes: number[] = []
    const unsubscribe = subscribe('bet-wallet:batch', ({ kind, size }) => {
      if (kind === 'commit') sizes.push(size)
    })
    // Recorded refusals, which change no bet.
    const refused = Array.from({ length: 8 }, (_, n) =>
      handlePlaceBet(wallet.store, placeBet({ betId: 'one', transactionId: `one-${n}`, amount: '1' })),
    )
    for (const outcome of await Promise.all(refused)) expect(outcome).toMatchObject({ ok: false })
    unsubscribe()
    expect(new Set(sizes)).toEqual(new Set([1]))
    expect(await drained()).toHaveLength(9)
  })

  it('given a player who is forgotten, then an event that was not claimed names the pseudonym', async () => {
    await handlePlaceBet(
      wallet.store,
      placeBet({ playerId: 'bob', betId: 'bob-1', transactionId: 'bob-1', amount: '5' }),
    )
    const { pseudonym } = await wallet.forgetPlayer('bob')
    expect(await drained()).toMatchObject([{ transactionId: 'bob-1', playerId: pseudonym }])
  })

  it('given a player who is forgotten, then a dead letter names the pseudonym, and its problem no player', async () => {
    for (const playerId of ['alice', 'bob']) {
      const id = `${playerId}-dead`
      await handlePlaceBet(wallet.store, placeBet({ playerId, betId: id, transactionId: id, amount: '5' }))
    }
    const { claimed } = await wallet.outbox.claim(50, 60_000)
    await wallet.outbox.postpone(
      claimed.map(lease => ({ ...lease, failures: 1, pauseMs: null, problem: `no ${lease.event.playerId}` })),
    )
    const { pseudonym } = await wallet.forgetPlayer('bob')
    expect(await wallet.rows('SELECT bet_id, due_at, problem FROM OUTBOX ORDER BY bet_id')).toEqual([
      { bet_id: 'alice-dead', due_at: null, problem: 'no alice' },
      { bet_id: 'bob-dead', due_at: null, problem: null },
    ])
    expect(await wallet.outbox.retryDeadLetters()).toBe(2)
    expect(new Set((await drained()).map(({ playerId }) => playerId))).toEqual(new Set(['alice', pseudonym]))
  })

  it('given an outbox that rejects its row, then nothing is committed', async () => {
    const before = await recorded()
    await wallet.rows('ALTER TABLE OUTBOX ADD CONSTRAINT no_more CHECK (attempts > 0)')
    for (const count of [1, 3]) {
      const answers = await Promise.allSettled(
        Array.from({ length: count }, (_, n) =>
          handlePlaceBet(
            wallet.store,
            placeBet({ betId: `no-${count}-${n}`, transactionId: `no-${count}-${n}`, amount: '1' }),
          ),
        ),
      )
      expect(answers.map(({ status }) => status)).toEqual(Array(count).fill('rejected'))
    }
    await wallet.rows('ALTER TABLE OUTBOX DROP CONSTRAINT no_more')
    expect(await recorded()).toEqual(before)
    expect(await drained()).toEqual([])
  })
})
